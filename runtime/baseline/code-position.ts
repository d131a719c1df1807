/** The place of a station by its own ranges: right to some metres, to begin with, and to find a wrong announced position. */
import type { Ecef } from '../../schemas/services.js'
import { carrier_hz, median } from '../gnss/index.js'
import { Place, type SentEpoch } from './geometry.js'
import { inverse, product } from './linear.js'
import type { Steps } from './steps.js'

const mask_deg = 10
const rounds = 8
const settled_m = 0.01
/** Farther from the median of its constellation than this many times the median distance, a range is left out. */
const outlier = 6
const leastRows = 12

interface Row {
  /** Epoch and constellation: one clock. */
  readonly clock: string
  readonly sight: readonly [number, number, number]
  readonly left_m: number
}

/**
 * Least squares over all epochs, with a clock for each epoch and constellation.
 * @param start anywhere near the surface of the Earth, ECEF metres
 * @returns undefined: too few ranges, or they contradict each other
 */
export function* codePosition(epochs: readonly SentEpoch[], start: Ecef): Steps<Ecef | undefined> {
  let ecef = start
  for (let round = 0; round < rounds; round++) {
    const step = yield* stepFrom(epochs, ecef, round < 3)
    if (!step) return undefined
    ecef = { x: ecef.x + step[0], y: ecef.y + step[1], z: ecef.z + step[2] }
    if (Math.hypot(...step) < settled_m) return ecef
  }
  return undefined
}

/** @param isFar satellites of any elevation count: the directions are not known yet */
function* stepFrom(epochs: readonly SentEpoch[], ecef: Ecef, isFar: boolean): Steps<Float64Array | undefined> {
  const place = new Place(ecef)
  const rows: Row[] = []
  for (const [index, { satellites }] of epochs.entries()) {
    for (const sent of satellites) {
      const computed = place.computed(sent, isFar ? 0 : mask_deg)
      const range_m = withoutIonosphere(sent.observed)
      if (!computed || range_m === undefined) continue
      const clock = `${index} ${sent.observed.constellation}`
      rows.push({ clock, sight: computed.sight, left_m: range_m - computed.range_m })
    }
    yield
  }
  const kept = isFar ? rows : withoutOutliers(rows)
  if (kept.length < leastRows) return undefined
  const matrix = new Float64Array(9)
  const right = new Float64Array(3)
  for (const own of byClock(kept)) {
    const mean = [0, 1, 2].map((axis) => own.reduce((sum, { sight }) => sum + sight[axis], 0) / own.length)
    const middle_m = own.reduce((sum, { left_m }) => sum + left_m, 0) / own.length
    for (const { sight, left_m } of own) {
      for (let p = 0; p < 3; p++) {
        right[p] -= (sight[p] - mean[p]) * (left_m - middle_m)
        for (let q = 0; q < 3; q++) matrix[3 * p + q] += (sight[p] - mean[p]) * (sight[q] - mean[q])
      }
    }
  }
  const covariance = inverse(matrix, 3)
  return covariance && product(covariance, right, 3)
}

function withoutOutliers(rows: readonly Row[]): Row[] {
  return byClock(rows).flatMap((own) => {
    const middle = median(own.map(({ left_m }) => left_m))
    const spread = Math.max(1, median(own.map(({ left_m }) => Math.abs(left_m - middle))))
    return own.filter(({ left_m }) => Math.abs(left_m - middle) <= outlier * spread)
  })
}

/** The combination of two frequencies without the ionosphere; undefined with one frequency. */
function withoutIonosphere({
  constellation,
  signals,
}: SentEpoch['satellites'][number]['observed']): number | undefined {
  const [first] = signals
  const hz = (band: string) => carrier_hz(constellation, band) ?? 0
  const second = first && signals.find(({ band }) => Math.abs(hz(band) - hz(first.band)) > 200e6)
  if (!first || !second) return undefined
  const ratio = (hz(first.band) / hz(second.band)) ** 2
  return (ratio * first.code_m - second.code_m) / (ratio - 1)
}

function byClock(rows: readonly Row[]): Row[][] {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const own = groups.get(row.clock)
    if (own) own.push(row)
    else groups.set(row.clock, [row])
  }
  return [...groups.values()]
}
