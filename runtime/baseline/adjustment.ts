/**
 * Least squares over the differences of one window: the place of the second station, the wet zenith delay and the ionosphere between both,
 * and the real-valued ambiguities. The clocks of each epoch, one for each frequency of a constellation in code and in phase, are eliminated,
 * which is the same as double differences with their correlations.
 */
import type { Arc, DifferencedEpoch } from './differences.js'
import { type Block, blocksOf, Clocks, type Factors, geometry, kinds, type NoiseModel, number } from './equations.js'
import { inverse, type Matrix, product } from './linear.js'
import { Residuals } from './residuals.js'
import type { Steps } from './steps.js'

/** The noise is not taken for smaller than this part of the assumed. */
const leastFactor = 0.5
/** Of the adjustment: the noise and the outliers of one count in the next. */
const rounds = 4
/** Unknown before the observations: the place (metres), an ambiguity (cycles). */
const place_m = 1_000
const ambiguity = 1_000

export interface Floats {
  /** Correction of the assumed place of the second station, ECEF metres, then the zenith delay and the ionosphere, metres. */
  readonly geometry: Float64Array
  /** Of the arcs with an ambiguity of their own, cycles. */
  readonly ambiguities: Float64Array
  readonly arcs: readonly number[]
  /** Of all, geometry first. */
  readonly covariance: Matrix
  /** How much larger than assumed the noise of code and of phase is. */
  readonly noise: Factors
  readonly satellites: number
}

/** @returns undefined: too few observations */
export function* adjust(
  epochs: readonly DifferencedEpoch[],
  arcs: readonly Arc[],
  noise: NoiseModel,
): Steps<Floats | undefined> {
  const numbering = number(epochs, arcs)
  const n = geometry + numbering.arcs.length
  let factors: Factors = [1, 1]
  let floats: Floats | undefined
  const excluded = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const blocks = yield* blocksOf(epochs, numbering, { ...noise, factors }, excluded)
    const normal = new Normal(n)
    for (let axis = 0; axis < 3; axis++) normal.matrix[axis * n + axis] = place_m ** -2
    normal.matrix[3 * n + 3] = noise.zenith_m ** -2
    normal.matrix[4 * n + 4] = noise.above_m ** -2
    for (let k = geometry; k < n; k++) normal.matrix[k * n + k] = ambiguity ** -2
    for (const block of blocks) yield normal.add(block)
    const covariance = inverse(normal.matrix, n)
    yield
    if (!covariance) return undefined
    const solution = product(covariance, normal.right, n)
    const residuals = new Residuals(n)
    for (const block of blocks) yield residuals.add(block, solution)
    const { misfit, alike, redundancy, satellites } = residuals
    const noiseOf = (of: 0 | 1) => misfit[of] * factors[of]
    if (redundancy <= 0) return undefined
    floats = {
      geometry: solution.slice(0, geometry),
      ambiguities: Float64Array.from(numbering.arcs, (arc, k) => solution[geometry + k] + numbering.starts[arc]),
      arcs: numbering.arcs,
      covariance,
      noise: [noiseOf(0), noiseOf(1)],
      satellites,
    }
    factors = [Math.max(leastFactor, noiseOf(0)) * alike[0], Math.max(leastFactor, noiseOf(1)) * alike[1]]
    for (const id of residuals.outliers) excluded.add(id)
  }
  return floats
}

/** Normal equations without the clocks. */
class Normal {
  readonly matrix: Matrix
  readonly right: Float64Array
  readonly #n: number

  constructor(n: number) {
    this.#n = n
    this.matrix = new Float64Array(n * n)
    this.right = new Float64Array(n)
  }

  add(rows: Block): void {
    const columns = [...new Set(rows.flatMap((row) => row.columns))]
    const place = new Map(columns.map((column, k) => [column, k]))
    const clocks = new Clocks()
    const cross = new Float64Array(kinds * columns.length)
    for (const { columns: own, design, observed, weight } of rows) {
      clocks.add(weight, observed)
      const width = own.length
      const weighted = weightedBy(weight, design, width)
      for (let k = 0; k < width; k++) {
        const at = place.get(own[k]) ?? 0
        for (let p = 0; p < kinds; p++) {
          const d = weighted[p * width + k]
          if (d === 0) continue
          cross[p * columns.length + at] += d
          this.right[own[k]] += d * observed[p]
          for (let m = 0; m < width; m++) this.matrix[own[k] * this.#n + own[m]] += d * design[p * width + m]
        }
      }
    }
    this.#eliminate(columns, cross, clocks)
  }

  #eliminate(columns: readonly number[], cross: Float64Array, clocks: Clocks): void {
    const width = columns.length
    const solved = weightedBy(clocks.covariance, cross, width)
    for (let p = 0; p < kinds; p++) {
      for (let k = 0; k < width; k++) {
        const c = cross[p * width + k]
        if (c === 0) continue
        this.right[columns[k]] -= c * clocks.values[p]
        for (let m = 0; m < width; m++) this.matrix[columns[k] * this.#n + columns[m]] -= c * solved[p * width + m]
      }
    }
  }
}

/** `W · D`. @param weight of the kinds, symmetric @param design a row for each kind */
function weightedBy(weight: Matrix, design: Float64Array, width: number): Float64Array {
  const result = new Float64Array(kinds * width)
  for (let p = 0; p < kinds; p++) {
    for (let q = 0; q < kinds; q++) {
      const w = weight[p * kinds + q]
      if (w === 0) continue
      for (let k = 0; k < width; k++) result[p * width + k] += w * design[q * width + k]
    }
  }
  return result
}
