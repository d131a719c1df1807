/** NMEA 0183: the sentence frame and GGA. */

/** The fields of GGA. Numbers left empty in the sentence are undefined. */
export interface Gga {
  /** `hhmmss.ss`, as transmitted. */
  time: string
  /** Degrees, south and west negative. */
  lat: number | undefined
  lon: number | undefined
  /** 0 none, 1 GPS, 2 differential, 4 RTK fixed, 5 RTK float, 6 dead reckoning, 7 manual. */
  quality: number
  satellitesUsed: number | undefined
  hdop: number | undefined
  /** Height above mean sea level, metres. The sum of this and `geoidSeparation_m` is the ellipsoidal height. */
  altMsl_m: number | undefined
  geoidSeparation_m: number | undefined
  correctionAge_s: number | undefined
  correctionStation: string
}

/** Reads a verified GGA sentence of any talker; undefined when it is another sentence. */
export function decodeGga(sentence: Uint8Array): Gga | undefined {
  const text = new TextDecoder('latin1').decode(sentence)
  const fields = text.slice(1, text.lastIndexOf('*')).split(',')
  if (fields.length < 15 || !/^..GGA$/.test(fields[0])) return undefined
  const [, time, lat, north, lon, east, quality, used, hdop, alt, , separation, , age, station] = fields
  return {
    time,
    lat: degrees(lat, north === 'S', 90),
    lon: degrees(lon, east === 'W', 180),
    quality: number(quality) ?? 0,
    satellitesUsed: number(used),
    hdop: number(hdop),
    altMsl_m: number(alt),
    geoidSeparation_m: number(separation),
    correctionAge_s: number(age),
    correctionStation: station,
  }
}

/** A whole sentence. @param body without `$`, checksum and line end, e.g. `GNGGA,…` */
export function encodeNmea(body: string): Uint8Array {
  let xor = 0
  for (let i = 0; i < body.length; i++) xor ^= body.charCodeAt(i)
  return new TextEncoder().encode(`$${body}*${xor.toString(16).toUpperCase().padStart(2, '0')}\r\n`)
}

/** Digits with a sign and a point, as NMEA has them: `1e306` is none. */
function number(field: string): number | undefined {
  return /^[+-]?\d{1,15}(\.\d{1,15})?$/.test(field) ? Number(field) : undefined
}

/** `dddmm.mmmm`: the last two digits before the point are minutes. */
function degrees(field: string, negative: boolean, most: number): number | undefined {
  const value = number(field)
  if (value === undefined) return undefined
  const whole = Math.trunc(value / 100)
  const angle = whole + (value - whole * 100) / 60
  if (!(angle >= 0 && angle <= most)) return undefined
  return negative ? -angle : angle
}
