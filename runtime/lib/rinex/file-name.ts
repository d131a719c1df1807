import { type GpsTime, gpsSeconds } from 'rtk-base/gnss'
import { calendarOf } from './header.js'
import type { FileContents, RinexVersion } from './observation-file.js'

const periods: readonly (readonly [unit: string, seconds: number])[] = [
  ['D', 86_400],
  ['H', 3_600],
  ['M', 60],
]

/** The marker as names have it: letters and digits. */
const letters = (marker: string) => marker.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')

/**
 * The name of a file by the rules of the version (RINEX 3.05, table A1; 2.11, section 4): `ROOF00XXX_R_20263311700_01H_30S_MO.rnx`,
 * `roof331r.26o`.
 * @param country three letters; `XXX`: unknown
 */
export function rinexName(
  version: RinexVersion,
  kind: 'observations' | 'navigation',
  marker: string,
  { codes, first, interval_s, last }: FileContents,
  country = 'XXX',
): string {
  const name = letters(marker)
  const { day, hour, minute, month, year } = calendarOf(first)
  const ordinal = String((Date.UTC(year, month - 1, day) - Date.UTC(year, 0, 0)) / 86_400_000).padStart(3, '0')
  const two = (value: number) => String(value).padStart(2, '0')
  // Navigation data are always of version 3.
  if (version === '2.11' && kind === 'observations') {
    const hourLetter = span_s(first, last) > 3_600 ? '0' : String.fromCharCode(97 + hour)
    return `${name.slice(0, 4).padEnd(4, '0').toLowerCase()}${ordinal}${hourLetter}.${two(year % 100)}o`
  }
  const station = `${name.slice(0, 4).padEnd(4, '0')}00${country}`
  const start = `${year}${ordinal}${two(hour)}${two(minute)}`
  const system = codes.size === 1 ? [...codes.keys()][0] : 'M'
  const span = span_s(first, last) + (interval_s ?? 0)
  const [unit, seconds] = periods.find(([, seconds]) => span >= seconds * 0.99) ?? ['M', 60]
  const length = `${two(Math.min(99, Math.max(1, Math.round(span / seconds))))}${unit}`
  if (kind === 'navigation') return `${station}_R_${start}_${length}_${system}N.rnx`
  return `${station}_R_${start}_${length}_${rate(interval_s)}_${system}O.rnx`
}

const span_s = (first: Readonly<GpsTime>, last: Readonly<GpsTime>) => gpsSeconds(last) - gpsSeconds(first)

/** `30S`, `10Z` (hertz), `05M`; `00U`: not known. */
function rate(interval_s: number | undefined): string {
  if (interval_s === undefined) return '00U'
  const two = (value: number) => String(Math.round(value)).padStart(2, '0')
  if (interval_s < 1) return `${two(1 / interval_s)}Z`
  return interval_s < 100 ? `${two(interval_s)}S` : `${two(interval_s / 60)}M`
}
