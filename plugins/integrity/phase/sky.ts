import type { Constellation } from 'rtk-base/gnss'

/** Where a satellite stands as seen from the antenna. */
export interface Direction {
  /** Clockwise from north. */
  readonly azimuth_deg: number
  readonly elevation_deg: number
}

/** The directions of satellites, numbered as in MSM; undefined for one that is not known. */
export type Sky = (constellation: Constellation, satellite: number) => Direction | undefined

/** By u-blox gnssId. 4 is IMES, which sends no ranges. */
const constellations: readonly (Constellation | undefined)[] = [
  'GPS',
  'SBAS',
  'Galileo',
  'BeiDou',
  undefined,
  'QZSS',
  'GLONASS',
  'NavIC',
]
/** The first PRN of constellations whose satellites MSM counts from 1 (RTCM 10403.3, DF394). */
const firstPrn: Partial<Record<Constellation, number>> = { SBAS: 120, QZSS: 193 }

/**
 * The MSM's numbers of a u-blox satellite: SBAS PRN 120 is satellite 1, QZSS is J1 in new firmware and PRN 193 in old.
 * @returns undefined for identifiers that MSM cannot carry, e.g. a GLONASS satellite of unknown slot (255)
 */
export function msmSatellite(
  gnssId: number,
  svId: number,
): { constellation: Constellation; satellite: number } | undefined {
  const constellation = constellations[gnssId]
  if (!constellation) return undefined
  const first = firstPrn[constellation]
  const satellite = first !== undefined && svId >= first ? svId - first + 1 : svId
  return Number.isInteger(satellite) && satellite >= 1 && satellite <= 64 ? { constellation, satellite } : undefined
}

/** A satellite of NAV-SAT. */
export interface UbloxDirection extends Direction {
  readonly gnssId: number
  readonly svId: number
}

/** A sky of what NAV-SAT lists. Satellites without a direction (elevation −91) are left out. */
export function skyOf(satellites: Iterable<UbloxDirection>): Sky {
  const directions = new Map<Constellation, (Direction | undefined)[]>()
  for (const satellite of satellites) {
    const id = msmSatellite(satellite.gnssId, satellite.svId)
    if (!id || !(Math.abs(satellite.elevation_deg) <= 90) || !Number.isFinite(satellite.azimuth_deg)) continue
    const known = directions.get(id.constellation) ?? []
    directions.set(id.constellation, known)
    known[id.satellite] = satellite
  }
  return (constellation, satellite) => directions.get(constellation)?.[satellite]
}
