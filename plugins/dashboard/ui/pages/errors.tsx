import { moment, said, t } from '../i18n/index.js'
import { pageOf } from '../model/errors.js'
import { Card } from '../parts/card.js'
import { listAt, type StationError } from '../station/document.js'
import { document$, verdict } from '../station/live.js'

/** Not every reason of the verdict is an error that a plugin reports. */
function NoError() {
  const now = verdict.value
  return (
    <>
      <p>{t('errors.none')}</p>
      {now && now.fitness !== 'fit' && (
        <Card title={t(`verdict.${now.fitness}`)}>
          <p>{said(now.why)}</p>
          {now.advice && <p>{said(now.advice)}</p>}
        </Card>
      )}
    </>
  )
}

export function ErrorsPage() {
  const errors = listAt<StationError>(document$.value, 'base.state.errors')
  if (errors.length === 0) return <NoError />
  return (
    <>
      {[...errors].reverse().map(({ code, text, t: since }) => {
        const [what = '', ...remedies] = text.split('; ')
        const home = pageOf(code)
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
