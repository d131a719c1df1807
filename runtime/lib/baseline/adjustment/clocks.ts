/** The clocks of a block, one for each kind: unknowns of one epoch, which are eliminated. */

import { invert, type Matrix } from '../../gnss/linear.js'
import { kinds, type Row, weighted, weightOf } from './equations.js'

/**
 * The sigma of a clock before the observations, metres: unknown, because clocks that are not steered differ by milliseconds, which are
 * 300 km each. The prior only keeps a kind without observations from making the matrix singular.
 */
const clock_m = 1e7

/** One for all blocks, one after the other. */
export class Clocks {
  /** The clocks of this block, after `solve`: the covariance, m², and the values, metres. */
  readonly covariance: Matrix = new Float64Array(kinds * kinds)
  readonly values = new Float64Array(kinds)
  readonly #right = new Float64Array(kinds)
  readonly #weighted = new Float64Array(kinds)

  begin(): void {
    this.covariance.fill(0)
    for (let kind = 0; kind < kinds; kind++) this.covariance[kind * kinds + kind] = 1 / (clock_m * clock_m)
    this.#right.fill(0)
  }

  /** @param values what a row's clocks should be by its observations, metres */
  add(row: Row, values: ArrayLike<number>): void {
    weighted(row, values, this.#weighted)
    for (let p = 0; p < kinds; p++) {
      this.#right[p] += this.#weighted[p]
      for (let q = 0; q <= p; q++) this.covariance[p * kinds + q] += weightOf(row, p, q)
    }
  }

  solve(): void {
    if (!invert(this.covariance, kinds)) this.covariance.fill(0)
    for (let p = 0; p < kinds; p++) {
      let value = 0
      for (let q = 0; q < kinds; q++) value += this.covariance[p * kinds + q] * this.#right[q]
      this.values[p] = value
    }
  }
}
