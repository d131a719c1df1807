/** Simulated nets of bases: true and announced positions, and vectors with honest noise. */
import type { NetBase, NetVector } from '../../../runtime/lib/baseline/index.js'
import { enu, offsetEnu } from '../../../runtime/lib/gnss/index.js'
import type { Random } from '../../../runtime/lib/simulation/index.js'
import type { Ecef, Enu } from '../../../schemas/services.js'

export const origin: Ecef = { x: 3_912_000, y: 309_000, z: 5_013_000 }
/** Standard deviation of announced positions that the judgement assumes, metres. */
const announced_m = 0.007
/** Of the errors of two windows of a pair. */
const correlation = 0.3
const zero = { x: 0, y: 0, z: 0 }
export const noOffset: Enu = { east: 0, north: 0, up: 0 }

/** ECEF of a vector along east, north and up at the origin of all nets. */
export function turned(offset: Enu): Ecef {
  const { x, y, z } = offsetEnu(origin, offset)
  return { x: x - origin.x, y: y - origin.y, z: z - origin.z }
}

/** Covariance of a vector with these standard deviations, ECEF. */
export function covarianceOf({ east, north, up }: Enu): Float64Array {
  const axes = [
    enu(origin, { ...origin, x: origin.x + 1 }),
    enu(origin, { ...origin, y: origin.y + 1 }),
    enu(origin, { ...origin, z: origin.z + 1 }),
  ]
  return Float64Array.from(
    axes.flatMap((p) =>
      axes.map((q) => east ** 2 * p.east * q.east + north ** 2 * p.north * q.north + up ** 2 * p.up * q.up),
    ),
  )
}

export const minus = (p: Ecef, q: Ecef): Ecef => ({ x: p.x - q.x, y: p.y - q.y, z: p.z - q.z })
export const plus = (p: Ecef, q: Ecef): Ecef => ({ x: p.x + q.x, y: p.y + q.y, z: p.z + q.z })

export class SimulatedNet {
  readonly truth: Ecef[]
  readonly announced: Ecef[]
  /** With an error for each window. */
  readonly links: { from: number; to: number; errors: Ecef[]; sigma: Enu }[] = []

  /**
   * Bases at random in a square, measured to the four nearest of each in some windows of an hour. With a noise of 1, vectors are on
   * average right to 4 mm level up to 15 km and to 2 cm at 30 km, and half as well in height: the estimator is better in calm air.
   */
  constructor(random: Random, { size = 12, side_km = 60, windows = 2, noise: air = 1 } = {}) {
    const noise = (sigma: number) => random.normal() * sigma
    this.truth = Array.from({ length: size }, () =>
      offsetEnu(origin, {
        east: (random.uniform() - 0.5) * side_km * 1_000,
        north: (random.uniform() - 0.5) * side_km * 1_000,
        up: random.uniform() * 300,
      }),
    )
    this.announced = this.truth.map((truth) =>
      plus(truth, turned({ east: noise(0.005), north: noise(0.005), up: noise(0.005) })),
    )
    const seen = new Set<string>()
    for (const [from, place] of this.truth.entries()) {
      const nearest = this.truth
        .map((other, to) => ({ to, km: Math.hypot(...Object.values(minus(other, place))) / 1_000 }))
        .sort((p, q) => p.km - q.km)
        .slice(1, 5)
      for (const { to, km } of nearest) {
        const key = `${Math.min(from, to)} ${Math.max(from, to)}`
        if (seen.has(key)) continue
        seen.add(key)
        const rough = air * (0.5 + random.uniform())
        const level = rough * (km <= 15 ? 0.004 : 0.004 + (0.016 * (km - 15)) / 15)
        const sigma = { east: level, north: level, up: 2 * level }
        const error = (share: number) =>
          turned({ east: noise(share * sigma.east), north: noise(share * sigma.north), up: noise(share * sigma.up) })
        // The hours of a pair are alike: multipath and weather last.
        const common = error(Math.sqrt(correlation))
        const errors = Array.from({ length: windows }, () => plus(common, error(Math.sqrt(1 - correlation))))
        this.links.push({ from, to, errors, sigma })
      }
    }
  }

  /** Announces a position that is displaced: the judged offset is the opposite. */
  displace(base: number, by: Enu): void {
    const announced = this.announced[base]
    if (announced) this.announced[base] = plus(announced, turned(by))
  }

  swap(one: number, other: number): void {
    const { announced } = this
    const [p, q] = [announced[one], announced[other]]
    if (p && q) Object.assign(announced, { [one]: q, [other]: p })
  }

  /**
   * How many standard deviations the displacement of a wrong base is, by its vectors to the others
   * (Baarda's minimal detectable bias is 7.6 at a power of 99.9 %: a fault has to explain χ² of 20).
   */
  detectability(base: number, before: readonly Ecef[], wrong: readonly number[]): number {
    const [now, then] = [this.announced[base], before[base]]
    if (!now || !then) return 0
    const { east, north, up } = enu(then, now)
    let [level, upright] = [0, 0]
    for (const { from, to, sigma, errors } of this.links) {
      const mean = correlation + (1 - correlation) / errors.length
      const other = from === base ? to : from
      if ((from !== base && to !== base) || wrong.includes(other)) continue
      level += 1 / (mean * sigma.east ** 2 + announced_m ** 2)
      upright += 1 / (mean * sigma.up ** 2 + announced_m ** 2)
    }
    const axis = (size: number, weight: number) => size ** 2 / (announced_m ** 2 + 1 / weight)
    return Math.sqrt(axis(Math.hypot(east, north), level) + axis(up, upright))
  }

  get bases(): NetBase[] {
    return this.announced.map((arp, index) => ({ id: `b${index}`, arp }))
  }

  get vectors(): NetVector[] {
    return this.links.flatMap(({ from, to, errors, sigma }) => {
      const vector = (places: readonly Ecef[]) => minus(places[to] ?? zero, places[from] ?? zero)
      return errors.map((error) => ({
        from: `b${from}`,
        to: `b${to}`,
        offset: plus(minus(vector(this.truth), vector(this.announced)), error),
        covariance: covarianceOf(sigma),
      }))
    })
  }
}
