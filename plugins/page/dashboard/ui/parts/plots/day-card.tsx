import type { Values } from '../../../../../../runtime/lib/page/ui/model/curves.js'
import { Card } from '../../../../../../runtime/lib/page/ui/parts/card.js'
import { t } from '../../i18n/index.js'
import { hasValues } from '../../model/series.js'
import { CauseBands, dayBands, loadDay } from './cause-bands.js'
import { CnoPlot, DayPlot, dayOf, dayTitle, useDay } from './day-plot.js'
import { FitnessBand } from './fitness-band.js'

const load = dayOf(['fitness', 'satellites-used', 'satellites-seen', 'cno-l1', 'cno-l2'])

const loadBands = () => loadDay()

/** The last day at a glance. @param props.hasBands false: the bands stand above already */
export function DayCard({ hasBands = true }: { hasBands?: boolean }) {
  const day = useDay(load)
  return (
    <Card title={dayTitle(t('day.title'), day.value)}>
      {hasBands && <DayBands fitness={day.value?.figures.fitness} />}
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

/** By the record of the corrections; by the fitness where there is none. */
function DayBands({ fitness }: { fitness: Values | undefined }) {
  const day = useDay(loadBands).value
  if (!day) return null
  if (day.spans)
    return (
      <figure class="plot">
        <figcaption>{t('day.corrections')}</figcaption>
        <CauseBands {...dayBands(day, day.spans)} />
      </figure>
    )
  return hasValues(fitness) && fitness.length > 1 ? <FitnessBand title={t('day.fitness')} values={fitness} /> : null
}
