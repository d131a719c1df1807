/** Daily offsets of a station as curves, and the hours of an acceptance test. Pure. */
import type { Values } from '../../../../../runtime/lib/page/ui/model/curves.js'
import { axes, type Day, type Enu } from '../fleet/net-api.js'

const day_s = 86_400

export interface OffsetCurves {
  readonly times: readonly number[]
  /** Millimetres. */
  readonly values: Readonly<Record<keyof Enu, Values>>
  readonly sigmas: Readonly<Record<keyof Enu, readonly number[]>>
}

/** @param days oldest first; one without a vector is missing there, and a gap here */
export function offsetCurves(days: readonly Day[]): OffsetCurves {
  const known = new Map(days.map((day) => [day.t, day]))
  const times: number[] = []
  for (const { t } of days) {
    const before = times.at(-1)
    if (before !== undefined && t - before > 1.5 * day_s) times.push(before + day_s)
    times.push(t)
  }
  const of = <T>(part: (day: Day | undefined, axis: keyof Enu) => T) =>
    Object.fromEntries(axes.map((axis) => [axis, times.map((t) => part(known.get(t), axis))])) as Record<keyof Enu, T[]>
  return {
    times,
    values: of((day, axis) => (day ? day.offset[axis] * 1_000 : null)),
    sigmas: of((day, axis) => (day ? day.sigma[axis] * 1_000 : 0)),
  }
}

/** The hours that an acceptance test may take. */
export const testHours = { least: 1, most: 71, usual: 24 } as const

/** Hours as entered; undefined: no test lasts that long. */
export function hoursFrom(text: string): number | undefined {
  const hours = /^\d{1,2}$/.test(text.trim()) ? Number(text) : 0
  return hours >= testHours.least && hours <= testHours.most ? hours : undefined
}
