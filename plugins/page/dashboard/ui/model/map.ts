/** A map without tiles: everything in metres from the station. Pure. */

import { distance, ecefToGeodetic, enu, geodeticToEcef } from '../../../../../runtime/lib/gnss/geodesy.js'
import { type Json, listAt, numberAt } from '../../../../../runtime/lib/page/ui/station/document.js'
import { fixOf, type Rover } from '../../../../../runtime/lib/page/ui/station/links.js'
import type { Point } from '../station/messages.js'
import type { HistoryRow } from './gnss/positions.js'

export interface MapPoint {
  readonly key: string
  readonly name: string
  readonly kind: 'rover' | 'history'
  /** Metres from the station. */
  readonly east: number
  readonly north: number
  readonly lat: number
  readonly lon: number
  readonly isFixed: boolean
}
export interface StationMap {
  readonly lat: number
  readonly lon: number
  readonly points: readonly MapPoint[]
  /** Radius of the drawing, metres; rings at half of it and at all. */
  readonly radius_m: number
}

const steps = [1, 2, 5]
/** The next of 1, 2, 5, 10, 20 … that is not smaller. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9)
  return (steps.find((step) => step * power >= value) ?? 10) * power
}
const least_m = 20

/** Undefined while the station has no position. */
export function mapOf(document: Json | undefined): StationMap | undefined {
  if (!document || !numberAt(document, 'gnss.pos.t')) return undefined
  const here = { lat: numberAt(document, 'gnss.pos.lat') ?? 0, lon: numberAt(document, 'gnss.pos.lon') ?? 0 }
  const origin = geodeticToEcef({ ...here, alt: 0 })
  const points = listAt<Rover>(document, 'ntrip.caster.rovers')
    // A viewer gets no positions of rovers.
    .filter((rover) => fixOf(rover) !== 'silent' && (rover.lat !== 0 || rover.lon !== 0))
    .map(({ id, user, agent, ip, lat, lon, quality }): MapPoint => {
      const name = user || agent || ip
      const { east, north } = enu(origin, geodeticToEcef({ lat, lon, alt: 0 }))
      return {
        key: `rover ${id}`,
        name,
        kind: 'rover',
        lat,
        lon,
        isFixed: quality === 4,
        east,
        north,
      }
    })
  const far_m = Math.max(least_m, ...points.map(({ east, north }) => Math.hypot(east, north)))
  return { ...here, points, radius_m: roundUp(far_m * 1.05) }
}

/** A name needs so much room, in units of the drawing. */
const nameHeight = 16
const nameWidth = 60

/** Keys of the points whose names have room: names that overlap cannot be read. The first ones have precedence. */
export function namedOf(points: readonly MapPoint[], scale: number): ReadonlySet<string> {
  const named: MapPoint[] = []
  for (const point of points) {
    const isFree = named.every(
      ({ east, north }) =>
        Math.abs(north - point.north) * scale >= nameHeight || Math.abs(east - point.east) * scale >= nameWidth,
    )
    if (isFree) named.push(point)
  }
  return new Set(named.map(({ key }) => key))
}

/** Where the lengths of the rings are written: 1 below, -1 above the station, away from the points and their names. */
export function emptySide(points: readonly MapPoint[]): 1 | -1 {
  const above = points.filter(({ north }) => north > 0).length
  return above >= points.length - above ? 1 : -1
}

/** References that are closer to each other are drawn as one. */
const same_m = 0.000_5
const leastBetween_m = 0.01

/**
 * The earlier references around the present one, each place once, by its newest entry. Undefined where there is none to draw.
 * @param rows newest first @param nameOf label of an entry
 */
export function referenceMapOf(
  rows: readonly HistoryRow[],
  reference: Point | undefined,
  nameOf: (row: HistoryRow) => string,
): StationMap | undefined {
  if (!reference) return undefined
  const places: HistoryRow[] = []
  for (const row of rows) {
    const isKnown = [reference, ...places].some((place) => distance(place, row) < same_m)
    if (row.event.what === 'used' && !row.isPresent && !isKnown) places.push(row)
  }
  if (places.length === 0) return undefined
  const points = places.map((row): MapPoint => {
    const { east, north } = enu(reference, row)
    const { lat, lon } = ecefToGeodetic(row)
    return {
      key: `reference ${row.event.id}`,
      name: nameOf(row),
      kind: 'history',
      east,
      north,
      lat,
      lon,
      isFixed: false,
    }
  })
  const far_m = Math.max(leastBetween_m, ...points.map(({ east, north }) => Math.hypot(east, north)))
  const { lat, lon } = ecefToGeodetic(reference)
  return { lat, lon, points, radius_m: roundUp(far_m * 1.05) }
}

/** Rows of a table that a spreadsheet opens. A name that begins like a formula is none. */
export function csvOf({ lat, lon, points }: StationMap, name: string): string {
  const cell = (text: string) => `"${text.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`
  const rows = [
    [name, 'base', lat, lon] as const,
    ...points.map((one) => [one.name, one.kind, one.lat, one.lon] as const),
  ]
  return ['name,kind,latitude,longitude', ...rows.map(([who, kind, y, x]) => `${cell(who)},${kind},${y},${x}`)].join(
    '\r\n',
  )
}

/** RFC 7946: longitude first. */
export function geoJsonOf({ lat, lon, points }: StationMap, name: string): string {
  const feature = (who: string, kind: string, y: number, x: number) => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [x, y] },
    properties: { name: who, kind },
  })
  const features = [
    feature(name, 'base', lat, lon),
    ...points.map((one) => feature(one.name, one.kind, one.lat, one.lon)),
  ]
  return JSON.stringify({ type: 'FeatureCollection', features }, null, 2)
}
