/** Receiver positions during a survey-in, around their mean: metres, north up, with a scale bar. A map is useless at centimetres. */

import type { Enu } from '../../../../../../runtime/lib/gnss/geodesy.js'
import { t } from '../../i18n/index.js'
import { lengthText } from '../../i18n/lengths.js'
import { roundBelow } from '../../model/gnss/geodesy.js'
import type { Scatter } from '../../model/gnss/survey.js'

const half = 160

export function ScatterPlot({ scatter, acc_m, live }: { scatter: Scatter; acc_m: number; live: Enu | undefined }) {
  const { means, positions } = scatter
  const away = live ? Math.max(Math.abs(live.east), Math.abs(live.north)) * 1.1 : 0
  const reach_m = Math.max(scatter.reach_m, away)
  const perMetre = half / reach_m
  const at = ({ east, north }: Enu) => `${(east * perMetre).toFixed(1)} ${(-north * perMetre).toFixed(1)}`
  const bar_m = roundBelow(reach_m * 0.6)
  const bar = bar_m * perMetre
  const label = t('survey.scatterText', {
    count: positions.length,
    reach: lengthText(Number(reach_m.toPrecision(2))),
    acc: lengthText(Number(acc_m.toPrecision(3))),
  })
  return (
    <svg class="square" viewBox={`${-half} ${-half} ${2 * half} ${2 * half}`} role="img" aria-label={label}>
      <rect class="ground" x={-half} y={-half} width={2 * half} height={2 * half} />
      <path class="grid" d={`M${-half} 0H${half}M0 ${-half}V${half}`} />
      <path class="dots" d={positions.map((position) => `M${at(position)}h0`).join('')} />
      <polyline class="trail" points={means.map((mean) => at(mean).replace(' ', ',')).join(' ')} />
      <circle class="accuracy" r={acc_m * perMetre} />
      <path class="mean" d="M-9 0H9M0 -9V9" />
      {live && <path class="live" d={diamond(live.east * perMetre, -live.north * perMetre)} />}
      <g class="scale">
        <path d={`M${-half + 12} ${half - 18}v6h${bar.toFixed(1)}v-6`} />
        <text x={-half + 12} y={half - 24}>
          {lengthText(bar_m)}
        </text>
        <text x={4} y={-half + 14}>
          N
        </text>
      </g>
    </svg>
  )
}

const diamond = (x: number, y: number) => `M${x.toFixed(1)} ${(y - 8).toFixed(1)}l8 8l-8 8l-8 -8Z`
