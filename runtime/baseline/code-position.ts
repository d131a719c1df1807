/** The place of a station by its own ranges: right to some metres, to begin with, and to find a wrong announced position. */
import type { Ecef } from '../../schemas/services.js'
import { carrier_hz, median } from '../gnss/index.js'
import { Place, type SentEpoch } from './geometry.js'
import { inverse, product } from './linear.js'
import type { Steps } from './steps.js'

const radians = Math.PI / 180
const mask_deg = 10
const rounds = 12
/** Of them, with satellites of any elevation and all ranges. */
const roundsFar = 3
const settled_m = 3
/** Farther from the median of its clock than this many times the median distance, each by its weight, a range is left out. */
const outlier = 6
const leastRows = 12

interface Row {
  /** Epoch and constellation: one clock. */
  readonly clock: string
  readonly sight: readonly [number, number, number]
  readonly left_m: number
  /** Ranges near the horizon have several times the noise and multipath. */
  readonly weight: number
}

/**
 * Least squares over all epochs, weighted by elevation, with a clock for each epoch and constellation.
 * @param start anywhere near the surface of the Earth, ECEF metres
 * @returns undefined: too few ranges, or they contradict each other
 */
export function* codePosition(epochs: readonly SentEpoch[], start: Ecef): Steps<Ecef | undefined> {
  let ecef = start
  for (let round = 0; round < rounds; round++) {
    const isFar = round < roundsFar
    const step = yield* stepFrom(epochs, ecef, isFar)
    if (!step) return undefined
    ecef = { x: ecef.x + step[0], y: ecef.y + step[1], z: ecef.z + step[2] }
    if (!isFar && Math.hypot(...step) < settled_m) return ecef
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
      const weight = isFar ? 1 : Math.sin(computed.elevation_deg * radians) ** 2
      rows.push({ clock, sight: computed.sight, left_m: range_m - computed.range_m, weight })
    }
    yield
  }
  const kept = isFar ? rows : withoutOutliers(rows)
  if (kept.length < leastRows) return undefined
  const matrix = new Float64Array(9)
  const right = new Float64Array(3)
  for (const own of byClock(kept)) {
    const all = own.reduce((sum, { weight }) => sum + weight, 0)
    const mean = [0, 1, 2].map((axis) => own.reduce((sum, { sight, weight }) => sum + weight * sight[axis], 0) / all)
    const middle_m = own.reduce((sum, { left_m, weight }) => sum + weight * left_m, 0) / all
    for (const { sight, left_m, weight } of own) {
      for (let p = 0; p < 3; p++) {
        right[p] -= weight * (sight[p] - mean[p]) * (left_m - middle_m)
        for (let q = 0; q < 3; q++) matrix[3 * p + q] += weight * (sight[p] - mean[p]) * (sight[q] - mean[q])
      }
    }
  }
  const covariance = inverse(matrix, 3)
  return covariance && product(covariance, right, 3)
}

function withoutOutliers(rows: readonly Row[]): Row[] {
  const all = byClock(rows).flatMap((own) => {
    const middle = median(own.map(({ left_m }) => left_m))
    return own.map((row) => ({ row, size: Math.abs(row.left_m - middle) * Math.sqrt(row.weight) }))
  })
  const spread = Math.max(1, median(all.map(({ size }) => size)))
  return all.flatMap(({ row, size }) => (size <= outlier * spread ? [row] : []))
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
