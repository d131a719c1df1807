/**
 * One model behind the whole output of the simulated receiver: the true position of the antenna, the sky above it, the
 * receiver's clock, the tracked satellites. Positions, residuals and observations are all derived from it, so they
 * agree.
 */
import { geodeticToEcef, knownLeap_s, offsetEnu, secondsPerWeek, unixToGps } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Channel, ChannelSnapshot, type SignalTrack } from './channel.js'
import { type Enu, Motion, MotionSnapshot } from './motion.js'
import { type NoiseName, Surroundings } from './noise.js'
import { GaussMarkov, Random } from './random.js'
import { type ConstellationModel, constellations, type Sight, visibleFrom } from './sky.js'

export interface ModelOptions {
  /** Names of constellations that are not tracked. */
  without?: readonly string[]
  /** Satellites and signals of this receiver; default: those of a ZED-F9P. */
  constellations?: readonly ConstellationModel[]
  seed: number
  lat: number
  lon: number
  alt: number
  /** Default: quiet. */
  noise?: NoiseName
}

export type AntennaState = 'ok' | 'short' | 'open'
export type Band = 'L1' | 'L2'

/** A satellite that is tracked in this epoch. */
export interface Track {
  readonly sight: Sight
  readonly cno_dbhz: number
  /** Code error of the first signal in this epoch, metres. */
  readonly noise_m: number
  /** Code error of the other signals, metres. */
  readonly otherNoise_m: number
  /** Seconds since the first signal was locked. */
  readonly lock_s: number
  /** In the order of `ConstellationModel.signals`. Satellites below 15° have only the first. */
  readonly signals: readonly SignalTrack[]
}

export interface Epoch {
  readonly utc_ms: number
  /** GPS seconds since its epoch. */
  readonly gps_s: number
  readonly week: number
  readonly tow_ms: number
  /** Every satellite above the horizon. */
  readonly sky: readonly Sight[]
  readonly tracks: readonly Track[]
  /** Receiver clock error in metres, common to all observations. */
  readonly clock_m: number
}

/** State handed to the next instance on a reload: the antenna keeps moving, and the lock holds. */
export const ModelSnapshot = Type.Object({
  motion: MotionSnapshot,
  /** By the key of their satellite. */
  channels: Type.Array(Type.Tuple([Type.Integer(), ChannelSnapshot])),
})
export type ModelSnapshot = Static<typeof ModelSnapshot>

const horizon_deg = 0
/** Satellites below this elevation are not tracked. */
export const lowest_deg = 5
/** Below this elevation only the first signal is tracked. */
const dualFrom_deg = 15
/** The other signals are weaker by this much. */
const secondSignal_db = 3
/** Below this nothing is tracked. */
const lossOfLock_dbhz = 24
/** Offset of the phases' seed from that of the code. */
const fineSeed = 0x5bd1e995

/** Number of tracked satellites that a fault affects. `most`: 80 %. */
export type HowMany = number | 'most' | 'all'
const mostShare = 0.8

function countOf(which: HowMany, tracked: number): number {
  if (which === 'all') return tracked
  return which === 'most' ? Math.ceil(mostShare * tracked) : Math.min(which, tracked)
}

export class Model {
  readonly random: Random
  readonly #fine: Random
  readonly #clock: GaussMarkov
  /** Position at which the antenna was installed. */
  readonly #origin: Ecef
  readonly #lon_deg: number
  readonly #seed: number
  readonly #motion = new Motion()
  readonly #constellations: readonly ConstellationModel[]
  readonly #channels = new Map<number, Channel>()
  /** Names of constellations that are not tracked. May be changed at any time. */
  without: ReadonlySet<string>
  /** Satellites that are not received before a time. */
  readonly #away = new Map<number, number>()
  /** Satellites with a disturbed lock or phase in the next epoch. */
  #disturbances: { which: HowMany; apply(key: number, gps_s: number): void }[] = []
  surroundings: Surroundings
  antenna: AntennaState = 'ok'
  /** Interference: the reduction of C/N0 by band. */
  readonly jam_db: Record<Band, number> = { L1: 0, L2: 0 }
  /** Maximum number of received satellites, and minimum elevation. */
  limit: { satellites: number; mask_deg: number } = { satellites: Number.POSITIVE_INFINITY, mask_deg: lowest_deg }

  constructor(options: ModelOptions) {
    this.without = new Set(options.without)
    this.#constellations = options.constellations ?? constellations
    this.random = new Random(options.seed)
    this.#seed = options.seed
    this.#fine = new Random(options.seed ^ fineSeed)
    this.#clock = new GaussMarkov(this.#fine, 100)
    this.#origin = geodeticToEcef(options)
    this.#lon_deg = options.lon
    this.surroundings = this.#surroundingsOf(options.noise ?? 'quiet')
  }

  /** True position of the antenna reference point. */
  get truth(): Ecef {
    return offsetEnu(this.#origin, this.#motion.offset)
  }

  /** Displacement of the antenna from where it was installed. */
  get offset(): Enu {
    return this.#motion.offset
  }

  /** Moves the antenna by metres, steadily over `over_s` seconds; 0: at once. */
  move(east: number, north: number, up: number, over_s = 0): void {
    this.#motion.move({ east, north, up }, over_s)
  }

  /** Swings the antenna by `by` (metres) to both sides. */
  sway(by: Enu, period_s: number, over_s: number): void {
    this.#motion.sway(by, period_s, over_s)
  }

  /** The antenna stays where it is now. */
  stopMoving(): void {
    this.#motion.stop()
  }

  /** Replaces the surroundings. */
  noise(name: NoiseName): void {
    this.surroundings = this.#surroundingsOf(name)
  }

  /** Some satellites lose their lock at the next epoch. @param away_s for how long they are not received */
  loseLock(which: HowMany, away_s: number): void {
    this.#disturb(which, (key, gps_s) => {
      this.#channels.delete(key)
      if (away_s > 0) this.#away.set(key, gps_s + away_s)
    })
  }

  /** The phases of some satellites jump at the next epoch. @param silent the lock indicators do not show it */
  slip(which: HowMany, cycles: number, silent: boolean): void {
    this.#disturb(which, (key, gps_s) => this.#channels.get(key)?.slip(cycles, gps_s, silent))
  }

  /** All signals are lost, as in a reset. */
  forgetTracks(): void {
    this.#channels.clear()
  }

  snapshot(): ModelSnapshot {
    const channels = [...this.#channels].map(([key, channel]): [number, ChannelSnapshot] => [key, channel.snapshot()])
    return { motion: this.#motion.snapshot(), channels }
  }

  restore({ motion, channels }: ModelSnapshot): void {
    this.#motion.restore(motion)
    this.#channels.clear()
    for (const [key, state] of channels) {
      const channel = new Channel(this.random, this.#fine)
      channel.restore(state)
      this.#channels.set(key, channel)
    }
  }

  /** Simulates one epoch. @param dt_s seconds since the previous epoch @param listening false while the receiver tracks nothing */
  epoch(utc_ms: number, dt_s: number, listening: boolean): Epoch {
    const { week, tow_s } = unixToGps(utc_ms / 1000, knownLeap_s)
    const gps_s = week * secondsPerWeek + tow_s
    this.#motion.advance(gps_s)
    this.#disturbAt(gps_s)
    const sky = visibleFrom(this.truth, gps_s, horizon_deg, this.without, this.#constellations).map(this.#movingSight())
    const hears = listening && this.antenna === 'ok'
    const tracks = hears ? this.#limited(sky.flatMap((sight) => this.#track(sight, gps_s, dt_s) ?? [])) : []
    const tracked = new Set(tracks.map(({ sight }) => sight.key))
    for (const key of this.#channels.keys()) if (!tracked.has(key)) this.#channels.delete(key)
    // A crystal that the receiver steers: slow, and smaller than a microsecond. It trembles by a centimetre a second.
    const clock_m = 40 * Math.sin((2 * Math.PI * gps_s) / 1700) + 0.1 * this.#clock.step(dt_s)
    return { utc_ms, gps_s, week, tow_ms: Math.round(tow_s * 1000) % (secondsPerWeek * 1000), sky, tracks, clock_m }
  }

  #surroundingsOf(name: NoiseName): Surroundings {
    return new Surroundings(name, new Random(this.#seed + 1), this.#lon_deg)
  }

  /** The Doppler of a moving antenna. */
  #movingSight(): (sight: Sight) => Sight {
    const { velocity } = this.#motion
    if (velocity.east === 0 && velocity.north === 0 && velocity.up === 0) return (sight) => sight
    const here = this.truth
    const there = offsetEnu(here, velocity)
    const v = { x: there.x - here.x, y: there.y - here.y, z: there.z - here.z }
    return (sight) => {
      const { los } = sight
      return { ...sight, rate_mps: sight.rate_mps - (los.x * v.x + los.y * v.y + los.z * v.z) }
    }
  }

  #disturb(which: HowMany, apply: (key: number, gps_s: number) => void): void {
    this.#disturbances.push({ which, apply })
  }

  #disturbAt(gps_s: number): void {
    for (const { which, apply } of this.#disturbances.splice(0)) {
      const keys = [...this.#channels.keys()]
      // The seed selects them: each is drawn from the remaining satellites.
      for (let left = countOf(which, keys.length); left > 0; left--) {
        const [key] = keys.splice(Math.floor(this.#fine.uniform() * keys.length), 1)
        apply(key, gps_s)
      }
    }
  }

  #limited(tracks: Track[]): Track[] {
    if (tracks.length <= this.limit.satellites) return tracks
    const highest = tracks.toSorted((p, q) => q.sight.elevation_deg - p.sight.elevation_deg)
    const kept = new Set(highest.slice(0, this.limit.satellites))
    return tracks.filter((track) => kept.has(track))
  }

  #track(sight: Sight, gps_s: number, dt_s: number): Track | undefined {
    const { elevation_deg, azimuth_deg, key } = sight
    const { profile } = this.surroundings
    const sine = Math.sin((elevation_deg * Math.PI) / 180)
    const shade_db = this.surroundings.shade_db(azimuth_deg, elevation_deg)
    const open_dbhz = 31 + 17 * Math.sqrt(sine) + 0.4 * this.random.normal() - shade_db
    const cno_dbhz = open_dbhz - this.jam_db.L1
    const isAway = (this.#away.get(key) ?? gps_s) > gps_s
    if (cno_dbhz < lossOfLock_dbhz || elevation_deg < this.limit.mask_deg || isAway) return undefined
    this.#away.delete(key)
    let channel = this.#channels.get(key)
    if (!channel) {
      channel = new Channel(this.random, this.#fine)
      this.#channels.set(key, channel)
    }
    const second_dbhz = open_dbhz - secondSignal_db - this.jam_db.L2
    const isDual = elevation_deg >= dualFrom_deg && second_dbhz >= lossOfLock_dbhz - secondSignal_db
    const signals = channel.step(
      sight.constellation.signals.slice(0, isDual ? undefined : 1).map((_, i) => (i === 0 ? cno_dbhz : second_dbhz)),
      gps_s,
      profile.phase_m,
      profile.slips_per_s * dt_s,
    )
    // Signals in the shade arrive by a detour.
    const scale_m = (0.3 + 0.35 / Math.max(0.1, sine)) * 10 ** (shade_db / 20)
    const noise = profile.code * (0.8 * channel.multipath.step(dt_s) + 0.2 * this.random.normal())
    const otherNoise = profile.code * (0.8 * channel.otherMultipath.step(dt_s) + 0.2 * this.#fine.normal())
    const multipath = (turned_deg: number) =>
      profile.sidereal === 0 ? 0 : this.surroundings.multipath(azimuth_deg + turned_deg, elevation_deg)
    return {
      sight,
      cno_dbhz,
      noise_m: scale_m * (noise + profile.sidereal * multipath(0)),
      otherNoise_m: 0.6 * scale_m * (otherNoise + profile.sidereal * multipath(40)),
      lock_s: signals[0].lock_s,
      signals,
    }
  }
}
