/**
 * The streams of two stations whose true places are known: the satellites of the simulated sky, and on their way to each station
 * an ionosphere with a gradient and travelling waves, wet air that differs between the stations, multipath of the phases that
 * lasts for minutes, and broadcast orbits that are wrong by a metre. Each receiver has a clock of its own. None of it is computed
 * as the baseline's code does.
 */
import {
  type Constellation,
  encodeMsm,
  type Geodetic,
  gpsSeconds,
  isEphemeris,
  knownLeap_s,
  type MsmObservation,
  messageNumber,
  msmEpochTime,
  msmType,
  unixToGps,
} from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import {
  type ConstellationModel,
  ephemerisFrame,
  GaussMarkov,
  glonassInfo,
  Model,
  msmObservations,
  Random,
  type Sight,
  type Track,
} from 'rtk-base/simulation'
import { ReceiverClock, type ReceiverClockKind, receiverClocks } from './receiver-clock.js'

/** How rough the air and the surroundings are. Delays in metres on the first frequency, in the zenith. */
export interface Roughness {
  /** Gradient of the ionosphere, per km, and amplitude of waves of 150 km that travel with 150 m/s. */
  readonly gradient_mpkm: number
  readonly waves_m: number
  /** Wet delay that one station has more than the other, per km of their distance. */
  readonly wet_mpkm: number
  /** Multipath of a phase in the zenith, standard deviation, and how long it lasts. */
  readonly multipath_m: number
  readonly multipath_s: number
  readonly noise: 'quiet' | 'typical' | 'obstructed'
}

export const roughness = {
  calm: {
    gradient_mpkm: 0.0005,
    waves_m: 0.01,
    wet_mpkm: 0.0002,
    multipath_m: 0.002,
    multipath_s: 120,
    noise: 'quiet',
  },
  rough: {
    gradient_mpkm: 0.002,
    waves_m: 0.05,
    wet_mpkm: 0.0005,
    multipath_m: 0.005,
    multipath_s: 240,
    noise: 'typical',
  },
  bad: {
    gradient_mpkm: 0.004,
    waves_m: 0.1,
    wet_mpkm: 0.001,
    multipath_m: 0.008,
    multipath_s: 400,
    noise: 'obstructed',
  },
} as const satisfies Record<string, Roughness>

export interface StreamsOptions {
  readonly seed: number
  readonly from: Geodetic
  readonly to: Geodetic
  readonly roughness: Roughness
  /** Sky of each receiver. Default: that of a ZED-F9P. */
  readonly sky?: { readonly from?: readonly ConstellationModel[]; readonly to?: readonly ConstellationModel[] }
  /** Clock of each receiver. Default: `from` wanders and `to` jumps. */
  readonly clocks?: { readonly from?: ReceiverClockKind; readonly to?: ReceiverClockKind }
  /** 4 to 7. Default: 7. */
  readonly msm?: 4 | 5 | 6 | 7
}

export interface StreamEpoch {
  readonly now_s: number
  readonly from: readonly Uint8Array[]
  readonly to: readonly Uint8Array[]
}

const light_mps = 299_792_458
const l1_hz = 1575.42e6
const radians = Math.PI / 180
const earth_m = 6_371_000
const shell_m = 400_000
/** Satellites in one message, of which each may have eight signals. */
const atOnce = 8
const order: readonly Constellation[] = ['GPS', 'GLONASS', 'Galileo', 'BeiDou']

export interface NetStreamsOptions extends Pick<StreamsOptions, 'seed' | 'roughness' | 'msm'> {
  readonly places: readonly Geodetic[]
  /** Sky of each receiver. Default: that of a ZED-F9P. */
  readonly skies?: readonly (readonly ConstellationModel[] | undefined)[]
  /** Clock of each receiver. Default: they wander, jump, and are steered, in this order. */
  readonly clocks?: readonly (ReceiverClockKind | undefined)[]
}

/** The same of any number of stations, each of which sends ephemerides too. The air of the first one is the reference. */
export class NetStreams {
  readonly truths: readonly Ecef[]
  readonly #options: NetStreamsOptions
  readonly #models: readonly Model[]
  readonly #clocks: readonly ReceiverClock[]
  readonly #multipath: Map<string, GaussMarkov>[]
  readonly #random: Random
  readonly #heading: number
  readonly #wet_m: readonly number[]
  /** By how much the broadcast orbit of a satellite is wrong, ECEF metres. */
  readonly #orbitErrors = new Map<number, Ecef>()
  #orbitsAt = Number.NEGATIVE_INFINITY

  constructor(options: NetStreamsOptions) {
    const { seed, places, roughness, skies = [], clocks = [] } = options
    this.#options = options
    this.#models = places.map((place, n) => {
      const constellations = skies[n]
      const own = places.length * seed + n + 1
      return new Model({ ...place, seed: own, noise: roughness.noise, ...(constellations && { constellations }) })
    })
    this.#clocks = places.map((_, n) => {
      const kind = clocks[n] ?? receiverClocks[n % receiverClocks.length] ?? 'steered'
      return new ReceiverClock(kind, new Random((places.length * seed + n) ^ 0x51ed270b))
    })
    this.#multipath = places.map(() => new Map())
    this.truths = this.#models.map(({ truth }) => truth)
    this.#random = new Random(seed ^ 0x2545f491)
    this.#heading = 2 * Math.PI * this.#random.uniform()
    const [first = { x: 0, y: 0, z: 0 }] = this.truths
    this.#wet_m = this.truths.map(({ x, y, z }, n) => {
      const apart_km = Math.hypot(x - first.x, y - first.y, z - first.z) / 1_000
      return n === 0 ? 0 : roughness.wet_mpkm * apart_km * this.#random.normal()
    })
  }

  /** One epoch of all. @param utc_ms its time @param dt_s since the last one */
  epoch(utc_ms: number, dt_s: number): { now_s: number; stations: Uint8Array[][] } {
    const gps = unixToGps(utc_ms / 1_000, knownLeap_s)
    const now_s = gpsSeconds(gps)
    const tow_ms = Math.round(1_000 * gps.tow_s)
    // Every ten minutes.
    const hasOrbits = now_s - this.#orbitsAt >= 600
    if (hasOrbits) this.#orbitsAt = now_s
    const stations = this.#models.map((model, side) => {
      // A receiver measures when its own clock shows the time of the epoch.
      const late_s = this.#clocks[side]?.step(now_s, dt_s) ?? 0
      const at = model.epoch(utc_ms - 1_000 * late_s, dt_s, true)
      const epoch = { ...at, clock_m: at.clock_m + light_mps * (now_s - at.gps_s) }
      const parts = order.flatMap((name) =>
        inParts(epoch.tracks.filter(({ sight }) => sight.constellation.name === name)),
      )
      const frames = parts.map((tracks, n) => {
        const name = tracks[0]?.sight.constellation.name ?? 'GPS'
        const type = msmType(name, this.#options.msm ?? 7)
        const observations = tracks.flatMap((track) =>
          this.#disturbed(track, msmObservations(track, epoch, type % 10 >= 6), side, now_s, dt_s),
        )
        const head = { type, stationId: side + 1, epochTime: msmEpochTime(name, tow_ms, knownLeap_s) }
        const info = name === 'GLONASS' ? glonassInfo(tracks) : {}
        return encodeMsm({ ...head, multiple: n < parts.length - 1, observations, info }, { outOfRange: 'invalid' })
      })
      const orbits = hasOrbits ? epoch.sky.flatMap((sight) => ephemerisFrame(sight, now_s) ?? []) : []
      return [...orbits, ...frames]
    })
    return { now_s, stations }
  }

  #disturbed(
    { sight }: Track,
    observations: readonly MsmObservation[],
    side: number,
    now_s: number,
    dt_s: number,
  ): MsmObservation[] {
    const { multipath_m, multipath_s } = this.#options.roughness
    const sine = Math.sin(sight.elevation_deg * radians)
    const ionosphere_m = this.#ionosphere_m(sight, side, now_s)
    const wet_m = (this.#wet_m[side] ?? 0) / Math.max(0.1, sine)
    const both_m = wet_m + this.#orbit_m(sight)
    return observations.map((one, n) => {
      const { frequency_hz } = sight.constellation.signals[n] ?? { frequency_hz: l1_hz }
      const delay_m = ionosphere_m * (l1_hz / frequency_hz) ** 2
      const id = `${sight.key} ${n}`
      const own = this.#multipath[side]?.get(id) ?? new GaussMarkov(this.#random, multipath_s)
      this.#multipath[side]?.set(id, own)
      const detour_m = (multipath_m * own.step(dt_s)) / Math.sqrt(Math.max(0.1, sine))
      const phase_m = one.phase_m === undefined ? undefined : one.phase_m - delay_m + both_m + detour_m
      return {
        ...one,
        pseudorange_m: (one.pseudorange_m ?? 0) + delay_m + both_m,
        ...(phase_m !== undefined && { phase_m }),
      }
    })
  }

  #orbit_m({ key, los }: Sight): number {
    const known = this.#orbitErrors.get(key)
    const [x, y, z] = [this.#random.normal(), this.#random.normal(), this.#random.normal()]
    const error = known ?? { x, y, z }
    this.#orbitErrors.set(key, error)
    return los.x * error.x + los.y * error.y + los.z * error.z
  }

  /** Where the signal passes the layer decides. */
  #ionosphere_m({ elevation_deg, azimuth_deg }: Sight, side: number, now_s: number): number {
    const place = this.#options.places[side] ?? { lat: 0, lon: 0 }
    const beyond = Math.asin((earth_m / (earth_m + shell_m)) * Math.cos(elevation_deg * radians))
    const arc_m = (Math.PI / 2 - elevation_deg * radians - beyond) * earth_m
    const metresPerDegree = earth_m * radians
    const north_m = place.lat * metresPerDegree + arc_m * Math.cos(azimuth_deg * radians)
    const east_m = place.lon * metresPerDegree * Math.cos(place.lat * radians) + arc_m * Math.sin(azimuth_deg * radians)
    const along_km = (east_m * Math.sin(this.#heading) + north_m * Math.cos(this.#heading)) / 1_000
    const { gradient_mpkm, waves_m } = this.#options.roughness
    const wave = waves_m * Math.sin(2 * Math.PI * (along_km / 150 - (now_s * 0.15) / 150))
    // The gradient is that of one direction; its zero is far away, which the clocks take up.
    return (gradient_mpkm * (along_km % 20_000) + wave) / Math.cos(beyond)
  }
}

export class Streams {
  readonly truth: { readonly from: Ecef; readonly to: Ecef }
  readonly #net: NetStreams

  constructor({ from, to, sky, clocks, ...options }: StreamsOptions) {
    this.#net = new NetStreams({
      ...options,
      ...{ places: [from, to], skies: [sky?.from, sky?.to], clocks: [clocks?.from, clocks?.to] },
    })
    const [here, there] = this.#net.truths as [Ecef, Ecef]
    this.truth = { from: here, to: there }
  }

  /** One epoch of both. @param utc_ms its time @param dt_s since the last one */
  epoch(utc_ms: number, dt_s: number): StreamEpoch {
    const { now_s, stations } = this.#net.epoch(utc_ms, dt_s)
    const [from, to] = stations as [Uint8Array[], Uint8Array[]]
    // One of them is enough for both.
    return { now_s, from, to: to.filter((frame) => !isEphemeris(messageNumber(frame))) }
  }
}

function inParts(tracks: readonly Track[]): Track[][] {
  const parts: Track[][] = []
  for (let first = 0; first < tracks.length; first += atOnce) parts.push(tracks.slice(first, first + atOnce))
  return parts
}
