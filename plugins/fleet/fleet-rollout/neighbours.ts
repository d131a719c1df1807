import type { FleetStation } from 'rtk-base/services'
import { isNear } from './steps.js'

/** Shortest length of a degree of latitude, kilometres, on the sphere of `isNear` and somewhat less. */
const degree_km = 111

/** Stations of unknown place come first, and are neighbours of each other alone. */
const latitudeOf = ({ place }: FleetStation) => place?.lat ?? Number.NEGATIVE_INFINITY

/** Which stations are near which. They are sorted by latitude once: of ten thousand stations there are fifty million pairs. */
export class Neighbourhood {
  readonly #sorted: readonly FleetStation[]

  constructor(stations: Iterable<FleetStation>) {
    this.#sorted = [...stations].sort((one, other) => latitudeOf(one) - latitudeOf(other))
  }

  /** The other stations near this one, from south to north. */
  *of(station: FleetStation, apart_km: number): Generator<FleetStation> {
    const [south, north] = [latitudeOf(station) - apart_km / degree_km, latitudeOf(station) + apart_km / degree_km]
    for (let at = this.#firstAt(south); at < this.#sorted.length; at++) {
      const other = this.#sorted[at] as FleetStation
      if (latitudeOf(other) > north) return
      if (other.serial !== station.serial && isNear(station, other, apart_km)) yield other
    }
  }

  /** Pairs of stations that are near each other, at most `most`, from south to north. */
  pairs(apart_km: number, most: number): string[][] {
    const pairs: string[][] = []
    const before = new Set<string>()
    for (const one of this.#sorted) {
      before.add(one.serial)
      for (const other of this.of(one, apart_km)) {
        if (before.has(other.serial)) continue
        pairs.push([one.serial, other.serial])
        if (pairs.length >= most) return pairs
      }
    }
    return pairs
  }

  /** Index of the first station that is not south of this latitude. */
  #firstAt(lat: number): number {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (latitudeOf(this.#sorted[middle] as FleetStation) < lat) low = middle + 1
      else high = middle
    }
    return low
  }
}
