/** Dense linear algebra for symmetric matrices, row by row in a Float64Array, vectors, and least squares. */
import type { Ecef } from '../../../schemas/services.js'

export type Matrix = Float64Array

/**
 * The inverse of a symmetric positive definite matrix, by Cholesky decomposition. Only the lower triangle is read.
 * @returns undefined if it is not positive definite
 */
export function inverse(matrix: Matrix, n: number): Matrix | undefined {
  const result = matrix.slice()
  return invert(result, n) ? result : undefined
}

/**
 * Inverts a symmetric positive definite matrix in place. The loops run along rows, which are near each other in memory.
 * @returns false if the matrix is not positive definite: it is changed nevertheless
 */
export function invert(matrix: Matrix, n: number): boolean {
  if (!decompose(matrix, n)) return false
  const sums = n <= small.length ? small : new Float64Array(n)
  // The inverse of the lower factor, then its transpose times itself.
  for (let i = 0; i < n; i++) {
    sums.fill(0, 0, i)
    for (let k = 0; k < i; k++) {
      const factor = matrix[i * n + k]
      for (let j = 0; j <= k; j++) sums[j] -= factor * matrix[k * n + j]
    }
    const own = 1 / matrix[i * n + i]
    for (let j = 0; j < i; j++) matrix[i * n + j] = sums[j] * own
    matrix[i * n + i] = own
  }
  for (let i = 0; i < n; i++) {
    sums.fill(0, 0, i + 1)
    for (let k = i; k < n; k++) {
      const factor = matrix[k * n + i]
      for (let j = 0; j <= i; j++) sums[j] += factor * matrix[k * n + j]
    }
    for (let j = 0; j <= i; j++) {
      matrix[i * n + j] = sums[j]
      matrix[j * n + i] = sums[j]
    }
  }
  return true
}

const small = new Float64Array(8)

export const isPositiveDefinite = (matrix: Matrix, n: number): boolean => decompose(matrix.slice(), n)

/**
 * The lower factor `L` of `matrix = L Lᵀ` in place of the lower triangle.
 * @param least a smaller pivot counts as 0
 * @returns false if the matrix is not positive definite
 */
function decompose(matrix: Matrix, n: number, least = 0): boolean {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j]
      for (let k = 0; k < j; k++) sum -= matrix[i * n + k] * matrix[j * n + k]
      if (i !== j) matrix[i * n + j] = sum / matrix[j * n + j]
      else if (sum > least) matrix[i * n + i] = Math.sqrt(sum)
      else return false
    }
  }
  return true
}

/** `matrix⁻¹ · vector`; undefined if the matrix is not positive definite. */
export function solve(matrix: Matrix, vector: Float64Array, n: number): Float64Array | undefined {
  const result = vector.slice()
  return solveInPlace(matrix.slice(), result, n) ? result : undefined
}

/**
 * Puts `matrix⁻¹ · vector` in place of the vector, without a copy of the matrix.
 * @param least a smaller pivot counts as 0
 * @returns false if the matrix is not positive definite: it is changed nevertheless
 */
export function solveInPlace(matrix: Matrix, vector: Float64Array, n: number, least = 0): boolean {
  if (!decompose(matrix, n, least)) return false
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) vector[i] -= matrix[i * n + k] * vector[k]
    vector[i] /= matrix[i * n + i]
  }
  for (let i = n - 1; i >= 0; i--) {
    vector[i] /= matrix[i * n + i]
    for (let k = 0; k < i; k++) vector[k] -= matrix[i * n + k] * vector[i]
  }
  return true
}

/** An equation for least squares: `row · unknowns = value`. */
export interface WeightedRow {
  readonly row: ArrayLike<number>
  readonly value: number
  /** The inverse of its variance, or in proportion to it. */
  readonly weight: number
}

/**
 * Weighted least squares by normal equations.
 * @param priors weight by which each unknown is 0 before the equations; omitted: nothing is known
 * @returns the unknowns and their covariance, row by row; undefined if the equations do not determine the unknowns
 */
export function leastSquares(
  rows: readonly WeightedRow[],
  n: number,
  priors?: ArrayLike<number>,
): { solution: Float64Array; covariance: Float64Array } | undefined {
  const normal = new Float64Array(n * n)
  const right = new Float64Array(n)
  for (const { row, value, weight } of rows) {
    for (let i = 0; i < n; i++) {
      const weighted = weight * row[i]
      if (weighted === 0) continue
      right[i] += weighted * value
      for (let j = 0; j <= i; j++) normal[i * n + j] += weighted * row[j]
    }
  }
  if (priors) for (let i = 0; i < n; i++) normal[i * n + i] += priors[i]
  return invert(normal, n) ? { solution: product(normal, right, n), covariance: normal } : undefined
}

/** `matrix · vector` */
export function product(matrix: Matrix, vector: ArrayLike<number>, n: number): Float64Array {
  const result = new Float64Array(n)
  for (let i = 0; i < n; i++) {
    let sum = 0
    for (let j = 0; j < n; j++) sum += matrix[i * n + j] * vector[j]
    result[i] = sum
  }
  return result
}

/** The rows and columns of a symmetric matrix with these indices. */
export function part(matrix: Matrix, n: number, rows: readonly number[], columns = rows): Matrix {
  const result = new Float64Array(rows.length * columns.length)
  for (const [i, row] of rows.entries()) {
    for (const [j, column] of columns.entries()) result[i * columns.length + j] = matrix[row * n + column]
  }
  return result
}

export const plus = (p: Ecef, q: Ecef): Ecef => ({ x: p.x + q.x, y: p.y + q.y, z: p.z + q.z })
export const minus = (p: Ecef, q: Ecef): Ecef => ({ x: p.x - q.x, y: p.y - q.y, z: p.z - q.z })
