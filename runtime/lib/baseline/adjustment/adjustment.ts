/**
 * Least squares over the differences of one window: the place of the second station, the wet zenith delay and the ionosphere between both,
 * and the real-valued ambiguities. The clocks of each epoch, one for each frequency of a constellation in code and in phase, are eliminated,
 * which is the same as double differences with their correlations.
 */

import { inverse, type Matrix, product, solve } from '../../gnss/linear.js'
import type { Arc, DifferencedEpoch } from '../differences.js'
import type { Steps } from '../steps.js'
import { equationsOf, type Factors, type NoiseModel, weigh } from './equations.js'
import { Normal } from './normal.js'
import { geometry, number } from './numbering.js'
import { Residuals } from './residuals.js'

/** The noise is not taken for smaller than this part of the assumed. */
const leastFactor = 0.5
/** The rounds of the adjustment: the noise and the outliers of one count in the next. */
const rounds = 4
/** Unknown before the observations: the place (metres), an ambiguity (cycles). */
const place_m = 1_000
const ambiguity = 1_000
/** Blocks without a pause. */
const together = 16

export interface Floats {
  /** Correction of the assumed place of the second station, ECEF metres, then the zenith delay and the ionosphere, metres. */
  readonly geometry: Float64Array
  /** The ambiguities of the arcs that have their own, cycles. */
  readonly ambiguities: Float64Array
  readonly arcs: readonly number[]
  /** The covariance of all unknowns, geometry first. */
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
  const equations = yield* equationsOf(epochs, numbering)
  const n = geometry + numbering.arcs.length
  const variances = new Float64Array(n).fill(ambiguity ** 2)
  variances.set([place_m ** 2, place_m ** 2, place_m ** 2, noise.zenith_m ** 2, noise.above_m ** 2])
  const normal = new Normal(n)
  let factors: Factors = [1, 1]
  for (let round = 1; ; round++) {
    const blocks = equations.blocks.filter((block) => weigh(block, noise.ionosphere_m, factors))
    normal.begin(variances)
    for (const [k, block] of blocks.entries()) {
      normal.add(block)
      if (k % together === 0) yield
    }
    // The covariance is that of the last round.
    const covariance = round < rounds ? undefined : inverse(normal.matrix, n)
    const solution = covariance ? product(covariance, normal.right, n) : solve(normal.matrix, normal.right, n)
    yield
    if (!solution) return undefined
    const residuals = new Residuals(n, equations)
    for (const [k, block] of blocks.entries()) {
      residuals.add(block, solution)
      if (k % together === 0) yield
    }
    const { misfit, alike, redundancy, satellites } = residuals
    const noiseOf = (of: 0 | 1) => misfit[of] * factors[of]
    if (redundancy <= 0) return undefined
    if (covariance) {
      return {
        geometry: solution.slice(0, geometry),
        ambiguities: Float64Array.from(numbering.arcs, (arc, k) => solution[geometry + k] + numbering.starts[arc]),
        arcs: numbering.arcs,
        covariance,
        noise: [noiseOf(0), noiseOf(1)],
        satellites,
      }
    }
    factors = [Math.max(leastFactor, noiseOf(0)) * alike[0], Math.max(leastFactor, noiseOf(1)) * alike[1]]
    residuals.leaveOut()
  }
}
