/** Where the antenna is relative to the position that a fixed base holds, by its pseudorange residuals. */
import type { Enu } from 'rtk-base/gnss'
import type { SatelliteResidual } from 'rtk-base/services'

/** With fewer used satellites the geometry is too weak. */
const fewestSatellites = 8
/** By how much the errors of ranges in the zenith may be larger in the offset: satellites of a narrow part of the sky say nothing of a move. */
const mostDilution = 8
const radians = Math.PI / 180

/** An offset with its accuracy from the spread of its inputs: 3D, 1 sigma, metres. */
export interface MeasuredOffset extends Enu {
  sigma_m: number
}

/** Low satellites are noisier: the weight of a residual is sin² of its elevation, but no less than this. */
const leastWeight = 0.05

/**
 * Where the rests, as noisy as in the zenith, are larger than `from_m`, one wrong range may be the cause: the one without which they are
 * smaller by `share`. Noise alone does not lessen by so much. Beyond `most_m` nothing was measured.
 */
const wrongRange = { from_m: 12, share: 0.75, most_m: 50 }

/**
 * Least squares of the residuals over the direction of each satellite, with one clock per constellation:
 * r = −(sin az cos el · E + cos az cos el · N + sin el · U) + clock, r measured less computed range (e.g. Misra and Enge,
 * Global Positioning System, 2nd ed., §6.1). Ranges that do not fit the others are left out, one after the other.
 * Metres; undefined with fewer than 8 used satellites or a poor geometry.
 */
export function offsetOf(residuals: readonly SatelliteResidual[]): MeasuredOffset | undefined {
  let used = residuals.filter((satellite) => satellite.used)
  let fit = fitOf(used)
  while (fit && fit.rest_m > wrongRange.from_m) {
    const others = used.map((left) => used.filter((one) => one !== left))
    const best = others
      .map((rest) => ({ rest, fit: fitOf(rest) }))
      .reduce((one, other) => (Number(other.fit?.rest_m) < (one.fit?.rest_m ?? Number.POSITIVE_INFINITY) ? other : one))
    if (!best.fit || best.fit.rest_m > wrongRange.share * fit.rest_m) break
    used = best.rest
    fit = best.fit
  }
  return fit && fit.rest_m <= wrongRange.most_m ? fit.offset : undefined
}

interface Fit {
  readonly offset: MeasuredOffset
  /** Root of the mean square of what is left, as noisy as in the zenith. */
  readonly rest_m: number
}

function fitOf(used: readonly SatelliteResidual[]): Fit | undefined {
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
  let squares = 0
  for (const { row, weight, residual_m } of rows) {
    const computed_m = row.reduce((sum, value, i) => sum + value * found[i], 0)
    squares += weight * (residual_m - computed_m) ** 2
  }
  const variance = squares / (used.length - size)
  const dilution = Math.sqrt(east[0] + north[1] + up[2])
  if (dilution > mostDilution) return undefined
  const sigma_m = Math.sqrt(variance) * dilution
  return { offset: { east: found[0], north: found[1], up: found[2], sigma_m }, rest_m: Math.sqrt(variance) }
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
export function solve(rows: Float64Array[]): number[][] | undefined {
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
