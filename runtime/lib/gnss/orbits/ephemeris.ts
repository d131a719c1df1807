/** Broadcast ephemerides: the orbit and the clock that a satellite announces for the next hours. */
import type { Ecef } from '../../../../schemas/services.js'

/** The fields that the ephemerides of all constellations have. */
export interface CommonEphemeris {
  /** Numbered as in MSM: GPS PRN, GLONASS slot, Galileo and BeiDou number, QZSS J-number. */
  readonly satellite: number
  /** Number of this data set: IODE (GPS, QZSS), IODnav (Galileo), AODE (BeiDou), t_b (GLONASS). */
  readonly issue: number
  /** False if the satellite, or its operator, says that it must not be used. */
  readonly healthy: boolean
  /** Reference time of the orbit, `gpsSeconds`. */
  readonly toe_s: number
}

/** Constellations that announce Keplerian elements. */
export type KeplerConstellation = 'GPS' | 'Galileo' | 'BeiDou' | 'QZSS'

/**
 * Keplerian elements with their rates and harmonic corrections (IS-GPS-200, table 20-II, and the corresponding tables
 * of the other ICDs).
 */
export interface KeplerEphemeris extends CommonEphemeris {
  readonly constellation: KeplerConstellation
  /** Square root of the semi-major axis, √m. */
  readonly sqrtA: number
  /** Eccentricity. */
  readonly e: number
  /** Mean anomaly at `toe_s`, and the correction of its rate. */
  readonly m0_rad: number
  readonly deltaN_radps: number
  /** Longitude of the ascending node at the start of the week, and its rate. */
  readonly omega0_rad: number
  readonly omegaDot_radps: number
  /** Argument of perigee. */
  readonly omega_rad: number
  /** Inclination at `toe_s`, and its rate. */
  readonly i0_rad: number
  readonly idot_radps: number
  /** Amplitudes of cosine and sine: argument of latitude, radius, inclination. */
  readonly cuc_rad: number
  readonly cus_rad: number
  readonly crc_m: number
  readonly crs_m: number
  readonly cic_rad: number
  readonly cis_rad: number
  /** The satellite's clock minus system time: `af0_s + af1 t + af2 t²` with t from `toc_s` (`gpsSeconds`). */
  readonly toc_s: number
  readonly af0_s: number
  readonly af1_sps: number
  readonly af2_sps2: number
  /**
   * BeiDou only: by how much later than B3I, which its clock refers to, these signals leave the satellite (T_GD1 and
   * T_GD2). The clock of a signal is behind by it (BDS-SIS-ICD-B1I 3.0, 5.2.4.8 and 5.2.4.10).
   */
  readonly groupDelays_s?: { readonly B1I: number; readonly B2I: number }
}

/** Position, velocity, and acceleration by Sun and Moon at `toe_s`, in PZ-90.11 (GLONASS ICD 5.1, table 4.5). */
export interface GlonassEphemeris extends CommonEphemeris {
  readonly constellation: 'GLONASS'
  /** Frequency channel, −7…+13. */
  readonly channel: number
  readonly position_m: Ecef
  readonly velocity_mps: Ecef
  readonly acceleration_mps2: Ecef
  /** Correction of the satellite's clock at `toe_s` (system time minus clock), and its relative frequency offset. */
  readonly tau_s: number
  readonly gamma: number
}

export type Ephemeris = KeplerEphemeris | GlonassEphemeris
export type OrbitConstellation = Ephemeris['constellation']

/**
 * How far from `toe_s` an ephemeris is used, never longer than its system intends.
 * - GPS: the shortest fit interval is 4 h around toe (IS-GPS-200, 20.3.3.4.3.1); longer ones are not made use of.
 * - QZSS: renewed each hour (IS-QZSS-PNT); captures have toe from 1 h ahead to 2 h behind.
 * - Galileo: data are renewed after minutes and used for 4 h at most (OS Service Definition Document).
 * - BeiDou: toe is the hour of the upload (BDS-SIS-ICD-B1I 3.0, 5.2.4.12); one missed upload is tolerated.
 * - GLONASS: t_b is the middle of 30 min (ICD 5.1, 4.4); the errors of its simplified forces double in another 15 min.
 */
const validity_s: Readonly<Record<OrbitConstellation, number>> = {
  GPS: 7_200,
  QZSS: 7_200,
  Galileo: 14_400,
  BeiDou: 7_200,
  GLONASS: 1_800,
}

/** Whether the ephemeris is made for this time (`gpsSeconds`). */
export function isCurrent({ constellation, toe_s }: Ephemeris, at_s: number): boolean {
  return Math.abs(at_s - toe_s) <= validity_s[constellation]
}

const lastSatellite: Readonly<Record<OrbitConstellation, number>> = {
  GPS: 32,
  QZSS: 10,
  Galileo: 36,
  BeiDou: 63,
  GLONASS: 32,
}

/** Whether a constellation has a satellite of this number, so that what is kept by satellite is bounded. */
export function isSatellite(constellation: OrbitConstellation, satellite: number): boolean {
  return Number.isInteger(satellite) && satellite >= 1 && satellite <= lastSatellite[constellation]
}

/**
 * Whether the numbers can be those of a navigation satellite: medium or geosynchronous orbit, eccentricity below 0.3
 * (Galileo's E14 has 0.16), for GLONASS its radius and speed. Everything computed from plausible numbers is finite.
 */
export function isPlausible(ephemeris: Ephemeris): boolean {
  if (!isSatellite(ephemeris.constellation, ephemeris.satellite) || !isFinitePart(ephemeris)) return false
  if (ephemeris.constellation === 'GLONASS') {
    return isBetween(length(ephemeris.position_m), 2.4e7, 2.7e7) && isBetween(length(ephemeris.velocity_mps), 2e3, 6e3)
  }
  return isBetween(ephemeris.sqrtA ** 2, 2.4e7, 4.5e7) && isBetween(ephemeris.e, 0, 0.3)
}

const isBetween = (value: number, from: number, to: number) => value >= from && value <= to
const length = ({ x, y, z }: Ecef) => Math.hypot(x, y, z)

function isFinitePart(part: object): boolean {
  return Object.values(part).every((value) =>
    typeof value === 'object' && value ? isFinitePart(value) : typeof value !== 'number' || Number.isFinite(value),
  )
}
