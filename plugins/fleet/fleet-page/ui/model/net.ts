/** The net of a fleet on the map: lines between compared stations. Web Mercator (EPSG:3857). Pure. */

import { greatCircle_m } from '../../../../../runtime/lib/gnss/geodesy.js'
import type { Size } from '../../../../../runtime/lib/page/ui/model/axis.js'
import type { StationRow } from '../fleet/api.js'
import type { Judgement, Net, Pair } from '../fleet/net-api.js'
import { hasPlace, type View, worldOf, xOf, yOf } from './clusters.js'

/** Lines that are drawn at the same time. */
export const mostLines = 5_000
/** A shorter line is under the marks of its stations. */
const least_px = 2
/** In the order in which lines are drawn if there are too many: a contradiction is never hidden by the others. */
export const lineKinds = ['contradicts', 'agrees', 'none'] as const
/** `none`: there is no vector, or a station is not judged. */
export type LineKind = (typeof lineKinds)[number]

/** A point of the world, 0 to 1 from the west and from the north. */
interface Point {
  readonly x: number
  readonly y: number
}
export interface PlacedNet {
  readonly lines: readonly { readonly kind: LineKind; readonly from: Point; readonly to: Point }[]
  /** Stations whose position is contradicted. */
  readonly contradicted: ReadonlyMap<string, Point>
}

export function lineKindOf({ status }: Pair, one: Judgement | undefined, other: Judgement | undefined): LineKind {
  if (status !== 'fixed' && status !== 'float') return 'none'
  if (one?.state === 'contradicts' || other?.state === 'contradicts') return 'contradicts'
  return one?.state === 'agrees' && other?.state === 'agrees' ? 'agrees' : 'none'
}

/** @param rows stations that the map shows; pairs with others are left out */
export function placedNet({ pairs, stations }: Net, rows: readonly StationRow[]): PlacedNet {
  const judgements = new Map(stations.map((one) => [one.serial, one]))
  const points = new Map(
    rows.filter(hasPlace).map(({ lat, lon, serial }) => [serial, { x: xOf(lon), y: yOf(lat) }] as const),
  )
  const lines = pairs.flatMap((pair) => {
    const [from, to] = [points.get(pair.one), points.get(pair.other)]
    if (!from || !to) return []
    return [{ kind: lineKindOf(pair, judgements.get(pair.one), judgements.get(pair.other)), from, to: near(from, to) }]
  })
  const contradicted = stations.flatMap(({ serial, state }) => {
    const point = points.get(serial)
    return state === 'contradicts' && point ? [[serial, point] as const] : []
  })
  return { lines, contradicted: new Map(contradicted) }
}

/** Across the date line, a line takes the short way. */
const near = (from: Point, to: Point): Point => ({ x: to.x - Math.round(to.x - from.x), y: to.y })

export interface DrawnNet {
  /** The `d` of one path for each kind, pixels from the centre of the map. */
  readonly paths: Readonly<Record<LineKind, string>>
  /** Pairs in the shown part. */
  readonly counts: Readonly<Record<LineKind, number>>
  /** Lines that are not drawn because there are too many. */
  readonly left: number
  /** Where contradicted stations are, pixels from the centre. */
  readonly contradicted: readonly Point[]
}

/** The lines in the shown part, as paths: a path with thousands of lines is drawn faster than thousands of elements. */
export function drawnNet({ contradicted, lines }: PlacedNet, view: View, size: Size, most = mostLines): DrawnNet {
  const world = worldOf(view)
  const [x0, y0] = [xOf(view.lon), yOf(view.lat)]
  const [right, bottom] = [size.width / 2, size.height / 2]
  const onMap = ({ x, y }: Point): Point => ({ x: (x - x0) * world, y: (y - y0) * world })
  const parts = { contradicts: [] as string[], agrees: [] as string[], none: [] as string[] }
  const counts = { contradicts: 0, agrees: 0, none: 0 }
  for (const { from, kind, to } of lines) {
    const [one, other] = [onMap(from), onMap(to)]
    if (Math.min(one.x, other.x) > right || Math.max(one.x, other.x) < -right) continue
    if (Math.min(one.y, other.y) > bottom || Math.max(one.y, other.y) < -bottom) continue
    counts[kind] += 1
    if (Math.hypot(other.x - one.x, other.y - one.y) < least_px) continue
    parts[kind].push(`M${one.x.toFixed(1)} ${one.y.toFixed(1)}L${other.x.toFixed(1)} ${other.y.toFixed(1)}`)
  }
  const paths = { contradicts: '', agrees: '', none: '' }
  let room = most
  let left = 0
  for (const kind of lineKinds) {
    const some = parts[kind].slice(0, room)
    paths[kind] = some.join('')
    room -= some.length
    left += parts[kind].length - some.length
  }
  const shown = [...contradicted.values()]
    .map(onMap)
    .filter(({ x, y }) => Math.abs(x) <= right && Math.abs(y) <= bottom)
    .slice(0, most)
  return { paths, counts, left, contradicted: shown }
}

/** Between two stations over ground, metres; undefined: the place of one is not known. */
export const apart_m = (one: StationRow | undefined, other: StationRow | undefined): number | undefined =>
  one && other && hasPlace(one) && hasPlace(other) ? greatCircle_m(one, other) : undefined
