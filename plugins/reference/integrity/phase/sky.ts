import type { Constellation } from 'rtk-base/gnss'
import type { ConstellationName, Satellite } from 'rtk-base/services'

/** Where a satellite stands as seen from the antenna. */
export interface Direction {
  /** Clockwise from north. */
  readonly azimuth_deg: number
  readonly elevation_deg: number
  /** By the orbit of the satellite; otherwise within half a degree, as receivers give it. */
  readonly isExact?: boolean
}

/** The directions of satellites, numbered as in MSM; undefined if unknown. */
export type Sky = (constellation: Constellation, satellite: number) => Direction | undefined

const constellations: Readonly<Record<ConstellationName, Constellation>> = {
  gps: 'GPS',
  sbas: 'SBAS',
  galileo: 'Galileo',
  beidou: 'BeiDou',
  qzss: 'QZSS',
  glonass: 'GLONASS',
  navic: 'NavIC',
}
/** First PRN of the constellations that MSM numbers from 1 (RTCM 10403.3, DF394). */
const firstPrn: Partial<Record<Constellation, number>> = { SBAS: 120, QZSS: 193 }

/**
 * The MSM's numbers of a satellite as the service `receiver` names it: SBAS PRN 120 is satellite 1, QZSS is J1 or PRN 193.
 * @returns undefined if MSM cannot carry it, e.g. a GLONASS satellite of unknown slot (255)
 */
export function msmSatellite(
  name: string,
  number: number,
): { constellation: Constellation; satellite: number } | undefined {
  const constellation = Object.hasOwn(constellations, name) ? constellations[name as ConstellationName] : undefined
  if (!constellation) return undefined
  const first = firstPrn[constellation]
  const satellite = first !== undefined && number >= first ? number - first + 1 : number
  return Number.isInteger(satellite) && satellite >= 1 && satellite <= 64 ? { constellation, satellite } : undefined
}

/** A satellite as the service `receiver` lists it. Without a direction it is in no sky. */
export interface KnownSatellite extends Pick<Satellite, 'satellite' | 'azimuth_deg' | 'elevation_deg'> {
  /** A `ConstellationName`. */
  readonly constellation: string
}

/** Where these satellites stand. */
export function skyOf(satellites: Iterable<KnownSatellite>): Sky {
  const directions = new Map<Constellation, (Direction | undefined)[]>()
  for (const { constellation, satellite, azimuth_deg = Number.NaN, elevation_deg = Number.NaN } of satellites) {
    const id = msmSatellite(constellation, satellite)
    if (!id || !(Math.abs(elevation_deg) <= 90) || !Number.isFinite(azimuth_deg)) continue
    const known = directions.get(id.constellation) ?? []
    directions.set(id.constellation, known)
    known[id.satellite] = { azimuth_deg, elevation_deg }
  }
  return (constellation, satellite) => directions.get(constellation)?.[satellite]
}
