/**
 * Integer least squares: the LAMBDA method (Teunissen 1995, J. Geodesy 70:65-82) with the search of MLAMBDA (Chang, Yang, Zhou
 * 2005, J. Geodesy 79:552-565). `Q = Lᵀ D L` throughout, so the last ambiguity is the one that no other conditions.
 */
import { type Matrix, part, product } from '../gnss/linear.js'
import type { Steps } from './steps.js'

export interface Fixing {
  /** How many integer combinations were fixed, of as many as there are ambiguities. */
  readonly fixed: number
  /** Rows of the integer transformation of these combinations: `fixed` times as many columns as ambiguities. */
  readonly transformation: Matrix
  readonly integers: Float64Array
  /** Squared distance of the second-best integers, of that of the best. */
  readonly ratio: number
  /** Probability that rounding one after the other is right (Teunissen 1998): a lower bound for this method. */
  readonly success: number
}

export interface FixingLimits {
  readonly success: number
  readonly ratio: number
  /** Fewer combinations are not worth fixing. */
  readonly least: number
}

/** The share of the combinations that is left after a ratio was too small. */
const share = 0.85

/**
 * Fixes as many of the decorrelated ambiguities as can be fixed with this probability and ratio, the most certain ones first
 * (partial ambiguity resolution).
 * @param floats real-valued ambiguities, cycles @param covariance theirs, cycles²
 * @returns undefined: too few can be fixed
 */
export function* fixIntegers(
  floats: ArrayLike<number>,
  covariance: Matrix,
  limits: FixingLimits,
): Steps<Fixing | undefined> {
  const n = floats.length
  const factors = n >= limits.least ? factorise(covariance, n) : undefined
  if (!factors) return undefined
  const { lower, diagonal } = factors
  const z = decorrelate(lower, diagonal, n)
  yield
  const decorrelated = product(z, floats, n)
  let fixed = 0
  let success = 1
  for (; fixed < n; fixed++) {
    const next = success * roundedRight(Math.sqrt(diagonal[n - 1 - fixed]))
    if (next < limits.success) break
    success = next
  }
  for (; fixed >= limits.least; fixed = Math.floor(share * fixed)) {
    const first = n - fixed
    const kept = Array.from({ length: fixed }, (_, i) => first + i)
    const found = yield* search(decorrelated.slice(first), part(lower, n, kept), diagonal.slice(first), fixed)
    const ratio = found ? found[1].distance / found[0].distance : 0
    if (!found || ratio < limits.ratio) continue
    return { fixed, transformation: z.slice(first * n), integers: found[0].integers, ratio, success }
  }
  return undefined
}

/** The probability that a normal value with this standard deviation rounds to its mean. */
const roundedRight = (sigma: number) => erf(1 / (2 * Math.SQRT2 * sigma))

/** To 1.5e-7 (Abramowitz and Stegun, 7.1.26). */
function erf(x: number): number {
  const t = 1 / (1 + 0.3275911 * x)
  const sum = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
  return 1 - sum * Math.exp(-x * x)
}

/** @returns undefined if the matrix is not positive definite */
function factorise(covariance: Matrix, n: number): { lower: Matrix; diagonal: Float64Array } | undefined {
  const left = covariance.slice()
  const lower = new Float64Array(n * n)
  const diagonal = new Float64Array(n)
  for (let i = n - 1; i >= 0; i--) {
    const d = left[i * n + i]
    if (!(d > 0)) return undefined
    diagonal[i] = d
    for (let j = 0; j <= i; j++) lower[i * n + j] = left[i * n + j] / d
    for (let j = 0; j < i; j++) {
      for (let k = 0; k <= j; k++) {
        const changed = left[j * n + k] - lower[i * n + k] * lower[i * n + j] * d
        left[j * n + k] = changed
      }
    }
  }
  return { lower, diagonal }
}

/**
 * Integer Gauss transformations and swaps until the conditional variances cannot be lowered any more. Changes the
 * factors in place. @returns the transformation: `z = Z a`, row by row
 */
function decorrelate(lower: Matrix, diagonal: Float64Array, n: number): Matrix {
  const z = new Float64Array(n * n)
  for (let i = 0; i < n; i++) z[i * n + i] = 1
  const reduce = (i: number, j: number) => {
    const steps = Math.round(lower[i * n + j])
    if (steps === 0) return
    for (let k = i; k < n; k++) lower[k * n + j] = lower[k * n + j] - steps * lower[k * n + i]
    for (let k = 0; k < n; k++) z[j * n + k] = z[j * n + k] - steps * z[i * n + k]
  }
  let j = n - 2
  let reducedTo = n - 2
  while (j >= 0) {
    if (j <= reducedTo) for (let i = j + 1; i < n; i++) reduce(i, j)
    const cross = lower[(j + 1) * n + j]
    const swapped = diagonal[j] + cross * cross * diagonal[j + 1]
    if (swapped + 1e-9 * swapped < diagonal[j + 1]) {
      swap(lower, diagonal, z, n, j, swapped)
      reducedTo = j
      j = n - 2
    } else j -= 1
  }
  return z
}

/** Ambiguities `j` and `j + 1` change places. @param swapped variance of the one that becomes the last of both */
function swap(lower: Matrix, diagonal: Float64Array, z: Matrix, n: number, j: number, swapped: number): void {
  const cross = lower[(j + 1) * n + j]
  const eta = diagonal[j] / swapped
  const lambda = (diagonal[j + 1] * cross) / swapped
  diagonal[j] = eta * diagonal[j + 1]
  diagonal[j + 1] = swapped
  for (let k = 0; k < j; k++) {
    const [upper, under] = [lower[j * n + k], lower[(j + 1) * n + k]]
    lower[j * n + k] = -cross * upper + under
    lower[(j + 1) * n + k] = eta * upper + lambda * under
  }
  lower[(j + 1) * n + j] = lambda
  for (let k = j + 2; k < n; k++) {
    const kept = lower[k * n + j]
    lower[k * n + j] = lower[k * n + j + 1]
    lower[k * n + j + 1] = kept
  }
  for (let k = 0; k < n; k++) {
    const kept = z[j * n + k]
    z[j * n + k] = z[(j + 1) * n + k]
    z[(j + 1) * n + k] = kept
  }
}

interface Candidate {
  readonly integers: Float64Array
  readonly distance: number
}

/** The nodes of a search at most; more mean that the covariance cannot be right. */
const mostNodes = 200_000

/** The two nearest integer vectors, depth first from the last ambiguity, with a shrinking radius. */
function* search(
  floats: Float64Array,
  lower: Matrix,
  diagonal: Float64Array,
  n: number,
): Steps<[Candidate, Candidate] | undefined> {
  const found: Candidate[] = []
  let radius = Number.POSITIVE_INFINITY
  const integers = new Float64Array(n)
  const conditional = new Float64Array(n)
  const steps = new Float64Array(n)
  const above = new Float64Array(n + 1)
  const begin = (k: number) => {
    let value = floats[k]
    for (let i = k + 1; i < n; i++) value += lower[i * n + k] * (integers[i] - conditional[i])
    conditional[k] = value
    integers[k] = Math.round(value)
    steps[k] = value >= integers[k] ? 1 : -1
  }
  const next = (k: number) => {
    integers[k] = integers[k] + steps[k]
    steps[k] = -steps[k] - Math.sign(steps[k])
  }
  let k = n - 1
  begin(k)
  for (let nodes = 0; nodes < mostNodes; nodes++) {
    if (nodes % 1_000 === 999) yield
    const off = conditional[k] - integers[k]
    const distance = above[k + 1] + (off * off) / diagonal[k]
    if (distance < radius) {
      if (k > 0) {
        above[k] = distance
        k -= 1
        begin(k)
        continue
      }
      found.push({ integers: integers.slice(), distance })
      found.sort((p, q) => p.distance - q.distance)
      found.length = Math.min(2, found.length)
      radius = found[1]?.distance ?? radius
      next(0)
      continue
    }
    k += 1
    if (k === n) break
    next(k)
  }
  const [best, second] = found
  return best && second ? [best, second] : undefined
}

/** The integers of `transformation · floats` that were fixed, less the real-valued ones. */
export function correction({ transformation, integers, fixed }: Fixing, floats: ArrayLike<number>): Float64Array {
  const n = floats.length
  const result = new Float64Array(fixed)
  for (let i = 0; i < fixed; i++) {
    let value = integers[i]
    for (let j = 0; j < n; j++) value -= transformation[i * n + j] * floats[j]
    result[i] = value
  }
  return result
}
