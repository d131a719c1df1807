/** The offset of a station by its neighbours, day by day; a table shows the same data. */
import { useState } from 'preact/hooks'
import { figure, locale } from '../../../../../runtime/lib/page/ui/i18n.js'
import { DataTable } from '../../../../../runtime/lib/page/ui/parts/data-table.js'
import { axes, type Day } from '../fleet/net-api.js'
import { t } from '../i18n/index.js'
import { offsetCurves } from '../model/offsets.js'
import { withSigma } from './net-words.js'
import { useSize } from './use-size.js'

const height = 220
const [left, right, top, bottom] = [58, 26, 10, 30]

/** A day of the fleet is one of UTC. */
const dayText = (t_s: number): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: 'UTC' }).format(t_s * 1_000)
const shortDay = (t_s: number): string =>
  new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(t_s * 1_000)

/** @param props.days at least two */
export function NetCurve({ days }: { days: readonly Day[] }) {
  const [{ width }, place] = useSize({ width: 600, height })
  const [isOpen, setOpen] = useState(false)
  const [inner, tall] = [Math.max(1, width - left - right), height - top - bottom]
  const { across, paths, up } = offsetCurves(days, inner, tall)
  const newest = days.at(-1)
  const summary = axes.map(
    (axis) => `${t(`net.${axis}`)}: ${newest ? figure(newest.offset[axis] * 1_000, 1, 'mm') : '–'}`,
  )
  return (
    <figure class="net-curve">
      <figcaption>{t('net.curve')}</figcaption>
      <ul class="legend">
        {axes.map((axis, at) => (
          <li key={axis}>
            <svg class="swatch" viewBox="0 0 28 16" aria-hidden="true">
              <path class={`curve curve-${axis}`} d="M0 8H28" />
            </svg>
            {summary[at]}
          </li>
        ))}
      </ul>
      <div ref={place} class="net-curve-area">
        <svg role="img" aria-label={`${t('net.curve')}. ${summary.join(', ')}`} width={width} height={height}>
          <g transform={`translate(${left} ${top})`}>
            {up.marks.map((mark) => (
              <g key={mark}>
                <path class="net-grid" d={`M0 ${(1 - up.at(mark)) * tall}h${inner}`} />
                <text class="mark value" x={-8} y={(1 - up.at(mark)) * tall}>
                  {figure(mark, Math.max(0, -Math.floor(Math.log10(up.step) + 1e-9)))}
                </text>
              </g>
            ))}
            {across.marks.map((mark) => (
              <g key={mark}>
                <path class="net-grid" d={`M${across.at(mark) * inner} 0v${tall}`} />
                <text class="mark" x={across.at(mark) * inner} y={tall + 20}>
                  {shortDay(mark)}
                </text>
              </g>
            ))}
            {axes.map((axis) => (
              <path key={axis} class={`curve curve-${axis}`} d={paths[axis]} />
            ))}
          </g>
        </svg>
      </div>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{t('net.table')}</summary>
        {isOpen && (
          <DataTable
            label={t('net.curve')}
            rows={[...days].reverse()}
            keyOf={(day) => day.t}
            columns={[
              { name: t('net.day'), isHead: true, cell: (day) => dayText(day.t) },
              ...axes.map((axis) => ({
                name: t(`net.${axis}`),
                isNumber: true,
                cell: ({ offset, sigma }: Day) => withSigma(offset[axis], sigma[axis]),
              })),
            ]}
          />
        )}
      </details>
    </figure>
  )
}
