/** The panel of the epoch meter on the station's page. */
import { at, Card, panelOf } from 'rtk-base/page/ui'
import { Meter } from './meter.js'
import { t } from './texts.js'

export const show = panelOf(({ document }) => (
  <Card title={t('title')} isPage>
    <Meter counts={at(document, 'epoch-meter') as Parameters<typeof Meter>[0]['counts']} />
  </Card>
))
