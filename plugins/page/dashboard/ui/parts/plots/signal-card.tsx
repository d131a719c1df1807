import { Card } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { t } from '../../i18n/index.js'
import { hasValues } from '../../model/series.js'
import { type DayCurve, DayPlot, dayOf, dayTitle, useDay } from './day-plot.js'

const load = dayOf(['mobile-rssi', 'mobile-rsrp', 'mobile-rsrq', 'mobile-sinr', 'wifi-rssi'])

const strength: readonly DayCurve[] = [
  { figure: 'mobile-rsrp', label: 'RSRP', unit: 'dBm', digits: 0, colour: 'main' },
  { figure: 'mobile-rssi', label: 'RSSI', unit: 'dBm', digits: 0, colour: 'quiet' },
]
const quality: readonly DayCurve[] = [
  { figure: 'mobile-sinr', label: 'SINR', unit: 'dB', digits: 0, colour: 'main' },
  { figure: 'mobile-rsrq', label: 'RSRQ', unit: 'dB', digits: 0, colour: 'glonass' },
]
const wifi: readonly DayCurve[] = [{ figure: 'wifi-rssi', label: 'RSSI', unit: 'dBm', digits: 0, colour: 'main' }]

/** Signal of modem and WiFi over the last day. Hidden without data. */
export function SignalCard() {
  const day = useDay(load)
  const isKnown = (curves: readonly DayCurve[]) => curves.some(({ figure }) => hasValues(day.value?.figures[figure]))
  const plots = [
    { title: t('network.strength'), curves: strength },
    { title: t('network.quality'), curves: quality },
    { title: t('network.wifi'), curves: wifi },
  ].filter(({ curves }) => isKnown(curves))
  if (plots.length === 0) return null
  return (
    <Card title={dayTitle(t('network.day'), day.value)}>
      {plots.map(({ title, curves }) => (
        <DayPlot key={title} title={title} of={day} curves={curves} />
      ))}
    </Card>
  )
}
