/** Curves over time. uPlot is loaded with the first curve; a table shows the same data. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { figure, language, moment, t } from '../../i18n/index.js'
import { extentOf, thinned, type Values } from '../../model/series.js'
import { DataTable } from '../data-table.js'
import { type Curve, dashOf, type PlotKind, plotOptions, setSteps, timeText, useScheme } from './plot-options.js'

const tableRows = 25

export function TimePlot(props: PlotKind & { title: string; times: readonly number[]; curves: readonly Curve[] }) {
  const { curves, isClock, isLog, least, most, times, title } = props
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const newest = useRef<uPlot.AlignedData>([[]])
  const [under, setUnder] = useState<number>()
  const scheme = useScheme()
  const shape = `${scheme} ${language.value} ${isClock} ${isLog} ${least} ${most} ${curves.map(({ label }) => label).join('|')}`
  newest.current = [times as number[], ...curves.map(({ values }) => (isLog ? positive(values) : [...values]))]

  // `shape` contains everything that requires a new plot.
  useEffect(() => {
    const element = place.current
    if (!element) return
    let isGone = false
    let sizes: ResizeObserver | undefined
    void import('uplot').then(({ default: Plot }) => {
      if (isGone) return
      setSteps(Plot)
      const point = (at: number | undefined) => setUnder(at)
      const kind = {
        isClock,
        ...(isLog && { isLog }),
        ...(least !== undefined && { least }),
        ...(most !== undefined && { most }),
      }
      const made = new Plot(
        plotOptions({ curves, width: element.clientWidth || 300, point, ...kind }),
        newest.current,
        element,
      )
      plot.current = made
      sizes = new ResizeObserver(() => {
        const { clientWidth: width } = element
        if (width > 0 && width !== made.width) made.setSize({ width, height: made.height })
      })
      sizes.observe(element)
    })
    return () => {
      isGone = true
      sizes?.disconnect()
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [shape])
  useEffect(() => plot.current?.setData(newest.current))

  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <Legend curves={curves} at={under} time={under === undefined ? undefined : times[under]} isClock={isClock} />
      <div ref={place} class="plot-area" role="img" aria-label={`${title}. ${summary(curves)}`} />
      <Numbers title={title} times={times} curves={curves} isClock={isClock} />
    </figure>
  )
}

/** Values of the moment under the cursor, else the newest. */
function Legend(props: {
  curves: readonly Curve[]
  at: number | undefined
  time: number | undefined
  isClock: boolean
}) {
  const { at, curves, isClock, time } = props
  return (
    <ul class="legend">
      {curves.map(({ colour, digits, label, unit, values }, index) => (
        <li key={label}>
          <svg class="swatch" viewBox="0 0 28 8" aria-hidden="true">
            <path
              d="M0 4H28"
              class={`stroke${colour.replace('--', '-')}`}
              stroke-width="3"
              stroke-dasharray={dashOf(index)?.join(' ') ?? 'none'}
            />
          </svg>
          {label} <strong>{figure(values.at(at ?? -1) ?? undefined, digits, unit)}</strong>
        </li>
      ))}
      {time !== undefined && <li class="quiet">{timeText(time, isClock)}</li>}
    </ul>
  )
}

function Numbers(props: { title: string; times: readonly number[]; curves: readonly Curve[]; isClock: boolean }) {
  const { curves, isClock, times, title } = props
  const [isOpen, setOpen] = useState(false)
  const columns = [
    {
      name: t('plot.time'),
      isHead: true,
      cell: (at: number) => (isClock ? moment(times[at] ?? 0) : timeText(times[at] ?? 0, false)),
    },
    ...curves.map(({ digits, label, unit, values }) => ({
      name: label,
      isNumber: true,
      cell: (at: number) => figure(values[at] ?? undefined, digits, unit),
    })),
  ]
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('plot.table')}</summary>
      {isOpen && (
        <DataTable
          label={title}
          columns={columns}
          rows={[...thinned(times.length, tableRows)].reverse()}
          keyOf={(at) => times[at] ?? at}
        />
      )}
    </details>
  )
}

/** Nothing at or below zero has a place on a logarithmic scale. */
const positive = (values: Values) => values.map((value) => (value !== null && value > 0 ? value : null))

const summary = (curves: readonly Curve[]): string =>
  curves
    .map(({ digits, label, unit, values }) => {
      const extent = extentOf(values)
      if (!extent) return `${label}: –`
      const { least, most, last } = extent
      return t('plot.summary', {
        label,
        least: figure(least, digits),
        most: figure(most, digits, unit),
        last: figure(last, digits, unit),
      })
    })
    .join(' ')
