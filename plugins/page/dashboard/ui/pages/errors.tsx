import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { Empty } from '../../../../../runtime/lib/page/ui/parts/empty.js'
import { errorsOf } from '../../../../../runtime/lib/page/ui/station/document.js'
import { t } from '../i18n/index.js'
import { adviceText, whyText } from '../i18n/plugin-texts.js'
import { FaultList, MendReason } from '../parts/faults.js'
import { document$, verdict } from '../station/live.js'

/** Not every reason of the verdict is an error that a plugin reports. */
function NoError() {
  const now = verdict.value
  const isFit = !now || now.fitness === 'fit'
  return (
    <Card title={t('page.errors')} isPage>
      {isFit && <Empty drawing="quiet">{t('errors.none')}</Empty>}
      {!isFit && <p>{`${whyText(now)} ${adviceText(now)}`}</p>}
      {!isFit && <MendReason />}
      <Past />
    </Card>
  )
}

export function ErrorsPage() {
  const document = document$.value
  const errors = errorsOf(document)
  if (!document || errors.length === 0) return <NoError />
  return (
    <Card title={t('page.errors')} isPage>
      <FaultList errors={[...errors].reverse()} document={document} />
      <Past />
    </Card>
  )
}

/** Errors that are over are found by their time. */
const Past = () => (
  <p>
    <a class="target" href="#/timeline">
      {t('errors.timeline')}
    </a>
  </p>
)
