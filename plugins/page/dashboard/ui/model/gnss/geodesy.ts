/** ECEF and WGS 84, as far as a plot of some metres needs it. Pure. */
import type { Point } from '../../station/messages.js'

const a_m = 6_378_137
const e2 = 6.694_379_990_141_33e-3

/** Degrees, and metres above the ellipsoid. */
export interface Geodetic {
  readonly lat: number
  readonly lon: number
  readonly alt: number
}
/** Metres. */
export interface Enu {
  readonly east: number
  readonly north: number
  readonly up: number
}

const degrees = (angle: number) => (angle * 180) / Math.PI
const radians = (angle: number) => (angle * Math.PI) / 180

/** To less than 0.1 mm at the height of any antenna on earth. */
export function toGeodetic({ x, y, z }: Point): Geodetic {
  const across = Math.hypot(x, y)
  let lat = Math.atan2(z, across * (1 - e2))
  let alt = 0
  for (let round = 0; round < 6; round++) {
    const normal = a_m / Math.sqrt(1 - e2 * Math.sin(lat) ** 2)
    alt = across * Math.cos(lat) + z * Math.sin(lat) - (a_m * a_m) / normal
    lat = Math.atan2(z, across * (1 - (e2 * normal) / (normal + alt)))
  }
  return { lat: degrees(lat), lon: degrees(Math.atan2(y, x)), alt }
}

export function toEcef({ lat, lon, alt }: Geodetic): Point {
  const [phi, lambda] = [radians(lat), radians(lon)]
  const normal = a_m / Math.sqrt(1 - e2 * Math.sin(phi) ** 2)
  const across = (normal + alt) * Math.cos(phi)
  return {
    x: across * Math.cos(lambda),
    y: across * Math.sin(lambda),
    z: (normal * (1 - e2) + alt) * Math.sin(phi),
  }
}

/** Where a point is, seen from another one. */
export function enuOf(origin: Point, point: Point): Enu {
  const { lat, lon } = toGeodetic(origin)
  const [phi, lambda] = [radians(lat), radians(lon)]
  const [dx, dy, dz] = [point.x - origin.x, point.y - origin.y, point.z - origin.z]
  const outward = dx * Math.cos(lambda) + dy * Math.sin(lambda)
  return {
    east: dy * Math.cos(lambda) - dx * Math.sin(lambda),
    north: dz * Math.cos(phi) - outward * Math.sin(phi),
    up: dz * Math.sin(phi) + outward * Math.cos(phi),
  }
}

export const distance_m = (one: Point, other: Point): number =>
  Math.hypot(one.x - other.x, one.y - other.y, one.z - other.z)

/** For a map application of the phone. */
export function geoLink(point: Point): string {
  const { lat, lon } = toGeodetic(point)
  return `geo:${lat.toFixed(8)},${lon.toFixed(8)}`
}

/** For the scale of a plot: the largest of 1, 2 or 5 times a power of ten that is not above a value. */
export function roundBelow(value: number): number {
  if (!(value > 0)) return 0
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9)
  const first = value / power
  return power * (first >= 5 ? 5 : first >= 2 ? 2 : 1)
}

/** A length as a person says it: `2 cm`, `50 cm`, `10 m`. */
export function lengthText(metres: number): string {
  if (metres >= 1_000) return `${trimmed(metres / 1_000)} km`
  if (metres >= 1) return `${trimmed(metres)} m`
  if (metres >= 0.01) return `${trimmed(metres * 100)} cm`
  return `${trimmed(metres * 1_000)} mm`
}

const trimmed = (value: number) => String(Number(value.toPrecision(3)))
