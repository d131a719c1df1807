/** The antenna has left its place: how far it is from there, told by the phases before it left. Pure. */
import type { Enu } from 'rtk-base/gnss'
import { type Covariance, type Displacement, doubtOf } from './displacement.js'
import { none } from './excursions.js'
import type { Past } from './reference.js'
import type { Move } from './report.js'

/** An antenna whose samples of so many seconds lie together has arrived. */
const arrived = { least_ms: 2_000, most_ms: 4_000, samples: 3, sigmas: 4 }
/** The antenna left again when every sample of 2 s is this far from the samples just before. */
const again = { least_m: 0.01, noise: 3, sigmas: 5, before_ms: 5_000 }
/** A stay that separates two moves; a shorter one is a pause on the way. */
const stay_ms = 4_000
/** Standard deviations within which an earlier motion explains a displacement: it says nothing of another motion then. */
const explained = 3
/** An antenna that was so far on its way in the first sample went at once. */
const atOnce = 0.6
/**
 * An extrapolation with so much more noise than a phase is not followed on the way: what was wrong in the past grows as much. Unless that
 * is a small part of the way.
 */
const lost = { noise: 6, way_m: 0.3 }

/** A position, and its largest error in case the antenna has moved in the past that is extrapolated. */
export interface Placed extends Displacement {
  readonly bend: Enu
}

export interface Sample {
  readonly time_ms: number
  readonly position: Placed
  /** Standard deviation of the difference of two positions, in those of one. */
  readonly stepNoise: number
}

type Vector = Pick<Move, 'east_m' | 'north_m' | 'up_m' | 'covariance'>

const nowhere: Vector = { east_m: 0, north_m: 0, up_m: 0, covariance: [0, 0, 0, 0, 0, 0] }

interface Left {
  readonly samples: readonly [...Sample[], Sample]
  /** The epochs before. */
  readonly past: Past
  /** The response of the extrapolation that showed it, to a motion in that past: how large, and how fast. */
  readonly response: number
  readonly unseen_mps: number
  /** Just before, it was away to the other side. */
  readonly isRebound: boolean
}

export class Departure {
  readonly past: Past
  /** When the displacement began to show. */
  readonly left_ms: number
  /**
   * The end of a motion that the phases have followed looks like a move in the opposite direction. Where the displacement may be one its
   * direction is unknown, and the antenna has moved by at least the displacement through `#response`.
   */
  readonly #isUnclear: boolean
  readonly #response: number
  /** The motion cannot be followed any more: later samples say nothing of it. */
  #isLost: boolean
  /** The samples of the last seconds, oldest first. */
  #samples: Sample[]
  #newest: Sample
  /** Up to the last stay. */
  #before: Vector = nowhere
  /** Where the present motion began; undefined: at the first place, which has no error. */
  #base: Placed | undefined
  /** With the present motion. */
  #sum: Vector
  #moves = 1
  /** When it was last found in motion. */
  #moved_ms: number
  #arrived_ms: number | undefined

  /** @param left the samples since then, the newest is that of the report */
  constructor({ samples, past, response, unseen_mps, isRebound }: Left) {
    const [first] = samples
    this.#newest = samples[samples.length - 1]
    this.past = past
    this.#response = response
    this.left_ms = first.time_ms
    this.#samples = [...samples]
    this.#moved_ms = this.#newest.time_ms
    this.#sum = this.#added(this.#newest.position)
    this.#arrive()
    const for_s = (this.#newest.time_ms - first.time_ms) / 1000
    const isAtOnce = lengthOf(first.position) >= atOnce * lengthOf(this.#newest.position)
    const isFast = wayOf(this.#newest.position, first.position) >= unseen_mps * for_s
    const isClear = isFast || (isAtOnce && this.#arrived_ms !== undefined)
    this.#isUnclear = isRebound || !isClear || isExplained(this.#newest.position)
    this.#isLost = this.#isUnclear
  }

  /** The time of the newest sample. */
  get heard_ms(): number {
    return this.#newest.time_ms
  }

  /** When it was last found in motion. */
  get moved_ms(): number {
    return this.#moved_ms
  }

  /** Since when it is at its present place; undefined while it is on the way. */
  get arrived_ms(): number | undefined {
    return this.#arrived_ms
  }

  /** From the first place to the present one. On the way: so far. */
  moveAt(time_ms: number): Move {
    const { east_m, north_m, up_m, covariance } = this.#sum
    const isLeast = this.#arrived_ms === undefined
    const of = { moves: this.#moves, age_s: (time_ms - this.left_ms) / 1000 }
    if (this.#isUnclear) return { ...magnitude(this.#sum, this.#response), isLeast: true, ...of }
    return { east_m, north_m, up_m, covariance, isLeast, ...of }
  }

  /** @param sample of the next epoch, from the same past */
  take(sample: Sample): void {
    this.#newest = sample
    this.#isLost ||= this.#arrived_ms === undefined && isLost(sample)
    if (this.#isLost) return
    this.#samples.push(sample)
    if (this.#arrived_ms !== undefined) {
      const kept_ms = arrived.least_ms + again.before_ms
      this.#samples = this.#samples.filter(({ time_ms }) => sample.time_ms - time_ms <= kept_ms)
      if (!this.#leaves(this.#arrived_ms)) return
    }
    this.#moved_ms = sample.time_ms
    this.#sum = this.#added(sample.position)
    this.#arrive()
  }

  /** Whether it left its present place. */
  #leaves(arrived_ms: number): boolean {
    const begin_ms = this.#newest.time_ms - 1.01 * arrived.least_ms
    const after = this.#samples.filter(({ time_ms }) => time_ms >= begin_ms)
    const before = this.#samples.filter(({ time_ms }) => time_ms < begin_ms)
    if (before.length === 0 || !spans(after)) return false
    const base = meanOf(before)
    const isAway = (sample: Sample) =>
      wayOf(sample.position, base) >= again.least_m * Math.max(1, noiseOf(sample) / again.noise) &&
      sigmasBetween(sample, base) > again.sigmas
    if (!after.every(isAway)) return false
    if (after[0].time_ms - arrived_ms >= stay_ms) this.#moves++
    this.#before = this.#sum
    this.#base = base
    this.#arrived_ms = undefined
    this.#samples = after
    return true
  }

  /** Whether the last samples lie together. */
  #arrive(): void {
    const newest = this.#newest
    const recent = this.#samples.filter(({ time_ms }) => newest.time_ms - time_ms <= 1.01 * arrived.most_ms)
    const samples = recent.length < arrived.samples ? this.#samples.slice(-arrived.samples) : recent
    this.#samples = samples
    const [first] = samples
    if (!spans(samples) || sigmasBetween(newest, first.position) > arrived.sigmas) return
    const mean = meanOf(samples)
    const middle = { ...mean, sigma: first.position.sigma }
    if (samples.some((sample) => sigmasBetween(sample, middle) > arrived.sigmas * Math.SQRT1_2)) return
    this.#arrived_ms = first.time_ms
    this.#sum = this.#added(mean)
  }

  /** The way up to the last stay, and the present motion. */
  #added(position: Placed): Vector {
    const base = this.#base
    const { before, share } = { before: this.#before, share: base ? this.#shareOfMotion(position, base) : 1 }
    return {
      east_m: before.east_m + position.east_m - (base?.east_m ?? 0),
      north_m: before.north_m + position.north_m - (base?.north_m ?? 0),
      up_m: before.up_m + position.up_m - (base?.up_m ?? 0),
      covariance: plus(
        plus(before.covariance, times(share, doubted(position))),
        squareOf(differenceOf(position.bend, base?.bend ?? none)),
      ),
    }
  }

  /**
   * The share of motion in the variance of a position: the noise of two, and what the extrapolation has lost since the
   * motion began.
   */
  #shareOfMotion(position: Placed, base: Placed): number {
    const variance = ({ sigma }: Displacement) => sigma.east_m ** 2 + sigma.north_m ** 2 + sigma.up_m ** 2
    return this.#newest.stepNoise ** 2 + Math.max(0, 1 - variance(base) / variance(position))
  }
}

const lengthOf = ({ east_m, north_m, up_m }: Displacement): number => Math.hypot(east_m, north_m, up_m)
const wayOf = (to: Displacement, from: Displacement): number =>
  Math.hypot(to.east_m - from.east_m, to.north_m - from.north_m, to.up_m - from.up_m)

/** The noise of a phase against its extrapolation, in that of a phase. */
const noiseOf = ({ stepNoise }: Sample): number => Math.SQRT2 / stepNoise

function isLost(sample: Sample): boolean {
  const noise = noiseOf(sample)
  return noise > lost.noise && lengthOf(sample.position) < lost.way_m * noise
}

/** Whether a motion in the past shows as much. */
function isExplained(position: Placed): boolean {
  const { east_m, north_m, up_m, sigma, bend } = position
  const doubt = doubtOf(position)
  const error_m = (sigma_m: number, bend_m: number) => Math.hypot(doubt * sigma_m, bend_m)
  const [e, n, u] = [
    east_m / error_m(sigma.east_m, bend.east),
    north_m / error_m(sigma.north_m, bend.north),
    up_m / error_m(sigma.up_m, bend.up),
  ]
  return Math.hypot(e, n, u) < explained
}

function spans(samples: readonly Sample[]): boolean {
  const [first] = samples
  const last = samples[samples.length - 1]
  return samples.length >= arrived.samples && last.time_ms - first.time_ms >= 0.99 * arrived.least_ms
}

/** In standard deviations of the difference: of the noise of both, and of what the extrapolation has lost since the earlier one. */
function sigmasBetween({ position, stepNoise }: Sample, earlier: Placed): number {
  const { east_m, north_m, up_m, sigma } = position
  const error_m = (now_m: number, then_m: number, bend_m: number) =>
    Math.sqrt((now_m * stepNoise) ** 2 + Math.max(0, now_m ** 2 - then_m ** 2) + bend_m ** 2)
  const bend = differenceOf(position.bend, earlier.bend)
  const sigmas = Math.hypot(
    (east_m - earlier.east_m) / error_m(sigma.east_m, earlier.sigma.east_m, bend.east),
    (north_m - earlier.north_m) / error_m(sigma.north_m, earlier.sigma.north_m, bend.north),
    (up_m - earlier.up_m) / error_m(sigma.up_m, earlier.sigma.up_m, bend.up),
  )
  return sigmas / doubtOf(position)
}

/** Their errors have little of their own: the mean is as accurate as the newest. */
function meanOf(samples: readonly Sample[]): Placed {
  const mean = (axis: 'east_m' | 'north_m' | 'up_m') =>
    samples.reduce((sum, { position }) => sum + position[axis], 0) / samples.length
  const { position } = samples[samples.length - 1]
  return { ...position, east_m: mean('east_m'), north_m: mean('north_m'), up_m: mean('up_m') }
}

export const plus = (one: Covariance, other: Covariance): Covariance =>
  one.map((value, at) => value + other[at]) as unknown as Covariance
const squareOf = ({ east, north, up }: Enu): Covariance =>
  [...[east * east, east * north, east * up], ...[north * north, north * up, up * up]] as unknown as Covariance
const differenceOf = (one: Enu, other: Enu): Enu => ({
  east: one.east - other.east,
  north: one.north - other.north,
  up: one.up - other.up,
})
const times = (by: number, covariance: Covariance): Covariance =>
  covariance.map((value) => by * value) as unknown as Covariance

/** Few steady clocks: the residuals show too little of the errors. */
export const doubted = (position: Displacement): Covariance => times(doubtOf(position) ** 2, position.covariance)

/** The least of the way, as uncertain in every direction as the displacement is large. */
export function magnitude({ east_m, north_m, up_m, covariance }: Vector, response: number): Vector {
  const square = east_m ** 2 + north_m ** 2 + up_m ** 2
  return {
    east_m: east_m / response,
    north_m: north_m / response,
    up_m: up_m / response,
    covariance: plus(covariance, [square, 0, 0, square, 0, square]),
  }
}
