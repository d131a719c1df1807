import { Extrapolation, type ExtrapolationError } from './extrapolation.js'
import { kept, type SignalTracks } from './signal-tracks.js'

/** A fit to the past of a phase: from `lag_ms + window_ms` to `lag_ms` ago. */
export interface Plan {
  readonly lag_ms: number
  readonly window_ms: number
  readonly degree: 2 | 3
  /** Usual error of a residual in units of the noise of one phase: to choose between plans. */
  readonly factor: number
}

/**
 * With more history a longer fit, which has less noise. The lag leaves a displacement unharmed until it is confirmed. A longer
 * one would see slower motion, but the clocks of GPS and GLONASS satellites wander by 1 cm in 10 s.
 */
export const quickPlans: readonly Plan[] = [
  { lag_ms: 5_000, window_ms: 90_000, degree: 3, factor: 1.3 },
  { lag_ms: 5_000, window_ms: 60_000, degree: 3, factor: 1.4 },
  { lag_ms: 4_000, window_ms: 40_000, degree: 3, factor: 1.5 },
  { lag_ms: 3_000, window_ms: 16_000, degree: 2, factor: 2 },
]
/**
 * For an antenna pushed by millimetres per second, which a plan that ends 5 s ago follows. The satellite clocks wander by
 * centimetres meanwhile, independently.
 */
export const slowPlans: readonly Plan[] = [
  { lag_ms: 20_000, window_ms: 120_000, degree: 3, factor: 1 },
  { lag_ms: 20_000, window_ms: 80_000, degree: 3, factor: 1.1 },
  { lag_ms: 16_000, window_ms: 54_000, degree: 3, factor: 1.4 },
  { lag_ms: 12_000, window_ms: 40_000, degree: 3, factor: 1.8 },
]
/** Epochs before a move, from which phases are extrapolated ever farther. */
export interface Past {
  /** Number of the first epoch that may be used. */
  readonly first: number
  /** Time of the last one. */
  readonly until_ms: number
}

/** Three axes and mostly one clock. */
const unknowns = 4
/** Minimum of a plan at long intervals: the previous epoch stays out of the fit, and a fit has several epochs. */
const lagIntervals = 1.2
const windowIntervals = { 2: 6, 3: 10 }

/** Where a constellation's phases are extrapolated from. Reused by the next. */
export interface Window {
  /** Number of its first epoch: a phase must be unbroken since. */
  readonly first: number
  readonly count: number
  readonly error: ExtrapolationError
}

/** Chooses the fit for an epoch and computes the weights of its samples. */
export class Reference {
  readonly #tracks: SignalTracks
  readonly #extrapolation = new Extrapolation()
  readonly #times_s = new Float64Array(kept)
  readonly slots = new Int32Array(kept)
  readonly weights = new Float64Array(kept)
  /** By key of a satellite: the first epoch since which one of its signals is unbroken. */
  readonly #since = new Float64Array(512).fill(Infinity)
  readonly #satellites: number[] = []
  readonly #offered: readonly Plan[]
  #plans: readonly Plan[]
  #interval_ms = Infinity
  /** The past of the plan that was chosen last. */
  #past: Past | undefined

  constructor(tracks: SignalTracks, plans: readonly Plan[]) {
    this.#tracks = tracks
    this.#offered = plans
    this.#plans = plans
  }

  /**
   * The plan with the least error for the satellites in sight that have the history for it.
   * @param past nothing later is used; omitted: everything but the lag of the plan
   */
  choose(time_ms: number, interval_ms: number, past?: Past): Plan | undefined {
    if (interval_ms !== this.#interval_ms) {
      this.#interval_ms = interval_ms
      this.#plans = this.#offered.map((plan) => ({
        ...plan,
        lag_ms: Math.max(plan.lag_ms, lagIntervals * interval_ms),
        window_ms: Math.max(plan.window_ms, windowIntervals[plan.degree] * interval_ms),
      }))
    }
    const unbroken = this.#since
    for (const satellite of this.#satellites) unbroken[satellite] = Infinity
    this.#satellites.length = 0
    for (const tracks of this.#tracks.seen) {
      for (const { satelliteKey, since } of tracks) {
        if (unbroken[satelliteKey] === Infinity) this.#satellites.push(satelliteKey)
        unbroken[satelliteKey] = Math.min(since, unbroken[satelliteKey])
      }
    }
    let best: Plan | undefined
    let least = Infinity
    this.#past = past
    for (const offered of this.#plans) {
      const plan = past ? { ...offered, lag_ms: time_ms - past.until_ms } : offered
      const first = this.#firstOf(plan, time_ms)
      if (first === undefined) continue
      let satellites = 0
      for (const satellite of this.#satellites) if (unbroken[satellite] <= first) satellites++
      // Little redundancy costs more than noise.
      const error = plan.factor / Math.sqrt(Math.max(satellites - unknowns, 0.1))
      if (error >= least) continue
      least = error
      best = plan
    }
    return best
  }

  /**
   * Slots and weights of the plan for one constellation: the epochs that had it.
   * @param previous of another constellation, mostly the same
   */
  window(plan: Plan, time_ms: number, group: number, previous: Window | undefined): Window | undefined {
    const first = this.#firstOf(plan, time_ms)
    if (first === undefined) return undefined
    const { next, times_ms, present } = this.#tracks
    let same = previous !== undefined
    let isKnown = plan.degree === this.#solved.degree
    let count = 0
    for (let number = first; number < next; number++) {
      const slot = number % kept
      const age_ms = time_ms - times_ms[slot]
      if (age_ms < plan.lag_ms) break
      if ((present[slot] & (1 << group)) === 0) continue
      same &&= this.slots[count] === slot
      isKnown &&= this.#times_s[count] === -age_ms / 1000
      this.slots[count] = slot
      this.#times_s[count++] = -age_ms / 1000
    }
    if (previous && same && previous.count === count) return previous
    // At a steady rate the weights are those of the epoch before.
    if (!isKnown || count !== this.#solved.count) {
      const error = this.#extrapolation.solve(this.#times_s, count, plan.degree, this.weights)
      this.#solved = { degree: plan.degree, count, error }
    }
    const { error } = this.#solved
    return error && { first, count, error }
  }
  /** Parameters of the last computed `weights`. */
  #solved: { readonly degree: number; readonly count: number; readonly error: ExtrapolationError | undefined } = {
    degree: 0,
    count: 0,
    error: undefined,
  }

  /** The number of the oldest kept epoch that the plan needs; undefined when the history does not reach back that far. */
  #firstOf({ lag_ms, window_ms }: Plan, time_ms: number): number | undefined {
    const { next, times_ms } = this.#tracks
    const first = this.#past?.first ?? this.#tracks.first
    const oldest_ms = time_ms - lag_ms - window_ms
    const from = Math.max(first, next - kept)
    if (from >= next || times_ms[from % kept] > oldest_ms) return undefined
    let number = from
    let after = next
    while (after - number > 1) {
      const middle = (number + after) >> 1
      if (times_ms[middle % kept] <= oldest_ms) number = middle
      else after = middle
    }
    return number
  }
}
