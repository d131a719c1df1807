import { roundEcef } from 'rtk-base/gnss'
import { EcefShape } from 'rtk-base/schemas'
import type { Ecef } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { CorrelationSnapshot, CorrelationTime } from './correlation.js'
import { LogMedian, MedianSnapshot } from './log-median.js'

/**
 * Assumptions about the errors of single positions, not measured values: errors of
 * single-point positions are correlated over 10-30 minutes, and a part of them never averages out. For a plain survey-in that is mostly
 * the ionosphere, about 1 m, for a corrected one the coordinates of the other base, about 2 cm.
 */
export interface AccuracyModel {
  /** Correlation time that is assumed at least, seconds. */
  floor_s: number
  /** 1 sigma, 3D, that no averaging takes away, metres. */
  bias_m: number
  /** Growth of the bias with the distance to the source of the corrections, parts per million. */
  bias_ppm: number
}

export const plainModel: AccuracyModel = { floor_s: 900, bias_m: 1.3, bias_ppm: 0 }
export const correctedModel: AccuracyModel = { floor_s: 300, bias_m: 0.02, bias_ppm: 1 }

export const EstimatorSnapshot = Type.Object({
  origin: EcefShape,
  mean: Type.Tuple([Type.Number(), Type.Number(), Type.Number()]),
  weight: Type.Number({ minimum: 0 }),
  count: Type.Number({ minimum: 0 }),
  observed_s: Type.Number({ minimum: 0 }),
  median: MedianSnapshot,
  correlation: CorrelationSnapshot,
})
export type EstimatorSnapshot = Static<typeof EstimatorSnapshot>

/** The correlation time is computed again when the series is longer by this factor: it changes slowly and costs most. */
const recomputed = 1.02
/** An epoch covers the time since the previous one, up to this limit: a gap is not observed. */
const longestStep_s = 2

/**
 * The mean of positions, weighted by 1/acc², and its honest accuracy. The weights place the mean; they never give its
 * accuracy. Memory is bounded, an epoch costs the same on the first day and on the thirtieth.
 */
export class PositionEstimator {
  readonly #model: AccuracyModel
  /** The first position: sums are made of differences to it, so that metres in the millions cost no digits. */
  #origin: Ecef | undefined
  readonly #mean: [number, number, number] = [0, 0, 0]
  #weight = 0
  #count = 0
  #observed_s = 0
  #last_s: number | undefined
  readonly #median = new LogMedian()
  readonly #correlation = new CorrelationTime()
  #tau = { epochs: 0, atCount: 0 }

  constructor(model: AccuracyModel) {
    this.#model = model
  }

  /**
   * @param acc_m 3D accuracy of this position by the receiver, 1 sigma; finite
   * @param time_s monotonic seconds at which it was observed
   */
  add(position: Ecef, acc_m: number, time_s: number): void {
    this.#origin ??= { ...position }
    const { x, y, z } = this.#origin
    const error = [position.x - x, position.y - y, position.z - z] as const
    const weight = 1 / Math.max(acc_m, 1e-4) ** 2
    this.#weight += weight
    // West's incremental weighted mean: no large sums.
    for (let axis = 0; axis < 3; axis++) this.#mean[axis] += (weight / this.#weight) * (error[axis] - this.#mean[axis])
    this.#observed_s += this.#last_s === undefined ? 1 : Math.min(longestStep_s, Math.max(0, time_s - this.#last_s))
    this.#last_s = time_s
    this.#count++
    this.#median.add(acc_m)
    this.#correlation.add(error)
  }

  /** Epochs that went in. */
  get count(): number {
    return this.#count
  }

  /** Seconds that were observed; gaps are not. */
  get observed_s(): number {
    return this.#observed_s
  }

  /** To 0.1 mm; undefined without any epoch. */
  get mean(): Ecef | undefined {
    if (!this.#origin) return undefined
    const { x, y, z } = this.#origin
    const [dx, dy, dz] = this.#mean
    return roundEcef({ x: x + dx, y: y + dy, z: z + dz })
  }

  /** Integral correlation time of the series, seconds, at least that of the model. */
  get correlation_s(): number {
    if (this.#count >= this.#tau.atCount * recomputed) {
      this.#tau = { epochs: this.#correlation.epochs, atCount: this.#count }
    }
    const perEpoch_s = this.#count > 0 ? this.#observed_s / this.#count : 0
    return Math.max(this.#model.floor_s, this.#tau.epochs * perEpoch_s)
  }

  /**
   * 3D, 1 sigma, of the mean: acc² = m²·(2τ/T)·(1 − (τ/T)(1 − e^(−T/τ))) + d² + b². The first part is the variance of the mean
   * over T of a Gauss-Markov process (e.g. Papoulis, Probability, Random Variables and Stochastic Processes, §"Ergodicity"), with
   * m the larger of the median accuracy of the epochs and their own sigma, T the observed seconds and τ the correlation time;
   * d is the drift beyond that noise, b the part that never averages out.
   * Infinite without any epoch.
   * @param distance_m to the source of the corrections
   */
  accuracy_m(distance_m = 0): number {
    if (this.#count === 0) return Number.POSITIVE_INFINITY
    const { bias_m, bias_ppm, floor_s } = this.#model
    const observed_s = Math.max(1, this.#observed_s)
    const median_m = this.#median.value
    const noise_m = Math.max(median_m, this.#correlation.sigma)
    const averaged = noise_m ** 2 * reduction(observed_s / this.correlation_s)
    // Two halves of an honest series differ by twice the error of their mean.
    const explained = 4 * median_m ** 2 * reduction(observed_s / floor_s)
    const drift = Math.max(0, this.#correlation.drift ** 2 - explained)
    return Math.sqrt(averaged + drift + (bias_m + distance_m * bias_ppm * 1e-6) ** 2)
  }

  /** Undefined without any epoch. */
  snapshot(): EstimatorSnapshot | undefined {
    if (!this.#origin) return undefined
    return {
      origin: { ...this.#origin },
      mean: [...this.#mean],
      weight: this.#weight,
      count: this.#count,
      observed_s: this.#observed_s,
      median: this.#median.snapshot(),
      correlation: this.#correlation.snapshot(),
    }
  }

  restore({ origin, mean, weight, count, observed_s, median, correlation }: EstimatorSnapshot): void {
    this.#origin = { ...origin }
    for (let axis = 0; axis < 3; axis++) this.#mean[axis] = mean[axis]
    this.#weight = weight
    this.#count = count
    this.#observed_s = observed_s
    this.#median.restore(median)
    this.#correlation.restore(correlation)
  }
}

/** (2/r)·(1 − (1 − e^(−r))/r) for r = T/τ: 1 for a moment, 2/r for long. */
export function reduction(r: number): number {
  // The closed form loses its digits near 0; the series there is 1 − r/3 + r²/12.
  if (r < 1e-3) return 1 - r / 3 + (r * r) / 12
  return (2 / r) * (1 - (1 - Math.exp(-r)) / r)
}
