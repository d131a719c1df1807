import { Card } from '../../../../../runtime/lib/page/ui/parts/card.js'
import { at } from '../../../../../runtime/lib/page/ui/station/document.js'
import { MessagesCard } from '../../../../../runtime/lib/page/ui/station/messages-card.js'
import { t } from '../i18n/index.js'
import { OutputCard } from '../parts/output-card.js'
import { DayPlot, dayOf, dayTitle, useDay } from '../parts/plots/day-plot.js'
import { document$ } from '../station/live.js'

const loadDay = dayOf(['rtcm-rate', 'epochs'])
/** Every message, how often it should come and how often it does. */
export function RtcmPage() {
  const document = document$.value
  const day = useDay(loadDay)
  if (!document) return <p>{t('app.connecting')}</p>
  if (at(document, 'gnss.rtcm') === undefined) return <p>{t('rtcm.missing')}</p>
  return (
    <>
      <MessagesCard document={document} />
      <OutputCard />
      <Card title={dayTitle(t('rtcm.day'), day.value)}>
        <DayPlot
          title={t('rtcm.rateDay')}
          of={day}
          least={0}
          curves={[{ figure: 'rtcm-rate', label: t('rtcm.rate'), unit: 'B/s', digits: 0, colour: 'main' }]}
        />
        <DayPlot
          title={t('rtcm.epochsDay')}
          of={day}
          least={0}
          curves={[{ figure: 'epochs', label: t('rtcm.epochs'), unit: '1/s', digits: 2, colour: 'galileo' }]}
        />
      </Card>
    </>
  )
}
