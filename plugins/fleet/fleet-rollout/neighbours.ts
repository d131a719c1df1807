import type { FleetStation } from 'rtk-base/services'
import { isNear } from './steps.js'

/** Shortest length of a degree of latitude, kilometres, on the sphere of `isNear` and somewhat less. */
const degree_km = 111

/** Those of unknown place come first, and are neighbours of each other alone. */
const latitudeOf = ({ place }: FleetStation) => place?.lat ?? Number.NEGATIVE_INFINITY

/**
 * Pairs of stations that are never changed at the same time, from south to north. Of ten thousand stations there are fifty million pairs:
 * each is compared only with those that are not too far to the north.
 */
export function neighboursOf(stations: readonly FleetStation[], apart_km: number, most: number): string[][] {
  const pairs: string[][] = []
  const sorted = [...stations].sort((one, other) => latitudeOf(one) - latitudeOf(other))
  for (const [at, one] of sorted.entries()) {
    for (let next = at + 1; next < sorted.length; next++) {
      const other = sorted[next] as FleetStation
      if (latitudeOf(other) - latitudeOf(one) > apart_km / degree_km) break
      if (isNear(one, other, apart_km)) pairs.push([one.serial, other.serial])
      if (pairs.length >= most) return pairs
    }
  }
  return pairs
}

/** Of one station, among all. Most are ruled out by their latitude: this is asked for each station that is about to be changed. */
export function neighboursAt(station: FleetStation, all: Iterable<FleetStation>, apart_km: number): FleetStation[] {
  const found: FleetStation[] = []
  for (const other of all) {
    if (other.serial === station.serial) continue
    if (Math.abs(latitudeOf(other) - latitudeOf(station)) > apart_km / degree_km) continue
    if (isNear(station, other, apart_km)) found.push(other)
  }
  return found
}
