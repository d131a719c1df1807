/** Polynomial extrapolation as a weighted sum: the weights depend on the times alone, so one set serves all signals. */
import { solveInPlace } from 'rtk-base/gnss'

/** Derivatives of a range to a satellite in orbit, typical: R·ω³ and R·ω⁴ with the Earth's radius and 12 hours. */
const jerk_mps3 = 1.5e-5
const snap_mps4 = 2e-9

/** Error of an extrapolation beyond the noise of one phase. */
export interface ExtrapolationError {
  /** Sum of the squared weights. */
  readonly noise: number
  /** Orbit terms that the polynomial omits, metres. */
  readonly bias_m: number
  /** Largest displacement that a step within or behind the samples shows, in sizes of the step, in either direction. */
  readonly response: number
  /** Largest change of that displacement in a second, in sizes of the step. */
  readonly response_ps: number
}

/** Terms of a cubic. */
const most = 4
/** The least pivot of the normal equations, whose times are from −1 to 1: a smaller one is a rounding error. */
const leastPivot = 1e-9

/** A least-squares fit of a quadratic or a cubic, written as the weights of the samples for its value at time zero. */
export class Extrapolation {
  readonly #matrix = new Float64Array(most * most)
  readonly #moments = new Float64Array(2 * most - 1)
  readonly #right = new Float64Array(most)

  /**
   * @param times_s seconds before now, below zero, as many as `count`
   * @param weights is filled; their sum is 1
   * @returns undefined when the samples do not determine the polynomial
   */
  solve(times_s: Float64Array, count: number, degree: 2 | 3, weights: Float64Array): ExtrapolationError | undefined {
    const terms = degree + 1
    if (count < terms + 1) return undefined
    let oldest = 0
    let newest = -Infinity
    for (let k = 0; k < count; k++) {
      oldest = Math.min(oldest, times_s[k])
      newest = Math.max(newest, times_s[k])
    }
    // Times from −1 to 1 keep the normal equations well conditioned.
    const middle = (oldest + newest) / 2
    const half = (newest - oldest) / 2
    if (!(half > 0)) return undefined
    const moments = this.#moments.fill(0)
    for (let k = 0; k < count; k++) {
      const u = (times_s[k] - middle) / half
      let power = 1
      for (let order = 0; order <= 2 * degree; order++) {
        moments[order] += power
        power *= u
      }
    }
    const matrix = this.#matrix
    for (let row = 0; row < terms; row++) {
      for (let column = 0; column < terms; column++) matrix[row * terms + column] = moments[row + column]
    }
    const right = this.#right
    const target = -middle / half
    for (let row = 0, power = 1; row < terms; row++, power *= target) right[row] = power
    if (!solveInPlace(matrix, right, terms, leastPivot)) return undefined

    let noise = 0
    let missed = 0
    // The samples behind a step take their share of it off.
    let before = 0
    let response = 1
    let response_ps = 0
    for (let k = 0; k < count; k++) {
      const u = (times_s[k] - middle) / half
      let weight = right[degree]
      for (let term = degree - 1; term >= 0; term--) weight = weight * u + right[term]
      weights[k] = weight
      noise += weight * weight
      before += weight
      response = Math.max(response, Math.abs(before))
      if (k > 0) response_ps = Math.max(response_ps, Math.abs(weight) / (times_s[k] - times_s[k - 1]))
      const square = times_s[k] * times_s[k]
      missed += weight * square * (degree === 2 ? times_s[k] : square)
    }
    const bias_m = Math.abs(missed) * (degree === 2 ? jerk_mps3 / 6 : snap_mps4 / 24)
    return { noise, bias_m, response, response_ps }
  }
}
