/** Where the antenna is relative to the position that a fixed base holds, by its pseudorange residuals. */
import { type Enu, median } from 'rtk-base/gnss'
import type { SatelliteResidual } from 'rtk-base/services'

/** With fewer used satellites the geometry is too weak. */
const fewestSatellites = 8
const radians = Math.PI / 180

/** An offset with its accuracy from the spread of its inputs: 3D, 1 sigma, metres. */
export interface MeasuredOffset extends Enu {
  sigma_m: number
}

/** Low satellites are noisier: the weight of a residual is sin² of its elevation, but no less than this. */
const leastWeight = 0.05

/** A range that is wrong, by an ephemeris or a reflection, is farther from the others than this, and than so many times what half of them are. */
const outlier = { least_m: 15, times: 6 }

/**
 * Least squares of the residuals over the direction of each satellite, with one clock per constellation:
 * r = −(sin az cos el · E + cos az cos el · N + sin el · U) + clock, r measured less computed range (e.g. Misra and Enge,
 * Global Positioning System, 2nd ed., §6.1). Ranges that do not fit the others are left out, one after the other.
 * Metres; undefined with fewer than 8 used satellites or a poor geometry.
 */
export function offsetOf(residuals: readonly SatelliteResidual[]): MeasuredOffset | undefined {
  let used = residuals.filter((satellite) => satellite.used)
  for (;;) {
    const fit = fitOf(used)
    if (!fit) return undefined
    const rests = fit.rests_m.map(Math.abs)
    const worst_m = Math.max(...rests)
    if (worst_m <= Math.max(outlier.least_m, outlier.times * median(rests))) return fit.offset
    used = used.filter((_, i) => rests[i] !== worst_m)
  }
}

/** The rests are as noisy as in the zenith. */
function fitOf(used: readonly SatelliteResidual[]): { offset: MeasuredOffset; rests_m: number[] } | undefined {
  if (used.length < fewestSatellites) return undefined
  const clocks = [...new Set(used.map(({ constellation }) => constellation))]
  const size = 3 + clocks.length
  if (used.length < size + 1) return undefined
  // The right sides: the residuals, and three unit vectors that give the columns of the covariance.
  const normal = Array.from({ length: size }, (_, i) => {
    const row = new Float64Array(size + 4)
    if (i < 3) row[size + 1 + i] = 1
    return row
  })
  const rows = used.map((satellite) => rowOf(satellite, clocks))
  for (const { row, weight, residual_m } of rows) {
    for (let i = 0; i < size; i++) {
      if (row[i] === 0) continue
      for (let j = 0; j < size; j++) normal[i][j] += weight * row[i] * row[j]
      normal[i][size] += weight * row[i] * residual_m
    }
  }
  const solution = solve(normal)
  if (!solution) return undefined
  const [found, east, north, up] = solution
  const rests_m = rows.map(({ row, weight, residual_m }) => {
    const computed_m = row.reduce((sum, value, i) => sum + value * found[i], 0)
    return Math.sqrt(weight) * (residual_m - computed_m)
  })
  const squares = rests_m.reduce((sum, rest_m) => sum + rest_m * rest_m, 0)
  const variance = (squares / (used.length - size)) * (east[0] + north[1] + up[2])
  return { offset: { east: found[0], north: found[1], up: found[2], sigma_m: Math.sqrt(variance) }, rests_m }
}

function rowOf(satellite: SatelliteResidual, clocks: readonly string[]) {
  const { azimuth_deg, elevation_deg, residual_m, constellation } = satellite
  const level = Math.cos(elevation_deg * radians)
  const sine = Math.sin(elevation_deg * radians)
  const row = new Float64Array(3 + clocks.length)
  row[0] = -Math.sin(azimuth_deg * radians) * level
  row[1] = -Math.cos(azimuth_deg * radians) * level
  row[2] = -sine
  row[3 + clocks.indexOf(constellation)] = 1
  return { row, weight: Math.max(leastWeight, sine * sine), residual_m }
}

/** Gauss elimination with pivots of the rows [A | B]: the solution for each column of B; undefined when A is singular. */
function solve(rows: Float64Array[]): number[][] | undefined {
  const size = rows.length
  const width = rows[0].length
  for (let column = 0; column < size; column++) {
    let pivot = column
    for (let i = column + 1; i < size; i++) if (Math.abs(rows[i][column]) > Math.abs(rows[pivot][column])) pivot = i
    if (Math.abs(rows[pivot][column]) < 1e-6) return undefined
    const swap = rows[column]
    rows[column] = rows[pivot]
    rows[pivot] = swap
    for (let i = column + 1; i < size; i++) {
      const factor = rows[i][column] / rows[column][column]
      for (let j = column; j < width; j++) rows[i][j] -= factor * rows[column][j]
    }
  }
  return Array.from({ length: width - size }, (_, side) => {
    const solution = new Array<number>(size).fill(0)
    for (let i = size - 1; i >= 0; i--) {
      let value = rows[i][size + side]
      for (let j = i + 1; j < size; j++) value -= rows[i][j] * solution[j]
      solution[i] = value / rows[i][i]
    }
    return solution
  })
}
