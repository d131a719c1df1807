import { t } from '../i18n/index.js'
import { Card } from '../parts/card.js'
import { session } from '../station/api.js'

/** Who may look, and who may change. */
export function AccessPage() {
  const isOpen = session.value?.login === false
  return (
    <Card title={t('page.access')}>
      <p>{t(isOpen ? 'access.open' : 'access.closed')}</p>
    </Card>
  )
}
