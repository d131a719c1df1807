/** The computed ranges of a station: satellites at the times of transmission, the troposphere, directions. */
import type { Ecef } from '../../../schemas/services.js'
import {
  type Ephemeris,
  ecefToGeodetic,
  type ObservedConstellation,
  type ObservedEpoch,
  type ObservedSatellite,
  satelliteState,
  troposphereAt,
  wetMapping,
} from '../gnss/index.js'

export const light_mps = 299_792_458
const rotation_radps = 7.2921151467e-5
const radians = Math.PI / 180

export type EphemerisOf = (constellation: ObservedConstellation, satellite: number) => Ephemeris | undefined

/** A satellite when its signal left. */
export interface Sent {
  readonly observed: ObservedSatellite
  /** In the frame of the Earth at that moment. */
  readonly position: Ecef
  /** Clock of the satellite, as a length. */
  readonly clock_m: number
  /** Frequency channel of a GLONASS satellite; undefined: another constellation. */
  readonly channel: number | undefined
  /** By band: how much later than its clock says a signal left; 0 for other bands. */
  readonly groupDelays_s: Readonly<Partial<Record<string, number>>>
}

export interface SentEpoch {
  readonly at_s: number
  readonly satellites: readonly Sent[]
}

const noDelays = {}

/** The time of transmission follows from the measured range, so the clock of the receiver does not matter. */
export function sentIn({ at_s, satellites }: ObservedEpoch, ephemerisOf: EphemerisOf): SentEpoch {
  const sent: Sent[] = []
  for (const observed of satellites) {
    const ephemeris = ephemerisOf(observed.constellation, observed.satellite)
    const byItsClock_s = at_s - (observed.signals[0]?.code_m ?? Number.NaN) / light_mps
    if (!ephemeris?.healthy) continue
    const clock_s = satelliteState(ephemeris, byItsClock_s)?.clock_s ?? Number.NaN
    const state = satelliteState(ephemeris, byItsClock_s - clock_s)
    if (!state) continue
    const channel = ephemeris.constellation === 'GLONASS' ? (observed.channel ?? ephemeris.channel) : undefined
    const groupDelays_s = (ephemeris.constellation === 'BeiDou' && ephemeris.groupDelays_s) || noDelays
    sent.push({ observed, position: state.position, clock_m: light_mps * state.clock_s, channel, groupDelays_s })
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

/** Place of a station, with everything that is computed from it. */
export class Place {
  readonly ecef: Ecef
  readonly #troposphere_m: (elevation_deg: number) => number
  /** Unit vector, ECEF. */
  readonly #up: readonly [number, number, number]

  constructor(ecef: Ecef) {
    this.ecef = ecef
    const { lat, lon, alt } = ecefToGeodetic(ecef)
    this.#troposphere_m = troposphereAt(alt)
    const level = Math.cos(lat * radians)
    this.#up = [level * Math.cos(lon * radians), level * Math.sin(lon * radians), Math.sin(lat * radians)]
  }

  /** @returns undefined below the elevation mask */
  computed({ position, clock_m }: Sent, mask_deg: number): Computed | undefined {
    const { ecef } = this
    let { x: seenX, y: seenY } = position
    const dz = position.z - ecef.z
    // The Earth turns while the signal travels; the second round is right to a micrometre.
    for (let round = 0; round < 2; round++) {
      const angle = (rotation_radps * lengthOf(seenX - ecef.x, seenY - ecef.y, dz)) / light_mps
      const sin = Math.sin(angle)
      const cos = Math.cos(angle)
      seenX = position.x * cos + position.y * sin
      seenY = position.y * cos - position.x * sin
    }
    const dx = seenX - ecef.x
    const dy = seenY - ecef.y
    const length = Math.hypot(dx, dy, dz)
    const [x, y, z] = this.#up
    const elevation_deg = Math.asin((dx * x + dy * y + dz * z) / length) / radians
    if (!(elevation_deg >= mask_deg)) return undefined
    return {
      range_m: length - clock_m + this.#troposphere_m(elevation_deg),
      elevation_deg,
      sight: [dx / length, dy / length, dz / length],
      mapping: wetMapping(elevation_deg),
    }
  }
}

/** Right to some nanometres only, which is enough for the time of travel, and many times as fast as `Math.hypot`. */
const lengthOf = (x: number, y: number, z: number) => Math.sqrt(x * x + y * y + z * z)
