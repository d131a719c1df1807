/** A displacement of the antenna from phase residuals: robust least squares over the directions of the satellites. */

/** East, north, up, metres, and its basis. */
export interface Displacement {
  readonly east_m: number
  readonly north_m: number
  readonly up_m: number
  /** Formal standard deviations, from the residuals of the signals that agree. */
  readonly sigma: { readonly east_m: number; readonly north_m: number; readonly up_m: number }
  /** Satellites that agree with it. */
  readonly satellites: number
}

/**
 * The solution: a displacement; a contradiction if no displacement explains sufficiently many phases; undefined if
 * there are too few satellites or their directions do not determine three axes.
 */
export type Explanation = Displacement | 'contradiction' | undefined

/** A phase residual: `−unit · displacement + clock of the group`. */
interface Row {
  /** Identifies the satellite across groups. */
  satellite: number
  /** Signals with a common clock. */
  group: number
  /** Signals of this satellite: together they weigh as one. */
  signals: number
  east: number
  north: number
  up: number
  residual_m: number
  /** Of the phase, with a direction that is exact. */
  phaseSigma_m: number
  /** Includes the direction error times the displacement of the current round. */
  sigma_m: number
  /** Weight in the present round. */
  weight: number
  /** The residual of the solution, in metres. */
  rest_m: number
  agrees: boolean
}

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
const absoluteRounds = 4
const rejectingRounds = 4

/** Reused from epoch to epoch: `clear`, `add` for every signal, `solve`. */
export class DisplacementFit {
  readonly #rows: Row[] = []
  #size = 0
  readonly #sorted = new Float64Array(maxRows)
  readonly #sums = new Float64Array(groups * 5)
  /** Upper triangle of the normal matrix, then the right side; then the inverse. */
  readonly #normal = new Float64Array(9)
  readonly #inverse = new Float64Array(6)
  readonly #solution = new Float64Array(3)
  /** Signals of each satellite. */
  readonly #perSatellite = new Map<number, number>()
  readonly #agreeingSatellites = new Set<number>()

  clear(): void {
    this.#size = 0
    this.#perSatellite.clear()
  }

  get size(): number {
    return this.#size
  }

  /** @returns the index of the row for `rest_m` and `agrees`; -1 when there are too many */
  add(
    satellite: number,
    group: number,
    unit: { readonly east: number; readonly north: number; readonly up: number },
    residual_m: number,
    sigma_m: number,
  ): number {
    if (this.#size === maxRows) return -1
    const index = this.#size++
    this.#rows[index] ??= emptyRow()
    const row = this.#rows[index]
    row.satellite = satellite
    row.group = group
    row.east = unit.east
    row.north = unit.north
    row.up = unit.up
    row.residual_m = residual_m
    row.phaseSigma_m = sigma_m
    row.sigma_m = sigma_m
    row.agrees = true
    this.#perSatellite.set(satellite, (this.#perSatellite.get(satellite) ?? 0) + 1)
    return index
  }

  /** A row's residual after the last solution. */
  rest_m(index: number): number {
    return this.#rows[index].rest_m
  }

  agrees(index: number): boolean {
    return this.#rows[index].agrees
  }

  /** Contribution of an inexact direction to a row's residual at this displacement, 1 sigma. */
  directionError_m(index: number): number {
    const { sigma_m, phaseSigma_m } = this.#rows[index]
    return Math.sqrt(Math.max(0, sigma_m * sigma_m - phaseSigma_m * phaseSigma_m))
  }

  solve(): Explanation {
    if (this.#perSatellite.size < minSatellites) return undefined
    for (let i = 0; i < this.#size; i++) {
      const row = this.#rows[i]
      row.signals = this.#perSatellite.get(row.satellite) ?? 1
    }
    this.#removeClocks()
    const near = this.#settle(0, demands.moved)
    const whenNear = this.#agreeing
    if (whenNear === this.#perSatellite.size) return near
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
    this.#agreeing = 0
    this.#solution.fill(0)
    for (let i = 0; i < this.#size; i++) {
      const row = this.#rows[i]
      row.rest_m = row.residual_m
      row.agrees = true
    }
    this.#widen()
    for (let round = 0; round < absolute; round++) {
      for (let i = 0; i < this.#size; i++) {
        const row = this.#rows[i]
        row.weight = this.#plain(row) / Math.max(Math.abs(row.rest_m) / row.sigma_m, 0.5)
      }
      if (!this.#round()) return undefined
    }
    let scale = 1
    for (let round = 0; round < rejectingRounds; round++) {
      scale = this.#scale(demand.noise)
      let changed = false
      for (let i = 0; i < this.#size; i++) {
        const row = this.#rows[i]
        const size = Math.abs(row.rest_m) / (row.sigma_m * scale)
        const agrees = size <= outlier
        changed ||= agrees !== row.agrees
        row.agrees = agrees
        row.weight = agrees ? this.#plain(row) / Math.max(1, size / 1.5) : 0
      }
      if (!this.#round()) return 'contradiction'
      if (!changed && round > 0) break
    }
    return this.#result(scale, demand.least)
  }

  /** The error of a direction counts by how far the antenna is displaced across it. */
  #widen(): void {
    const [east, north, up] = this.#solution
    for (let i = 0; i < this.#size; i++) {
      const row = this.#rows[i]
      const level = Math.max(Math.sqrt(row.east * row.east + row.north * row.north), 1e-6)
      const sideways_m = row.north * east - row.east * north
      const upwards_m = level * up - (row.up / level) * (row.east * east + row.north * north)
      const across_m2 = sideways_m * sideways_m + upwards_m * upwards_m
      row.sigma_m = Math.sqrt(row.phaseSigma_m * row.phaseSigma_m + directionVariance_rad2 * across_m2)
    }
  }

  #plain(row: Row): number {
    return 1 / (row.signals * row.sigma_m * row.sigma_m)
  }

  /** Takes the median of each group off, so that sums of squares do not lose digits to clocks of kilometres. */
  #removeClocks(): void {
    for (let group = 0; group < groups; group++) {
      let count = 0
      for (let i = 0; i < this.#size; i++) {
        if (this.#rows[i].group === group) this.#sorted[count++] = this.#rows[i].residual_m
      }
      if (count === 0) continue
      const middle = this.#sorted.subarray(0, count).sort()[count >> 1]
      for (let i = 0; i < this.#size; i++) {
        const row = this.#rows[i]
        if (row.group !== group) continue
        row.residual_m -= middle
        row.rest_m = row.residual_m
      }
    }
  }

  /** One weighted least-squares solution; the clock of a group is eliminated by its weighted means. */
  #round(): boolean {
    const sums = this.#sums.fill(0)
    for (let i = 0; i < this.#size; i++) {
      const { group, weight, east, north, up, residual_m } = this.#rows[i]
      const at = group * 5
      sums[at] += weight
      sums[at + 1] += weight * east
      sums[at + 2] += weight * north
      sums[at + 3] += weight * up
      sums[at + 4] += weight * residual_m
    }
    for (let at = 0; at < sums.length; at += 5) {
      if (!(sums[at] > 0)) continue
      for (let k = 1; k < 5; k++) sums[at + k] /= sums[at]
    }
    const normal = this.#normal.fill(0)
    for (let i = 0; i < this.#size; i++) {
      const row = this.#rows[i]
      const { weight } = row
      if (weight === 0) continue
      const at = row.group * 5
      const east = row.east - sums[at + 1]
      const north = row.north - sums[at + 2]
      const up = row.up - sums[at + 3]
      const residual = row.residual_m - sums[at + 4]
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
    for (let i = 0; i < this.#size; i++) {
      const row = this.#rows[i]
      const at = row.group * 5
      row.rest_m =
        row.residual_m -
        sums[at + 4] +
        (row.east - sums[at + 1]) * solution[0] +
        (row.north - sums[at + 2]) * solution[1] +
        (row.up - sums[at + 3]) * solution[2]
    }
    this.#widen()
    return true
  }

  /** The noise as a multiple of the model. */
  #scale({ share, sigmas }: Quantile): number {
    for (let i = 0; i < this.#size; i++) {
      const row = this.#rows[i]
      this.#sorted[i] = Math.abs(row.rest_m) / row.sigma_m
    }
    const size = this.#sorted.subarray(0, this.#size).sort()[Math.floor(this.#size * share)]
    return Math.min(Math.max(sigmas * size, scaleLimits.least), scaleLimits.most)
  }

  #result(scale: number, least: number): Explanation {
    const total = this.#perSatellite.size
    const agreeing = this.#agreeingSatellites
    agreeing.clear()
    let used = 0
    for (let i = 0; i < this.#size; i++) {
      const row = this.#rows[i]
      if (!row.agrees) continue
      agreeing.add(row.satellite)
      used |= 1 << row.group
    }
    const satellites = agreeing.size
    this.#agreeing = satellites
    let clocks = 0
    for (let left = used; left > 0; left >>= 1) clocks += left & 1
    if (satellites < total * least) return 'contradiction'
    if (scale === scaleLimits.most) return 'contradiction'
    if (satellites < minSatellites || satellites < 3 + clocks + 1) return undefined
    // Fewer unknowns than satellites leave the residuals smaller than the errors.
    const factor = Math.max(1, scale) * Math.sqrt(satellites / (satellites - 3 - clocks))
    const [east_m, north_m, up_m] = this.#solution
    const [ee, , , nn, , uu] = this.#inverse
    return {
      east_m,
      north_m,
      up_m,
      sigma: { east_m: factor * Math.sqrt(ee), north_m: factor * Math.sqrt(nn), up_m: factor * Math.sqrt(uu) },
      satellites,
    }
  }
}

const emptyRow = (): Row => ({
  satellite: 0,
  group: 0,
  signals: 1,
  east: 0,
  north: 0,
  up: 0,
  residual_m: 0,
  phaseSigma_m: 1,
  sigma_m: 1,
  weight: 0,
  rest_m: 0,
  agrees: true,
})

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
