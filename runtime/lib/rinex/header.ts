/** Header lines of RINEX files (RINEX 3.05, tables A2 and A5; 2.11, tables A1 and A3). */
import { type GpsTime, gpsEpoch_unix_s, secondsPerWeek } from 'rtk-base/gnss'

/** Facts about a station that are not in its observations. All texts are ASCII; longer texts are cut off. */
export interface StationFacts {
  /** Up to 60 characters; the first four begin the name of the file. */
  readonly marker: string
  readonly markerNumber?: string
  readonly observer?: string
  readonly agency?: string
  readonly receiver: { readonly serial?: string; readonly type: string; readonly firmware?: string }
  /** `type`: the 20 characters of the IGS code, model and radome. */
  readonly antenna: { readonly serial?: string; readonly type: string }
  /** Offset of the antenna reference point from the marker, metres. */
  readonly delta_m: { readonly up: number; readonly east: number; readonly north: number }
  /** Position of the marker, ECEF metres. */
  readonly position?: { readonly x: number; readonly y: number; readonly z: number }
  readonly comments?: readonly string[]
}

/** A header line: 60 columns and its label. */
export function line(content: string, label: string): string {
  return `${content.slice(0, 60).padEnd(60)}${label}`.trimEnd()
}

/** Characters that others than readers of ASCII would stumble at become `?`. */
export const ascii = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?')

/** A text in so many columns. */
export const field = (text: string | undefined, width: number): string =>
  ascii(text ?? '')
    .slice(0, width)
    .padEnd(width)

/** A number as Fortran's Fw.d. */
export const fixed = (value: number, width: number, digits: number): string => value.toFixed(digits).padStart(width)

/** Calendar fields of a time in its own scale, without leap seconds. */
export interface Calendar {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/** To 0.1 µs: a time that rounds up to 60 s is of the next minute. */
export function calendarOf({ tow_s, week }: Readonly<GpsTime>): Calendar {
  const ticks = Math.round(tow_s * 1e7)
  const whole = Math.floor(ticks / 1e7)
  const date = new Date((week * secondsPerWeek + whole + gpsEpoch_unix_s) * 1000)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds() + (ticks - whole * 1e7) / 1e7,
  }
}

const two = (value: number) => String(value).padStart(2, '0')

/** @param now_unix_s when the file is made */
export function programLine(program: string, by: string, now_unix_s: number): string {
  const date = new Date(now_unix_s * 1000)
  const day = `${date.getUTCFullYear()}${two(date.getUTCMonth() + 1)}${two(date.getUTCDate())}`
  const time = `${two(date.getUTCHours())}${two(date.getUTCMinutes())}${two(date.getUTCSeconds())}`
  return line(`${field(program, 20)}${field(by, 20)}${day} ${time} UTC`, 'PGM / RUN BY / DATE')
}

/** Long comments in as many lines as they need. */
export function commentLines(comments: readonly string[]): string[] {
  return comments.flatMap((comment) =>
    (ascii(comment).match(/.{1,60}(?:\s|$)|.{60}/g) ?? []).map((part) => line(part.trim(), 'COMMENT')),
  )
}
