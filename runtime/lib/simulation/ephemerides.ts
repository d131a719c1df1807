/** The broadcast ephemerides of the simulated satellites: RTCM 1019 (GPS), 1042 (BeiDou) and 1046 (Galileo). GLONASS ephemerides are not simulated. */
import { encodeEphemeris } from 'rtk-base/gnss'
import { satelliteClock } from './delays.js'
import { type ConstellationModel, earthRotation_radps, type Orbit, orbitOf, origin_gps_s, type Sight } from './sky.js'

interface System {
  readonly message: 1019 | 1042 | 1046
  /** Week 0 of the system, GPS seconds. */
  readonly start_s: number
  readonly weeks: number
  /** Constants of its formulas, which are not those of the sky. */
  readonly mu: number
  readonly rotation_radps: number
  readonly upload_s: number
  /** Whether the reference time is the end of the time for which it is sent (IS-GPS-200, 20.3.4.4), or its begin. */
  readonly isAhead: boolean
}
const week_s = 604_800
const gps = { message: 1019, start_s: 0, weeks: 1024, mu: 3.986005e14, rotation_radps: 7.2921151467e-5 } as const
const systems: Readonly<Record<string, System>> = {
  GPS: { ...gps, upload_s: 7200, isAhead: true },
  Galileo: {
    ...gps,
    message: 1046,
    start_s: 1024 * week_s,
    weeks: 4096,
    mu: 3.986004418e14,
    upload_s: 3600,
    isAhead: false,
  },
  BeiDou: {
    ...{ message: 1042, start_s: 1356 * week_s + 14, weeks: 8192, mu: 3.986004418e14 },
    ...{ rotation_radps: 7.292115e-5, upload_s: 3600, isAhead: false },
  },
}

const turn = 2 * Math.PI
/** Into ±π. */
const wrapped = (angle_rad: number) => angle_rad - turn * Math.round(angle_rad / turn)

/** The message with the ephemerides of a satellite, or undefined if there is none. */
export const ephemerisType = ({ constellation }: Sight): number | undefined => systems[constellation.name]?.message

/** The newest frame of each satellite and its reference time: a satellite sends the same for hours. */
const newest = new WeakMap<ConstellationModel, Map<number, { readonly toe_s: number; readonly frame: Uint8Array }>>()

/** @param gps_s GPS seconds @returns the same bytes until the next upload; undefined for a satellite without ephemerides */
export function ephemerisFrame({ constellation, svId, key }: Sight, gps_s: number): Uint8Array | undefined {
  const system = systems[constellation.name]
  if (!system) return undefined
  const { start_s, upload_s, isAhead } = system
  const toe_s = (Math.floor((gps_s - start_s) / upload_s) + (isAhead ? 1 : 0)) * upload_s
  const known = newest.get(constellation) ?? new Map()
  newest.set(constellation, known)
  const last = known.get(svId)
  if (last?.toe_s === toe_s) return last.frame
  const frame = frameOf(orbitOf(constellation, svId), system, key, toe_s)
  known.set(svId, { toe_s, frame })
  return frame
}

/** @param ofSystem_s its reference time, in seconds of its system */
function frameOf(orbit: Orbit, system: System, key: number, ofSystem_s: number): Uint8Array {
  const { constellation, svId, node, phase, motion } = orbit
  const { message, start_s, weeks, mu, rotation_radps, upload_s } = system
  const { radius_m, inclination_deg } = constellation
  const week = Math.floor(ofSystem_s / week_s)
  const toeOfWeek_s = ofSystem_s - week * week_s
  const since_s = start_s + ofSystem_s - origin_gps_s
  const issue = (ofSystem_s / upload_s) % (message === 1042 ? 32 : 256)
  const { offset_s, drift } = satelliteClock(key)
  return encodeEphemeris(message, {
    ...{ satellite: svId, week: week % weeks, issue, toeOfWeek_s, tocOfWeek_s: toeOfWeek_s },
    ...(message === 1046 ? { accuracy: 107 } : { accuracy: 2, clockIssue: issue }),
    af0_s: offset_s + drift * since_s,
    af1_sps: drift,
    sqrtA: Math.sqrt(radius_m),
    deltaN_radps: motion - Math.sqrt(mu / radius_m ** 3),
    m0_rad: wrapped(phase + motion * since_s),
    i0_rad: (inclination_deg * Math.PI) / 180,
    // Their node is fixed in space; the formula of the system turns it with its own rotation of the Earth.
    omega0_rad: wrapped(node - earthRotation_radps * since_s + rotation_radps * toeOfWeek_s),
    omegaDot_radps: rotation_radps - earthRotation_radps,
  })
}
