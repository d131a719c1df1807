import { type Displacement, DisplacementFit } from './displacement.js'
import type { ExtrapolationError } from './extrapolation.js'
import { type Past, type Plan, Reference, type Window } from './reference.js'
import type { Pace, SignalTracks, Track } from './signal-tracks.js'

/**
 * An antenna that rises has less air above it: of the delay in the zenith, in a metre, near sea level (Saastamoinen). At low elevations the way
 * is longer by the sine, so that without it a rise seems to be a thousandth less.
 */
const airPerMetre = 3e-4
/** Half a cycle is 9.5 cm on L1; an outlier beyond this is a slip. */
const slip_m = 0.05
/** Noise of a phase in the zenith. */
const zenithNoise_m = 0.0015
/** How the variance of a signal follows its residuals. */
const varianceMemory = 40
const leastVariance = 0.3
const outlierVariance = 9

/** The solution of an epoch, without a position if it is undetermined. */
export interface Fitted {
  readonly position?: Displacement
  /** There are enough satellites in lock, but no displacement explains their phases. */
  readonly contradicts?: boolean
  /** Standard deviation of the difference of two positions, in those of one. */
  readonly stepNoise: number
  readonly plan: Plan
  /** The response of the extrapolation to a step in the past. */
  readonly response: number
  readonly response_ps: number
}

/** All phases of an epoch held against the polynomial through the past of each, and the displacement of the antenna that explains what is left. */
export class PhaseFit {
  readonly #pace: Pace
  readonly #tracks: SignalTracks
  readonly #levels: Float64Array
  readonly #reference: Reference
  readonly #fit = new DisplacementFit()
  /** By row of the fit: its signal, and its standard deviation by the model. */
  readonly #used: Track[] = []
  readonly #sigmas_m: number[] = []

  /** @param levels of the antenna by slot of the history: east, north, up, metres */
  constructor(pace: Pace, tracks: SignalTracks, plans: readonly Plan[], levels: Float64Array) {
    this.#pace = pace
    this.#tracks = tracks
    this.#levels = levels
    this.#reference = new Reference(tracks, plans)
  }

  /**
   * Undefined while the history is too short.
   * @param past in place of the history up to the lag of the plan: nothing is learnt about the signals
   */
  solve(time_ms: number, interval_ms: number, past?: Past): Fitted | undefined {
    const plan = this.#reference.choose(time_ms, interval_ms, past)
    if (!plan) return undefined
    const fit = this.#fit
    fit.clear()
    let error: ExtrapolationError = { noise: 1, bias_m: 0, response: 1, response_ps: 0 }
    let window: Window | undefined
    let clock = 0
    for (let group = 0; group < this.#tracks.seen.length; group++) {
      const seen = this.#tracks.seen[group]
      if (seen.length === 0) continue
      const own = this.#reference.window(plan, time_ms, group, window)
      if (!own) continue
      // Extrapolated from the same epochs, the one clock of the receiver is the same.
      if (window && own !== window) clock++
      window = own
      error = own.error
      this.#addRows(seen, own, clock)
    }
    if (fit.size === 0) return undefined
    const { noise, response, response_ps } = error
    const of = { stepNoise: Math.sqrt(2 / (1 + noise)), plan, response, response_ps }
    const position = fit.solve()
    if (position === undefined) return of
    if (position === 'contradiction') return { ...of, contradicts: true }
    if (!past) this.#learn()
    return { ...of, position }
  }

  /** Learns the noise of each signal. Signals that slipped without notice start afresh. */
  #learn(): void {
    const fit = this.#fit
    const pace = this.#pace
    for (let row = 0; row < fit.size; row++) {
      const track = this.#used[row]
      const { variance } = track
      const sigma_m = this.#sigmas_m[row]
      const rest_m = fit.rest_m(row)
      const before = variance[pace]
      const expected_m2 = sigma_m * sigma_m + fit.directionError_m(row) ** 2
      const size = Math.min(rest_m ** 2 / (expected_m2 * fit.shown(row)), outlierVariance * before)
      variance[pace] = Math.max(leastVariance, before + (size - before) / varianceMemory)
      if (pace === 'slow' || fit.agrees(row) || Math.abs(rest_m) < slip_m) continue
      this.#tracks.restart(track)
    }
  }

  #addRows(seen: readonly Track[], { first, count, error }: Window, clock: number): void {
    const { weights, slots } = this.#reference
    let levelEast = 0
    let levelNorth = 0
    let levelUp = 0
    for (let k = 0; k < count; k++) {
      const at = slots[k] * 3
      levelEast += weights[k] * this.#levels[at]
      levelNorth += weights[k] * this.#levels[at + 1]
      levelUp += weights[k] * this.#levels[at + 2]
    }
    for (const track of seen) {
      if (track.since > first) continue
      const { phases_m, phase_m, sight } = track
      // Two sums at once: one addition need not wait for the other. This is the hottest line of the watch.
      let even_m = 0
      let odd_m = 0
      for (let k = 1; k < count; k += 2) {
        even_m += weights[k - 1] * (phase_m - phases_m[slots[k - 1]])
        odd_m += weights[k] * (phase_m - phases_m[slots[k]])
      }
      if (count % 2 === 1) even_m += weights[count - 1] * (phase_m - phases_m[slots[count - 1]])
      const residual_m = even_m + odd_m
      if (!Number.isFinite(residual_m)) continue
      const { east, north, isExact } = sight
      const up = sight.up + airPerMetre / sight.up
      const variance = (zenithNoise_m * zenithNoise_m * (1 + error.noise) * (1 + 1 / (sight.up * sight.up))) / 2
      const sigma_m = Math.sqrt(variance + error.bias_m * error.bias_m)
      const row = this.#fit.add(
        track.satelliteKey,
        clock,
        { east, north, up, isExact },
        residual_m - (east * levelEast + north * levelNorth + up * levelUp),
        sigma_m * Math.sqrt(track.variance[this.#pace]),
      )
      if (row < 0) continue
      this.#used[row] = track
      this.#sigmas_m[row] = sigma_m
    }
  }
}
