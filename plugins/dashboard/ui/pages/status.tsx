import { t } from '../i18n/index.js'
import { Card } from '../parts/card.js'
import { verdict } from '../station/live.js'

/** The verdict in full, and the chain from the antenna to the rovers. */
export function StatusPage() {
  const now = verdict.value
  return (
    <Card title={t('page.status')}>
      <p>{now?.why}</p>
      {now?.advice && <p>{now.advice}</p>}
    </Card>
  )
}
