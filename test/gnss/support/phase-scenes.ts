/** Observations with something done to them: displaced captures, and a seeded sky for what captures do not hold. */
import type { Direction, Sky } from '../../../plugins/reference/integrity/phase/sky.js'
import {
  type Constellation,
  constellationOf,
  type Enu,
  lockTime,
  type Msm,
  type MsmEpoch,
  type MsmObservation,
  msmEpochTime,
  msmType,
} from '../../../runtime/lib/gnss/index.js'
import { Random } from '../../../runtime/lib/simulation/random.js'
import type { Ecef } from '../../../schemas/services.js'
import type { Observed } from './phase-captures.js'

const radians = Math.PI / 180

/** How far along the line of sight a displacement is. */
function along({ azimuth_deg, elevation_deg }: Direction, { east, north, up }: Enu): number {
  const flat = Math.cos(elevation_deg * radians)
  const azimuth = azimuth_deg * radians
  const sine = Math.sin(elevation_deg * radians)
  return flat * (Math.sin(azimuth) * east + Math.cos(azimuth) * north) + (sine + airPerMetre / sine) * up
}

/** By how much less the air delays, for each metre that the antenna rises, in the zenith. */
const airPerMetre = 3e-4

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

/** A seeded generator of numbers between 0 and 1, never 0: logarithms are taken of them. */
export function uniform(seed: number): () => number {
  const random = new Random(seed)
  return () => random.uniform() + 2 ** -33
}

/** A seeded generator of standard normal numbers (Box-Muller). */
export function normal(seed: number): () => number {
  const random = uniform(seed)
  let second: number | undefined
  return () => {
    if (second !== undefined) {
      const value = second
      second = undefined
      return value
    }
    const radius = Math.sqrt(-2 * Math.log(random()))
    const angle = 2 * Math.PI * random()
    second = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}

interface Turn {
  readonly sine: number
  readonly cosine: number
}
const turnOf = (angle: number): Turn => ({ sine: Math.sin(angle), cosine: Math.cos(angle) })

interface Orbit {
  readonly satellite: number
  readonly node: Turn
  readonly phase: Turn
}
/** The satellites of a constellation: circular orbits of one size, one pace and one inclination. */
interface Orbits {
  readonly orbits: readonly Orbit[]
  readonly radius_m: number
  readonly pace_radps: number
  readonly inclination: Turn
}
const mu = 3.986005e14
const orbitsOf = (
  count: number,
  planes: number,
  radius_m: number,
  inclination_deg: number,
  system: number,
): Orbits => ({
  radius_m,
  pace_radps: Math.sqrt(mu / radius_m ** 3),
  inclination: turnOf(inclination_deg * radians),
  orbits: Array.from({ length: count }, (_, k) => ({
    satellite: k + 1,
    node: turnOf(2 * Math.PI * ((k % planes) / planes + system / 17)),
    phase: turnOf(2 * Math.PI * (Math.floor(k / planes) / Math.ceil(count / planes) + (k % planes) / count)),
  })),
})
const none: Orbits = orbitsOf(0, 1, 1, 0, 0)
const constellationOrbits: Partial<Record<Constellation, Orbits>> = {
  GPS: orbitsOf(31, 6, 26_560_000, 55, 0),
  GLONASS: orbitsOf(24, 3, 25_510_000, 64.8, 1),
  Galileo: orbitsOf(27, 3, 29_600_000, 56, 2),
  BeiDou: orbitsOf(24, 3, 27_906_000, 55, 3),
}

/** How far the clock of a satellite wanders in a second, as real ones do: the rubidium clocks of GPS, the caesium of GLONASS. */
const clockWander_m: Partial<Record<Constellation, number>> = {
  GPS: 0.0015,
  GLONASS: 0.0025,
  Galileo: 0.0003,
  BeiDou: 0.0005,
}
const earth_radps = 7.2921151467e-5
const c_mps = 299_792_458
const sinOfMask = Math.sin(10 * radians)

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

/** By constellation and number of the satellite. */
type Directions = Partial<Record<Constellation, (Direction | undefined)[]>>

interface Signal {
  readonly constellation: Constellation
  readonly satellite: number
  seen: number
  locked_ms: number
  indicator: number
  offset_m: number
  multipath_m: number
}

/** East, north and up where the antenna stands, from the normal of the ellipsoid: the tests' own geometry. */
class LocalFrame {
  readonly #origin: Ecef
  readonly #east: readonly [number, number]
  readonly #north: readonly [number, number, number]
  readonly #up: readonly [number, number, number]

  constructor(origin: Ecef) {
    this.#origin = origin
    const flattened = (1 - 1 / 298.257223563) ** 2
    const length = Math.hypot(origin.x, origin.y, origin.z / flattened)
    const [x, y, z] = [origin.x / length, origin.y / length, origin.z / flattened / length]
    const level = Math.hypot(x, y)
    this.#up = [x, y, z]
    this.#east = [-y / level, x / level]
    this.#north = [(-z * x) / level, (-z * y) / level, level]
  }

  of(point: Ecef): Enu {
    const x = point.x - this.#origin.x
    const y = point.y - this.#origin.y
    const z = point.z - this.#origin.z
    return {
      east: this.#east[0] * x + this.#east[1] * y,
      north: this.#north[0] * x + this.#north[1] * y + this.#north[2] * z,
      up: this.#up[0] * x + this.#up[1] * y + this.#up[2] * z,
    }
  }

  at({ east, north, up }: Enu): Ecef {
    return {
      x: this.#origin.x + this.#east[0] * east + this.#north[0] * north + this.#up[0] * up,
      y: this.#origin.y + this.#east[1] * east + this.#north[1] * north + this.#up[1] * up,
      z: this.#origin.z + this.#north[2] * north + this.#up[2] * up,
    }
  }
}

/** A constellation of the scene, with the clock and the signals of each satellite. */
interface Simulated {
  readonly constellation: Constellation
  readonly wander_m: number
  readonly known: Orbits
  readonly clocks_m: Float64Array
  readonly signals: (Signal | undefined)[][]
}

/** A receiver under a moving sky. Whoever drives it may move its antenna, break locks and set its clock. */
export class Scene {
  readonly #options: Required<SceneOptions>
  readonly #normal: () => number
  readonly #frame = new LocalFrame({ x: 3_925_405.8, y: 274_491.1, z: 5_002_842.7 })
  /** In the order in which they rose first. */
  readonly #signals: Signal[] = []
  readonly #satellites: Simulated[]
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
    this.#satellites = this.#options.constellations.map((constellation) => {
      const { orbits } = constellationOrbits[constellation] ?? none
      return {
        constellation,
        wander_m: clockWander_m[constellation] ?? 0,
        known: constellationOrbits[constellation] ?? none,
        clocks_m: new Float64Array(orbits.length),
        signals: orbits.map(() => []),
      }
    })
  }

  /** The receiver sets its clock, as many do at half a millisecond. */
  stepClock(seconds: number): void {
    this.#clock_s += seconds
  }

  /** Breaks the lock of some signals, with or without the lock indicator. */
  slip(which: (constellation: Constellation, satellite: number) => boolean, flagged: boolean): void {
    for (const signal of this.#signals) {
      if (!which(signal.constellation, signal.satellite)) continue
      signal.offset_m += 0.19 * Math.round(1 + 3 * Math.abs(this.#normal()))
      if (flagged) signal.locked_ms = 0
    }
  }

  /** The next epoch. */
  next(): Observed {
    const { interval_s, constellations, msm, noise_m, multipath_m, slipsPerHour, signals } = this.#options
    const normal = this.#normal
    this.#epoch++
    this.time_s += interval_s
    this.#drift += normal() * 1e-10 * Math.sqrt(interval_s)
    this.#clock_s += this.#drift * interval_s
    const antenna = this.#frame.at(this.offset)
    const fade = Math.exp(-interval_s / 60)
    const fading_m = multipath_m * Math.sqrt(1 - fade * fade)
    const slipsBelow = (slipsPerHour * interval_s) / 3600 / 0.798
    // Measured when the receiver's clock shows the epoch.
    const at_s = this.time_s - this.#clock_s
    const directions: Directions = {}
    const messages = this.#satellites.map((satellites, index): Msm => {
      const { constellation, clocks_m, known } = satellites
      const observations: MsmObservation[] = []
      const wandering_m = satellites.wander_m * Math.sqrt(interval_s)
      const turned = turnOf(known.pace_radps * at_s)
      const earth = turnOf(earth_radps * at_s)
      for (let number = 0; number < known.orbits.length; number++) {
        const orbit = known.orbits[number]
        const position = positionOf(known, orbit, turned, earth)
        const { east, north, up } = this.#frame.of(position)
        const distance_m = Math.sqrt(east * east + north * north + up * up)
        const wander = clocks_m[number]
        clocks_m[number] += normal() * wandering_m
        if (up < sinOfMask * distance_m) continue
        directions[constellation] ??= []
        directions[constellation][orbit.satellite] = {
          azimuth_deg: Math.atan2(east, north) / radians,
          elevation_deg: Math.asin(up / distance_m) / radians,
        }
        const range_m = Math.sqrt(
          (position.x - antenna.x) ** 2 + (position.y - antenna.y) ** 2 + (position.z - antenna.z) ** 2,
        )
        const spread = Math.sqrt((1 + (distance_m / up) ** 2) / 2)
        for (let band = 0; band < signals.length; band++) {
          const signal = this.#signalOf(satellites, number, band)
          signal.locked_ms += interval_s * 1000
          signal.multipath_m = signal.multipath_m * fade + normal() * fading_m
          if (Math.abs(normal()) < slipsBelow) signal.offset_m += 0.19
          const noise = spread * (noise_m * normal() + signal.multipath_m)
          const air_m = (-airPerMetre * this.offset.up * distance_m) / up
          const phase_m = range_m + air_m + c_mps * this.#clock_s + wander + signal.offset_m + noise
          observations.push({
            satellite: orbit.satellite,
            signal: signals[band],
            phase_m: quantised(phase_m, msm),
            lock: indicatorOf(msm, signal),
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
  #skyOf(directions: Directions): Sky {
    const { skyEvery_s, skyDelay_s } = this.#options
    this.#skies.push({ at_s: this.time_s, directions })
    if (this.#givenAt_s === undefined || this.time_s - this.#givenAt_s >= skyEvery_s + skyDelay_s) {
      while (this.#skies.length > 1 && this.#skies[1].at_s <= this.time_s - skyDelay_s) this.#skies.shift()
      const { at_s, directions: given } = this.#skies[0]
      this.#givenAt_s = at_s
      const sky = wholeDegrees((constellation, satellite) => given[constellation]?.[satellite])
      this.#given = {}
      for (const [constellation, known] of Object.entries(given) as [Constellation, Direction[]][]) {
        this.#given[constellation] = known.map((_, satellite) => sky(constellation, satellite))
      }
    }
    const given = this.#given
    return (constellation, satellite) => given[constellation]?.[satellite]
  }
  #givenAt_s: number | undefined
  #given: Directions = {}
  readonly #skies: { at_s: number; directions: Directions }[] = []

  /** A signal that was out of sight starts with a new ambiguity. */
  #signalOf({ constellation, signals }: Simulated, number: number, band: number): Signal {
    let signal = signals[number][band]
    if (!signal) {
      signal = {
        constellation,
        satellite: number + 1,
        seen: -1,
        locked_ms: 0,
        indicator: 0,
        offset_m: 0,
        multipath_m: 0,
      }
      signals[number][band] = signal
      this.#signals.push(signal)
    }
    if (signal.seen < this.#epoch - 1) {
      signal.locked_ms = 0
      signal.indicator = 0
      signal.offset_m = 0.19 * Math.round(1e3 * this.#normal())
      signal.multipath_m = 0
    }
    signal.seen = this.#epoch
    return signal
  }
}

/** Earth-fixed position, of the turn of the satellites since the start and that of the Earth. */
function positionOf({ radius_m, inclination }: Orbits, { phase, node }: Orbit, turned: Turn, earth: Turn): Ecef {
  const x = radius_m * (phase.cosine * turned.cosine - phase.sine * turned.sine)
  const across = radius_m * (phase.sine * turned.cosine + phase.cosine * turned.sine)
  const y = across * inclination.cosine
  const cosine = node.cosine * earth.cosine + node.sine * earth.sine
  const sine = node.sine * earth.cosine - node.cosine * earth.sine
  return { x: x * cosine - y * sine, y: x * sine + y * cosine, z: across * inclination.sine }
}

const lightMs_m = 299_792.458
function quantised(phase_m: number, msm: 4 | 7): number {
  const per = (msm === 4 ? 2 ** 29 : 2 ** 31) / lightMs_m
  return Math.round(phase_m * per) / per
}

const last = { 4: 15, 7: 704 }
/** The greatest indicator whose time has passed; it stays or grows while the lock lasts. */
function indicatorOf(msm: 4 | 7, signal: Signal): number {
  if (signal.locked_ms < lockTime(1070 + msm, signal.indicator).from_ms) signal.indicator = 0
  while (signal.indicator < last[msm] && lockTime(1070 + msm, signal.indicator + 1).from_ms <= signal.locked_ms) {
    signal.indicator++
  }
  return signal.indicator
}

/** Directions spread over the sky, the same each time. */
export const evenDirection = (i: number, of: number) => {
  const azimuth = 2.4 * (i + of)
  const elevation = ((15 + ((i * 37) % 65)) * Math.PI) / 180
  return {
    east: Math.cos(elevation) * Math.sin(azimuth),
    north: Math.cos(elevation) * Math.cos(azimuth),
    up: Math.sin(elevation),
  }
}

/** Noise of 1 sigma, the same each time. */
export const evenNoise = (i: number) => 0.002 * Math.sin(i * 7.13)

/** GPS satellites of one signal, MSM7; lock in ms up to 63. */
export const epochOf = (
  phases: Record<number, { phase_m: number; lock: number; halfCycle?: boolean }>,
  type = 1077,
) => ({
  time_ms: 0,
  messages: [
    {
      type,
      observations: Object.entries(phases).map(([satellite, observed]) => ({
        satellite: Number(satellite),
        signal: 2,
        ...observed,
      })),
    },
  ] as unknown as Msm[],
})
