/** From measured vectors to one comparison for each pair of bases: validated, bounded, repeated windows combined. */
import type { Ecef } from '../../../../schemas/services.js'
import { inverse, type Matrix, product } from '../../gnss/linear.js'
import type { Steps } from '../steps.js'

/** A measured vector against the announced positions. */
export interface NetVector {
  readonly from: string
  readonly to: string
  /** Measured minus announced vector, ECEF metres. */
  readonly offset: Ecef
  /** The covariance of the offset, ECEF, m², 3 × 3 row by row. */
  readonly covariance: Matrix
  /** Up to this, a height may be off because the antennas are of different models, metres. Default: 0. */
  readonly heightDoubt_m?: number
}

/** All vectors between two bases as one: `offset` is the correction of base `j` minus the correction of base `i`. */
export interface Pair {
  readonly i: number
  readonly j: number
  /** ECEF metres. */
  readonly offset: Float64Array
  /** ECEF, m². */
  readonly covariance: Matrix
  readonly heightDoubt_m: number
}

/** No vector is taken to be more precise than this, whatever its covariance says. */
const least_m = 0.002
/** A vector less precise than this says nothing about a position. */
const most_m = 10
/** No two points of the Earth are farther apart. */
const farthest_m = 2e7
/** Newest windows of a pair that are combined. */
const windows = 48
/** Windows of the same pair share satellites, air and surroundings: many are not better than this many independent ones. */
const independent = 3
/** Windows of a pair that differ by more have not all found the same vector: χ² of three axes at 10⁻⁴, and metres besides. */
const same = { limit: 21.1, besides_m: 0.005 }

/** @param places the index of each base by its id */
export function* pairsOf(places: ReadonlyMap<string, number>, vectors: Iterable<NetVector>): Steps<Pair[]> {
  const windowsOf = new Map<string, Pair[]>()
  for (const vector of vectors) {
    yield
    const pair = validPair(places, vector)
    if (!pair) continue
    const key = `${pair.i} ${pair.j}`
    const known = windowsOf.get(key)
    if (!known) windowsOf.set(key, [pair])
    else if (known.push(pair) > windows) known.shift()
  }
  const pairs: Pair[] = []
  for (const known of windowsOf.values()) {
    yield
    const pair = combined(known)
    if (pair) pairs.push(pair)
  }
  return pairs
}

/** @returns undefined: the vector cannot be used */
function validPair(places: ReadonlyMap<string, number>, vector: NetVector): Pair | undefined {
  const from = places.get(vector.from)
  const to = places.get(vector.to)
  if (from === undefined || to === undefined || from === to || vector.covariance.length !== 9) return undefined
  const { x, y, z } = vector.offset
  if (!(Math.hypot(x, y, z) <= farthest_m)) return undefined
  const covariance = new Float64Array(9)
  for (let p = 0; p < 3; p++) {
    for (let q = 0; q < 3; q++)
      covariance[3 * p + q] = (vector.covariance[3 * p + q] + vector.covariance[3 * q + p]) / 2
    if (!(covariance[4 * p] >= 0 && covariance[4 * p] <= most_m ** 2)) return undefined
  }
  const padded = widened(covariance, least_m)
  if (!inverse(padded, 3)) return undefined
  const sign = from < to ? 1 : -1
  return {
    i: Math.min(from, to),
    j: Math.max(from, to),
    offset: Float64Array.of(sign * x, sign * y, sign * z),
    covariance: padded,
    heightDoubt_m: vector.heightDoubt_m ?? 0,
  }
}

/**
 * The inverse-variance mean of the windows that agree with the one nearest to all others.
 * @returns undefined: not more than half of the windows agree
 */
function combined(known: readonly Pair[]): Pair | undefined {
  if (known.length === 1) return known[0]
  const sums = known.map((one) => known.reduce((sum, other) => sum + apart(one, other), 0))
  const middle = known[sums.indexOf(Math.min(...sums))]
  const agreeing = known.filter((one) => differs(one, middle) <= same.limit)
  if (2 * agreeing.length <= known.length) return undefined
  const weights = new Float64Array(9)
  const sum = new Float64Array(3)
  for (const { covariance, offset } of agreeing) {
    const weight = inverse(covariance, 3)
    if (!weight) return undefined
    const weighted = product(weight, offset, 3)
    for (let k = 0; k < 9; k++) weights[k] += weight[k]
    for (let k = 0; k < 3; k++) sum[k] += weighted[k]
  }
  const mean = inverse(weights, 3)
  if (!mean) return undefined
  const factor = Math.max(1, agreeing.length / independent)
  return {
    i: middle.i,
    j: middle.j,
    offset: product(mean, sum, 3),
    covariance: widened(
      mean.map((value) => value * factor),
      least_m,
    ),
    heightDoubt_m: Math.max(...agreeing.map(({ heightDoubt_m }) => heightDoubt_m)),
  }
}

const apart = (one: Pair, other: Pair) => Math.hypot(...one.offset.map((value, axis) => value - other.offset[axis]))

function differs(one: Pair, other: Pair): number {
  const sum = one.covariance.map((value, k) => value + other.covariance[k])
  return chiSquared(
    one.offset.map((value, axis) => value - other.offset[axis]),
    widened(sum, same.besides_m),
  )
}

/** A covariance with this standard deviation added along each axis. */
export function widened(covariance: Matrix, by_m: number): Matrix {
  const result = Float64Array.from(covariance)
  for (let axis = 0; axis < 3; axis++) result[4 * axis] += by_m ** 2
  return result
}

/** `vᵀ C⁻¹ v`: χ² of three axes; infinite for a covariance that is not positive definite. */
export function chiSquared(vector: Float64Array, covariance: Matrix): number {
  const weight = inverse(covariance, 3)
  return weight ? square(weight, vector[0], vector[1], vector[2]) : Infinity
}

/** `vᵀ W v` */
export function square(weight: Matrix, x: number, y: number, z: number): number {
  return (
    x * (weight[0] * x + 2 * (weight[1] * y + weight[2] * z)) +
    y * (weight[4] * y + 2 * weight[5] * z) +
    weight[8] * z * z
  )
}
