/** From the differences of a window to a vector: real-valued, then with integers, then confirmed by halves of the observations. */
import type { Ecef } from '../../../schemas/services.js'
import { distance, ecefToGeodetic } from '../gnss/index.js'
import { inverse, type Matrix, minus, part, product } from '../gnss/linear.js'
import { adjust, type Floats, geometry as leading, type NoiseModel } from './adjustment/index.js'
import type { Arc, DifferencedEpoch, DifferencedSatellite, Differences } from './differences.js'
import { variation_m } from './ionosphere.js'
import { correction, fixIntegers } from './lambda.js'
import type { Steps } from './steps.js'

/** Why a vector has no integers, or why there is none. */
export type BaselineReason =
  | 'ok'
  /** Fewer than five common satellites, or less than five minutes of common epochs. */
  | 'too-little'
  /** The same two frequencies, with phases, are there for fewer than five satellites of both stations. */
  | 'one-frequency'
  /** There are enough observations, but they do not fit each other: ranges are outliers, or phases are interrupted again and again. */
  | 'contradicts'
  | 'no-orbits'
  /** Too few ambiguities can be told with certainty: the window is short, the stations far apart, or the signals disturbed. */
  | 'not-fixed'
  /** Two independent halves of the observations give different vectors, or one of them none. */
  | 'not-confirmed'

/** The result of one adjustment. */
export interface Solution {
  readonly correction: Ecef
  readonly covariance: Matrix
  readonly satellites: number
  readonly fixed: number
  readonly ratio: number
  readonly success: number
}

export type Solved =
  | { readonly status: 'fixed' | 'float'; readonly reason: BaselineReason; readonly solution: Solution }
  | { readonly reason: BaselineReason; readonly solution: undefined }

const leastSatellites = 5
const least_s = 300
/** The limits for fixing integers. */
const limits = { success: 0.999, ratio: 2, least: 6 }

/** With integers only where two independent halves of the observations have the same vector. */
export function* solved({ epochs, arcs }: Differences, start: Ecef, end: Ecef): Steps<Solved> {
  const noise = noiseOf(start, end, epochs)
  const solve = function* (some: readonly DifferencedEpoch[]) {
    const floats = yield* adjust(some, arcs, noise)
    return floats && { floats, fixed: yield* fixedFrom(floats, arcs) }
  }
  const whole = spanOf(epochs) >= least_s ? yield* solve(epochs) : undefined
  if (!whole || whole.floats.satellites < leastSatellites) return { reason: lackOf(epochs), solution: undefined }
  const { floats, fixed } = whole
  if (!fixed || !isPrecise(fixed)) return { status: 'float', reason: 'not-fixed', solution: floatFrom(floats) }
  const middle = epochs.length >> 1
  const only = (names: readonly string[]) =>
    epochs.map(({ at_s, satellites }) => ({
      at_s,
      satellites: satellites.filter(({ constellation }) => names.includes(constellation)),
    }))
  const halvings = [
    () => [epochs.slice(0, middle), epochs.slice(middle)],
    () => [only(['GPS', 'GLONASS']), only(['Galileo', 'BeiDou'])],
  ]
  let isConfirmed = false
  for (const halves of halvings) {
    const found: Solution[] = []
    for (const some of halves()) {
      const half = yield* solve(some)
      if (half?.fixed) found.push(half.fixed)
    }
    const [one = fixed, other = fixed] = found
    if (!agree(one, fixed) || !agree(other, fixed) || !agree(one, other)) {
      return { status: 'float', reason: 'not-confirmed', solution: floatFrom(floats) }
    }
    isConfirmed ||= found.filter(isPrecise).length === 2
  }
  return isConfirmed
    ? { status: 'fixed', reason: 'ok', solution: fixed }
    : { status: 'float', reason: 'not-confirmed', solution: floatFrom(floats) }
}

function lackOf(epochs: readonly DifferencedEpoch[]): BaselineReason {
  const count = (counts: (one: DifferencedSatellite) => boolean) =>
    new Set(
      epochs.flatMap(({ satellites }) =>
        satellites.filter(counts).map(({ constellation, satellite }) => `${constellation} ${satellite}`),
      ),
    ).size
  if (spanOf(epochs) < least_s || count(() => true) < leastSatellites) return 'too-little'
  const hasBoth = ({ signals }: DifferencedSatellite) => signals.every((signal) => signal?.phase_m !== undefined)
  return count(hasBoth) < leastSatellites ? 'one-frequency' : 'contradicts'
}

const spanOf = (epochs: readonly DifferencedEpoch[]) =>
  epochs.length < 2 ? 0 : epochs[epochs.length - 1].at_s - epochs[0].at_s

function floatFrom({ geometry, covariance, satellites, arcs }: Floats): Solution {
  const [x, y, z] = geometry
  const n = leading + arcs.length
  const own = part(covariance, n, [0, 1, 2])
  return { correction: { x, y, z }, covariance: own, satellites, fixed: 0, ratio: 0, success: 0 }
}

/** GLONASS has a wavelength for each channel: its ambiguities stay real. */
function* fixedFrom(floats: Floats, arcs: readonly Arc[]): Steps<Solution | undefined> {
  const { geometry, ambiguities, covariance, satellites } = floats
  const n = leading + ambiguities.length
  const integer = floats.arcs.flatMap((arc, k) => (arcs[arc].constellation === 'GLONASS' ? [] : [k]))
  const values = Float64Array.from(integer, (k) => ambiguities[k])
  const columns = integer.map((k) => leading + k)
  const own = part(covariance, n, columns)
  const fixing = yield* fixIntegers(values, own, limits)
  if (!fixing) return undefined
  // x − Qxz Qz⁻¹ (z − ž), for the combinations that were fixed.
  const { transformation, fixed } = fixing
  const cross = timesTransposed(part(covariance, n, [0, 1, 2], columns), transformation, 3, columns.length, fixed)
  const combined = timesTransposed(
    times(transformation, part(covariance, n, columns), fixed, columns.length),
    transformation,
    fixed,
    columns.length,
    fixed,
  )
  const inverted = inverse(combined, fixed)
  if (!inverted) return undefined
  const gain = new Float64Array(3 * fixed)
  for (let axis = 0; axis < 3; axis++)
    gain.set(product(inverted, cross.subarray(axis * fixed, (axis + 1) * fixed), fixed), axis * fixed)
  const change = correction(fixing, values)
  const place = [0, 1, 2].map((axis) => {
    let value = geometry[axis]
    for (let k = 0; k < fixed; k++) value += gain[axis * fixed + k] * change[k]
    return value
  })
  const left = part(covariance, n, [0, 1, 2])
  for (let p = 0; p < 3; p++) {
    for (let q = 0; q < 3; q++) {
      for (let k = 0; k < fixed; k++) left[3 * p + q] -= gain[p * fixed + k] * cross[q * fixed + k]
    }
  }
  const [x, y, z] = place
  return {
    correction: { x, y, z },
    covariance: left,
    satellites,
    fixed,
    ratio: fixing.ratio,
    success: fixing.success,
  }
}

/** `a · b` with `b` square. */
function times(a: Matrix, b: Matrix, rows: number, n: number): Matrix {
  const result = new Float64Array(rows * n)
  for (let i = 0; i < rows; i++) result.set(product(b, a.subarray(i * n, (i + 1) * n), n), i * n)
  return result
}

/** `a · bᵀ`; both have `n` columns. */
function timesTransposed(a: Matrix, b: Matrix, rows: number, n: number, columns: number): Matrix {
  const result = new Float64Array(rows * columns)
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      let sum = 0
      for (let k = 0; k < n; k++) sum += a[i * n + k] * b[j * n + k]
      result[i * columns + j] = sum
    }
  }
  return result
}

/** A vector with integers is right to centimetres, or it says less than it seems to. */
const precise_m = 0.04
/** Two solutions are the same within these standard deviations and this besides, and never farther apart than this. */
const same = { sigmas: 4, besides_m: 0.005, most_m: 0.04 }

const isPrecise = ({ covariance }: Solution) => Math.sqrt(covariance[0] + covariance[4] + covariance[8]) <= precise_m

function agree(one: Solution, other: Solution): boolean {
  const { x, y, z } = minus(one.correction, other.correction)
  return (
    Math.hypot(x, y, z) <= same.most_m &&
    [x, y, z].every((difference, axis) => {
      const sigma = Math.sqrt(one.covariance[4 * axis] + other.covariance[4 * axis])
      return Math.abs(difference) <= same.sigmas * sigma + same.besides_m
    })
  )
}

/** The residual errors of the atmosphere grow with the distance: in quiet weather of the middle latitudes, or as measured. */
function noiseOf(start: Ecef, end: Ecef, epochs: readonly DifferencedEpoch[]): NoiseModel {
  const length_km = distance(start, end) / 1_000
  const rise_m = Math.abs(ecefToGeodetic(start).alt - ecefToGeodetic(end).alt)
  const interval_s = epochs.length > 1 ? spanOf(epochs) / (epochs.length - 1) : ionosphereTime_s
  // The delay of one epoch is that of the next: many epochs do not average it away as noise.
  const alike = Math.max(1, (2 * ionosphereTime_s) / interval_s)
  return {
    zenith_m: Math.min(0.05, 0.001 + 0.0005 * length_km) + 3e-5 * rise_m,
    above_m: 5,
    ionosphere_m: ionosphereOf(Math.min(2, 0.001 + 0.0015 * length_km), epochs) * Math.sqrt(alike),
  }
}

/** Smaller variations may be noise and multipath: metres, and times that of quiet weather. The means of the arcs hide a part of them. */
const storm = { least_m: 0.025, times: 1.5, hidden: 2 }

/** In a storm, from the delay that is measured. */
function ionosphereOf(quiet_m: number, epochs: readonly DifferencedEpoch[]): number {
  const measured_m = variation_m(epochs)
  return measured_m > Math.max(storm.least_m, storm.times * quiet_m) ? storm.hidden * measured_m : quiet_m
}
const ionosphereTime_s = 900
