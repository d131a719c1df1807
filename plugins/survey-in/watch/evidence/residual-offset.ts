/** Where the antenna is relative to the position that a fixed base holds, by its pseudorange residuals. */
import type { Enu } from 'rtk-base/gnss'
import type { SatelliteResidual } from 'rtk-base/services'

/** With fewer used satellites the geometry says too little. */
const fewestSatellites = 8
const radians = Math.PI / 180

/**
 * Least squares of the residuals over the direction of each satellite, with one clock per constellation:
 * r = −(sin az cos el · E + cos az cos el · N + sin el · U) + clock, r measured less computed range (e.g. Misra and Enge,
 * Global Positioning System, 2nd ed., §6.1). Metres; undefined with fewer than 8 used satellites or a bad geometry.
 */
export function offsetOf(residuals: readonly SatelliteResidual[]): Enu | undefined {
  const used = residuals.filter((satellite) => satellite.used)
  if (used.length < fewestSatellites) return undefined
  const clocks = [...new Set(used.map(({ constellation }) => constellation))]
  const size = 3 + clocks.length
  if (used.length < size + 1) return undefined
  const normal = Array.from({ length: size }, () => new Float64Array(size + 1))
  for (const { azimuth_deg, elevation_deg, residual_m, constellation } of used) {
    const level = Math.cos(elevation_deg * radians)
    const row = new Float64Array(size)
    row[0] = -Math.sin(azimuth_deg * radians) * level
    row[1] = -Math.cos(azimuth_deg * radians) * level
    row[2] = -Math.sin(elevation_deg * radians)
    row[3 + clocks.indexOf(constellation)] = 1
    for (let i = 0; i < size; i++) {
      if (row[i] === 0) continue
      for (let j = 0; j < size; j++) normal[i][j] += row[i] * row[j]
      normal[i][size] += row[i] * residual_m
    }
  }
  const solution = solve(normal)
  return solution && { east: solution[0], north: solution[1], up: solution[2] }
}

/** Gauss elimination with pivots of the rows [A | b]; undefined when A is singular. */
function solve(rows: Float64Array[]): number[] | undefined {
  const size = rows.length
  for (let column = 0; column < size; column++) {
    let pivot = column
    for (let i = column + 1; i < size; i++) if (Math.abs(rows[i][column]) > Math.abs(rows[pivot][column])) pivot = i
    if (Math.abs(rows[pivot][column]) < 1e-6) return undefined
    const swap = rows[column]
    rows[column] = rows[pivot]
    rows[pivot] = swap
    for (let i = column + 1; i < size; i++) {
      const factor = rows[i][column] / rows[column][column]
      for (let j = column; j <= size; j++) rows[i][j] -= factor * rows[column][j]
    }
  }
  const solution = new Array<number>(size).fill(0)
  for (let i = size - 1; i >= 0; i--) {
    let value = rows[i][size]
    for (let j = i + 1; j < size; j++) value -= rows[i][j] * solution[j]
    solution[i] = value / rows[i][i]
  }
  return solution
}
