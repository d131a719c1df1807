/** Dense linear algebra for symmetric matrices, row by row in a Float64Array, and vectors. */
import type { Ecef } from '../../schemas/services.js'

export type Matrix = Float64Array

/**
 * The inverse of a symmetric positive definite matrix, by Cholesky decomposition.
 * @returns undefined if it is not positive definite
 */
export function inverse(matrix: Matrix, n: number): Matrix | undefined {
  const lower = cholesky(matrix, n)
  if (!lower) return undefined
  // The inverse of the lower factor, in place, then its transpose times itself.
  for (let i = 0; i < n; i++) {
    lower[i * n + i] = 1 / lower[i * n + i]
    for (let j = 0; j < i; j++) {
      let sum = 0
      for (let k = j; k < i; k++) sum -= lower[i * n + k] * lower[k * n + j]
      lower[i * n + j] = sum * lower[i * n + i]
    }
  }
  const result = new Float64Array(n * n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0
      for (let k = i; k < n; k++) sum += lower[k * n + i] * lower[k * n + j]
      result[i * n + j] = sum
      result[j * n + i] = sum
    }
  }
  return result
}

/** The lower factor `L` of `matrix = L Lᵀ`; undefined if the matrix is not positive definite. */
export function cholesky(matrix: Matrix, n: number): Matrix | undefined {
  const lower = new Float64Array(n * n)
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j]
      for (let k = 0; k < j; k++) sum -= lower[i * n + k] * lower[j * n + k]
      if (i !== j) lower[i * n + j] = sum / lower[j * n + j]
      else if (sum > 0) lower[i * n + i] = Math.sqrt(sum)
      else return undefined
    }
  }
  return lower
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
