import { Card } from '../../../../../runtime/ui/parts/card.js'
import { t } from '../../i18n/index.js'
import { hasValues } from '../../model/series.js'
import { CnoPlot, DayPlot, dayOf, useDay } from './day-plot.js'
import { FitnessBand } from './fitness-band.js'

const load = dayOf(['fitness', 'satellites-used', 'satellites-seen', 'cno-l1', 'cno-l2'])

/** The last day at a glance. */
export function DayCard() {
  const day = useDay(load)
  const fitness = day.value?.figures.fitness
  return (
    <Card title={t('day.title')}>
      {hasValues(fitness) && fitness.length > 1 && <FitnessBand title={t('day.fitness')} values={fitness} />}
      <DayPlot
        title={t('day.satellites')}
        of={day}
        least={0}
        curves={[
          { figure: 'satellites-used', label: t('day.used'), unit: '', digits: 0, colour: 'main' },
          { figure: 'satellites-seen', label: t('day.seen'), unit: '', digits: 0, colour: 'quiet' },
        ]}
      />
      <CnoPlot of={day} />
    </Card>
  )
}
