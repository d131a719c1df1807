import { useCallback, useEffect, useState } from 'preact/hooks'
import { duration, figure, moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone, type ToneName } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { Form } from '../../../../../runtime/lib/page/ui/parts/form/form.js'
import { useSubmit } from '../../../../../runtime/lib/page/ui/parts/form/submit.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import {
  fleetApi,
  type ListedRollout,
  type Rollout,
  type RolloutState,
  type ShownRollout,
  type Target,
  type targetStates,
} from '../fleet/api.js'
import { may, newEntries } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { More, usePages } from '../parts/pages.js'
import { RolloutForm } from '../parts/rollout-form.js'
import { place } from '../place.js'

const again_ms = 3_000
const tones: Readonly<Record<RolloutState, ToneName>> = {
  running: 'waiting',
  paused: 'warning',
  stopping: 'warning',
  stopped: 'broken',
  done: 'good',
}

/** All rollouts; `?id=` one of them. */
export function RolloutsPage() {
  const id = Number(place.value.query.get('id') ?? 0)
  return id > 0 ? <OneRollout key={id} id={id} /> : <AllRollouts />
}

function AllRollouts() {
  const rollouts = usePages(fleetApi.rollouts)
  const newest = newEntries.value.find(({ kind }) => kind === 'rollout')
  useEffect(() => void rollouts.again(), [newest, rollouts.again])
  return (
    <>
      <Card title={t('rollouts.all')}>
        <Waiting of={rollouts}>
          {({ rows }) =>
            rows.length === 0 ? (
              <Empty drawing="quiet">{t('rollouts.none')}</Empty>
            ) : (
              <DataTable
                label={t('rollouts.all')}
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: t('rollouts.name'),
                    isHead: true,
                    cell: ({ id, name }) => (
                      <a class="target" href={`#/rollouts?id=${id}`}>
                        {name}
                      </a>
                    ),
                  },
                  { name: t('rollouts.state'), cell: (one) => <StateOf rollout={one} /> },
                  { name: t('rollouts.wave'), isNumber: true, cell: ({ wave }) => wave + 1 },
                  { name: t('rollouts.begun'), cell: ({ created }) => moment(created) },
                  { name: t('rollouts.by'), cell: ({ by }) => by },
                ]}
              />
            )
          }
        </Waiting>
        <More of={rollouts} label={t('pages.more')} />
      </Card>
      {may('operator') && <RolloutForm />}
    </>
  )
}

const StateOf = ({ rollout: { state } }: { rollout: ListedRollout }) => (
  <Tone tone={tones[state]}>{word('rollouts.state', state)}</Tone>
)

const whatOf = ({ plan: { what } }: Rollout): string =>
  'image' in what
    ? `${what.version} (${what.image})`
    : Object.entries(what.change)
        .map(([name, value]) => `${name}: ${typeof value === 'string' ? value || '–' : JSON.stringify(value)}`)
        .join(', ')

function OneRollout({ id }: { id: number }) {
  const found = useLoaded(useCallback(() => fleetApi.rollout(id), [id]))
  const state = found.value?.rollout.state
  const isOver = state === 'done' || state === 'stopped'
  useEffect(() => {
    if (isOver) return
    const timer = setInterval(found.again, again_ms)
    return () => clearInterval(timer)
  }, [found.again, isOver])
  const step = (name: 'pause' | 'resume' | 'stop') => async () => {
    await fleetApi.step(id, name)
    await found.again()
    return ''
  }
  return (
    <>
      <p>
        <a class="target" href="#/rollouts">
          {t('rollouts.back')}
        </a>
      </p>
      <Waiting of={found}>
        {({ rollout, waves, counts, targets }) => (
          <>
            <Card title={rollout.name}>
              <p role="status">
                <StateOf rollout={rollout} /> {rollout.reason}
              </p>
              <FigureList
                rows={[
                  [t('rollouts.what'), <span class="changed">{whatOf(rollout)}</span>],
                  [t('rollouts.wave'), `${rollout.wave + 1} / ${waves}`],
                  [t('rollouts.begun'), moment(rollout.created)],
                  [t('rollouts.by'), rollout.by],
                  [t('rollouts.soak'), duration(rollout.plan.soak_s ?? 0)],
                ]}
              />
              {may('operator') && !isOver && (
                <div class="actions">
                  {rollout.state === 'running' && (
                    <Action
                      label={t('rollouts.pause')}
                      caution={<p>{t('rollouts.pauseText')}</p>}
                      run={step('pause')}
                    />
                  )}
                  {rollout.state === 'paused' && (
                    <Action
                      label={t('rollouts.resume')}
                      caution={<p>{t('rollouts.resumeText')}</p>}
                      run={step('resume')}
                    />
                  )}
                  {rollout.state !== 'stopping' && (
                    <Action label={t('rollouts.stop')} caution={<p>{t('rollouts.stopText')}</p>} run={step('stop')} />
                  )}
                </div>
              )}
            </Card>
            <Targets id={id} counts={counts} first={targets} />
          </>
        )}
      </Waiting>
    </>
  )
}

const targetTones: Readonly<Record<Target['state'], ToneName>> = {
  waiting: 'idle',
  measuring: 'waiting',
  asked: 'waiting',
  proving: 'waiting',
  done: 'good',
  failed: 'broken',
  undone: 'warning',
}
/** States that need attention come first. */
const order = [
  'failed',
  'undone',
  'proving',
  'asked',
  'measuring',
  'waiting',
  'done',
] as const satisfies (typeof targetStates)[number][]

type TargetsOf = { id: number; first: readonly Target[] } & Pick<ShownRollout, 'counts'>

const Targets = ({ id, counts, first }: TargetsOf) => (
  <Card title={t('rollouts.stations')}>
    {order.map((state) => {
      const count = counts[state] ?? 0
      const own = first.filter((target) => target.state === state)
      return count > 0 && <TargetsOfState key={state} {...{ id, state, count, first: own }} />
    })}
  </Card>
)

type OfState = Omit<TargetsOf, 'counts'> & Pick<Target, 'state'> & { readonly count: number }

/** The first ones come with the rollout, again and again; the others when somebody asks for them. */
function TargetsOfState({ id, state, count, first }: OfState) {
  const [isOpen, setOpen] = useState(false)
  const open = useSubmit(async () => {
    setOpen(true)
    return ''
  })
  return (
    <section>
      <h3>
        <Tone tone={targetTones[state]}>
          {word('rollouts.target', state)}: {figure(count, 0)}
        </Tone>
      </h3>
      {isOpen ? <AllTargets {...{ id, state, count, first }} /> : <TargetTable state={state} rows={first} />}
      {!isOpen && first.length < count && (
        <Form isForReaders label={t('rollouts.more', { count: figure(count - first.length, 0) })} submission={open}>
          {null}
        </Form>
      )}
    </section>
  )
}

function AllTargets({ id, state, count, first }: OfState) {
  const targets = usePages(useCallback((after?: Target) => fleetApi.targets(id, state, after), [id, state]))
  // Read again once there are more or fewer: a station is in one state only.
  useEffect(() => void targets.again(), [count, targets.again])
  return (
    <>
      <TargetTable state={state} rows={targets.value?.rows ?? first} />
      <More of={targets} label={t('pages.more')} />
    </>
  )
}

const TargetTable = ({ state, rows }: Pick<Target, 'state'> & { rows: readonly Target[] }) => (
  <DataTable
    label={word('rollouts.target', state)}
    rows={rows}
    keyOf={({ serial }) => serial}
    columns={[
      {
        name: t('station.serial'),
        isHead: true,
        cell: ({ serial }) => <a href={`#/station/${encodeURIComponent(serial)}`}>{serial}</a>,
      },
      { name: t('rollouts.wave'), isNumber: true, cell: ({ wave }) => wave + 1 },
      { name: t('rollouts.reason'), cell: ({ reason }) => reason },
    ]}
  />
)
