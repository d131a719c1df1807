/** Stations on a map, those that are close to each other as one mark. Web Mercator (EPSG:3857). Pure. */

import Supercluster from 'supercluster'
import type { Size } from '../../../../../runtime/lib/page/ui/model/axis.js'
import type { StationRow, VerdictName } from '../fleet/api.js'
import { verdictNow } from './filter.js'

/** Pixels of the world at zoom 0. */
const tile_px = 256
/** Marks nearer to each other than this are one. */
const apart_px = 56
export const deepest = 17
export const farthest_deg = 85

export interface View {
  /** The centre, degrees. */
  readonly lat: number
  readonly lon: number
  /** As of tiles, an integer. */
  readonly zoom: number
}
export interface Mark {
  readonly key: string
  /** Pixels from the upper left corner. */
  readonly x: number
  readonly y: number
  readonly lat: number
  readonly lon: number
  /** That of most of them. */
  readonly verdict: VerdictName
  readonly counts: Readonly<Record<VerdictName, number>>
  readonly count: number
  /** The station of a single one. */
  readonly station: StationRow | undefined
  /** The number of a cluster, for `zoomInto` and `within`. */
  readonly id: number
}

type Counts = Record<VerdictName, number>
export interface Clusters {
  readonly placed: number
  readonly index: Supercluster<{ station: StationRow }, Counts>
  readonly bounds: Bounds | undefined
}
interface Bounds {
  readonly west: number
  readonly east: number
  readonly south: number
  readonly north: number
}

export const hasPlace = ({ lat, lon }: Pick<StationRow, 'lat' | 'lon'>): boolean =>
  (lat !== 0 || lon !== 0) && Math.abs(lat) <= farthest_deg && Math.abs(lon) <= 180

export function clustersOf(rows: readonly StationRow[]): Clusters {
  const index = new Supercluster<{ station: StationRow }, Counts>({
    radius: apart_px,
    extent: tile_px,
    maxZoom: deepest,
    map: ({ station }) => ({ unfit: 0, degraded: 0, unknown: 0, fit: 0, [verdictNow(station)]: 1 }),
    reduce: (sum, one) => {
      sum.unfit += one.unfit
      sum.degraded += one.degraded
      sum.unknown += one.unknown
      sum.fit += one.fit
    },
  })
  const placed = rows.filter(hasPlace)
  index.load(
    placed.map((station) => ({
      type: 'Feature',
      properties: { station },
      geometry: { type: 'Point', coordinates: [station.lon, station.lat] },
    })),
  )
  return { index, placed: placed.length, bounds: boundsOf(placed) }
}

function boundsOf(rows: readonly StationRow[]): Bounds | undefined {
  if (rows.length === 0) return undefined
  const bounds = { west: 180, east: -180, south: 90, north: -90 }
  for (const { lat, lon } of rows) {
    bounds.west = Math.min(bounds.west, lon)
    bounds.east = Math.max(bounds.east, lon)
    bounds.south = Math.min(bounds.south, lat)
    bounds.north = Math.max(bounds.north, lat)
  }
  return bounds
}

/** The place in the world, 0 to 1 from the west and from the north. */
export const xOf = (lon: number): number => (lon + 180) / 360
export const yOf = (lat: number): number => (1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2
const lonAt = (x: number): number => x * 360 - 180
const latAt = (y: number): number => (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI

export const worldOf = ({ zoom }: View): number => tile_px * 2 ** zoom

/** The view moved by pixels to the east and south. */
export function moved(view: View, east_px: number, south_px: number): View {
  const world = worldOf(view)
  const x = Math.min(1, Math.max(0, xOf(view.lon) + east_px / world))
  const y = Math.min(yOf(-farthest_deg), Math.max(yOf(farthest_deg), yOf(view.lat) + south_px / world))
  return { ...view, lat: latAt(y), lon: lonAt(x) }
}

export const zoomed = (view: View, steps: number): View => ({
  ...view,
  zoom: Math.min(deepest, Math.max(0, view.zoom + steps)),
})

/** All stations, with a margin. */
export function fittingView({ bounds }: Pick<Clusters, 'bounds'>, { width, height }: Size): View {
  if (!bounds) return { lat: 30, lon: 0, zoom: 1 }
  const [west, east] = [xOf(bounds.west), xOf(bounds.east)]
  const [north, south] = [yOf(bounds.north), yOf(bounds.south)]
  const margin_px = apart_px
  const room = (px: number, part: number) => Math.log2(Math.max(1, px - margin_px) / tile_px / Math.max(part, 1e-9))
  const zoom = Math.floor(Math.min(room(width, east - west), room(height, south - north), 12))
  return { lat: latAt((north + south) / 2), lon: lonAt((west + east) / 2), zoom: Math.max(0, zoom) }
}

/** Marks of the view, with a margin of half a mark. */
export function marksOf({ index }: Clusters, view: View, { width, height }: Size): Mark[] {
  const world = worldOf(view)
  const [x0, y0] = [xOf(view.lon) * world - width / 2, yOf(view.lat) * world - height / 2]
  const corner = (x: number, y: number) => [lonAt((x0 + x) / world), latAt((y0 + y) / world)] as const
  const [west, north] = corner(0, 0)
  const [east, south] = corner(width, height)
  const box: [number, number, number, number] = [
    Math.max(-180, west),
    Math.max(-farthest_deg, south),
    Math.min(180, east),
    Math.min(farthest_deg, north),
  ]
  return index.getClusters(box, view.zoom).map(({ geometry, properties }) => {
    const [lon = 0, lat = 0] = geometry.coordinates
    const place = { lat, lon, x: xOf(lon) * world - x0, y: yOf(lat) * world - y0 }
    if ('cluster' in properties) {
      const { cluster_id, point_count, unfit, degraded, unknown, fit } = properties
      const counts = { unfit, degraded, unknown, fit }
      return {
        ...place,
        key: `c${cluster_id}`,
        counts,
        verdict: commonestOf(counts),
        count: point_count,
        station: undefined,
        id: cluster_id,
      }
    }
    const { station } = properties
    const counts = { unfit: 0, degraded: 0, unknown: 0, fit: 0, [verdictNow(station)]: 1 }
    return { ...place, key: station.serial, counts, verdict: verdictNow(station), count: 1, station, id: -1 }
  })
}

/** The kind of most stations; of as many of two kinds the worse one. */
const commonestOf = (counts: Counts): VerdictName =>
  (['unfit', 'degraded', 'unknown', 'fit'] as const).reduce((most, one) => (counts[one] > counts[most] ? one : most))

/** The view in which a cluster comes apart; undefined: its stations are at one place. */
export function zoomInto({ index }: Clusters, { id, lat, lon }: Mark): View | undefined {
  const zoom = index.getClusterExpansionZoom(id)
  return zoom > deepest ? undefined : { lat, lon, zoom }
}

/** Serial numbers of the stations of a cluster. */
export const within = ({ index }: Clusters, { id }: Mark): string[] =>
  index.getLeaves(id, Number.POSITIVE_INFINITY).map(({ properties }) => properties.station.serial)
