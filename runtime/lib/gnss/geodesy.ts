/** WGS84 geometry. Angles in degrees, lengths in metres, heights above the ellipsoid. */
import type { Ecef, Enu } from '../../../schemas/services/receiver.js'

export type { Enu }

export interface Geodetic {
  lat: number
  lon: number
  /** Ellipsoidal height, metres. */
  alt: number
}

/** WGS84 (NIMA TR8350.2): semi-major axis, metres, and flattening. */
const a = 6_378_137
const f = 1 / 298.257223563
const e2 = f * (2 - f)
const radians = Math.PI / 180

export function geodeticToEcef({ lat, lon, alt }: Geodetic): Ecef {
  const sin = Math.sin(lat * radians)
  const cos = Math.cos(lat * radians)
  const n = a / Math.sqrt(1 - e2 * sin * sin)
  return {
    x: (n + alt) * cos * Math.cos(lon * radians),
    y: (n + alt) * cos * Math.sin(lon * radians),
    z: (n * (1 - e2) + alt) * sin,
  }
}

/**
 * Fixed-point iteration of the latitude; the height formula `p cos φ + z sin φ − a √(1 − e² sin² φ)` has no division and
 * so holds at the poles too. On the axis the longitude is 0. Good to 1e-9 m from 5,000 km below to far above the ellipsoid.
 */
export function ecefToGeodetic({ x, y, z }: Ecef): Geodetic {
  const p = Math.hypot(x, y)
  let lat = Math.atan2(z, p * (1 - e2))
  for (let round = 0; round < 12; round++) {
    const sin = Math.sin(lat)
    const next = Math.atan2(z + (a / Math.sqrt(1 - e2 * sin * sin)) * e2 * sin, p)
    const change = Math.abs(next - lat)
    lat = next
    if (change < 1e-15) break
  }
  const sin = Math.sin(lat)
  return {
    lat: lat / radians,
    lon: p === 0 ? 0 : Math.atan2(y, x) / radians,
    alt: p * Math.cos(lat) + z * sin - a * Math.sqrt(1 - e2 * sin * sin),
  }
}

/** `E +30.0 / N -0.2 / U +1.4 m` */
export function offsetText({ east, north, up }: Enu): string {
  const part = (name: string, value: number) => `${name} ${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(1)}`
  return `${part('E', east)} / ${part('N', north)} / ${part('U', up)} m`
}

/** Straight-line distance. */
export function distance(p: Ecef, q: Ecef): number {
  return Math.hypot(p.x - q.x, p.y - q.y, p.z - q.z)
}

/** Mean radius of the Earth (IUGG), metres. */
export const earthRadius_m = 6_371_009

/** Distance over ground on a sphere (haversine), metres: to 0.6 % that on the ellipsoid. */
export function greatCircle_m(p: Pick<Geodetic, 'lat' | 'lon'>, q: Pick<Geodetic, 'lat' | 'lon'>): number {
  const dLat = Math.sin(((q.lat - p.lat) * radians) / 2)
  const dLon = Math.sin(((q.lon - p.lon) * radians) / 2)
  const h = dLat * dLat + Math.cos(p.lat * radians) * Math.cos(q.lat * radians) * dLon * dLon
  return 2 * earthRadius_m * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** The difference `point − origin` in the local frame at `origin`. */
export function enu(origin: Ecef, point: Ecef): Enu {
  const axes = localAxes(origin)
  const dx = point.x - origin.x
  const dy = point.y - origin.y
  const dz = point.z - origin.z
  return {
    east: -axes.sinLon * dx + axes.cosLon * dy,
    north: -axes.sinLat * axes.cosLon * dx - axes.sinLat * axes.sinLon * dy + axes.cosLat * dz,
    up: axes.cosLat * axes.cosLon * dx + axes.cosLat * axes.sinLon * dy + axes.sinLat * dz,
  }
}

/** The point that lies `offset` away from `origin` in the local frame at `origin`; the inverse of `enu`. */
export function offsetEnu(origin: Ecef, { east, north, up }: Enu): Ecef {
  const axes = localAxes(origin)
  const outward = axes.cosLat * up - axes.sinLat * north
  return {
    x: origin.x - axes.sinLon * east + axes.cosLon * outward,
    y: origin.y + axes.cosLon * east + axes.sinLon * outward,
    z: origin.z + axes.cosLat * north + axes.sinLat * up,
  }
}

function localAxes(origin: Ecef) {
  const { lat, lon } = ecefToGeodetic(origin)
  return {
    sinLat: Math.sin(lat * radians),
    cosLat: Math.cos(lat * radians),
    sinLon: Math.sin(lon * radians),
    cosLon: Math.cos(lon * radians),
  }
}

/** Metres as a whole number of 0.1 mm, the resolution of RTCM 1005 and of the receiver's fixed position. */
export function toTenthMm(metres: number): number {
  // + 0: no negative zero, which would not compare equal after a round trip through JSON.
  return Math.round(metres * 10_000) + 0
}

export function fromTenthMm(tenthMm: number): number {
  return tenthMm / 10_000
}

/**
 * A coordinate as a u-blox receiver stores it: whole centimetres, and a remainder `hp` of the same sign in 0.1 mm,
 * |hp| ≤ 99.
 */
export interface SplitCm {
  cm: number
  hp: number
}

/** Splits a coordinate into CFG-TMODE-ECEF_X and -ECEF_X_HP. */
export function splitCm(metres: number): SplitCm {
  const tenthMm = toTenthMm(metres)
  const cm = Math.trunc(tenthMm / 100) + 0
  return { cm, hp: tenthMm - cm * 100 }
}

/** Metres of a coordinate that the receiver reports in two parts. */
export function joinCm({ cm, hp }: SplitCm): number {
  return fromTenthMm(cm * 100 + hp)
}

/** The position to 0.1 mm, so that it survives RTCM, UBX and JSON unchanged. */
export function roundEcef({ x, y, z }: Ecef): Ecef {
  return { x: fromTenthMm(toTenthMm(x)), y: fromTenthMm(toTenthMm(y)), z: fromTenthMm(toTenthMm(z)) }
}

/** Whether a coordinate has a part below a centimetre. */
export function hasTenthMm({ x, y, z }: Ecef): boolean {
  return [x, y, z].some((metres) => toTenthMm(metres) % 100 !== 0)
}

/** Whether two positions are equal to 0.1 mm in each coordinate. */
export function sameEcef(p: Ecef, q: Ecef): boolean {
  return toTenthMm(p.x) === toTenthMm(q.x) && toTenthMm(p.y) === toTenthMm(q.y) && toTenthMm(p.z) === toTenthMm(q.z)
}

/** Rounds to a number of decimals, for people and for the status document. */
export function roundTo(value: number, decimals: number): number {
  const per = 10 ** decimals
  return Math.round(value * per) / per
}
