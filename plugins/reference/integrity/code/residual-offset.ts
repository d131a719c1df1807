/** Where the antenna is relative to the position that a fixed base holds, by its pseudorange residuals. */
import { type Enu, leastSquares } from 'rtk-base/gnss'
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
  const rows = used.map((satellite) => rowOf(satellite, clocks))
  const solved = leastSquares(rows, size)
  if (!solved) return undefined
  const { solution, covariance } = solved
  let squares = 0
  for (const { row, weight, value } of rows) {
    const computed_m = row.reduce((sum, factor, i) => sum + factor * solution[i], 0)
    squares += weight * (value - computed_m) ** 2
  }
  const rest_m = Math.sqrt(squares / (used.length - size))
  const dilution = Math.sqrt(covariance[0] + covariance[size + 1] + covariance[2 * size + 2])
  if (!(dilution <= mostDilution)) return undefined
  const [east, north, up] = solution
  return { offset: { east, north, up, sigma_m: rest_m * dilution }, rest_m }
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
  return { row, weight: Math.max(leastWeight, sine * sine), value: residual_m }
}
