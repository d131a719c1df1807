/** Options of uPlot: scales, axes in the reader's notation, lines distinguishable without colour. */

import { useEffect, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { duration, figure, locale } from '../../i18n/index.js'
import type { Values } from '../../model/series.js'
import { theme } from '../../theme.js'

export interface Curve {
  readonly label: string
  readonly values: Values
  readonly unit: string
  readonly digits: number
  /** A custom property of the theme, e.g. `--main`. */
  readonly colour: string
  readonly isStepped?: boolean
}

export interface PlotKind {
  /** Times are UTC seconds; else seconds since the beginning. */
  readonly isClock: boolean
  readonly isLog?: boolean
  /** At least this much is shown. */
  readonly least?: number
  readonly most?: number
}

const dashes: readonly (number[] | undefined)[] = [undefined, [7, 4], [2, 3], [10, 3, 2, 3]]
export const dashOf = (at: number): number[] | undefined => dashes[at % dashes.length]
const height_px = 220

export interface PlotSetup extends PlotKind {
  readonly curves: readonly Curve[]
  readonly width: number
  /** The index under the cursor; undefined: none. */
  readonly point: (at: number | undefined) => void
}

export function plotOptions({ curves, isClock, isLog, least, most, point, width }: PlotSetup): uPlot.Options {
  const axis = { stroke: colourOf('--quiet'), grid: { stroke: colourOf('--line'), width: 1 }, ticks: { show: false } }
  const range = (_plot: uPlot, low: number | null, high: number | null): [number, number] =>
    linearRange(low ?? 0, high ?? 1, least, most)
  return {
    width,
    height: height_px,
    padding: [10, 26, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: {
      x: { time: isClock },
      y: isLog ? { distr: 3, log: 10, range: logRange } : { range },
    },
    axes: [
      {
        ...axis,
        space: 70,
        size: 30,
        values: (_plot, splits, _axis, _space, step) => splits.map((at) => timeText(at, isClock, step)),
      },
      {
        ...axis,
        size: 58,
        ...(isLog && { filter: (_plot: uPlot, splits: number[]) => splits }),
        values: (_plot, splits, _axis, _space, step) =>
          isLog ? logTexts(splits) : splits.map((value) => figure(value, Math.min(3, digitsOf(step)))),
      },
    ],
    series: [
      {},
      ...curves.map(({ colour, isStepped, label }, at): uPlot.Series => {
        const dash = dashOf(at)
        return {
          label,
          stroke: colourOf(colour),
          width: 2,
          ...(dash && { dash }),
          ...(isStepped && { paths: stepped }),
          points: { show: false },
          spanGaps: false,
        }
      }),
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => point(idx ?? undefined)] },
  }
}

/** @param step interval of the shown times, seconds: whether to show seconds */
export function timeText(at: number, isClock: boolean, step = 60): string {
  if (!isClock) return duration(at)
  return new Intl.DateTimeFormat(locale(), {
    hour: '2-digit',
    minute: '2-digit',
    ...(step < 60 && { second: '2-digit' }),
  }).format(at * 1_000)
}

/** Decimals that tell two values apart. */
const digitsOf = (step: number) => Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))

/** A value at a time stays until the next one. */
const stepped: uPlot.Series.PathBuilder = (plot, at, from, to) => steps?.(plot, at, from, to) ?? null
let steps: uPlot.Series.PathBuilder | undefined
/** Path builders come with the library, which is loaded later. */
export const setSteps = (library: typeof uPlot): void => {
  steps ??= library.paths.stepped?.({ align: 1 })
}

/** Limits the zoom to a useful range. */
function linearRange(low: number, high: number, least?: number, most?: number): [number, number] {
  const [from, to] = [Math.min(low, least ?? low), Math.max(high, most ?? high)]
  const room = (to - from || Math.abs(to) || 1) * 0.08
  return [
    least !== undefined && low >= least ? least : from - room,
    most !== undefined && high <= most ? most : to + room,
  ]
}

/** Whole decades look empty: half of one on both sides is enough. */
function logRange(_plot: uPlot, low: number | null, high: number | null): [number, number] {
  return [(low ?? 0.1) / 1.5, (high ?? 10) * 1.5]
}

const fewLabels = 6

/** All of them while there are few, else 1, 2 and 5. */
function logTexts(splits: readonly (number | null)[]): string[] {
  const isFew = splits.filter((value) => value !== null).length <= fewLabels
  return splits.map((value) => {
    if (value === null) return ''
    const first = Number(value.toExponential().split('e')[0])
    const isShown = isFew || [1, 2, 5].some((wanted) => Math.abs(first - wanted) < 1e-6)
    return isShown ? String(Number(value.toPrecision(2))) : ''
  })
}

export const colourOf = (property: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(property).trim() || '#777'

/** Changes whenever the colours do. */
export function useScheme(): string {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches)
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)')
    const look = () => setDark(query.matches)
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return `${theme.value} ${isDark}`
}
