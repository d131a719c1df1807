/** Dense linear algebra for symmetric matrices, row by row in a Float64Array, and vectors. */
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
 * The same in place. The loops run along rows, which are near each other in memory.
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

/** The lower factor `L` of `matrix = L Lᵀ` in place of the lower triangle. @returns false if the matrix is not positive definite */
function decompose(matrix: Matrix, n: number): boolean {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j]
      for (let k = 0; k < j; k++) sum -= matrix[i * n + k] * matrix[j * n + k]
      if (i !== j) matrix[i * n + j] = sum / matrix[j * n + j]
      else if (sum > 0) matrix[i * n + i] = Math.sqrt(sum)
      else return false
    }
  }
  return true
}

/** `matrix⁻¹ · vector`; undefined if the matrix is not positive definite. */
export function solve(matrix: Matrix, vector: Float64Array, n: number): Float64Array | undefined {
  const lower = matrix.slice()
  if (!decompose(lower, n)) return undefined
  const result = vector.slice()
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) result[i] -= lower[i * n + k] * result[k]
    result[i] /= lower[i * n + i]
  }
  for (let i = n - 1; i >= 0; i--) {
    result[i] /= lower[i * n + i]
    for (let k = 0; k < i; k++) result[k] -= lower[i * n + k] * result[i]
  }
  return result
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
