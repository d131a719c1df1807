/** Curves of the day for a plot and for its table. Pure. */
import type { HistorySeries } from '../station/api.js'

export type Values = readonly (number | null)[]

/** UTC seconds of each value, oldest first: the newest one is of now. Without a credible clock they count back from 0. */
export function timesOf({ t, interval_s, figures }: HistorySeries): number[] {
  const length = Math.max(0, ...Object.values(figures).map((values) => values.length))
  return Array.from({ length }, (_, at) => t - (length - 1 - at) * interval_s)
}

export const hasValues = (values: Values | undefined): values is Values =>
  values?.some((value) => value !== null) === true

/** Thins to a maximum number of rows, evenly, including the newest: for a readable table. */
export function thinned(length: number, most: number): readonly number[] {
  if (length <= most) return Array.from({ length }, (_, at) => at)
  const step = (length - 1) / (most - 1)
  return Array.from({ length: most }, (_, at) => Math.round(at * step))
}

export interface Extent {
  readonly least: number
  readonly most: number
  /** Undefined: nothing is known now. */
  readonly last: number | undefined
}

/** Undefined for a curve without a value. */
export function extentOf(values: Values): Extent | undefined {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return undefined
  return { least: Math.min(...known), most: Math.max(...known), last: values.at(-1) ?? undefined }
}

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

/** Share of the time that is known, 0 to 1, of each; those that did not occur are left out. */
export function sharesOf(values: Values): readonly (readonly [FitnessName, number])[] {
  const known = values.filter((value) => value !== null).map(fitnessOf)
  return fitnessNames
    .map((name) => [name, known.filter((one) => one === name).length / (known.length || 1)] as const)
    .filter(([, share]) => share > 0)
    .reverse()
}
