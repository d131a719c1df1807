/** A displacement of the antenna from phase residuals: robust least squares over the directions of the satellites. */
import { orderStatistic } from './order-statistic.js'

/** Upper triangle of a symmetric matrix over east, north and up, square metres: ee, en, eu, nn, nu, uu. */
export type Covariance = readonly [number, number, number, number, number, number]

/** East, north, up, metres, and its basis. */
export interface Displacement {
  readonly east_m: number
  readonly north_m: number
  readonly up_m: number
  /** Formal standard deviations, from the residuals of the signals that agree. */
  readonly sigma: { readonly east_m: number; readonly north_m: number; readonly up_m: number }
  /** Covariance of the three components. */
  readonly covariance: Covariance
  /** Satellites that agree with it. */
  readonly satellites: number
  /** How many of them have steady clocks. */
  readonly steady: number
}

/**
 * The solution: a displacement; a contradiction if no displacement explains sufficiently many phases; undefined if
 * there are too few satellites or their directions do not determine three axes.
 */
export type Explanation = Displacement | 'contradiction' | undefined

/** Bounds work and memory for any stream. */
const maxRows = 512
const groups = 8
const minSatellites = 6
/**
 * Receivers report directions in whole degrees: the variance per axis of an error within half a degree. A displacement of d leaves
 * residuals of d times this error, which are not phase noise: 5 cm at 9 m.
 */
const directionVariance_rad2 = (Math.PI / 180) ** 2 / 12
/** A residual beyond this multiple of its scale is an outlier. */
const outlier = 4
/** Noise never counts as smaller or, where signals agree at all, larger than the model by these factors. */
const scaleLimits = { least: 0.7, most: 5 }
/** A part of the residuals, and how many times the largest of it is a standard deviation where they are normal. */
interface Quantile {
  readonly share: number
  readonly sigmas: number
}
/** Requirements on a solution: the share of satellites that must agree, and the residuals that estimate the noise. */
interface Demand {
  readonly least: number
  readonly noise: Quantile
}
/**
 * That it stands still is told by fewer satellites than that it moved: slipped phases do not agree with that by chance.
 * With fewer than these the phases slipped, and nothing is known about the antenna.
 */
const demands = {
  moved: { least: 0.55, noise: { share: 1 / 2, sigmas: 1.4826 } },
  still: { least: 0.35, noise: { share: 1 / 3, sigmas: 2.322 } },
} as const satisfies Record<string, Demand>
/** Largest leverage that counts: above it, the residuals of a satellite show too little. */
const mostLeverage = 0.99
const absoluteRounds = 4
const rejectingRounds = 4

/**
 * Galileo, QZSS and BeiDou: their clocks wander by less than 0.5 mm in a second, those of GPS and GLONASS by 1.5 to 2.5 mm. From the past that is
 * extrapolated until now these are centimetres, the same in all signals of a satellite. One bit for each constellation, as in keys.
 */
const steadyConstellations = (1 << 2) | (1 << 4) | (1 << 5)
/**
 * In 50 minutes of recordings with GPS and GLONASS alone, the clocks of the satellites displaced a stationary antenna by 2 to 7 cm, 5 to 12
 * standard deviations, every few minutes.
 */
const unsteady = { below: 5, times: 4 }
/** By how many times the standard deviations are larger than the residuals of so few satellites show. */
export const doubtOf = ({ steady }: Displacement): number => (steady < unsteady.below ? unsteady.times : 1)

/** Keys of satellites are below: seven constellations of 64. */
const maxSatellites = 512

/** Unit vector to a satellite; `isExact`: by its orbit, not in whole degrees. */
interface Sight {
  readonly east: number
  readonly north: number
  readonly up: number
  readonly isExact?: boolean
}

/**
 * Reused from epoch to epoch: `clear`, `add` for every signal, `solve`. A row is a phase residual: `−unit · displacement + clock of the group`.
 * Rows are columns of numbers, since every round reads all of them.
 */
export class DisplacementFit {
  #size = 0
  /** Identifies the satellite across groups. */
  readonly #satellite = new Uint16Array(maxRows)
  /** Signals with a common clock. */
  readonly #group = new Uint8Array(maxRows)
  readonly #east = new Float64Array(maxRows)
  readonly #north = new Float64Array(maxRows)
  readonly #up = new Float64Array(maxRows)
  /** Length of the direction on the ground. */
  readonly #level = new Float64Array(maxRows)
  readonly #residual_m = new Float64Array(maxRows)
  readonly #directionVariance_rad2 = new Float64Array(maxRows)
  /** The sigma of the phase, with a direction that is exact. */
  readonly #phaseSigma_m = new Float64Array(maxRows)
  /** Includes the direction error times the displacement of the current round. */
  readonly #sigma_m = new Float64Array(maxRows)
  /** Weight in the present round. */
  readonly #weight = new Float64Array(maxRows)
  /** The residual of the solution. */
  readonly #rest_m = new Float64Array(maxRows)
  readonly #agrees = new Uint8Array(maxRows)
  /** By satellite: how much of an error of its phases the solution follows, 0 to 1. */
  readonly #leverage = new Float64Array(maxSatellites)
  readonly #sorted = new Float64Array(maxRows)
  readonly #sums = new Float64Array(groups * 5)
  /** Upper triangle of the normal matrix, then the right side; then the inverse. */
  readonly #normal = new Float64Array(9)
  readonly #inverse = new Float64Array(6)
  readonly #solution = new Float64Array(3)
  /** Signals of each satellite: together they weigh as one. */
  readonly #signals = new Uint16Array(maxSatellites)
  #satellites = 0
  /** Number of the last result that each satellite agreed with. */
  readonly #agreedWith = new Float64Array(maxSatellites)
  #results = 0

  clear(): void {
    for (let i = 0; i < this.#size; i++) this.#signals[this.#satellite[i]] = 0
    this.#satellites = 0
    this.#size = 0
  }

  get size(): number {
    return this.#size
  }

  /**
   * @param satellite below 512
   * @returns the index of the row for `rest_m` and `agrees`; -1 when there are too many
   */
  add(
    satellite: number,
    group: number,
    { east, north, up, isExact = false }: Sight,
    residual_m: number,
    sigma_m: number,
  ): number {
    if (this.#size === maxRows) return -1
    const index = this.#size++
    this.#satellite[index] = satellite
    this.#group[index] = group
    this.#east[index] = east
    this.#north[index] = north
    this.#up[index] = up
    this.#level[index] = Math.max(Math.sqrt(east * east + north * north), 1e-6)
    this.#residual_m[index] = residual_m
    this.#phaseSigma_m[index] = sigma_m
    this.#directionVariance_rad2[index] = isExact ? 0 : directionVariance_rad2
    this.#sigma_m[index] = sigma_m
    this.#agrees[index] = 1
    if (this.#signals[satellite]++ === 0) this.#satellites++
    return index
  }

  /** A row's residual after the last solution. */
  rest_m(index: number): number {
    return this.#rest_m[index]
  }

  agrees(index: number): boolean {
    return this.#agrees[index] === 1
  }

  /**
   * The part of a row's variance that its residual shows. The solution follows a satellite that it depends on, whatever its errors: the only
   * one near the zenith has small residuals even if it is noisy. Taken for precise, it would be followed even more.
   */
  shown(index: number): number {
    return 1 - Math.min(this.#leverage[this.#satellite[index]], mostLeverage)
  }

  /** Contribution of an inexact direction to a row's residual at this displacement, 1 sigma. */
  directionError_m(index: number): number {
    const sigma_m = this.#sigma_m[index]
    const phaseSigma_m = this.#phaseSigma_m[index]
    return Math.sqrt(Math.max(0, sigma_m * sigma_m - phaseSigma_m * phaseSigma_m))
  }

  solve(): Explanation {
    if (this.#satellites < minSatellites) return undefined
    this.#removeClocks()
    const near = this.#settle(0, demands.moved)
    const whenNear = this.#agreeing
    if (whenNear === this.#satellites) return near
    const found = this.#settle(absoluteRounds, demands.moved)
    if (typeof found === 'object' && this.#agreeing >= whenNear) return found
    if (typeof near === 'object') return this.#settle(0, demands.moved)
    // An antenna that stands still explains the phases that did not slip, however the others pull.
    const still = this.#settle(0, demands.still)
    return typeof still === 'object' ? still : found
  }
  /** Satellites that agree with the last solution. */
  #agreeing = 0

  /**
   * Iterates from a stationary antenna to the displacement that most satellites agree with.
   * @param absolute number of initial L1 rounds, which a third of slipped signals cannot pull away
   */
  #settle(absolute: number, demand: Demand): Explanation {
    const size = this.#size
    const weights = this.#weight
    const rests_m = this.#rest_m
    const sigmas_m = this.#sigma_m
    const agreeing = this.#agrees
    this.#agreeing = 0
    this.#solution.fill(0)
    for (let i = 0; i < size; i++) {
      rests_m[i] = this.#residual_m[i]
      agreeing[i] = 1
    }
    this.#widen()
    for (let round = 0; round < absolute; round++) {
      for (let i = 0; i < size; i++) {
        weights[i] = this.#plain(i) / Math.max(Math.abs(rests_m[i]) / sigmas_m[i], 0.5)
      }
      if (!this.#round()) return undefined
    }
    let scale = 1
    for (let round = 0; round < rejectingRounds; round++) {
      scale = this.#scale(demand.noise)
      let changed = false
      for (let i = 0; i < size; i++) {
        const away = Math.abs(rests_m[i]) / (sigmas_m[i] * scale)
        const agrees = away <= outlier ? 1 : 0
        changed ||= agrees !== agreeing[i]
        agreeing[i] = agrees
        weights[i] = agrees ? this.#plain(i) / Math.max(1, away / 1.5) : 0
      }
      if (!this.#round()) return 'contradiction'
      if (!changed && round > 0) break
    }
    return this.#result(scale, demand.least)
  }

  /** The error of a direction counts by how far the antenna is displaced across it. */
  #widen(): void {
    const [east, north, up] = this.#solution
    const easts = this.#east
    const norths = this.#north
    const levels = this.#level
    for (let i = 0; i < this.#size; i++) {
      const level = levels[i]
      const sideways_m = norths[i] * east - easts[i] * north
      const upwards_m = level * up - (this.#up[i] / level) * (easts[i] * east + norths[i] * north)
      const across_m2 = sideways_m * sideways_m + upwards_m * upwards_m
      const phaseSigma_m = this.#phaseSigma_m[i]
      this.#sigma_m[i] = Math.sqrt(phaseSigma_m * phaseSigma_m + this.#directionVariance_rad2[i] * across_m2)
    }
  }

  #plain(index: number): number {
    const sigma_m = this.#sigma_m[index]
    return 1 / (this.#signals[this.#satellite[index]] * sigma_m * sigma_m)
  }

  /** Takes the median of each group off, so that sums of squares do not lose digits to clocks of kilometres. */
  #removeClocks(): void {
    const residuals_m = this.#residual_m
    for (let group = 0; group < groups; group++) {
      let count = 0
      for (let i = 0; i < this.#size; i++) {
        if (this.#group[i] === group) this.#sorted[count++] = residuals_m[i]
      }
      if (count === 0) continue
      const middle = orderStatistic(this.#sorted, count, count >> 1)
      for (let i = 0; i < this.#size; i++) if (this.#group[i] === group) residuals_m[i] -= middle
    }
  }

  /** One weighted least-squares solution; the clock of a group is eliminated by its weighted means. */
  #round(): boolean {
    const size = this.#size
    const weights = this.#weight
    const easts = this.#east
    const norths = this.#north
    const ups = this.#up
    const residuals_m = this.#residual_m
    const sums = this.#sums.fill(0)
    for (let i = 0; i < size; i++) {
      const at = this.#group[i] * 5
      const weight = weights[i]
      sums[at] += weight
      sums[at + 1] += weight * easts[i]
      sums[at + 2] += weight * norths[i]
      sums[at + 3] += weight * ups[i]
      sums[at + 4] += weight * residuals_m[i]
    }
    for (let at = 0; at < sums.length; at += 5) {
      if (!(sums[at] > 0)) continue
      for (let k = 1; k < 5; k++) sums[at + k] /= sums[at]
    }
    const normal = this.#normal.fill(0)
    for (let i = 0; i < size; i++) {
      const weight = weights[i]
      if (weight === 0) continue
      const at = this.#group[i] * 5
      const east = easts[i] - sums[at + 1]
      const north = norths[i] - sums[at + 2]
      const up = ups[i] - sums[at + 3]
      const residual = residuals_m[i] - sums[at + 4]
      normal[0] += weight * east * east
      normal[1] += weight * east * north
      normal[2] += weight * east * up
      normal[3] += weight * north * north
      normal[4] += weight * north * up
      normal[5] += weight * up * up
      normal[6] -= weight * east * residual
      normal[7] -= weight * north * residual
      normal[8] -= weight * up * residual
    }
    if (!invert(normal, this.#inverse)) return false
    const [ee, en, eu, nn, nu, uu] = this.#inverse
    const [, , , , , , e, n, u] = normal
    const solution = this.#solution
    solution[0] = ee * e + en * n + eu * u
    solution[1] = en * e + nn * n + nu * u
    solution[2] = eu * e + nu * n + uu * u
    const [toEast, toNorth, toUp] = solution
    for (let i = 0; i < size; i++) {
      const at = this.#group[i] * 5
      this.#rest_m[i] =
        residuals_m[i] -
        sums[at + 4] +
        (easts[i] - sums[at + 1]) * toEast +
        (norths[i] - sums[at + 2]) * toNorth +
        (ups[i] - sums[at + 3]) * toUp
    }
    this.#widen()
    return true
  }

  /** The noise as a multiple of the model. */
  #scale({ share, sigmas }: Quantile): number {
    const size = this.#size
    for (let i = 0; i < size; i++) this.#sorted[i] = Math.abs(this.#rest_m[i]) / this.#sigma_m[i]
    const quantile = orderStatistic(this.#sorted, size, Math.floor(size * share))
    return Math.min(Math.max(sigmas * quantile, scaleLimits.least), scaleLimits.most)
  }

  /** How far the last round follows each satellite. Its signals count together: the errors of a clock are in all of them. */
  #lever(): void {
    const { 0: ee, 1: en, 2: eu, 3: nn, 4: nu, 5: uu } = this.#inverse
    const leverage = this.#leverage
    for (let i = 0; i < this.#size; i++) leverage[this.#satellite[i]] = 0
    for (let i = 0; i < this.#size; i++) {
      const weight = this.#weight[i]
      if (weight === 0) continue
      const at = this.#group[i] * 5
      const east = this.#east[i] - this.#sums[at + 1]
      const north = this.#north[i] - this.#sums[at + 2]
      const up = this.#up[i] - this.#sums[at + 3]
      const ofPosition = ee * east * east + nn * north * north + uu * up * up
      const ofAxes = en * east * north + eu * east * up + nu * north * up
      leverage[this.#satellite[i]] += weight * (ofPosition + 2 * ofAxes + 1 / this.#sums[at])
    }
  }

  #result(scale: number, least: number): Explanation {
    const total = this.#satellites
    const result = ++this.#results
    let satellites = 0
    let steady = 0
    let used = 0
    for (let i = 0; i < this.#size; i++) {
      if (this.#agrees[i] === 0) continue
      const satellite = this.#satellite[i]
      if (this.#agreedWith[satellite] !== result) {
        satellites++
        if (steadyConstellations & (1 << (satellite >> 6))) steady++
      }
      this.#agreedWith[satellite] = result
      used |= 1 << this.#group[i]
    }
    this.#agreeing = satellites
    let clocks = 0
    for (let left = used; left > 0; left >>= 1) clocks += left & 1
    if (satellites < total * least) return 'contradiction'
    if (scale === scaleLimits.most) return 'contradiction'
    if (satellites < minSatellites || satellites < 3 + clocks + 1) return undefined
    this.#lever()
    // The residuals that the scale is from are smaller than the errors, by as much as there are unknowns.
    const factor = Math.max(1, scale * Math.sqrt(satellites / (satellites - 3 - clocks)))
    const [east_m, north_m, up_m] = this.#solution
    const [ee, en, eu, nn, nu, uu] = this.#inverse
    const square = factor * factor
    return {
      east_m,
      north_m,
      up_m,
      sigma: { east_m: factor * Math.sqrt(ee), north_m: factor * Math.sqrt(nn), up_m: factor * Math.sqrt(uu) },
      covariance: [square * ee, square * en, square * eu, square * nn, square * nu, square * uu],
      satellites,
      steady,
    }
  }
}

/** The inverse of a symmetric 3 × 3 matrix, both as upper triangles; false when it is near singular. */
function invert(m: Float64Array, inverse: Float64Array): boolean {
  const [ee, en, eu, nn, nu, uu] = m
  const a = nn * uu - nu * nu
  const b = eu * nu - en * uu
  const c = en * nu - eu * nn
  const determinant = ee * a + en * b + eu * c
  // An axis that nothing shows has a row of rounding errors: beside itself it is as large as any.
  if (!(Math.min(ee, nn, uu) > 1e-6 * Math.max(ee, nn, uu))) return false
  if (!(determinant > 1e-6 * ee * nn * uu)) return false
  inverse[0] = a / determinant
  inverse[1] = b / determinant
  inverse[2] = c / determinant
  inverse[3] = (ee * uu - eu * eu) / determinant
  inverse[4] = (en * eu - ee * nu) / determinant
  inverse[5] = (ee * nn - en * en) / determinant
  return true
}
