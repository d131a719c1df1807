import { type Static, Type } from 'typebox'

/** Maximum bins; when full, each two are merged. */
const mostBins = 512
/** Correlation is looked for over at most this part of the series: beyond it there is too little to average over. */
const longestLag = 1 / 3
/** With fewer bins there is no result. */
const fewestBins = 16

type Vector = readonly [number, number, number]

const count = Type.Number({ minimum: 0 })
const vector = Type.Tuple([Type.Number(), Type.Number(), Type.Number()])
export const CorrelationSnapshot = Type.Object({
  /** Epochs in a full bin. */
  width: Type.Integer({ minimum: 1 }),
  bins: Type.Array(Type.Number(), { maxItems: 3 * mostBins }),
  open: Type.Object({ sum: vector, count }),
  moments: Type.Object({ count, mean: vector, squares: count }),
})
export type CorrelationSnapshot = Static<typeof CorrelationSnapshot>

/**
 * The integral correlation time of a series of position errors, in epochs, in bounded memory and constant time an epoch:
 * means over bins whose width doubles as the series grows.
 *
 * The long-run variance of the series is S = w·(c₀ + 2·Σ cₖ), with w the width of a bin and cₖ the autocovariance of bin
 * means, summed up to the first one that is not positive (the initial positive sequence; Geyer, Practical Markov Chain
 * Monte Carlo, 1992, §3.3). With the variance σ² of single epochs, τ = S / 2σ²: a Gauss-Markov process of time constant τ
 * has S = 2τσ².
 */
export class CorrelationTime {
  #width = 1
  /** x, y, z of bin after bin. */
  #bins: number[] = []
  readonly #sum: [number, number, number] = [0, 0, 0]
  #open = 0
  #count = 0
  readonly #mean: [number, number, number] = [0, 0, 0]
  /** Sum of squared distances from the mean, by Welford's recurrence. */
  #squares = 0
  /** Undefined when a new bin makes it another. */
  #drift: number | undefined

  /** @param error position less some fixed origin near it, metres */
  add(error: Vector): void {
    this.#count++
    for (let axis = 0; axis < 3; axis++) {
      const before = error[axis] - this.#mean[axis]
      this.#mean[axis] += before / this.#count
      this.#squares += before * (error[axis] - this.#mean[axis])
      this.#sum[axis] += error[axis]
    }
    this.#open++
    if (this.#open < this.#width) return
    this.#bins.push(this.#sum[0] / this.#open, this.#sum[1] / this.#open, this.#sum[2] / this.#open)
    this.#sum.fill(0)
    this.#open = 0
    this.#drift = undefined
    if (this.#bins.length >= 3 * mostBins) this.#halve()
  }

  /** Epochs; 0 while unknown. */
  get epochs(): number {
    const n = this.#bins.length / 3
    const variance = this.#squares / this.#count
    if (n < fewestBins || !(variance > 0)) return 0
    const centred = this.#centred()
    let sum = autocovariance(centred, 0)
    for (let lag = 1; lag < n * longestLag; lag++) {
      const covariance = autocovariance(centred, lag)
      if (covariance <= 0) break
      sum += 2 * covariance
    }
    return (this.#width * sum) / (2 * variance)
  }

  /** 3D, 1 sigma, of single epochs about their mean. */
  get sigma(): number {
    return this.#count > 0 ? Math.sqrt(this.#squares / this.#count) : 0
  }

  /**
   * Drift of the series, 3D: between the means of its first and last half, or between the mean of all and of its
   * last eighth, whichever is larger. 0 while unknown.
   */
  get drift(): number {
    this.#drift ??= this.#drifted()
    return this.#drift
  }

  snapshot(): CorrelationSnapshot {
    return {
      width: this.#width,
      bins: [...this.#bins],
      open: { sum: [...this.#sum], count: this.#open },
      moments: { count: this.#count, mean: [...this.#mean], squares: this.#squares },
    }
  }

  restore({ width, bins, open, moments }: CorrelationSnapshot): void {
    this.#width = width
    this.#bins = [...bins]
    this.#open = open.count
    this.#count = moments.count
    this.#squares = moments.squares
    this.#drift = undefined
    for (let axis = 0; axis < 3; axis++) {
      this.#sum[axis] = open.sum[axis]
      this.#mean[axis] = moments.mean[axis]
    }
  }

  #drifted(): number {
    const n = this.#bins.length / 3
    if (n < fewestBins) return 0
    const halves = apart(this.#meanOf(0, n >> 1), this.#meanOf(n >> 1, n))
    const end = apart(this.#meanOf(n - (n >> 3), n), this.#meanOf(0, n))
    return Math.max(halves, end)
  }

  #meanOf(from: number, to: number): Vector {
    let x = 0
    let y = 0
    let z = 0
    for (let at = 3 * from; at < 3 * to; at += 3) {
      x += this.#bins[at]
      y += this.#bins[at + 1]
      z += this.#bins[at + 2]
    }
    const count = to - from
    return [x / count, y / count, z / count]
  }

  #halve(): void {
    const halved: number[] = []
    for (let at = 0; at < this.#bins.length; at += 6) {
      for (let axis = 0; axis < 3; axis++) halved.push((this.#bins[at + axis] + this.#bins[at + 3 + axis]) / 2)
    }
    this.#bins = halved
    this.#width *= 2
  }

  #centred(): Float64Array {
    const centred = Float64Array.from(this.#bins)
    const n = centred.length / 3
    for (let axis = 0; axis < 3; axis++) {
      let mean = 0
      for (let at = axis; at < centred.length; at += 3) mean += centred[at] / n
      for (let at = axis; at < centred.length; at += 3) centred[at] -= mean
    }
    return centred
  }
}

const apart = (p: Vector, q: Vector) => Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2])

/** The autocovariance of all three axes together; `series` is x, y, z after x, y, z. */
function autocovariance(series: Float64Array, lag: number): number {
  let sum = 0
  for (let at = 0, later = 3 * lag; later < series.length; at++, later++) sum += series[at] * series[later]
  return sum / (series.length / 3)
}
