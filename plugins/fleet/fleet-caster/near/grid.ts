import { earthRadius_m, greatCircle_m } from 'rtk-base/gnss'
import type { LatLon } from 'rtk-base/services'

const radians = Math.PI / 180
const degree_m = earthRadius_m * radians
const rowsPerDegree = 1
const columns = 360 * rowsPerDegree

const rowOf = (lat: number) => Math.floor((lat + 90) * rowsPerDegree)
const columnOf = (lon: number) => ((Math.floor((lon + 180) * rowsPerDegree) % columns) + columns) % columns

/** Places by name in cells of a degree, so that a search looks at the neighbourhood alone. */
export class Grid {
  readonly #cells = new Map<number, Map<string, LatLon>>()
  readonly #places = new Map<string, LatLon>()

  get size(): number {
    return this.#places.size
  }

  place(name: string): LatLon | undefined {
    return this.#places.get(name)
  }

  /** @param place undefined: it is taken out */
  set(name: string, place: LatLon | undefined): void {
    const before = this.#places.get(name)
    if (before && place && before.lat === place.lat && before.lon === place.lon) return
    if (before) {
      const key = keyOf(before)
      this.#cells.get(key)?.delete(name)
      if (this.#cells.get(key)?.size === 0) this.#cells.delete(key)
    }
    if (!place) {
      this.#places.delete(name)
      return
    }
    this.#places.set(name, place)
    const key = keyOf(place)
    const cell = this.#cells.get(key) ?? new Map<string, LatLon>()
    this.#cells.set(key, cell)
    cell.set(name, place)
  }

  /** The nearest one within `most_m` that is accepted; `accepts` is asked for those alone that are nearer than the best so far. */
  nearest(
    from: LatLon,
    most_m: number,
    accepts: (name: string) => boolean,
  ): { name: string; distance_m: number } | undefined {
    let best: { name: string; distance_m: number } | undefined
    for (const cell of this.#around(from, most_m)) {
      for (const [name, place] of cell) {
        const distance_m = greatCircle_m(from, place)
        if (distance_m > (best?.distance_m ?? most_m) || !accepts(name)) continue
        best = { name, distance_m }
      }
    }
    return best
  }

  *#around({ lat, lon }: LatLon, most_m: number): Generator<Map<string, LatLon>> {
    const dLat = most_m / degree_m
    const [south, north] = [Math.max(-90, lat - dLat), Math.min(90, lat + dLat)]
    // A circle reaches farthest to the east nearer to the pole than its centre; around the pole it has every longitude.
    const cos = Math.cos(Math.max(Math.abs(south), Math.abs(north)) * radians)
    const dLon = cos <= 0.01 ? 180 : Math.min(180, dLat / cos)
    const first = Math.floor((lon - dLon + 180) * rowsPerDegree)
    const last = Math.min(first + columns - 1, Math.floor((lon + dLon + 180) * rowsPerDegree))
    for (let row = rowOf(south); row <= rowOf(north); row++) {
      for (let column = first; column <= last; column++) {
        const cell = this.#cells.get(row * columns + (((column % columns) + columns) % columns))
        if (cell) yield cell
      }
    }
  }
}

const keyOf = ({ lat, lon }: LatLon) => rowOf(lat) * columns + columnOf(lon)
