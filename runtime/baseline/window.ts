/** The vector between two stations from the streams of both: collects a window of epochs, solves and validates it. */
import type { Ecef, Enu } from '../../schemas/services.js'
import {
  decodeEphemeris,
  distance,
  ecefToGeodetic,
  enu,
  MsmEpochs,
  nearestTime,
  Orbits,
  secondsPerWeek,
} from '../gnss/index.js'
import { adjust, type Floats, type NoiseModel } from './adjustment.js'
import { codePosition } from './code-position.js'
import { type Arc, type DifferencedEpoch, type Differences, differencesOf } from './differences.js'
import { Place, sentIn } from './geometry.js'
import { correction, fixIntegers } from './lambda.js'
import { inverse, type Matrix, part, product } from './linear.js'
import { type BaselineConstellation, type ObservedEpoch, observedIn } from './observed.js'

export type Side = 'from' | 'to'

export interface BaselineOptions {
  /** Announced positions, ECEF metres. */
  readonly from: Ecef
  readonly to: Ecef
  /** Seconds between the epochs that are used. Default: 30. */
  readonly interval_s?: number
  /** The newest epochs that are kept. Default: 3,600 s. */
  readonly longest_s?: number
}

/** Why a vector has no integers, or why there is none. */
export type BaselineReason =
  | 'ok'
  /** Fewer than five common satellites, or less than five minutes of common epochs. */
  | 'too-little'
  | 'no-orbits'
  /** Too few ambiguities can be told with certainty: the window is short, the stations far apart, or the signals disturbed. */
  | 'not-fixed'
  /** Two independent halves of the observations give different vectors, or one of them none. */
  | 'not-confirmed'

export interface Baseline {
  readonly status: 'fixed' | 'float' | 'none'
  readonly reason: BaselineReason
  /** From the antenna of `from` to that of `to`, ECEF metres; the announced one with status `none`. */
  readonly vector: Ecef
  /** Of the vector, ECEF, m², row by row. */
  readonly covariance: Matrix
  /** The vector minus the announced one, at `from`, metres, and its standard deviations. */
  readonly offset: Enu
  readonly sigma: Enu
  /** Announced minus own position by ranges, metres, where that is more than 25 m. */
  readonly displaced: { readonly from: number | undefined; readonly to: number | undefined }
  readonly length_m: number
  readonly satellites: number
  readonly epochs: number
  /** Ambiguities that were fixed, the ratio of the second-best integers to the best, and the probability of the fixing. */
  readonly fixed: number
  readonly ratio: number
  readonly success: number
}

const leastSatellites = 5
const least_s = 300
/** Farther from its own ranges than this, an announced position is not used to compute with. */
const displaced_m = 25
/** Ranges of two receivers tell the difference of their places this well. */
const difference_m = 3
/** Of fixing integers. */
const limits = { success: 0.999, ratio: 2, least: 6 }

/**
 * ```ts
 * const window = new BaselineWindow({ from, to })
 * window.take('from', frame, now_s)   // each RTCM frame of both streams: MSM and ephemerides
 * const { status, offset, sigma } = window.solve()
 * ```
 */
export class BaselineWindow {
  readonly #options: Required<BaselineOptions>
  readonly #orbits = new Orbits()
  readonly #epochs: Readonly<Record<Side, ObservedEpoch[]>> = { from: [], to: [] }
  readonly #streams = { from: new MsmEpochs(), to: new MsmEpochs() }

  constructor(options: BaselineOptions) {
    this.#options = { interval_s: 30, longest_s: 3_600, ...options }
  }

  /** Takes a verified frame of a station. Frames of other types are ignored. @param now_s `gpsSeconds`, right to days */
  take(side: Side, frame: Uint8Array, now_s: number): void {
    const ephemeris = decodeEphemeris(frame, now_s)
    if (ephemeris) this.#orbits.take(ephemeris, now_s)
    const { interval_s, longest_s } = this.#options
    for (const epoch of this.#streams[side].push(frame)) {
      const at_s = nearestTime(epoch.time_ms / 1_000, secondsPerWeek, now_s)
      if (Math.abs(at_s - interval_s * Math.round(at_s / interval_s)) > 0.1) continue
      const own = this.#epochs[side]
      // Time that does not advance is a stream that was sent again.
      if (own.length > 0 && at_s <= own[own.length - 1].at_s) continue
      own.push(observedIn(epoch, at_s))
      while (own.length * interval_s > longest_s) own.shift()
    }
  }

  /** Forgets the epochs, but not the orbits. */
  clear(): void {
    this.#epochs.from.length = 0
    this.#epochs.to.length = 0
  }

  solve(): Baseline {
    const { from, to } = this.#options
    const middle_s = this.#epochs.from[this.#epochs.from.length >> 1]?.at_s ?? 0
    // One ephemeris for all epochs of a satellite: its error is the same at both stations, and does not jump.
    const ephemerisOf = (constellation: BaselineConstellation, satellite: number) =>
      this.#orbits.ephemeris(constellation, satellite, middle_s)
    const sent = {
      from: this.#epochs.from.map((epoch) => sentIn(epoch, ephemerisOf)),
      to: this.#epochs.to.map((epoch) => sentIn(epoch, ephemerisOf)),
    }
    const code = { from: codePosition(sent.from, from), to: codePosition(sent.to, to) }
    const none = (reason: BaselineReason) => unknown(from, to, reason)
    if (!code.from || !code.to)
      return none(sent.from.some(({ satellites }) => satellites.length > 0) ? 'too-little' : 'no-orbits')
    const off = (side: Side) => {
      const away_m = distance(this.#options[side], code[side] ?? from)
      return away_m > displaced_m ? away_m : undefined
    }
    const displaced = { from: off('from'), to: off('to') }
    const start = displaced.from === undefined ? from : code.from
    const byCode = plus(start, minus(code.to, code.from))
    const announced = plus(start, minus(to, from))
    const end = distance(byCode, announced) > difference_m ? byCode : announced
    const differences = differencesOf(sent.from, sent.to, { from: new Place(start), to: new Place(end) })
    const found = solved(differences, start, end)
    if (!found.solution) return none(found.reason)
    const { status, reason, solution } = found
    const vector = plus(minus(end, start), solution.correction)
    const length_m = Math.hypot(vector.x, vector.y, vector.z)
    const covariance = withDistance(solution.covariance, length_m)
    return {
      ...{ status, reason, vector, covariance, displaced, length_m },
      offset: enu(from, plus(from, minus(vector, minus(to, from)))),
      sigma: sigmaAt(from, covariance),
      satellites: solution.satellites,
      epochs: differences.epochs.length,
      ...{ fixed: solution.fixed, ratio: solution.ratio, success: solution.success },
    }
  }
}

/** Of one adjustment. */
interface Solution {
  readonly correction: Ecef
  readonly covariance: Matrix
  readonly satellites: number
  readonly fixed: number
  readonly ratio: number
  readonly success: number
}

type Solved =
  | { readonly status: 'fixed' | 'float'; readonly reason: BaselineReason; readonly solution: Solution }
  | { readonly reason: BaselineReason; readonly solution: undefined }

/** With integers only where two independent halves of the observations have the same vector. */
function solved({ epochs, arcs }: Differences, start: Ecef, end: Ecef): Solved {
  const noise = noiseOf(start, end, epochs)
  const solve = (some: readonly DifferencedEpoch[]) => {
    const floats = adjust(some, arcs, noise)
    return floats && { floats, fixed: fixedFrom(floats, arcs) }
  }
  const whole = spanOf(epochs) >= least_s ? solve(epochs) : undefined
  if (!whole || whole.floats.satellites < leastSatellites) return { reason: 'too-little', solution: undefined }
  const { floats, fixed } = whole
  if (!fixed || !isPrecise(fixed)) return { status: 'float', reason: 'not-fixed', solution: floatFrom(floats) }
  const half = epochs.length >> 1
  const only = (names: readonly string[]) =>
    epochs.map(({ at_s, satellites }) => ({
      at_s,
      satellites: satellites.filter(({ constellation }) => names.includes(constellation)),
    }))
  const halvings = [
    () => [epochs.slice(0, half), epochs.slice(half)],
    () => [only(['GPS', 'GLONASS']), only(['Galileo', 'BeiDou'])],
  ]
  let isConfirmed = false
  for (const halves of halvings) {
    const found = halves().flatMap((some) => solve(some)?.fixed ?? [])
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

const spanOf = (epochs: readonly DifferencedEpoch[]) =>
  epochs.length < 2 ? 0 : epochs[epochs.length - 1].at_s - epochs[0].at_s

function floatFrom({ geometry, covariance, satellites, arcs }: Floats): Solution {
  const [x, y, z] = geometry
  const n = 4 + arcs.length
  const own = part(covariance, n, [0, 1, 2])
  return { correction: { x, y, z }, covariance: own, satellites, fixed: 0, ratio: 0, success: 0 }
}

/** GLONASS has a wavelength for each channel: its ambiguities stay real. */
function fixedFrom(floats: Floats, arcs: readonly Arc[]): Solution | undefined {
  const { geometry, ambiguities, covariance, satellites } = floats
  const n = 4 + ambiguities.length
  const integer = floats.arcs.flatMap((arc, k) => (arcs[arc].constellation === 'GLONASS' ? [] : [k]))
  const values = Float64Array.from(integer, (k) => ambiguities[k])
  const columns = integer.map((k) => 4 + k)
  const own = part(covariance, n, columns)
  const fixing = fixIntegers(values, own, limits)
  if (process.env.DBG)
    console.log(
      '   fix',
      values.length,
      fixing?.fixed,
      fixing?.ratio.toFixed(2),
      fixing?.success.toFixed(4),
      'noise',
      floats.noise.map((v) => v.toFixed(2)).join(),
    )
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

/** Errors that grow with the distance: broadcast orbits are wrong by a metre of 20,000 km, the slant of the air by as much again. */
const perDistance = 1e-7

/** The residual errors of the atmosphere grow with the distance: in quiet weather, of the middle latitudes. */
function noiseOf(start: Ecef, end: Ecef, epochs: readonly DifferencedEpoch[]): NoiseModel {
  const length_km = distance(start, end) / 1_000
  const rise_m = Math.abs(ecefToGeodetic(start).alt - ecefToGeodetic(end).alt)
  const interval_s = epochs.length > 1 ? spanOf(epochs) / (epochs.length - 1) : ionosphereTime_s
  // The delay of one epoch is that of the next: many epochs do not average it away as noise.
  const alike = Math.max(1, (2 * ionosphereTime_s) / interval_s)
  return {
    zenith_m: Math.min(0.05, 0.001 + 0.0005 * length_km) + 3e-5 * rise_m,
    ionosphere_m: Math.min(2, 0.001 + 0.0015 * length_km) * Math.sqrt(alike),
  }
}
const ionosphereTime_s = 900

function withDistance(covariance: Matrix, length_m: number): Matrix {
  const sum = covariance.slice()
  for (let axis = 0; axis < 3; axis++) sum[4 * axis] += (perDistance * length_m) ** 2
  return sum
}

/** Standard deviations of a vector along east, north and up. */
function sigmaAt(origin: Ecef, covariance: Matrix): Enu {
  const axes = (
    [
      { x: 1, y: 0, z: 0 },
      { x: 0, y: 1, z: 0 },
      { x: 0, y: 0, z: 1 },
    ] as const
  ).map((axis) => enu(origin, plus(origin, axis)))
  const along = (name: keyof Enu) => {
    let sum = 0
    for (let p = 0; p < 3; p++) for (let q = 0; q < 3; q++) sum += axes[p][name] * covariance[3 * p + q] * axes[q][name]
    return Math.sqrt(Math.max(0, sum))
  }
  return { east: along('east'), north: along('north'), up: along('up') }
}

const plus = (p: Ecef, q: Ecef): Ecef => ({ x: p.x + q.x, y: p.y + q.y, z: p.z + q.z })
const minus = (p: Ecef, q: Ecef): Ecef => ({ x: p.x - q.x, y: p.y - q.y, z: p.z - q.z })

function unknown(from: Ecef, to: Ecef, reason: BaselineReason): Baseline {
  const infinite = { east: Infinity, north: Infinity, up: Infinity }
  return {
    ...{ status: 'none', reason, vector: minus(to, from), covariance: new Float64Array(9).fill(Infinity) },
    ...{ offset: { east: 0, north: 0, up: 0 }, sigma: infinite, displaced: { from: undefined, to: undefined } },
    ...{ length_m: distance(from, to), satellites: 0, epochs: 0, fixed: 0, ratio: 0, success: 0 },
  }
}
