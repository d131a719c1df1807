/**
 * The satellites: circular Kepler orbits in Walker constellations with the radii, inclinations and planes of the real
 * ones. Everything that a receiver measures follows from these positions, so ranges, angles and rates agree.
 */
import { type Constellation, ecefToGeodetic } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { ionosphere_m, satelliteClock, trueTroposphere_m } from './delays.js'

export interface MsmSignal {
  /** Position in the signal mask of an MSM. */
  readonly msm: number
  readonly frequency_hz: number
}

export interface ConstellationModel {
  readonly name: Constellation
  /** Unique number of the constellation, used in the keys of its satellites. */
  readonly number: number
  /** Number of the first satellite. */
  readonly first: number
  readonly radius_m: number
  readonly inclination_deg: number
  readonly planes: number
  readonly perPlane: number
  /** The first is tracked from the horizon on, the others from 15° on. */
  readonly signals: readonly MsmSignal[]
}

/** The signals are those that an F9P tracks: L1 C/A + L2C, G1 + G2 C/A, E1 + E5b, B1I + B2I. */
export const constellations: readonly ConstellationModel[] = [
  {
    name: 'GPS',
    number: 0,
    first: 1,
    radius_m: 26_559_800,
    inclination_deg: 55,
    planes: 6,
    perPlane: 5,
    signals: [
      { msm: 2, frequency_hz: 1575.42e6 },
      { msm: 16, frequency_hz: 1227.6e6 },
    ],
  },
  {
    name: 'GLONASS',
    number: 6,
    first: 1,
    radius_m: 25_508_000,
    inclination_deg: 64.8,
    planes: 3,
    perPlane: 8,
    signals: [
      { msm: 2, frequency_hz: 1602e6 },
      { msm: 8, frequency_hz: 1246e6 },
    ],
  },
  {
    name: 'Galileo',
    number: 2,
    first: 1,
    radius_m: 29_600_300,
    inclination_deg: 56,
    planes: 3,
    perPlane: 8,
    signals: [
      { msm: 2, frequency_hz: 1575.42e6 },
      { msm: 15, frequency_hz: 1207.14e6 },
    ],
  },
  {
    name: 'BeiDou',
    number: 3,
    first: 19,
    radius_m: 27_906_100,
    inclination_deg: 55,
    planes: 3,
    perPlane: 8,
    signals: [
      { msm: 2, frequency_hz: 1561.098e6 },
      { msm: 14, frequency_hz: 1207.14e6 },
    ],
  },
]

const light_mps = 299_792_458
const gravitation = 3.986005e14
export const earthRotation_radps = 7.2921151467e-5
/** Angles count from here (2026-01-01), so that their phase stays exact to well below a millimetre. */
export const origin_gps_s = 1_451_260_818
const radians = Math.PI / 180

/** A circular orbit; angles in radians, from the moment `origin_gps_s` on. */
export interface Orbit {
  readonly constellation: ConstellationModel
  readonly svId: number
  readonly node: number
  readonly phase: number
  readonly motion: number
  readonly cosI: number
  readonly sinI: number
}

/** One satellite above the horizon. */
export interface Sight {
  readonly constellation: ConstellationModel
  readonly svId: number
  /** Unique over all constellations. */
  readonly key: number
  readonly elevation_deg: number
  /** 0-360, from north over east. */
  readonly azimuth_deg: number
  /** Pseudorange without the ionosphere and the receiver clock: from the satellite at transmission, with troposphere and satellite clock. */
  readonly range_m: number
  readonly rate_mps: number
  /** Ionospheric delay on L1: the code is delayed, and the phase advanced, by this. */
  readonly ionosphere_m: number
  /** Unit vector from the antenna to the satellite. */
  readonly los: Ecef
}

export function orbitOf(constellation: ConstellationModel, svId: number): Orbit {
  const { planes, perPlane, radius_m, inclination_deg, first, number } = constellation
  const plane = Math.floor((svId - first) / perPlane)
  const slot = (svId - first) % perPlane
  return {
    constellation,
    svId,
    // Each constellation is turned a little, or their planes would lie on each other.
    node: 2 * Math.PI * (plane / planes + number / 17),
    phase: 2 * Math.PI * (slot / perPlane + plane / (planes * perPlane)),
    motion: Math.sqrt(gravitation / radius_m ** 3),
    cosI: Math.cos(inclination_deg * radians),
    sinI: Math.sin(inclination_deg * radians),
  }
}

function makeOrbits(models: readonly ConstellationModel[]): Orbit[] {
  return models.flatMap((constellation) => {
    const count = constellation.planes * constellation.perPlane
    return Array.from({ length: count }, (_, i) => orbitOf(constellation, constellation.first + i))
  })
}

/** By the list of constellations: receivers of different makes track different signals. */
const orbitsOf = new WeakMap<readonly ConstellationModel[], Orbit[]>()

function orbitsFor(models: readonly ConstellationModel[]): Orbit[] {
  let orbits = orbitsOf.get(models)
  if (!orbits) {
    orbits = makeOrbits(models)
    orbitsOf.set(models, orbits)
  }
  return orbits
}

/** Where a satellite was at `t − travel`, in the Earth-fixed axes of the moment `t`: so no Sagnac term is left over. */
function positionAt(orbit: Orbit, t: number, travel: number): Ecef {
  const u = orbit.phase + orbit.motion * (t - travel)
  const node = orbit.node - earthRotation_radps * t
  const { radius_m } = orbit.constellation
  const inPlaneX = Math.cos(u)
  const inPlaneY = Math.sin(u) * orbit.cosI
  return {
    x: radius_m * (inPlaneX * Math.cos(node) - inPlaneY * Math.sin(node)),
    y: radius_m * (inPlaneX * Math.sin(node) + inPlaneY * Math.cos(node)),
    z: radius_m * Math.sin(u) * orbit.sinI,
  }
}

function rangeAt(orbit: Orbit, antenna: Ecef, t: number): { range_m: number; satellite: Ecef } {
  let travel = 0.075
  let satellite = positionAt(orbit, t, travel)
  let range_m = 0
  for (let round = 0; round < 3; round++) {
    range_m = Math.hypot(satellite.x - antenna.x, satellite.y - antenna.y, satellite.z - antenna.z)
    travel = range_m / light_mps
    satellite = positionAt(orbit, t, travel)
  }
  return { range_m, satellite }
}

/** Where a satellite is seen at a moment, and the range that a perfect receiver would measure without ionosphere. */
function seenAt({ ecef, up, alt_m }: Antenna, orbit: Orbit, t: number) {
  const { range_m, satellite } = rangeAt(orbit, ecef, t)
  const los = {
    x: (satellite.x - ecef.x) / range_m,
    y: (satellite.y - ecef.y) / range_m,
    z: (satellite.z - ecef.z) / range_m,
  }
  const elevation_deg = Math.asin(Math.min(1, los.x * up.x + los.y * up.y + los.z * up.z)) / radians
  const { offset_s, drift } = satelliteClock(keyOf(orbit))
  const measured_m = range_m + trueTroposphere_m(elevation_deg, alt_m, t) - light_mps * (offset_s + drift * t)
  return { los, elevation_deg, measured_m }
}

interface Antenna {
  readonly ecef: Ecef
  readonly up: Ecef
  readonly alt_m: number
}

/** Unique over all constellations. */
const keyOf = ({ constellation, svId }: Orbit) => constellation.number * 64 + svId

/** The satellites at or above `mask_deg` as seen from `antenna`. */
export function visibleFrom(
  antenna: Ecef,
  gps_s: number,
  mask_deg: number,
  without: ReadonlySet<string> = new Set(),
  models: readonly ConstellationModel[] = constellations,
): Sight[] {
  const t = gps_s - origin_gps_s
  const { lat, lon, alt } = ecefToGeodetic(antenna)
  const sinLat = Math.sin(lat * radians)
  const cosLat = Math.cos(lat * radians)
  const sinLon = Math.sin(lon * radians)
  const cosLon = Math.cos(lon * radians)
  const up = { x: cosLat * cosLon, y: cosLat * sinLon, z: sinLat }
  const place: Antenna = { ecef: antenna, up, alt_m: alt }
  const sinMask = Math.sin(mask_deg * radians)
  const sights: Sight[] = []
  for (const orbit of orbitsFor(models)) {
    if (without.has(orbit.constellation.name)) continue
    const rough = positionAt(orbit, t, 0.075)
    const dx = rough.x - antenna.x
    const dy = rough.y - antenna.y
    const dz = rough.z - antenna.z
    if ((dx * up.x + dy * up.y + dz * up.z) / Math.hypot(dx, dy, dz) < sinMask) continue
    const { los, elevation_deg, measured_m } = seenAt(place, orbit, t)
    const east = -sinLon * los.x + cosLon * los.y
    const north = -sinLat * cosLon * los.x - sinLat * sinLon * los.y + cosLat * los.z
    sights.push({
      constellation: orbit.constellation,
      svId: orbit.svId,
      key: keyOf(orbit),
      elevation_deg,
      azimuth_deg: (Math.atan2(east, north) / radians + 360) % 360,
      range_m: measured_m,
      rate_mps: seenAt(place, orbit, t + 0.5).measured_m - seenAt(place, orbit, t - 0.5).measured_m,
      ionosphere_m: ionosphere_m(elevation_deg, lon, t),
      los,
    })
  }
  return sights
}
