/** How a client finds the nearest mountpoint, and tells a caster where it is. Pure. */
import type { Ecef } from '../../../schemas/services.js'
import { distance, ecefToGeodetic, encodeNmea, geodeticToEcef } from '../gnss/index.js'
import type { StreamRow } from './source-table.js'

export interface Nearest {
  readonly row: StreamRow
  readonly distance_m: number
}

/** The nearer of the best so far and a row. The row must be RTCM 3 with coordinates. */
export function nearer(best: Nearest | undefined, row: StreamRow, here: Ecef): Nearest | undefined {
  const { format, lat, lon } = row
  if (!/RTCM ?3/i.test(format) || (lat === 0 && lon === 0)) return best
  const distance_m = distance(here, geodeticToEcef({ lat, lon, alt: 0 }))
  return best && best.distance_m <= distance_m ? best : { row, distance_m }
}

/** Steps of a minute in the sentence: one is 2 cm. */
const steps = 1e5

/** GGA of a single-point fix here, for casters that choose by it. @param utc_ms for its time */
export function ggaOf(here: Ecef, utc_ms: number): Uint8Array {
  const { lat, lon, alt } = ecefToGeodetic(here)
  const part = (value: number, width: number) => {
    // Rounded before it is split: what is just below a whole degree would have 60 minutes.
    const rounded = Math.round(Math.abs(value) * 60 * steps)
    const degrees = Math.floor(rounded / (60 * steps))
    const minutes = (rounded - degrees * 60 * steps) / steps
    return `${String(degrees).padStart(width, '0')}${minutes.toFixed(5).padStart(8, '0')}`
  }
  const time = new Date(utc_ms).toISOString().slice(11, 21).replaceAll(':', '')
  const place = `${part(lat, 2)},${lat < 0 ? 'S' : 'N'},${part(lon, 3)},${lon < 0 ? 'W' : 'E'}`
  return encodeNmea(`GPGGA,${time},${place},1,12,1.0,${alt.toFixed(1)},M,0.0,M,,`)
}
