import { moment, t } from '../i18n/index.js'
import { Card } from '../parts/card.js'
import { listAt, type StationError } from '../station/document.js'
import { document$ } from '../station/live.js'

/** Code of an error → the page where it can be mended; the first that fits. */
const homes: readonly (readonly [RegExp, string])[] = [
  [/^gnss-survey/, 'survey'],
  [/^(antenna-|gnss-signals|receiver-jam|receiver-spoof)/, 'sky'],
  [/^gnss-(moved|reference|initial)/, 'positions'],
  [/^gnss-/, 'procedure'],
  [/^(mqtt|ntrip|rtcm|recovery)/, 'links'],
  [/^(network|radio|wap|sta|eth|router|modem|mdns)/, 'network'],
  [/^update/, 'update'],
  [/^plugin/, 'plugins'],
  [/^change/, 'settings'],
  [/^log/, 'logs'],
]

export function ErrorsPage() {
  const errors = listAt<StationError>(document$.value, 'base.state.errors')
  if (errors.length === 0) return <p>{t('errors.none')}</p>
  return (
    <>
      {[...errors].reverse().map(({ code, text, t: since }) => {
        const [what = '', ...remedies] = text.split('; ')
        const home = homes.find(([pattern]) => pattern.test(code))?.[1]
        return (
          <Card key={code} title={what}>
            {remedies.map((remedy) => (
              <p key={remedy}>{remedy}</p>
            ))}
            <p class="quiet">
              {t('errors.since', { time: moment(since) })} · <code>{code}</code>
            </p>
            {home && <a href={`#/${home}`}>{t('errors.mend')}</a>}
          </Card>
        )
      })}
    </>
  )
}
