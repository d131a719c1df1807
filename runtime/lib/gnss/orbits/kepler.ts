/** Orbits of GPS, Galileo, BeiDou and QZSS: IS-GPS-200, table 20-IV, with the constants of each system. */
import { secondsPerWeek } from '../gnss-time.js'
import type { KeplerConstellation, KeplerEphemeris } from './ephemeris.js'
import type { SatelliteState } from './satellite.js'

interface Earth {
  /** Gravitational constant times mass, m³/s². */
  readonly mu: number
  readonly rotation_radps: number
  /** System time minus GPS time when the week of the system begins. */
  readonly offset_s: number
}

/** IS-GPS-200, 20.3.3.4.3; Galileo OS SIS ICD 2.1, 5.1.1; BDS-SIS-ICD-B1I 3.0, 3.2 and 3.3; IS-QZSS-PNT. */
const wgs84: Earth = { mu: 3.986005e14, rotation_radps: 7.2921151467e-5, offset_s: 0 }
const earth: Readonly<Record<KeplerConstellation, Earth>> = {
  GPS: wgs84,
  QZSS: wgs84,
  Galileo: { ...wgs84, mu: 3.986004418e14 },
  BeiDou: { mu: 3.986004418e14, rotation_radps: 7.292115e-5, offset_s: 14 },
}
const light_mps = 299_792_458

/** BeiDou's geostationary satellites: they have a formula of their own, and send D2 (BDS-SIS-ICD-B1I 3.0, 5.1.1). */
export function isGeostationary(satellite: number): boolean {
  return satellite <= 5 || satellite >= 59
}

/** ECEF position at a time (`gpsSeconds`) and clock offset with relativity. No group delay: it is the signal's. */
export function keplerState(k: KeplerEphemeris, at_s: number): SatelliteState {
  const { mu, rotation_radps, offset_s } = earth[k.constellation]
  const t = at_s - k.toe_s
  const a = k.sqrtA ** 2
  const anomaly = eccentricAnomaly(k.m0_rad + (Math.sqrt(mu / a ** 3) + k.deltaN_radps) * t, k.e)
  const latitude = Math.atan2(Math.sqrt(1 - k.e ** 2) * Math.sin(anomaly), Math.cos(anomaly) - k.e) + k.omega_rad
  const sin2 = Math.sin(2 * latitude)
  const cos2 = Math.cos(2 * latitude)
  const u = latitude + k.cus_rad * sin2 + k.cuc_rad * cos2
  const r = a * (1 - k.e * Math.cos(anomaly)) + k.crs_m * sin2 + k.crc_m * cos2
  const i = k.i0_rad + k.idot_radps * t + k.cis_rad * sin2 + k.cic_rad * cos2

  const geostationary = k.constellation === 'BeiDou' && isGeostationary(k.satellite)
  const toeOfWeek_s = (k.toe_s - offset_s) % secondsPerWeek
  const turned = rotation_radps * (toeOfWeek_s + (geostationary ? 0 : t))
  const node = k.omega0_rad + k.omegaDot_radps * t - turned
  const x = r * Math.cos(u)
  const y = r * Math.sin(u) * Math.cos(i)
  const z = r * Math.sin(u) * Math.sin(i)
  const position = { x: x * Math.cos(node) - y * Math.sin(node), y: x * Math.sin(node) + y * Math.cos(node), z }

  const sinceToc_s = at_s - k.toc_s
  const relativity_s = (-2 * Math.sqrt(mu) * k.sqrtA * k.e * Math.sin(anomaly)) / light_mps ** 2
  return {
    position: geostationary ? fromInclinedFrame(position, rotation_radps * t) : position,
    clock_s: k.af0_s + k.af1_sps * sinceToc_s + k.af2_sps2 * sinceToc_s ** 2 + relativity_s,
  }
}

/** Kepler's equation by Newton's method; five rounds reach 1e-15 for every plausible eccentricity. */
function eccentricAnomaly(mean_rad: number, e: number): number {
  let anomaly = mean_rad
  for (let round = 0; round < 8; round++) {
    anomaly -= (anomaly - e * Math.sin(anomaly) - mean_rad) / (1 - e * Math.cos(anomaly))
  }
  return anomaly
}

const tilt_rad = (-5 * Math.PI) / 180

/** The elements of geostationary satellites are those of a frame tilted by 5° (BDS-SIS-ICD-B1I 3.0, 5.2.4.12). */
function fromInclinedFrame({ x, y, z }: SatelliteState['position'], turn_rad: number): SatelliteState['position'] {
  const tiltedY = y * Math.cos(tilt_rad) + z * Math.sin(tilt_rad)
  return {
    x: x * Math.cos(turn_rad) + tiltedY * Math.sin(turn_rad),
    y: -x * Math.sin(turn_rad) + tiltedY * Math.cos(turn_rad),
    z: -y * Math.sin(tilt_rad) + z * Math.cos(tilt_rad),
  }
}
