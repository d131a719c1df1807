/** Observations with something done to them: displaced captures, and a seeded sky for what captures do not hold. */
import {
  type Constellation,
  constellationOf,
  type Direction,
  type Enu,
  enu,
  lockTime,
  type Msm,
  type MsmEpoch,
  type MsmObservation,
  msmEpochTime,
  msmType,
  offsetEnu,
  type Sky,
} from '../../../runtime/gnss/index.js'
import type { Ecef } from '../../../schemas/services.js'
import type { Observed } from './phase-captures.js'

const radians = Math.PI / 180

/** How far along the line of sight a displacement is. */
function along({ azimuth_deg, elevation_deg }: Direction, { east, north, up }: Enu): number {
  const flat = Math.cos(elevation_deg * radians)
  const azimuth = azimuth_deg * radians
  return flat * (Math.sin(azimuth) * east + Math.cos(azimuth) * north) + Math.sin(elevation_deg * radians) * up
}

/**
 * Where the satellites of a receiver that gives whole degrees may really stand: somewhere within half a degree, each its own. A
 * capture with such directions does not say more; a displacement along the very directions that the watch is given would be
 * easier to fit than any real one.
 */
export function within(sky: Sky, seed: number): Sky {
  return (constellation, satellite) => {
    const direction = sky(constellation, satellite)
    if (!direction) return undefined
    const random = uniform(
      seed * 1_000_003 + constellation.length * 131 + constellation.charCodeAt(0) * 7919 + satellite,
    )
    random()
    return {
      azimuth_deg: direction.azimuth_deg + random() - 0.5,
      elevation_deg: direction.elevation_deg + random() - 0.5,
    }
  }
}

/** As a receiver gives directions: in whole degrees. */
export const wholeDegrees =
  (sky: Sky): Sky =>
  (constellation, satellite) => {
    const direction = sky(constellation, satellite)
    return (
      direction && {
        azimuth_deg: Math.round(direction.azimuth_deg),
        elevation_deg: Math.round(direction.elevation_deg),
      }
    )
  }

/**
 * The epoch as the receiver would have seen it with its antenna moved. Satellites of unknown direction are left out.
 * @param truth where the satellites really are; what the receiver says of them stays as it was
 */
export function displaced({ epoch, sky }: Observed, offset: Enu, truth: Sky | undefined): Observed {
  const messages = epoch.messages.map((msm): Msm => {
    const constellation = constellationOf(msm.type) as Constellation
    const observations = msm.observations.flatMap((observation) => {
      const direction = truth?.(constellation, observation.satellite)
      if (!direction || observation.phase_m === undefined) return []
      return [{ ...observation, phase_m: observation.phase_m - along(direction, offset) }]
    })
    return { ...msm, observations }
  })
  return { epoch: { ...epoch, messages }, sky }
}

/** A seeded generator of numbers between 0 and 1 (mulberry32). */
export function uniform(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let z = Math.imul(state ^ (state >>> 15), 1 | state)
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z
    return (((z ^ (z >>> 14)) >>> 0) + 0.5) / 4294967296
  }
}

/** A seeded generator of standard normal numbers (Box-Muller). */
export function normal(seed: number): () => number {
  const random = uniform(seed)
  return () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
}

interface Orbit {
  readonly constellation: Constellation
  readonly satellite: number
  readonly node: number
  readonly phase: number
  readonly radius_m: number
  readonly inclination: number
}
const orbits: readonly Orbit[] = (
  [
    ['GPS', 31, 6, 26_560_000, 55],
    ['GLONASS', 24, 3, 25_510_000, 64.8],
    ['Galileo', 27, 3, 29_600_000, 56],
    ['BeiDou', 24, 3, 27_906_000, 55],
  ] as const
).flatMap(([constellation, count, planes, radius_m, inclination], system) =>
  Array.from({ length: count }, (_, k) => ({
    constellation,
    satellite: k + 1,
    node: 2 * Math.PI * ((k % planes) / planes + system / 17),
    phase: 2 * Math.PI * (Math.floor(k / planes) / Math.ceil(count / planes) + (k % planes) / count),
    radius_m,
    inclination: inclination * radians,
  })),
)

/** How far the clock of a satellite wanders in a second, as real ones do: the rubidium clocks of GPS, the caesium of GLONASS. */
const clockWander_m: Partial<Record<Constellation, number>> = {
  GPS: 0.0015,
  GLONASS: 0.0025,
  Galileo: 0.0003,
  BeiDou: 0.0005,
}
const mu = 3.986005e14
const earth_radps = 7.2921151467e-5
const c_mps = 299_792_458
const mask_deg = 10

export interface SceneOptions {
  seed?: number
  msm?: 4 | 7
  interval_s?: number
  signals?: readonly number[]
  /** One sigma of a phase in the zenith. */
  noise_m?: number
  /** One sigma of multipath, correlated over a minute. */
  multipath_m?: number
  /** Unflagged slips of a signal per hour. */
  slipsPerHour?: number
  constellations?: readonly Constellation[]
  /** How often the receiver says where the satellites are, and how old that is then. */
  skyEvery_s?: number
  skyDelay_s?: number
}

interface Signal {
  seen: number
  locked_ms: number
  offset_m: number
  multipath_m: number
}

/** A receiver under a moving sky. Whoever drives it may move its antenna, break locks and set its clock. */
export class Scene {
  readonly #options: Required<SceneOptions>
  readonly #normal: () => number
  readonly #arp: Ecef = { x: 3_925_405.8, y: 274_491.1, z: 5_002_842.7 }
  readonly #signals = new Map<string, Signal>()
  readonly #clocks = new Map<string, number>()
  /** Clock of the receiver, seconds, and its drift. */
  #clock_s = 1e-4
  #drift = 2e-7
  #epoch = 0
  time_s = 0
  /** Where the antenna is. */
  offset: Enu = { east: 0, north: 0, up: 0 }

  constructor(options: SceneOptions = {}) {
    this.#options = {
      seed: 1,
      msm: 7,
      interval_s: 1,
      signals: [2, 16],
      noise_m: 0.0018,
      multipath_m: 0.002,
      slipsPerHour: 0,
      constellations: ['GPS', 'GLONASS', 'Galileo', 'BeiDou'],
      skyEvery_s: 1,
      skyDelay_s: 1,
      ...options,
    }
    this.#normal = normal(this.#options.seed)
  }

  /** The receiver sets its clock, as many do at half a millisecond. */
  stepClock(seconds: number): void {
    this.#clock_s += seconds
  }

  /** Breaks the lock of some signals, with or without the lock indicator. */
  slip(which: (constellation: Constellation, satellite: number) => boolean, flagged: boolean): void {
    for (const [key, signal] of this.#signals) {
      const [constellation, satellite] = key.split(' ')
      if (!which(constellation as Constellation, Number(satellite))) continue
      signal.offset_m += 0.19 * Math.round(1 + 3 * Math.abs(this.#normal()))
      if (flagged) signal.locked_ms = 0
    }
  }

  /** The next epoch. */
  next(): Observed {
    const { interval_s, constellations, msm, noise_m, multipath_m, slipsPerHour } = this.#options
    this.#epoch++
    this.time_s += interval_s
    this.#drift += this.#normal() * 1e-10 * Math.sqrt(interval_s)
    this.#clock_s += this.#drift * interval_s
    const antenna = offsetEnu(this.#arp, this.offset)
    const directions = new Map<string, Direction>()
    const messages = constellations.map((constellation, index): Msm => {
      const observations: MsmObservation[] = []
      for (const orbit of orbits) {
        if (orbit.constellation !== constellation) continue
        // Measured when the receiver's clock shows the epoch.
        const position = positionOf(orbit, this.time_s - this.#clock_s)
        const { east, north, up } = enu(this.#arp, position)
        const elevation_deg = Math.atan2(up, Math.hypot(east, north)) / radians
        const satellite = `${constellation} ${orbit.satellite}`
        const wander = this.#clocks.get(satellite) ?? 0
        this.#clocks.set(
          satellite,
          wander + this.#normal() * (clockWander_m[constellation] ?? 0) * Math.sqrt(interval_s),
        )
        if (elevation_deg < mask_deg) continue
        directions.set(satellite, { azimuth_deg: Math.atan2(east, north) / radians, elevation_deg })
        const range_m = Math.hypot(position.x - antenna.x, position.y - antenna.y, position.z - antenna.z)
        const spread = Math.sqrt((1 + 1 / Math.sin(elevation_deg * radians) ** 2) / 2)
        for (const number of this.#options.signals) {
          const signal = this.#signalOf(`${satellite} ${number}`)
          signal.locked_ms += interval_s * 1000
          const fade = Math.exp(-interval_s / 60)
          signal.multipath_m = signal.multipath_m * fade + this.#normal() * multipath_m * Math.sqrt(1 - fade * fade)
          if (Math.abs(this.#normal()) < (slipsPerHour * interval_s) / 3600 / 0.798) signal.offset_m += 0.19
          const noise = spread * (noise_m * this.#normal() + signal.multipath_m)
          const phase_m = range_m + c_mps * this.#clock_s + wander + signal.offset_m + noise
          observations.push({
            satellite: orbit.satellite,
            signal: number,
            phase_m: quantised(phase_m, msm),
            lock: indicatorOf(msm, signal.locked_ms),
            halfCycle: false,
          })
        }
      }
      return {
        type: msmType(constellation, msm),
        stationId: 0,
        epochTime: msmEpochTime(constellation, Math.round(this.time_s * 1000), 18),
        multiple: index < constellations.length - 1,
        iods: 0,
        clockSteering: 0,
        externalClock: 0,
        smoothing: false,
        smoothingInterval: 0,
        observations,
      }
    })
    const epoch: MsmEpoch = { time_ms: Math.round(this.time_s * 1000) % 604_800_000, messages }
    return { epoch, sky: this.#skyOf(directions) }
  }

  /** What the receiver says of the satellites: late, and in whole degrees. */
  #skyOf(directions: ReadonlyMap<string, Direction>): Sky {
    const { skyEvery_s, skyDelay_s } = this.#options
    this.#skies.push({ at_s: this.time_s, directions })
    if (this.#given === undefined || this.time_s - this.#given.at_s >= skyEvery_s + skyDelay_s) {
      while (this.#skies.length > 1 && this.#skies[1].at_s <= this.time_s - skyDelay_s) this.#skies.shift()
      this.#given = this.#skies[0]
    }
    const { directions: given } = this.#given
    return wholeDegrees((constellation, satellite) => given.get(`${constellation} ${satellite}`))
  }
  #given: { at_s: number; directions: ReadonlyMap<string, Direction> } | undefined
  readonly #skies: { at_s: number; directions: ReadonlyMap<string, Direction> }[] = []

  /** A signal that was out of sight starts with a new ambiguity. */
  #signalOf(key: string): Signal {
    let signal = this.#signals.get(key)
    if (!signal || signal.seen < this.#epoch - 1) {
      signal = { seen: 0, locked_ms: 0, offset_m: 0.19 * Math.round(1e3 * this.#normal()), multipath_m: 0 }
      this.#signals.set(key, signal)
    }
    signal.seen = this.#epoch
    return signal
  }
}

/** Earth-fixed position on a circular orbit. */
function positionOf({ node, phase, radius_m, inclination }: Orbit, time_s: number): Ecef {
  const u = phase + Math.sqrt(mu / radius_m ** 3) * time_s
  const l = node - earth_radps * time_s
  const x = radius_m * Math.cos(u)
  const y = radius_m * Math.sin(u) * Math.cos(inclination)
  return {
    x: x * Math.cos(l) - y * Math.sin(l),
    y: x * Math.sin(l) + y * Math.cos(l),
    z: radius_m * Math.sin(u) * Math.sin(inclination),
  }
}

const lightMs_m = 299_792.458
function quantised(phase_m: number, msm: 4 | 7): number {
  const per = (msm === 4 ? 2 ** 29 : 2 ** 31) / lightMs_m
  return Math.round(phase_m * per) / per
}

const last = { 4: 15, 7: 704 }
function indicatorOf(msm: 4 | 7, locked_ms: number): number {
  let low = 0
  let high = last[msm]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (lockTime(1070 + msm, middle).from_ms <= locked_ms) low = middle
    else high = middle - 1
  }
  return low
}
