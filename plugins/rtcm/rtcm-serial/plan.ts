/**
 * Selects the part of the stream that fits the line. Pure. Messages are skipped from the end of this list upwards:
 *
 * | rank | messages                                        |
 * |------|-------------------------------------------------|
 * | 0    | 1005, 1006: the position                        |
 * | 1    | MSM of GPS, 1004                                |
 * | 2    | MSM of Galileo                                  |
 * | 3    | MSM of GLONASS, 1012, 1230                      |
 * | 4    | MSM of BeiDou                                   |
 * | 5    | MSM of the others (QZSS, SBAS, NavIC)           |
 * | 6    | 1033, 1008 etc.: receiver and antenna           |
 * | 7    | ephemerides, and messages not in this list      |
 */
import { constellationOf, isObservation, isReferencePoint, legacyConstellation } from 'rtk-base/gnss'

const antennaTypes = [1007, 1008, 1013, 1029, 1032, 1033]
const systemRanks: Readonly<Record<string, number>> = { GPS: 1, Galileo: 2, GLONASS: 3, BeiDou: 4 }

export function rankOf(type: number): number {
  if (isReferencePoint(type)) return 0
  if (isObservation(type)) return systemRanks[constellationOf(type) ?? legacyConstellation(type) ?? ''] ?? 5
  if (type === 1230) return 3
  return antennaTypes.includes(type) ? 6 : 7
}

/** One way to thin the stream. */
export interface Step {
  /** Messages up to this rank. */
  rank: number
  /** MSM5–7 as MSM4. */
  msm4: boolean
  /** Seconds between two epochs; 0: all. */
  epoch_s: number
  /** Seconds between two of the same message that belongs to no epoch; 0: all. One with another content goes out at once. */
  other_s: number
  text: string
}

const step = (rank: number, msm4: boolean, epoch_s: number, other_s: number, text: string): Step => ({
  rank,
  msm4,
  epoch_s,
  other_s,
  text,
})

/** Tried in this order; the first that fits is used. */
export const steps: readonly Step[] = [
  step(7, false, 0, 0, 'everything'),
  step(7, true, 0, 0, 'MSM4'),
  step(6, true, 0, 0, 'MSM4, no ephemerides'),
  step(6, true, 1, 10, 'MSM4 each second'),
  step(5, true, 1, 10, 'MSM4 each second, no 1033 and 1008'),
  step(4, true, 1, 10, 'GPS, Galileo, GLONASS, BeiDou each second'),
  step(3, true, 1, 10, 'GPS, Galileo, GLONASS each second'),
  step(2, true, 1, 10, 'GPS, Galileo each second'),
  step(1, true, 1, 10, 'GPS each second'),
  ...[2, 5, 10, 15, 30].map((epoch_s) => step(1, true, epoch_s, 10, `GPS each ${epoch_s} s`)),
]

/** Text of a step for old rovers: the legacy messages that it sends. */
export const legacyText = ({ text }: Step): string =>
  text.replace('MSM4', '1004 and 1012').replace(/, (Galileo|BeiDou)/g, '')

/** Measured rate of one message. */
export interface Measured {
  count: number
  bytes: number
  /** Bytes as MSM4; the same as `bytes` where it is none. */
  msm4_bytes: number
}

/** Bytes a second of a step, for a stream that was measured for so long. */
export function loadOf(
  { rank, msm4, epoch_s, other_s }: Step,
  measured: ReadonlyMap<number, Measured>,
  epochs: number,
  seconds: number,
): number {
  const epochInterval_s = seconds / Math.max(1, epochs)
  let sum = 0
  for (const [type, { count, bytes, msm4_bytes }] of measured) {
    if (rankOf(type) > rank) continue
    const isEpoch = isObservation(type)
    const interval_s = isEpoch ? epochInterval_s : seconds / Math.max(1, count)
    const least_s = isEpoch ? epoch_s : other_s
    sum += ((msm4 ? msm4_bytes : bytes) / seconds) * Math.min(1, interval_s / Math.max(interval_s, least_s))
  }
  return sum
}

/** The number of the first step that fits; the last one where none does. */
export function fittingStep(
  budget: number,
  measured: ReadonlyMap<number, Measured>,
  epochs: number,
  seconds: number,
): number {
  const first = steps.findIndex((one) => loadOf(one, measured, epochs, seconds) <= budget)
  return first < 0 ? steps.length - 1 : first
}
