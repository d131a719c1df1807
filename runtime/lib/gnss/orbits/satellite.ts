/** Position of a satellite, and its direction as seen from an antenna. Times are `gpsSeconds`. */
import type { Ecef } from '../../../../schemas/services.js'
import { distance, enu } from '../geodesy.js'
import { type Ephemeris, isCurrent } from './ephemeris.js'
import { glonassState } from './glonass.js'
import { keplerState } from './kepler.js'

export interface SatelliteState {
  /** Antenna phase centre, ECEF metres, in the frame of the Earth at that time. */
  readonly position: Ecef
  /** The satellite's clock minus system time, with relativity and without group delays. */
  readonly clock_s: number
}

/** As seen from an antenna. */
export interface SatelliteDirection {
  /** Clockwise from north, 0 ≤ azimuth < 360. */
  readonly azimuth_deg: number
  readonly elevation_deg: number
  /** Length of the signal path, without the effect of the atmosphere. */
  readonly range_m: number
}

/** The state at the time of transmission; undefined if that is too far from the ephemeris. */
export function satelliteState(ephemeris: Ephemeris, at_s: number): SatelliteState | undefined {
  if (!isCurrent(ephemeris, at_s)) return undefined
  return ephemeris.constellation === 'GLONASS' ? glonassState(ephemeris, at_s) : keplerState(ephemeris, at_s)
}

const light_mps = 299_792_458
const rotation_radps = 7.2921151467e-5
const typicalTravel_s = 0.075
const degrees = 180 / Math.PI

/**
 * The direction of a signal that arrives at a time: the position of the satellite when the signal left, seen from the
 * Earth, which has rotated meanwhile (Sagnac effect; IS-GPS-200, 20.3.3.4.3.4). Three iterations give the travel time
 * to less than a picosecond.
 * @param arp ECEF metres
 * @returns undefined if the time is too far from the ephemeris, or if a coordinate is not finite
 */
export function satelliteDirection(arp: Ecef, ephemeris: Ephemeris, at_s: number): SatelliteDirection | undefined {
  let travel_s = typicalTravel_s
  let seen = arp
  for (let round = 0; round < 3; round++) {
    const state = satelliteState(ephemeris, at_s - travel_s)
    if (!state) return undefined
    seen = turned(state.position, rotation_radps * travel_s)
    travel_s = distance(arp, seen) / light_mps
  }
  return directionTo(arp, seen)
}

/** The values that an antenna at a known position should measure. */
export interface ExpectedRange extends SatelliteDirection {
  /**
   * `range_m` minus the clock offset of the satellite as a length, without the atmosphere and the receiver's clock.
   */
  readonly pseudorange_m: number
}

/**
 * The expected values for a signal whose pseudorange was measured. The time of transmission follows from the measured
 * pseudorange, whatever the error of the receiver's clock (1 ms of which is 0.8 m of the satellite's path).
 * @param arp ECEF metres
 * @param at_s time of the observation by the receiver's clock
 * @param measured_m pseudorange, metres
 * @returns undefined if the time is too far from the ephemeris, or if a number is not finite
 */
export function expectedRange(
  arp: Ecef,
  ephemeris: Ephemeris,
  at_s: number,
  measured_m: number,
): ExpectedRange | undefined {
  const sentByItsClock_s = at_s - measured_m / light_mps
  const clock_s = satelliteState(ephemeris, sentByItsClock_s)?.clock_s ?? Number.NaN
  const state = satelliteState(ephemeris, sentByItsClock_s - clock_s)
  if (!state) return undefined
  // Its place is known to metres before the Earth's turn is taken off: enough for the time that the turn takes.
  const travel_s = distance(arp, turned(state.position, rotation_radps * typicalTravel_s)) / light_mps
  const direction = directionTo(arp, turned(state.position, rotation_radps * travel_s))
  return direction && { ...direction, pseudorange_m: direction.range_m - light_mps * state.clock_s }
}

function directionTo(arp: Ecef, seen: Ecef): SatelliteDirection | undefined {
  const { east, north, up } = enu(arp, seen)
  const azimuth_deg = Math.atan2(east, north) * degrees
  const elevation_deg = Math.atan2(up, Math.hypot(east, north)) * degrees
  if (!Number.isFinite(elevation_deg)) return undefined
  return { azimuth_deg: (azimuth_deg + 360) % 360, elevation_deg, range_m: distance(arp, seen) }
}

/** A place in the frame of the Earth after it has turned. */
function turned({ x, y, z }: Ecef, angle_rad: number): Ecef {
  const sin = Math.sin(angle_rad)
  const cos = Math.cos(angle_rad)
  return { x: x * cos + y * sin, y: -x * sin + y * cos, z }
}
