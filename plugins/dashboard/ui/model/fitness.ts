/** The verdict of a day as a band. Pure. */
import type { Values } from './series.js'

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
