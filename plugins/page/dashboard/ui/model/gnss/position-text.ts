/**
 * A position as people have it: copied from another program, a certificate, a receiver. Pure.
 *
 * NMEA 0183 GGA; `POS X|Y|Z` lines of a CSRS-PPP .sum file (NRCan); otherwise three numbers: latitude, longitude and height in degrees, in
 * degrees and minutes, or in degrees, minutes and seconds, or ECEF metres. Decimal comma or point.
 */

import { geodeticToEcef } from '../../../../../../runtime/lib/gnss/geodesy.js'
import type { Point } from '../../station/messages.js'

export interface ReadPosition {
  readonly kind: 'degrees' | 'ecef' | 'nmea' | 'csrs'
  readonly point: Point
  /** 1 sigma, metres, where the text says it. */
  readonly acc_m?: number
  readonly frame?: string
}
export type PositionTrouble = 'empty' | 'height' | 'unreadable' | 'range' | 'checksum' | 'noFix' | 'tooLong'
export type PositionReading = ReadPosition | { readonly trouble: PositionTrouble }

const mostText = 20_000
/** Distance of any antenna on earth to its centre, metres: the poles are at 6,356,752. */
const nearest_m = 6_330_000
const farthest_m = 6_400_000

export function readPosition(text: string): PositionReading {
  const plain = text.trim()
  if (plain === '') return { trouble: 'empty' }
  if (plain.length > mostText) return { trouble: 'tooLong' }
  return readCsrs(plain) ?? readGga(plain) ?? readNumbers(plain)
}

const isOnEarth = (point: Point) => {
  const away = Math.hypot(point.x, point.y, point.z)
  return away > nearest_m && away < farthest_m
}
const atPlace = (lat: number, lon: number, alt: number): PositionReading =>
  Math.abs(lat) > 90 || Math.abs(lon) > 180 || Math.abs(alt) > 10_000
    ? { trouble: 'range' }
    : { kind: 'degrees', point: geodeticToEcef({ lat, lon, alt }) }

/** `POS X IGS20 21:254:43200 apriori estimate difference sigma95 …`: the estimate, and 95 % as 1 sigma (÷ 1.96). */
function readCsrs(text: string): PositionReading | undefined {
  const rows = ['X', 'Y', 'Z'].map((axis) =>
    text
      .split(/\r?\n/)
      .map((line) => line.trim().split(/\s+/))
      .find((fields) => fields[0] === 'POS' && fields[1] === axis),
  )
  if (!rows.every((row) => row !== undefined)) return undefined
  const [x, y, z] = rows.map((row) => Number(row[5])) as [number, number, number]
  const point = { x, y, z }
  if (!isOnEarth(point)) return { trouble: 'range' }
  const sigmas = rows.map((row) => Number(row[7]) / 1.96)
  const acc_m = Math.hypot(...sigmas)
  const frame = rows[0]?.[2] ?? ''
  return { kind: 'csrs', point, ...(Number.isFinite(acc_m) && acc_m > 0 && { acc_m }), ...(frame && { frame }) }
}

/** NMEA 0183 GGA; the height above the ellipsoid is that above the sea plus that of the sea. */
function readGga(text: string): PositionReading | undefined {
  const found = /\$(..GGA,[^*\r\n]*)(?:\*([0-9a-f]{2}))?/i.exec(text)
  if (!found) return undefined
  const [, body = '', sum] = found
  const own = [...body].reduce((all, one) => all ^ one.charCodeAt(0), 0)
  if (sum !== undefined && Number.parseInt(sum, 16) !== own) return { trouble: 'checksum' }
  const [, , lat = '', north, lon = '', east, quality, , , sea = '', , geoid = ''] = body.split(',')
  if (quality === '0' || lat === '') return { trouble: 'noFix' }
  const angle = (digits: string, degrees: number) =>
    Number(digits.slice(0, degrees)) + Number(digits.slice(degrees)) / 60
  const height = Number(sea) + Number(geoid)
  if (sea === '' || geoid === '') return { trouble: 'height' }
  const read = atPlace(angle(lat, 2) * (north === 'S' ? -1 : 1), angle(lon, 3) * (east === 'W' ? -1 : 1), height)
  if (!('point' in read)) return read
  return Number.isFinite(read.point.x) ? { ...read, kind: 'nmea' } : { trouble: 'unreadable' }
}

/** A comma between digits is a decimal one unless points do that; otherwise it separates. */
function numbersOf(text: string): { value: number; from: number; to: number }[] {
  const hasPoints = /\d\.\d/.test(text)
  const plain = hasPoints ? text.replaceAll(',', ' ') : text.replaceAll(/(\d),(?=\d)/g, '$1.').replaceAll(',', ' ')
  return [...plain.matchAll(/[+\-−]?\d+(?:\.\d+)?/g)].map((one) => ({
    value: Number(one[0].replace('−', '-')),
    from: one.index,
    to: one.index + one[0].length,
  }))
}

/** Degrees, minutes, seconds of one angle: the sign is that of the degrees, or of the letter. */
function angleOf(parts: readonly number[], sign: number): number | undefined {
  const [degrees = 0, minutes = 0, seconds = 0] = parts
  if (minutes < 0 || minutes >= 60 || seconds < 0 || seconds >= 60) return undefined
  const size = Math.abs(degrees) + minutes / 60 + seconds / 3_600
  return size * sign * (degrees < 0 || Object.is(degrees, -0) ? -1 : 1)
}

function readNumbers(text: string): PositionReading {
  const letters = text
    .toUpperCase()
    .replaceAll(/ELLIPSOIDAL|HEIGHT|HÖHE|LATITUDE|LONGITUDE|LAT|LON|ALT|\bECEF\b|\b[XYZ]\b|[=:;()]|\bM\b/g, ' ')
  if (/[^\d\s.,+\-−°º'’′"”″NSWE]/.test(letters)) return { trouble: 'unreadable' }
  const found = numbersOf(letters)
  const values = found.map(({ value }) => value)
  if (values.length === 3 && values.every((value) => Number.isFinite(value))) {
    const [x, y, z] = values as [number, number, number]
    if (isOnEarth({ x, y, z })) return { kind: 'ecef', point: { x, y, z } }
  }
  // 2 or 3 numbers an angle and one for the height; without it one less.
  const perAngle = { 2: 1, 3: 1, 4: 2, 5: 2, 6: 3, 7: 3 }[values.length]
  if (perAngle === undefined) return { trouble: 'unreadable' }
  if (values.length !== 2 * perAngle + 1) return { trouble: 'height' }
  const second = found[perAngle]?.from ?? 0
  // A letter stands before its angle (`N 52°`) or behind it (`52° N`).
  const isBefore = /^\s*[NS]/.test(letters)
  const head = letters.slice(0, isBefore ? found[0]?.from : second)
  const tail = isBefore ? letters.slice(found[perAngle - 1]?.to, second) : letters.slice(second)
  const lat = angleOf(values.slice(0, perAngle), /S/.test(head) ? -1 : 1)
  const lon = angleOf(values.slice(perAngle, 2 * perAngle), /W/.test(tail) ? -1 : 1)
  if (lat === undefined || lon === undefined) return { trouble: 'range' }
  return atPlace(lat, lon, values[2 * perAngle] as number)
}
