/** The computed ranges of a station: satellites at the times of transmission, the troposphere, directions. */
import type { Ecef } from '../../schemas/services.js'
import { type Ephemeris, ecefToGeodetic, satelliteState } from '../gnss/index.js'
import type { BaselineConstellation, ObservedEpoch, ObservedSatellite } from './observed.js'

const light_mps = 299_792_458
const rotation_radps = 7.2921151467e-5
const radians = Math.PI / 180

export type EphemerisOf = (constellation: BaselineConstellation, satellite: number) => Ephemeris | undefined

/** A satellite when its signal left. */
export interface Sent {
  readonly observed: ObservedSatellite
  /** In the frame of the Earth at that moment. */
  readonly position: Ecef
  /** Clock of the satellite, as a length. */
  readonly clock_m: number
  /** Frequency channel of a GLONASS satellite; undefined: another constellation. */
  readonly channel: number | undefined
}

export interface SentEpoch {
  readonly at_s: number
  readonly satellites: readonly Sent[]
}

/** The time of transmission follows from the measured range, so the clock of the receiver does not matter. */
export function sentIn({ at_s, satellites }: ObservedEpoch, ephemerisOf: EphemerisOf): SentEpoch {
  const sent: Sent[] = []
  for (const observed of satellites) {
    const ephemeris = ephemerisOf(observed.constellation, observed.satellite)
    const byItsClock_s = at_s - (observed.signals[0]?.code_m ?? Number.NaN) / light_mps
    if (!ephemeris?.healthy) continue
    const clock_s = satelliteState(ephemeris, byItsClock_s)?.clock_s ?? Number.NaN
    const state = satelliteState(ephemeris, byItsClock_s - clock_s)
    const channel = ephemeris.constellation === 'GLONASS' ? (observed.channel ?? ephemeris.channel) : undefined
    if (state) sent.push({ observed, position: state.position, clock_m: light_mps * state.clock_s, channel })
  }
  return { at_s, satellites: sent }
}

export interface Computed {
  /** Geometry, satellite clock and a standard troposphere: without the ionosphere and the receiver's clock, metres. */
  readonly range_m: number
  readonly elevation_deg: number
  /** Unit vector towards the satellite, ECEF. */
  readonly sight: readonly [number, number, number]
  /** Slant delay of one metre of wet air in the zenith. */
  readonly mapping: number
}

/** What a station computes with, at one place. */
export class Place {
  readonly ecef: Ecef
  readonly #alt_m: number
  /** Unit vector, ECEF. */
  readonly #up: readonly [number, number, number]

  constructor(ecef: Ecef) {
    this.ecef = ecef
    const { lat, lon, alt } = ecefToGeodetic(ecef)
    this.#alt_m = alt
    const level = Math.cos(lat * radians)
    this.#up = [level * Math.cos(lon * radians), level * Math.sin(lon * radians), Math.sin(lat * radians)]
  }

  /** @returns undefined below the elevation mask */
  computed({ position, clock_m }: Sent, mask_deg: number): Computed | undefined {
    const { ecef } = this
    let seen = position
    // The Earth turns while the signal travels; the second round is right to a micrometre.
    for (let round = 0; round < 2; round++) {
      const angle = (rotation_radps * Math.hypot(seen.x - ecef.x, seen.y - ecef.y, seen.z - ecef.z)) / light_mps
      const [sin, cos] = [Math.sin(angle), Math.cos(angle)]
      seen = { x: position.x * cos + position.y * sin, y: position.y * cos - position.x * sin, z: position.z }
    }
    const [dx, dy, dz] = [seen.x - ecef.x, seen.y - ecef.y, seen.z - ecef.z]
    const length = Math.hypot(dx, dy, dz)
    const [x, y, z] = this.#up
    const elevation_deg = Math.asin((dx * x + dy * y + dz * z) / length) / radians
    if (!(elevation_deg >= mask_deg)) return undefined
    return {
      range_m: length - clock_m + troposphere_m(elevation_deg, this.#alt_m),
      elevation_deg,
      sight: [dx / length, dy / length, dz / length],
      mapping: wetMapping(elevation_deg),
    }
  }
}

/** Sea level of the standard atmosphere: hPa, kelvin, and the relative humidity that is assumed. */
const sea = { pressure_hPa: 1013.25, temperature_K: 288.15, humidity: 0.6 }

/**
 * Slant delay of a standard atmosphere: the zenith delays of Saastamoinen (1972), each with its mapping function.
 * @param alt_m height above the ellipsoid
 */
export function troposphere_m(elevation_deg: number, alt_m: number): number {
  const height_m = Math.min(Math.max(alt_m, -500), 9_000)
  const pressure_hPa = sea.pressure_hPa * (1 - 2.2557e-5 * height_m) ** 5.2568
  const temperature_K = sea.temperature_K - 6.5e-3 * height_m
  const vapour_hPa = 6.108 * sea.humidity * Math.exp((17.15 * temperature_K - 4684) / (temperature_K - 38.45))
  const dry_m = 0.0022768 * pressure_hPa
  const wet_m = 0.002277 * (1255 / temperature_K + 0.05) * vapour_hPa
  return dry_m * dryMapping(elevation_deg) + wet_m * wetMapping(elevation_deg)
}

/** Of Niell (1996, J. Geophys. Res. 101(B2)), tables 3 and 4: the yearly mean at 45° of latitude. */
const niell = {
  dry: [1.2465397e-3, 2.9288445e-3, 63.721774e-3],
  wet: [5.8118019e-4, 1.4572752e-3, 4.3908931e-2],
} as const

function mapped(elevation_deg: number, [a, b, c]: readonly [number, number, number]): number {
  const sine = Math.sin(elevation_deg * radians)
  return (1 + a / (1 + b / (1 + c))) / (sine + a / (sine + b / (sine + c)))
}
const dryMapping = (elevation_deg: number) => mapped(elevation_deg, niell.dry)
const wetMapping = (elevation_deg: number) => mapped(elevation_deg, niell.wet)
