/** Pairs of stations to compare: neighbours in the Delaunay triangulation of the Earth's surface. Pure. */
import Delaunator from 'delaunator'
import { type Steps, samePlace_m } from 'rtk-base/baseline'
import { distance } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'

export interface NetPlace {
  readonly serial: string
  /** Announced position, ECEF metres. */
  readonly arp: Ecef
}
export interface NetPair {
  /** The lesser serial number of the two. */
  readonly one: string
  readonly other: string
  /** Pairs that are near each other have similar numbers, 0 to 2^32 − 1. */
  readonly cell: number
}

/** Neighbours of each station at least, if there are enough within reach. Those at the same place cannot confirm it, and do not count. */
const least = 3
/** The nearest stations of a point are at most this many edges away from it. */
const hops = 3
/** Stations looked at for the nearest: a point with thousands of edges is one of a hostile arrangement. */
const mostSeen = 400
/** Stations at the same place, or in one line, have no triangulation: each is shifted by less than this, metres. */
const shift_m = 0.5
const earth_m = 6_371_000

/** The projection's centre is far from any land: the middle of the southern Pacific, 48.9° S, 123.4° W. */
const centre = { x: -0.3618, y: -0.5488, z: -0.7536 }

/**
 * Stereographic projection: circles stay circles, so the triangulation in the plane is the one on the sphere, across the poles and the
 * antimeridian as well (Snyder, Map Projections, USGS 1395, p. 154; Brown 1979, Voronoi diagrams from convex hulls).
 */
function projected({ arp: { x, y, z }, serial }: NetPlace): readonly [number, number] {
  const length = Math.hypot(x, y, z) || 1
  const { x: cx, y: cy, z: cz } = unit(centre)
  const east = unit({ x: -cy, y: cx, z: 0 })
  const north = { x: -cz * east.y, y: cz * east.x, z: cx * east.y - cy * east.x }
  const point = { x: x / length, y: y / length, z: z / length }
  const towards = point.x * cx + point.y * cy + point.z * cz
  // The centre itself is at infinity.
  const scale = 1 / Math.max(1e-9, 1 - towards)
  const [dx, dy] = shiftOf(serial)
  return [
    scale * (point.x * east.x + point.y * east.y + dx),
    scale * (point.x * north.x + point.y * north.y + point.z * north.z + dy),
  ]
}

const unit = ({ x, y, z }: Ecef): Ecef => {
  const length = Math.hypot(x, y, z)
  return { x: x / length, y: y / length, z: z / length }
}

/** Shift of a station, always the same, as a part of the Earth's radius. FNV-1a, and the finisher of MurmurHash3. */
function shiftOf(serial: string): [number, number] {
  let hash = 0x811c9dc5
  for (let at = 0; at < serial.length; at++) hash = Math.imul(hash ^ serial.charCodeAt(at), 0x01000193)
  const mixed = (value: number) => {
    let mix = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
    mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
    return ((mix ^ (mix >>> 16)) >>> 0) / 2 ** 32 - 0.5
  }
  return [(2 * shift_m * mixed(hash)) / earth_m, (2 * shift_m * mixed(hash ^ 0x9e3779b9)) / earth_m]
}

/**
 * @param reach_km pairs that are farther apart are left out
 * @returns each pair once; every station has pairs with its three nearest within reach, beyond those at the same place
 */
export function* pairsOf(places: Iterable<NetPlace>, reach_km: number): Steps<NetPair[]> {
  const sorted = [...places]
    .filter(({ arp }) => Number.isFinite(arp.x + arp.y + arp.z))
    .sort((one, next) => (one.serial < next.serial ? -1 : 1))
  yield
  const points = sorted.map(projected)
  yield
  const edges = edgesOf(points)
  const found = new Map<number, Set<number>>()
  const add = (i: number, j: number) => {
    const [low, high] = i < j ? [i, j] : [j, i]
    found.set(low, (found.get(low) ?? new Set()).add(high))
  }
  const apart_m = (i: number, j: number) => distance(arpOf(sorted, i), arpOf(sorted, j))
  const reach_m = 1_000 * reach_km
  for (const [i, others] of edges.entries()) {
    yield
    for (const j of others) if (i < j && apart_m(i, j) <= reach_m) add(i, j)
    const nearest = near(i, edges)
      .map((j) => ({ j, apart: apart_m(i, j) }))
      .filter(({ apart }) => apart >= samePlace_m && apart <= reach_m)
      .sort((one, next) => one.apart - next.apart)
    for (const { j } of nearest.slice(0, least)) add(i, j)
  }
  const cells = sorted.map(({ arp }) => cellOf(arp))
  return [...found].flatMap(([i, others]) =>
    [...others].map((j) => ({ one: serialOf(sorted, i), other: serialOf(sorted, j), cell: cells[i] ?? 0 })),
  )
}

const arpOf = (places: readonly NetPlace[], i: number): Ecef => places[i]?.arp ?? { x: 0, y: 0, z: 0 }
const serialOf = (places: readonly NetPlace[], i: number): string => places[i]?.serial ?? ''

function edgesOf(points: readonly (readonly [number, number])[]): Set<number>[] {
  const edges = points.map(() => new Set<number>())
  const join = (i = 0, j = 0) => {
    if (i === j) return
    edges[i]?.add(j)
    edges[j]?.add(i)
  }
  if (points.length < 3) {
    if (points.length === 2) join(0, 1)
    return edges
  }
  const { triangles, hull } = Delaunator.from(points as [number, number][])
  for (let at = 0; at < triangles.length; at += 3) {
    const [a, b, c] = triangles.subarray(at, at + 3)
    join(a, b)
    join(b, c)
    join(c, a)
  }
  // Without a triangle, all points are in one line, and the hull has them in order.
  for (let at = 1; at < hull.length; at++) join(hull[at - 1], hull[at])
  return edges
}

/** Stations within a few edges. */
function near(from: number, edges: readonly ReadonlySet<number>[]): number[] {
  const seen = new Set([from])
  let ring = [from]
  for (let hop = 0; hop < hops; hop++) {
    const next: number[] = []
    for (const at of ring)
      for (const other of edges[at] ?? [])
        if (!seen.has(other) && seen.size <= mostSeen) {
          seen.add(other)
          next.push(other)
        }
    ring = next
  }
  seen.delete(from)
  return [...seen]
}

/** Morton code of latitude and longitude, of 16 bits each. */
function cellOf({ x, y, z }: Ecef): number {
  const part = (value: number) => Math.min(65_535, Math.max(0, Math.floor(65_536 * value)))
  const north = part(Math.atan2(z, Math.hypot(x, y)) / Math.PI + 0.5)
  const east = part(Math.atan2(y, x) / (2 * Math.PI) + 0.5)
  let code = 0
  for (let bit = 15; bit >= 0; bit--) code = code * 4 + 2 * ((north >> bit) & 1) + ((east >> bit) & 1)
  return code
}
