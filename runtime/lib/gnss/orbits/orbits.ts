import type { Ecef } from '../../../../schemas/services.js'
import { type Ephemeris, isCurrent, isPlausible, type OrbitConstellation } from './ephemeris.js'
import { type SatelliteDirection, type SatelliteState, satelliteDirection, satelliteState } from './satellite.js'

interface Held {
  ephemeris: Ephemeris
  /** When it was last received. */
  received_s: number
}

/**
 * Keeps the newest valid ephemeris of each satellite, and computes positions and directions from it. An unhealthy
 * satellite is kept with `healthy: false`: use its direction, but not its ranges. Times are `gpsSeconds`.
 *
 * To follow a stream, pass each RTCM frame, and each frame that `SubframeAssembler` makes from UBX frames, to
 * `decodeEphemeris`, and the result to `take`.
 */
export class Orbits {
  /** By constellation and number, which a plausible ephemeris has within bounds. */
  readonly #held = new Map<string, Held>()

  /**
   * Replaces the satellite's last ephemeris, unless the last one is newer and still sent. An ephemeris that is
   * implausible or not for this time is ignored. An ephemeris of the same issue is not replaced, because messages for
   * different signals (1045 and 1046) have different clocks, which would then alternate.
   * @returns whether the satellite's ephemeris now has this issue
   */
  take(ephemeris: Ephemeris, now_s: number): boolean {
    if (!isCurrent(ephemeris, now_s) || !isPlausible(ephemeris)) return false
    const id = idOf(ephemeris.constellation, ephemeris.satellite)
    const held = this.#held.get(id)
    if (held && isStillSent(held, now_s) && isOlder(ephemeris, held.ephemeris)) return false
    if (held && isSame(ephemeris, held.ephemeris)) held.received_s = now_s
    else this.#held.set(id, { ephemeris, received_s: now_s })
    return true
  }

  /** The satellite's ephemeris for this time; undefined if there is none, or if it is too old. */
  ephemeris(constellation: OrbitConstellation, satellite: number, at_s: number): Ephemeris | undefined {
    const ephemeris = this.#held.get(idOf(constellation, satellite))?.ephemeris
    return ephemeris && isCurrent(ephemeris, at_s) ? ephemeris : undefined
  }

  /** Position and clock at the time of transmission. */
  state(constellation: OrbitConstellation, satellite: number, at_s: number): SatelliteState | undefined {
    const ephemeris = this.ephemeris(constellation, satellite, at_s)
    return ephemeris && satelliteState(ephemeris, at_s)
  }

  /** The direction at the time of reception, as seen from an antenna (ECEF metres). */
  direction(
    constellation: OrbitConstellation,
    satellite: number,
    arp: Ecef,
    at_s: number,
  ): SatelliteDirection | undefined {
    const ephemeris = this.ephemeris(constellation, satellite, at_s)
    return ephemeris && satelliteDirection(arp, ephemeris, at_s)
  }

  /** Seconds since the satellite's ephemeris was last received; undefined if there is none for this time. */
  age_s(constellation: OrbitConstellation, satellite: number, at_s: number): number | undefined {
    const isKnown = this.ephemeris(constellation, satellite, at_s) !== undefined
    const held = this.#held.get(idOf(constellation, satellite))
    return isKnown && held ? at_s - held.received_s : undefined
  }

  /** The ephemerides for this time, one of each satellite. */
  fresh(at_s: number): Ephemeris[] {
    return [...this.#held.values()].map(({ ephemeris }) => ephemeris).filter((ephemeris) => isCurrent(ephemeris, at_s))
  }
}

/** The first data set after an upload of GPS has a toe 16 s before that of the last one. */
const backwards_s = 60

/** One that came once with a wrong time does not keep the right ones, which come again and again, out for its two hours. */
const sentAgain_s = 300

const isStillSent = ({ ephemeris, received_s }: Held, now_s: number) =>
  isCurrent(ephemeris, now_s) && Math.abs(now_s - received_s) < sentAgain_s

const isOlder = (ephemeris: Ephemeris, held: Ephemeris) => ephemeris.toe_s < held.toe_s - backwards_s

const isSame = (ephemeris: Ephemeris, held: Ephemeris) =>
  ephemeris.issue === held.issue && ephemeris.toe_s === held.toe_s && ephemeris.healthy === held.healthy

const idOf = (constellation: OrbitConstellation, satellite: number) => `${constellation} ${satellite}`
