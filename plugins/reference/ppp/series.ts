/** Repeated determinations of one point: how the monument moved. Pure. */
import { announcedAs, type DatumWish, ecefToGeodetic, enu } from 'rtk-base/gnss'
import type { Enu } from 'rtk-base/services'
import type { Covariance, Determined } from './determined.js'
import { antennaOf } from './result.js'

export interface SeriesPoint {
  /** Decimal year of the observations. */
  readonly epoch: number
  /** From the oldest one, metres, without the motion of the plate if it is known. */
  readonly offset: Enu
  /** 1 sigma of the offset's parts, metres. */
  readonly sigma: Enu
}

export interface Repeat extends Determined {
  readonly height: number
}

/** Oldest first. All are carried to the epoch of the oldest one, in one frame. */
export function seriesOf(repeats: readonly Repeat[], { frame, plate }: DatumWish): SeriesPoint[] {
  const sorted = repeats.toSorted((a, b) => a.epoch - b.epoch)
  const [first] = sorted
  if (!first) return []
  const common: DatumWish = { frame: frame ?? first.frame, epoch: plate && first.epoch, plate }
  const placed = (one: Repeat) => announcedAs(antennaOf(one, one.height), common).position
  const origin = placed(first)
  return sorted.map((one) => ({ epoch: one.epoch, offset: enu(origin, placed(one)), sigma: sigmaEnu(one) }))
}

/** Standard deviations along east, north and up. */
function sigmaEnu({ covariance, position }: Pick<Determined, 'covariance' | 'position'>): Enu {
  const { lat, lon } = ecefToGeodetic(position)
  const [sinLat, cosLat] = [Math.sin((lat * Math.PI) / 180), Math.cos((lat * Math.PI) / 180)]
  const [sinLon, cosLon] = [Math.sin((lon * Math.PI) / 180), Math.cos((lon * Math.PI) / 180)]
  const along = (x: number, y: number, z: number) => Math.sqrt(Math.max(0, quadratic(covariance, [x, y, z])))
  return {
    east: along(-sinLon, cosLon, 0),
    north: along(-sinLat * cosLon, -sinLat * sinLon, cosLat),
    up: along(cosLat * cosLon, cosLat * sinLon, sinLat),
  }
}

const quadratic = ([xx, xy, xz, yy, yz, zz]: Covariance, [x, y, z]: readonly [number, number, number]) =>
  xx * x * x + yy * y * y + zz * z * z + 2 * (xy * x * y + xz * x * z + yz * y * z)
