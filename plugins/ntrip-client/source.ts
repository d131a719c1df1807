import { distance, ecefToGeodetic, encodeNmea, geodeticToEcef } from 'rtk-base/gnss'
import { Host, MountName, Password, Port, type StreamRow, Tls, User } from 'rtk-base/ntrip'
import type { Ecef } from 'rtk-base/services'
import type { Static } from 'typebox'
import { Type } from 'typebox'

/** Where corrections come from. */
export const Source = Type.Object(
  {
    host: Type.Union([Type.Literal(''), Host], { description: 'a host name or address, without http://; empty: none' }),
    port: Type.Optional(Port),
    mount: Type.Optional(
      Type.Union([Type.Literal(''), MountName], {
        description: 'letters, digits, _ . -; empty: the nearest of the source table',
      }),
    ),
    user: Type.Optional(User),
    password: Type.Optional(Password),
    version: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)], { description: 'NTRIP 1 or 2; 2' })),
    tls: Type.Optional(Tls),
    gga: Type.Optional(Type.Boolean({ description: 'send the position; if omitted: if the source table requires it' })),
  },
  {
    additionalProperties: false,
    description:
      'e.g. { "host": "caster.example.org", "port": 2101, "mount": "NEAR", "user": "me", "password": "…" }; { "host": "" }: none',
  },
)
export type Source = Static<typeof Source>

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

/** GGA of a single-point fix here, for casters that choose by it. @param utc_ms for its time */
export function ggaOf(here: Ecef, utc_ms: number): Uint8Array {
  const { lat, lon, alt } = ecefToGeodetic(here)
  const part = (value: number, width: number) => {
    const minutes = Math.abs(value) * 60
    const degrees = Math.floor(minutes / 60)
    return `${String(degrees).padStart(width, '0')}${(minutes - degrees * 60).toFixed(5).padStart(8, '0')}`
  }
  const time = new Date(utc_ms).toISOString().slice(11, 21).replaceAll(':', '')
  const place = `${part(lat, 2)},${lat < 0 ? 'S' : 'N'},${part(lon, 3)},${lon < 0 ? 'W' : 'E'}`
  return encodeNmea(`GPGGA,${time},${place},1,12,1.0,${alt.toFixed(1)},M,0.0,M,,`)
}
