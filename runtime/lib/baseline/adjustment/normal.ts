/** Normal equations without the clocks of the epochs. */

import type { Matrix } from '../../gnss/linear.js'
import { Clocks } from './clocks.js'
import { type Block, isEmpty, kinds, type Row, weighted, weightOf } from './equations.js'
import { geometry } from './numbering.js'

/** The last of the four unknowns before it: the ionosphere above both stations. */
const ionosphere = geometry - 1
const ones = new Float64Array(kinds).fill(1)

/**
 * The design of a row is the same for all kinds in the place and the zenith delay, `1 gᵀ`, `t d` in the ionosphere, and a wavelength in one
 * kind for each ambiguity. So `W 1`, `W d` and `W o` are all that its part of `Dᵀ W D` and `Dᵀ W o` needs.
 */
export class Normal {
  /** Lower triangle, row by row. */
  readonly matrix: Matrix
  readonly right: Float64Array
  readonly #n: number
  readonly #clocks = new Clocks()
  /** For a block: clocks times unknowns, and the same times the covariance of the clocks, a row for each unknown. */
  #cross = new Float64Array(64 * kinds)
  #solved = new Float64Array(64 * kinds)
  readonly #byOne = new Float64Array(kinds)
  readonly #byDelay = new Float64Array(kinds)
  readonly #byObserved = new Float64Array(kinds)

  constructor(n: number) {
    this.#n = n
    this.matrix = new Float64Array(n * n)
    this.right = new Float64Array(n)
  }

  /** @param variances of the unknowns before the observations; undefined: unknown */
  begin(variances: ArrayLike<number>): void {
    this.matrix.fill(0)
    this.right.fill(0)
    for (let k = 0; k < this.#n; k++) this.matrix[k * this.#n + k] = 1 / variances[k]
  }

  add({ rows, columns }: Block): void {
    if (this.#cross.length < columns.length * kinds) {
      this.#cross = new Float64Array(columns.length * kinds)
      this.#solved = new Float64Array(columns.length * kinds)
    }
    this.#cross.fill(0, 0, columns.length * kinds)
    this.#clocks.begin()
    for (const row of rows) {
      if (isEmpty(row)) continue
      weighted(row, ones, this.#byOne)
      weighted(row, row.delays, this.#byDelay)
      weighted(row, row.observed, this.#byObserved)
      this.#clocks.add(row, row.observed)
      this.#addGeometry(row)
      this.#addAmbiguities(row, columns)
    }
    this.#clocks.solve()
    this.#eliminate(columns)
  }

  #addGeometry({ geometry: change, delays, above }: Row): void {
    const { matrix, right } = this
    const n = this.#n
    const cross = this.#cross
    // `1ᵀ W 1`, `1ᵀ W d`, `1ᵀ W o`, `dᵀ W d` and `dᵀ W o`.
    let one = 0
    let delay = 0
    let observed = 0
    let both = 0
    let delayed = 0
    for (let p = 0; p < kinds; p++) {
      one += this.#byOne[p]
      delay += this.#byDelay[p]
      observed += this.#byObserved[p]
      both += delays[p] * this.#byDelay[p]
      delayed += delays[p] * this.#byObserved[p]
      cross[ionosphere * kinds + p] += above * this.#byDelay[p]
    }
    for (let i = 0; i < ionosphere; i++) {
      for (let j = 0; j <= i; j++) matrix[i * n + j] += one * change[i] * change[j]
      matrix[ionosphere * n + i] += above * delay * change[i]
      right[i] += observed * change[i]
      for (let p = 0; p < kinds; p++) cross[i * kinds + p] += this.#byOne[p] * change[i]
    }
    matrix[ionosphere * n + ionosphere] += above * above * both
    right[ionosphere] += above * delayed
  }

  #addAmbiguities(row: Row, columns: Int32Array): void {
    const { matrix } = this
    const n = this.#n
    const { geometry: change, above, places, wavelengths_m } = row
    for (let frequency = 0; frequency < 2; frequency++) {
      const place = places[frequency]
      if (place < 0) continue
      const kind = 2 + frequency
      const column = columns[place]
      const length_m = wavelengths_m[frequency]
      for (let i = 0; i < ionosphere; i++) matrix[column * n + i] += length_m * this.#byOne[kind] * change[i]
      matrix[column * n + ionosphere] += length_m * above * this.#byDelay[kind]
      matrix[column * n + column] += length_m * length_m * weightOf(row, kind, kind)
      this.right[column] += length_m * this.#byObserved[kind]
      for (let p = 0; p < kinds; p++) this.#cross[place * kinds + p] += length_m * weightOf(row, kind, p)
    }
    const [first, second] = places
    if (first < 0 || second < 0) return
    const lower = columns[Math.max(first, second)] * n + columns[Math.min(first, second)]
    matrix[lower] += wavelengths_m[0] * wavelengths_m[1] * weightOf(row, 2, 3)
  }

  #eliminate(columns: Int32Array): void {
    const { matrix, right } = this
    const n = this.#n
    const cross = this.#cross
    const solved = this.#solved
    const { covariance, values } = this.#clocks
    for (let k = 0; k < columns.length; k++) {
      const at = k * kinds
      for (let p = 0; p < kinds; p++) {
        let sum = 0
        for (let q = 0; q < kinds; q++) sum += covariance[p * kinds + q] * cross[at + q]
        solved[at + p] = sum
        right[columns[k]] -= cross[at + p] * values[p]
      }
      const row = columns[k] * n
      for (let m = 0; m <= k; m++) {
        let sum = 0
        for (let p = 0; p < kinds; p++) sum += cross[at + p] * solved[m * kinds + p]
        matrix[row + columns[m]] -= sum
      }
    }
  }
}
