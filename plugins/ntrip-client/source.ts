import { distance, ecefToGeodetic, encodeNmea, geodeticToEcef } from 'rtk-base/gnss'
import { Host, MountName, Password, Port, parseHeaders, parseTable, type StreamRow, Tls, User } from 'rtk-base/ntrip'
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
    gga: Type.Optional(
      Type.Boolean({ description: 'the position is sent; left out: where the source table asks for it' }),
    ),
  },
  { additionalProperties: false },
)
export type Source = Static<typeof Source>

export function requestOf(source: Source, mount: string, version: string): string {
  const { host, user = '', password = '' } = source
  const login =
    user || password ? `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n` : ''
  const agent = `User-Agent: NTRIP rtk-base/${version}\r\n`
  if ((source.version ?? 2) === 1) return `GET /${mount} HTTP/1.0\r\n${agent}${login}\r\n`
  return `GET /${mount} HTTP/1.1\r\nHost: ${host}\r\nNtrip-Version: Ntrip/2.0\r\n${agent}${login}Connection: close\r\n\r\n`
}

export type Answer =
  | { kind: 'stream'; chunked: boolean }
  | { kind: 'table' }
  | { kind: 'refused'; final: boolean; text: string }

/** Reads the head of an answer: the status behind the first space is what counts, whatever stands before it. */
export function readAnswer(lines: readonly string[]): Answer {
  const first = (lines[0] ?? '').trim()
  const headers = parseHeaders(lines.slice(1))
  const type = headers.get('content-type') ?? ''
  if (/^SOURCETABLE 200/.test(first) || /gnss\/sourcetable/i.test(type)) return { kind: 'table' }
  const status = Number(/^(?:ICY|HTTP\/1\.[01]) (\d{3})/.exec(first)?.[1] ?? 0)
  const refused = (final: boolean, text: string): Answer => ({ kind: 'refused', final, text })
  if (/text\/html/i.test(type) || (status >= 300 && status < 400))
    return refused(false, 'a network login page answers, not a caster')
  if (status === 200) return { kind: 'stream', chunked: /chunked/i.test(headers.get('transfer-encoding') ?? '') }
  if (status === 401) return refused(true, 'the caster does not accept user and password')
  if (status === 403) return refused(true, 'the caster does not let this user in')
  if (status === 404) return refused(true, 'the caster does not know the mount point')
  return refused(false, `the caster refused: ${first.replace(/[^\x20-\x7e]/g, ' ').slice(0, 120)}`)
}

/** The nearest stream of RTCM 3 that has coordinates. */
export function nearestOf(table: string, here: Ecef): { row: StreamRow; distance_m: number } | undefined {
  const rows = parseTable(table)
    .filter(({ format, lat, lon }) => /RTCM ?3/i.test(format) && (lat !== 0 || lon !== 0))
    .map((row) => ({ row, distance_m: distance(here, geodeticToEcef({ lat: row.lat, lon: row.lon, alt: 0 })) }))
  return rows.sort((one, other) => one.distance_m - other.distance_m)[0]
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
