/** Curves of the day for a plot and for its table. Pure. */
import type { Values } from '../../../../../runtime/lib/page/ui/model/curves.js'
import type { HistorySeries } from '../station/api.js'

/** UTC seconds of each value, oldest first: the newest one is of now. Without a credible clock they count back from 0. */
export function timesOf({ t, interval_s, figures }: HistorySeries): number[] {
  const length = Math.max(0, ...Object.values(figures).map((values) => values.length))
  return Array.from({ length }, (_, at) => t - (length - 1 - at) * interval_s)
}

export const day_s = 86_400

/** Seconds that the curves cover: a station that has just started has no day yet. */
export const coverage_s = (series: HistorySeries): number =>
  Math.min(day_s, Math.max(0, timesOf(series).length - 1) * series.interval_s)

/** Whole percents that add up to 100: the largest remainders are rounded up. Of nothing: zeros. */
export function percentsOf(parts: readonly number[]): readonly number[] {
  const sum = parts.reduce((all, one) => all + one, 0)
  if (sum === 0) return parts.map(() => 0)
  const exact = parts.map((one) => (one / sum) * 100)
  const whole = exact.map(Math.floor)
  const left = 100 - whole.reduce((all, one) => all + one, 0)
  const byRemainder = exact.map((one, at) => [one % 1, at] as const).sort(([a], [b]) => b - a)
  for (const [, at] of byRemainder.slice(0, left)) whole[at] = (whole[at] ?? 0) + 1
  return whole
}

/** A whole percent; of what occurred, so zero is less than half of one. */
export const shareText = (percent: number): string => (percent === 0 ? '< 1 %' : `${percent} %`)

export const hasValues = (values: Values | undefined): values is Values =>
  values?.some((value) => value !== null) === true

export const fitnessNames = ['unfit', 'degraded', 'fit', 'unknown'] as const
export type FitnessName = (typeof fitnessNames)[number]

export interface Segment {
  readonly fitness: FitnessName
  /** Values from the oldest one on. */
  readonly from: number
  readonly length: number
}

/** A value between two is the mean of several samples: the worse one is shown. */
const fitnessOf = (value: number | null): FitnessName =>
  value === null ? 'unknown' : (fitnessNames[Math.max(0, Math.min(2, Math.floor(value)))] as FitnessName)

export function segmentsOf(values: Values): readonly Segment[] {
  const segments: Segment[] = []
  for (const [at, value] of values.entries()) {
    const fitness = fitnessOf(value)
    const last = segments.at(-1)
    if (last?.fitness === fitness) segments[segments.length - 1] = { ...last, length: last.length + 1 }
    else segments.push({ fitness, from: at, length: 1 })
  }
  return segments
}

/** Percents of the time that is known, of each; those that did not occur are left out. */
export function sharesOf(values: Values): readonly (readonly [FitnessName, number])[] {
  const known = values.filter((value) => value !== null).map(fitnessOf)
  const counts = fitnessNames.map((name) => known.filter((one) => one === name).length)
  const percents = percentsOf(counts)
  return fitnessNames.flatMap((name, at) => (counts[at] ? [[name, percents[at] ?? 0] as const] : [])).reverse()
}
