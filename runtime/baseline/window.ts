/** The vector between two stations from the streams of both: collects a window of epochs, solves and validates it. */
import type { Ecef, Enu } from '../../schemas/services.js'
import { decodeEphemeris, distance, enu, MsmEpochs, nearestTime, Orbits, secondsPerWeek } from '../gnss/index.js'
import { codePosition } from './code-position.js'
import { differencesOf } from './differences.js'
import { Place, sentIn } from './geometry.js'
import { type Matrix, minus, plus } from './linear.js'
import { type BaselineConstellation, type ObservedEpoch, observedIn } from './observed.js'
import { type BaselineReason, solved } from './solution.js'

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

export interface Baseline {
  readonly status: 'fixed' | 'float' | 'none'
  readonly reason: BaselineReason
  /** From the antenna of `from` to that of `to`, ECEF metres; the announced one with status `none`. */
  readonly vector: Ecef
  /** Of the vector, ECEF, m², row by row. */
  readonly covariance: Matrix
  /** The vector minus the announced one, along the axes at `to`, metres, and its standard deviations. */
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

/** An epoch of a wrong time would keep those that follow it out. */
const latest_s = 120
/** Farther from its own ranges than this, an announced position is not used to compute with. */
const displaced_m = 25
/** Ranges of two receivers tell the difference of their places this well. */
const difference_m = 3

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

  /**
   * Takes a verified frame of a station. Frames of other types, and epochs of another time, are ignored.
   * @param now_s the time of arrival, `gpsSeconds`, right to a minute
   */
  take(side: Side, frame: Uint8Array, now_s: number): void {
    const ephemeris = decodeEphemeris(frame, now_s)
    if (ephemeris) this.#orbits.take(ephemeris, now_s)
    const { interval_s, longest_s } = this.#options
    for (const epoch of this.#streams[side].push(frame)) {
      const at_s = nearestTime(epoch.time_ms / 1_000, secondsPerWeek, now_s)
      const isWanted = Math.abs(at_s - interval_s * Math.round(at_s / interval_s)) <= 0.1
      if (!isWanted || !(Math.abs(at_s - now_s) <= latest_s)) continue
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
      offset: enu(to, plus(to, minus(vector, minus(to, from)))),
      sigma: sigmaAt(to, covariance),
      satellites: solution.satellites,
      epochs: differences.epochs.length,
      ...{ fixed: solution.fixed, ratio: solution.ratio, success: solution.success },
    }
  }
}

/** Errors that grow with the distance: broadcast orbits are wrong by a metre of 20,000 km, the slant of the air by as much again. */
const perDistance = 1e-7

/** Errors that last longer than the arcs in which they show: without it, variances of rough streams are too small by this. */
const hidden = 1.4

function withDistance(covariance: Matrix, length_m: number): Matrix {
  const sum = covariance.map((value) => hidden * value)
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

function unknown(from: Ecef, to: Ecef, reason: BaselineReason): Baseline {
  const infinite = { east: Infinity, north: Infinity, up: Infinity }
  return {
    ...{ status: 'none', reason, vector: minus(to, from), covariance: new Float64Array(9).fill(Infinity) },
    ...{ offset: { east: 0, north: 0, up: 0 }, sigma: infinite, displaced: { from: undefined, to: undefined } },
    ...{ length_m: distance(from, to), satellites: 0, epochs: 0, fixed: 0, ratio: 0, success: 0 },
  }
}
