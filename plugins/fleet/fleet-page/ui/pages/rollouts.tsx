import { useCallback, useEffect, useState } from 'preact/hooks'
import { duration, figure, moment, word } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card, FigureList, Tone, type ToneName } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { useLoaded, Waiting } from '../../../../../runtime/lib/page/ui/parts/loaded.js'
import { fleetApi, type Rollout, type RolloutState, type Target, type targetStates } from '../fleet/api.js'
import { may, newEntries } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { RolloutForm } from '../parts/rollout-form.js'
import { place } from '../place.js'

const again_ms = 3_000
/** Stations of one state that are listed; the rest is counted. */
const mostListed = 100
const tones: Readonly<Record<RolloutState, ToneName>> = {
  running: 'waiting',
  paused: 'warning',
  stopping: 'warning',
  stopped: 'broken',
  done: 'good',
}
const load = () => fleetApi.rollouts()

/** All rollouts; `?id=` one of them. */
export function RolloutsPage() {
  const id = Number(place.value.query.get('id') ?? 0)
  return id > 0 ? <OneRollout key={id} id={id} /> : <AllRollouts />
}

function AllRollouts() {
  const rollouts = useLoaded(load)
  const newest = newEntries.value.find(({ kind }) => kind === 'rollout')
  useEffect(() => rollouts.again(), [newest, rollouts.again])
  return (
    <>
      <Card title={t('rollouts.all')}>
        <Waiting of={rollouts}>
          {(found) =>
            found.length === 0 ? (
              <Empty drawing="quiet">{t('rollouts.none')}</Empty>
            ) : (
              <DataTable
                label={t('rollouts.all')}
                rows={found}
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
      </Card>
      {may('operator') && <RolloutForm />}
    </>
  )
}

const StateOf = ({ rollout: { state } }: { rollout: Rollout }) => (
  <Tone tone={tones[state]}>{word('rollouts.state', state)}</Tone>
)

const whatOf = ({ plan: { what } }: Rollout): string =>
  'image' in what ? `${what.version} (${what.image})` : JSON.stringify(what.change)

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
    found.again()
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
        {({ rollout, targets }) => (
          <>
            <Card title={rollout.name}>
              <p role="status">
                <StateOf rollout={rollout} /> {rollout.reason}
              </p>
              <FigureList
                rows={[
                  [t('rollouts.what'), <span class="changed">{whatOf(rollout)}</span>],
                  [t('rollouts.wave'), `${rollout.wave + 1} / ${Math.max(0, ...targets.map(({ wave }) => wave)) + 1}`],
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
            <Targets targets={targets} />
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
/** What needs attention first. */
const order = [
  'failed',
  'undone',
  'proving',
  'asked',
  'measuring',
  'waiting',
  'done',
] as const satisfies (typeof targetStates)[number][]

function Targets({ targets }: { targets: readonly Target[] }) {
  const [isAll, setAll] = useState(false)
  return (
    <Card title={t('rollouts.stations')}>
      {order.map((state) => {
        const own = targets.filter((target) => target.state === state)
        if (own.length === 0) return null
        const shown = isAll ? own : own.slice(0, mostListed)
        return (
          <section key={state}>
            <h3>
              <Tone tone={targetTones[state]}>
                {word('rollouts.target', state)}: {figure(own.length, 0)}
              </Tone>
            </h3>
            <DataTable
              label={word('rollouts.target', state)}
              rows={shown}
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
            {shown.length < own.length && (
              <button type="button" onClick={() => setAll(true)}>
                {t('rollouts.more', { count: figure(own.length - shown.length, 0) })}
              </button>
            )}
          </section>
        )
      })}
    </Card>
  )
}
