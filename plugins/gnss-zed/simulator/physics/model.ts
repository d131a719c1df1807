/**
 * One model behind everything that the simulated receiver says: where the antenna truly is, the sky above it, the
 * receiver's clock, what is tracked. Positions, residuals and observations are all made of it, so they agree.
 */
import { geodeticToEcef, knownLeap_s, offsetEnu, secondsPerWeek, unixToGps } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { GaussMarkov, Random } from './random.js'
import { type Sight, visibleFrom } from './sky.js'

export interface ModelOptions {
  /** Constellations by name that are not tracked. */
  without?: readonly string[]
  seed: number
  lat: number
  lon: number
  alt: number
}

export type AntennaState = 'ok' | 'short' | 'open'

/** A satellite that is tracked in this epoch. */
export interface Track {
  readonly sight: Sight
  readonly cno_dbhz: number
  /** Both signals; low satellites have the first only. */
  readonly dual: boolean
  /** Code error of this epoch. */
  readonly noise_m: number
  /** Since the signal was locked. */
  readonly lock_s: number
  /** Whole cycles of the phase ambiguity; they stay the same while the lock holds. */
  readonly ambiguity: number
}

interface Channel {
  readonly multipath: GaussMarkov
  readonly ambiguity: number
  since_gps_s: number
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

const horizon_deg = 0
/** Below this nothing is tracked. */
const lossOfLock_dbhz = 24

export class Model {
  readonly random: Random
  readonly #origin: Ecef
  readonly #offset = { east: 0, north: 0, up: 0 }
  readonly #channels = new Map<number, Channel>()
  antenna: AntennaState = 'ok'
  /** Interference, dB less C/N0. */
  jam_db = 0

  readonly #without: ReadonlySet<string>

  constructor(options: ModelOptions) {
    this.#without = new Set(options.without)
    this.random = new Random(options.seed)
    this.#origin = geodeticToEcef(options)
  }

  /** Where the antenna's reference point truly is. */
  get truth(): Ecef {
    return offsetEnu(this.#origin, this.#offset)
  }

  /** Where it was installed. */
  get origin(): Ecef {
    return this.#origin
  }

  get offset(): { east: number; north: number; up: number } {
    return { ...this.#offset }
  }

  /** Moves the antenna by metres. */
  move(east: number, north: number, up: number): void {
    this.#offset.east += east
    this.#offset.north += north
    this.#offset.up += up
  }

  /** All signals are lost, as in a reset. */
  forgetTracks(): void {
    this.#channels.clear()
  }

  /** @param listening false while the GNSS part is stopped */
  epoch(utc_ms: number, dt_s: number, listening: boolean): Epoch {
    const { week, tow_s } = unixToGps(utc_ms / 1000, knownLeap_s)
    const gps_s = week * secondsPerWeek + tow_s
    const sky = visibleFrom(this.truth, gps_s, horizon_deg, this.#without)
    const hears = listening && this.antenna === 'ok'
    const tracks = hears ? sky.flatMap((sight) => this.#track(sight, gps_s, dt_s) ?? []) : []
    const tracked = new Set(tracks.map(({ sight }) => sight.key))
    for (const key of this.#channels.keys()) if (!tracked.has(key)) this.#channels.delete(key)
    // A crystal that the receiver steers: slow, and smaller than a microsecond.
    const clock_m = 40 * Math.sin((2 * Math.PI * gps_s) / 1700)
    return { utc_ms, gps_s, week, tow_ms: Math.round(tow_s * 1000) % (secondsPerWeek * 1000), sky, tracks, clock_m }
  }

  #track(sight: Sight, gps_s: number, dt_s: number): Track | undefined {
    const sine = Math.sin((sight.elevation_deg * Math.PI) / 180)
    const cno_dbhz = 31 + 17 * Math.sqrt(sine) + 0.4 * this.random.normal() - this.jam_db
    if (cno_dbhz < lossOfLock_dbhz || sight.elevation_deg < 5) return undefined
    let channel = this.#channels.get(sight.key)
    if (!channel) {
      const ambiguity = Math.round((this.random.uniform() - 0.5) * 200)
      channel = { multipath: new GaussMarkov(this.random, 60), ambiguity, since_gps_s: gps_s }
      this.#channels.set(sight.key, channel)
    }
    const scale_m = 0.3 + 0.35 / Math.max(0.1, sine)
    return {
      sight,
      cno_dbhz,
      dual: sight.elevation_deg >= 15,
      noise_m: scale_m * (0.8 * channel.multipath.step(dt_s) + 0.2 * this.random.normal()),
      lock_s: gps_s - channel.since_gps_s,
      ambiguity: channel.ambiguity,
    }
  }
}
