import type { Values } from '../../../../../../runtime/lib/page/ui/model/curves.js'
import { t } from '../../i18n/index.js'
import { type FitnessName, segmentsOf, sharesOf, shareText } from '../../model/series.js'

/** The better, the higher: the colour is not the only sign. */
const heights: Readonly<Record<FitnessName, number>> = { fit: 30, degraded: 20, unfit: 10, unknown: 2 }

/** How fit the base was over the day, for a station without a record of its corrections. */
export function FitnessBand({ title, values }: { title: string; values: Values }) {
  const { length } = values
  const words = sharesOf(values).map(([name, share]) => `${t(`verdict.${name}`)} ${shareText(share)}`)
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <div class="day-axis">
        <svg
          class="band"
          viewBox={`0 0 ${length} 30`}
          preserveAspectRatio="none"
          role="img"
          aria-label={words.join(', ')}
        >
          {segmentsOf(values).map(({ fitness, from, length }) => (
            <rect
              key={from}
              class={`fill-${fitness}`}
              x={from}
              y={30 - heights[fitness]}
              width={length}
              height={heights[fitness]}
            />
          ))}
        </svg>
      </div>
      <p class="quiet">{words.join(' · ')}</p>
    </figure>
  )
}
