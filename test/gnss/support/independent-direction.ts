import type { Ecef } from '../../../schemas/services.js'

/**
 * Azimuth and elevation by vector products with the normal of the ellipsoid, which Bowring's formula gives: another way
 * than that of the library's `enu`. Degrees.
 */
export function independentDirection(arp: Ecef, satellite: Ecef): { azimuth_deg: number; elevation_deg: number } {
  const a = 6_378_137
  const b = 6_356_752.314245
  const p = Math.hypot(arp.x, arp.y)
  const beta = Math.atan2(a * arp.z, b * p)
  const lat = Math.atan2(
    arp.z + ((a * a - b * b) / b) * Math.sin(beta) ** 3,
    p - ((a * a - b * b) / a) * Math.cos(beta) ** 3,
  )
  const up = { x: (Math.cos(lat) * arp.x) / p, y: (Math.cos(lat) * arp.y) / p, z: Math.sin(lat) }
  const east = cross({ x: 0, y: 0, z: 1 }, up)
  const north = cross(up, east)
  const line = { x: satellite.x - arp.x, y: satellite.y - arp.y, z: satellite.z - arp.z }
  const angle = Math.acos(dot(line, up) / Math.sqrt(dot(line, line) * dot(up, up)))
  const azimuth = Math.atan2(
    dot(line, east) / Math.sqrt(dot(east, east)),
    dot(line, north) / Math.sqrt(dot(north, north)),
  )
  return { azimuth_deg: ((azimuth * 180) / Math.PI + 360) % 360, elevation_deg: 90 - (angle * 180) / Math.PI }
}

const dot = (p: Ecef, q: Ecef) => p.x * q.x + p.y * q.y + p.z * q.z
const cross = (p: Ecef, q: Ecef): Ecef => ({
  x: p.y * q.z - p.z * q.y,
  y: p.z * q.x - p.x * q.z,
  z: p.x * q.y - p.y * q.x,
})

/** The place in the frame of the Earth after it has turned for a time. */
export function rotatedBy({ x, y, z }: Ecef, time_s: number): Ecef {
  const angle = 7.2921151467e-5 * time_s
  return { x: x * Math.cos(angle) + y * Math.sin(angle), y: y * Math.cos(angle) - x * Math.sin(angle), z }
}
