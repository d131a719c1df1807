/** Directions and ranges of satellites from their broadcast orbits, where the receiver passes ephemerides on. */
import {
  type Constellation,
  decodeEphemeris,
  type Ephemeris,
  gpsSeconds,
  isEphemeris,
  knownLeap_s,
  type MsmEpoch,
  messageNumber,
  nearestTime,
  type OrbitConstellation,
  Orbits,
  secondsPerWeek,
  unixToGps,
} from 'rtk-base/gnss'
import type { Ecef, SatelliteResidual } from 'rtk-base/services'
import { rangeResiduals } from './code/range-residuals.js'
import type { Direction, Sky } from './phase/sky.js'

/** Where the antenna is, to some kilometres, and the time, to some minutes. */
export interface Whereabouts {
  readonly position: Ecef
  readonly utc_s: number
}

const gps_s = (utc_s: number) => gpsSeconds(unixToGps(utc_s, knownLeap_s))

/** @param time_ms GPS time of week */
const timeOf = (time_ms: number, { utc_s }: Whereabouts) => nearestTime(time_ms / 1000, secondsPerWeek, gps_s(utc_s))

export class OrbitSky {
  readonly #orbits = new Orbits()
  /** The ephemerides that were taken, by satellite. */
  readonly #frames = new Map<string, Uint8Array>()
  readonly #where: () => Whereabouts | undefined

  constructor(where: () => Whereabouts | undefined) {
    this.#where = where
  }

  /** @param frame RTCM of any type */
  hear(frame: Uint8Array): void {
    const where = isEphemeris(messageNumber(frame)) ? this.#where() : undefined
    if (!where) return
    const now_s = gps_s(where.utc_s)
    const ephemeris = decodeEphemeris(frame, now_s)
    if (!ephemeris || !this.#orbits.take(ephemeris, now_s)) return
    this.#frames.set(`${ephemeris.constellation} ${ephemeris.satellite}`, frame)
  }

  /** The time of an epoch, `gpsSeconds`; undefined while the receiver has no time. @param time_ms GPS time of week */
  timeOf(time_ms: number): number | undefined {
    const where = this.#where()
    return where && timeOf(time_ms, where)
  }

  ephemeris(constellation: OrbitConstellation, satellite: number, at_s: number): Ephemeris | undefined {
    return this.#orbits.ephemeris(constellation, satellite, at_s)
  }

  /** The ephemerides for this time, and the RTCM frames that they came in. */
  fresh(at_s: number): { ephemeris: Ephemeris; frame: Uint8Array }[] {
    return this.#orbits.fresh(at_s).flatMap((ephemeris) => {
      const frame = this.#frames.get(`${ephemeris.constellation} ${ephemeris.satellite}`)
      return frame ? [{ ephemeris, frame }] : []
    })
  }

  /**
   * Exact directions for an epoch where an ephemeris is fresh, else those of `known`.
   * @param time_ms GPS time of week
   */
  over(known: Sky | undefined, time_ms: number): Sky | undefined {
    const where = this.#where()
    if (!where) return known
    const at_s = timeOf(time_ms, where)
    // A satellite has several signals, and most of those with an ephemeris are below the horizon.
    const exact = new Map<string, Direction | undefined>()
    return (constellation, satellite) => {
      const told = known?.(constellation, satellite)
      const id = `${constellation} ${satellite}`
      if (!exact.has(id)) exact.set(id, this.#exact(constellation, satellite, where.position, at_s))
      const own = exact.get(id)
      return own && told && !agree(own, told) ? told : (own ?? told)
    }
  }

  /**
   * The ranges of an epoch beside a place: one residual of each satellite with two frequencies and a fresh ephemeris.
   * @param arp where the antenna should be
   */
  residuals(epoch: MsmEpoch, arp: Ecef): SatelliteResidual[] {
    const where = this.#where()
    if (!where) return []
    const at_s = timeOf(epoch.time_ms, where)
    return rangeResiduals(epoch, arp, at_s, (constellation, satellite) =>
      this.#orbits.ephemeris(constellation, satellite, at_s),
    )
  }

  #exact(constellation: Constellation, satellite: number, arp: Ecef, at_s: number): Direction | undefined {
    if (constellation === 'SBAS' || constellation === 'NavIC') return undefined
    // A satellite that is moved to another orbit is unhealthy meanwhile.
    if (!this.#orbits.ephemeris(constellation, satellite, at_s)?.healthy) return undefined
    const direction = this.#orbits.direction(constellation, satellite, arp, at_s)
    return direction && { ...direction, isExact: true }
  }
}

/** Directions of the receiver are whole degrees, up to a minute old: further apart one of the two is wrong, and the receiver's has an error. */
const apart_deg = 3

function agree(one: Direction, other: Direction): boolean {
  const [a, b] = [one, other].map(({ elevation_deg }) => elevation_deg * radians) as [number, number]
  const azimuth = (one.azimuth_deg - other.azimuth_deg) * radians
  const cosine = Math.sin(a) * Math.sin(b) + Math.cos(a) * Math.cos(b) * Math.cos(azimuth)
  return cosine >= Math.cos(apart_deg * radians)
}

const radians = Math.PI / 180
