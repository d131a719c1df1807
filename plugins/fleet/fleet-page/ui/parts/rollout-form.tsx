import { useMemo, useState } from 'preact/hooks'
import { figure } from '../../../../../runtime/lib/page/ui/i18n.js'
import { Action } from '../../../../../runtime/lib/page/ui/parts/action.js'
import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Field, Options, Switch } from '../../../../../runtime/lib/page/ui/parts/form/field.js'
import { fleetApi, type PlanRequest, type Preview } from '../fleet/api.js'
import { stations } from '../fleet/live.js'
import { t } from '../i18n/index.js'
import { countsOf } from '../model/filter.js'
import { canary, type EnteredPlan, exampleOf, planFrom } from '../model/plan.js'
import { ChosenSettings, useSettings } from './chosen-settings.js'

/** Serial numbers of a wave that are written out. */
const mostNamed = 30

/** A new rollout: what to whom, a preview, and only then the button that begins it. */
export function RolloutForm() {
  const [entered, setEntered] = useState<EnteredPlan>(canary)
  /** Of exactly what is entered. */
  const [preview, setPreview] = useState<{ plan: PlanRequest; found: Preview }>()
  const counts = useMemo(() => countsOf(stations.value), [stations.value])
  const set = (part: Partial<EnteredPlan>) => {
    setEntered({ ...entered, ...part })
    setPreview(undefined)
  }
  const example = useMemo(() => exampleOf(entered, stations.value), [entered, stations.value])
  const settings = useSettings(entered.what === 'change' ? (example?.serial ?? '') : '')
  const { parameters } = settings.known
  const field = (
    name: Exclude<keyof EnteredPlan, 'back' | 'change' | 'force' | 'position' | 'what'>,
    more: object = {},
  ) => ({
    label: t(`plan.${name}`),
    value: entered[name],
    set: (value: string) => set({ [name]: value }),
    ...more,
  })
  const look = async () => {
    const plan = planFrom(entered, parameters)
    if (typeof plan === 'string') throw new Error(t(`plan.wrong.${plan}`))
    setPreview({ plan, found: await fleetApi.preview(plan) })
    return ''
  }
  return (
    <Card title={t('plan.title')}>
      <Field {...field('name')} />
      <fieldset>
        <legend>{t('plan.whom')}</legend>
        <p class="quiet">{t('plan.whomText')}</p>
        <Field {...field('group', { suggest: counts.groups })} />
        <Field {...field('version', { suggest: counts.versions })} />
        <Field {...field('variant')} />
        <Field {...field('labels', { rows: 2, help: t('actions.labelsHelp') })} />
      </fieldset>
      <Options
        label={t('plan.what')}
        options={['change', 'image'] as const}
        textOf={(one) => t(`plan.what.${one}`)}
        value={entered.what}
        set={(what) => set({ what })}
      >
        {entered.what === 'change' ? (
          <>
            {!settings.isThere && (
              <p class="quiet">{settings.trouble || t(example ? 'loaded.waiting' : 'plan.nobody')}</p>
            )}
            {(['change', 'back'] as const).map((one) => (
              <ChosenSettings
                key={one}
                label={t(`plan.${one}`)}
                help={one === 'back' ? t('plan.backHelp') : undefined}
                known={parameters}
                chosen={entered[one]}
                set={(chosen) => set({ [one]: chosen })}
              />
            ))}
          </>
        ) : (
          <>
            <Field {...field('image', { help: t('plan.imageHelp') })} />
            <Field {...field('imageVersion')} />
          </>
        )}
      </Options>
      <fieldset>
        <legend>{t('plan.how')}</legend>
        <Field {...field('waves', { help: t('plan.wavesHelp') })} />
        <Field {...field('soak_min')} />
        <Field {...field('errors')} />
        <Field {...field('apart_km')} />
        <Field {...field('from', { kind: 'time' })} />
        <Field {...field('to', { kind: 'time' })} />
        {(['position', 'force'] as const).map((one) => (
          <Switch key={one} label={t(`plan.${one}`)} isOn={entered[one]} set={(isOn) => set({ [one]: isOn })} />
        ))}
      </fieldset>
      <div class="actions">
        <Action label={t('plan.preview')} run={look} isMain={!preview} />
      </div>
      {preview && <PreviewText found={preview.found} />}
      {preview && preview.found.waves.length > 0 && (
        <div class="actions">
          <Action
            label={t('plan.begin')}
            isMain
            caution={<p>{t('plan.beginText', { count: figure(preview.found.waves.flat().length, 0) })}</p>}
            run={async () => {
              const { id } = await fleetApi.begin(preview.plan)
              location.hash = `#/rollouts?id=${id}`
              return ''
            }}
          />
        </div>
      )}
    </Card>
  )
}

const named = (serials: readonly string[]): string =>
  serials.slice(0, mostNamed).join(', ') + (serials.length > mostNamed ? ', …' : '')

function PreviewText({ found: { neighbours, open, waits, waves } }: { found: Preview }) {
  if (waves.length === 0) return <p class="trouble">{t('preview.none')}</p>
  return (
    <div class="preview" role="status">
      <h3>{t('preview.title', { count: figure(waves.flat().length, 0) })}</h3>
      <ol class="waves">
        {waves.map((wave, at) => (
          <li key={at}>
            <strong>{figure(wave.length, 0)}</strong> <span class="quiet">{named(wave)}</span>
          </li>
        ))}
      </ol>
      {!open && <p>{t('preview.closed')}</p>}
      {waits.length > 0 && (
        <details>
          <summary>{t('preview.waits', { count: figure(waits.length, 0) })}</summary>
          <ul class="plain">
            {waits.slice(0, 200).map(({ serial, reason }) => (
              <li key={serial}>
                {serial}: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
      {neighbours.length > 0 && (
        <details>
          <summary>{t('preview.neighbours', { count: figure(neighbours.length, 0) })}</summary>
          <ul class="plain">
            {neighbours.map(([one = '', other = '']) => (
              <li key={`${one} ${other}`}>
                {one} – {other}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
