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

/**
 * Reads a GGA sentence of any talker; undefined when it is another sentence. The checksum, and the fields after the quality, may be
 * missing.
 */
export function decodeGga(sentence: Uint8Array): Gga | undefined {
  const text = new TextDecoder('latin1').decode(sentence)
  const star = text.lastIndexOf('*')
  const fields = text
    .slice(1, star < 0 ? undefined : star)
    .trimEnd()
    .split(',')
  if (fields.length < 7 || !/^..GGA$/.test(fields[0])) return undefined
  const [, time, lat, north, lon, east, quality, used = '', hdop = '', alt = ''] = fields
  const [separation = '', , age = '', station = ''] = fields.slice(11)
  return {
    time,
    lat: degrees(lat, north, 'NS', 90),
    lon: degrees(lon, east, 'EW', 180),
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

/**
 * `dddmm.mmmm`: the last two digits before the point are minutes.
 * @param letters of the positive and of the negative side
 */
function degrees(field: string, letter: string, letters: string, most: number): number | undefined {
  const value = number(field)
  const side = letter.length === 1 ? letters.indexOf(letter.toUpperCase()) : -1
  if (value === undefined || side < 0) return undefined
  const whole = Math.trunc(value / 100)
  const minutes = value - whole * 100
  const angle = whole + minutes / 60
  // Some write whole degrees with 60 minutes.
  if (!(angle >= 0 && angle <= most && minutes <= 60)) return undefined
  return side === 1 ? -angle : angle
}
