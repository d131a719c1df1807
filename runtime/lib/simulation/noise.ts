/** Signal conditions at the simulated antenna. Each profile is modelled on real receivers in such places. */
import { GaussMarkov, type Random } from './random.js'

export type NoiseName = 'quiet' | 'typical' | 'obstructed'

export interface NoiseProfile {
  /** Factor of the code error, compared with a quiet place. */
  readonly code: number
  /** Code multipath by direction, which repeats every sidereal day, as a multiple of the code error at that elevation. */
  readonly sidereal: number
  /** Noise of one phase measurement, 1 sigma, metres. */
  readonly phase_m: number
  /** Cycle slips per signal and second at 45 dB-Hz; ten times as many at 25. */
  readonly slips_per_s: number
  /** Factors of the errors of code and RTK-fixed positions, compared with a quiet place. */
  readonly position: number
  readonly rtk: number
  /** Position errors, 1 sigma, metres: slow drift (Gauss-Markov, 2 to 8 h), and multipath that repeats every sidereal day. */
  readonly slow_m: number
  readonly siderealPosition_m: number
  /** Height error by the ionosphere at noon, minimum and maximum, metres. */
  readonly ionosphere_m: readonly [number, number]
  /** Number of obstructed sectors of the sky. */
  readonly sectors: number
}

export const noiseProfiles: Readonly<Record<NoiseName, NoiseProfile>> = {
  /** A geodetic antenna without anything around it: a residual of about 1 m. */
  quiet: {
    code: 1,
    sidereal: 0,
    phase_m: 0.0018,
    slips_per_s: 0,
    position: 1,
    rtk: 1,
    slow_m: 0,
    siderealPosition_m: 0,
    ionosphere_m: [0, 0],
    sectors: 0,
  },
  /** A patch antenna on a roof: a residual of 4 to 5 m. */
  typical: {
    code: 3.2,
    sidereal: 3.2,
    phase_m: 0.0018,
    slips_per_s: 1e-5,
    position: 1.3,
    rtk: 1.3,
    slow_m: 0.4,
    siderealPosition_m: 0.3,
    ionosphere_m: [1, 2],
    sectors: 0,
  },
  /** Between houses and trees: a residual of 15 to 20 m. */
  obstructed: {
    code: 5,
    sidereal: 5,
    phase_m: 0.004,
    slips_per_s: 5e-4,
    position: 2.5,
    rtk: 2.5,
    slow_m: 1,
    siderealPosition_m: 1,
    ionosphere_m: [2, 3],
    sectors: 3,
  },
}

const siderealDay_s = 86_164.0905
const day_s = 86_400
const radians = Math.PI / 180

interface Wave {
  readonly azimuth: number
  readonly elevation: number
  readonly phase: number
}

interface Sector {
  readonly from_deg: number
  readonly width_deg: number
  readonly below_deg: number
  readonly loss_db: number
}

/** Obstacles and slow errors at one antenna. The obstacles do not change. */
export class Surroundings {
  readonly name: NoiseName
  readonly profile: NoiseProfile
  readonly #waves: readonly Wave[]
  readonly #tides: readonly { cycles: number; phase: number; axis: number }[]
  readonly #sectors: readonly Sector[]
  readonly #ionosphere_m: number
  readonly #slow: readonly GaussMarkov[]
  readonly #noon_s: number

  constructor(name: NoiseName, random: Random, lon_deg: number) {
    const profile = noiseProfiles[name]
    this.name = name
    this.profile = profile
    const between = (low: number, high: number) => low + (high - low) * random.uniform()
    const some = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
    const phase = () => between(0, 2 * Math.PI)
    this.#waves = some(3, () => ({ azimuth: between(4, 15), elevation: between(4, 15), phase: phase() }))
    this.#tides = some(6, (i) => ({ cycles: Math.round(between(20, 90)), phase: phase(), axis: i % 3 }))
    this.#sectors = some(profile.sectors, (i) => ({
      from_deg: (360 / profile.sectors) * i + between(0, 40),
      width_deg: between(50, 80),
      below_deg: between(25, 55),
      loss_db: between(8, 14),
    }))
    this.#ionosphere_m = between(...profile.ionosphere_m)
    this.#slow = some(3, () => new GaussMarkov(random, between(2, 8) * 3600))
    this.#noon_s = (14 - lon_deg / 15) * 3600
  }

  /** Loss of C/N0 by an obstacle in this direction; 0: none. */
  shade_db(azimuth_deg: number, elevation_deg: number): number {
    const sector = this.#sectors.find(
      ({ from_deg, width_deg, below_deg }) =>
        elevation_deg < below_deg && (azimuth_deg - from_deg + 720) % 360 < width_deg,
    )
    return sector?.loss_db ?? 0
  }

  /** Multipath from a direction, normalised to a standard deviation of 1. */
  multipath(azimuth_deg: number, elevation_deg: number): number {
    const sum = this.#waves.reduce(
      (total, { azimuth, elevation, phase }) =>
        total + Math.sin(azimuth * azimuth_deg * radians + elevation * elevation_deg * radians + phase),
      0,
    )
    return sum / Math.sqrt(this.#waves.length / 2)
  }

  /** Slow error of a code position: east, north, up, metres. */
  drift(gps_s: number, dt_s: number): [east: number, north: number, up: number] {
    const { slow_m, siderealPosition_m } = this.profile
    const drift: [number, number, number] = [0, 0, 0]
    for (const [axis, slow] of this.#slow.entries()) drift[axis] = slow_m * slow.step(dt_s)
    const turn = (2 * Math.PI * (gps_s % siderealDay_s)) / siderealDay_s
    for (const { cycles, phase, axis } of this.#tides) {
      drift[axis] += siderealPosition_m * Math.sin(cycles * turn + phase)
    }
    const day = Math.max(0.1, Math.cos((2 * Math.PI * (gps_s - this.#noon_s)) / day_s))
    drift[1] += 0.3 * this.#ionosphere_m * day
    drift[2] += this.#ionosphere_m * day
    return drift
  }
}
