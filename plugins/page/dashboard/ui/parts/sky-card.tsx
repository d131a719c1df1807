import { Card, FigureList } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { numberAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { figure, t } from '../i18n/index.js'
import { meanCno } from '../model/guide.js'
import { document$, satellites } from '../station/live.js'
import { SkyGlance } from './plots/sky-plot.js'

/** The sky at a glance, and the way to its page. */
export function SkyCard() {
  const document = document$.value
  const used = figure(numberAt(document, 'gnss.state.satuse'), 0)
  const seen = figure(numberAt(document, 'gnss.state.satvis'), 0)
  const delta = numberAt(document, 'gnss.pos.t') ? numberAt(document, 'gnss.pos.delta') : undefined
  return (
    <Card title={t('page.sky')}>
      <FigureList
        rows={[
          [t('status.satellites'), `${used} / ${seen}`],
          [t('status.signal'), figure(meanCno(satellites.value), 1, 'dB-Hz')],
          [t('status.distance'), (delta ?? 0) > 0 && figure(delta, 2, 'm')],
        ]}
      />
      <div class="glance">
        <SkyGlance satellites={satellites.value} />
      </div>
      <a href="#/sky">{t('status.toSky')}</a>
    </Card>
  )
}
