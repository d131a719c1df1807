/** Values and header lines that both versions of observation files share. */
import type { GpsTime } from 'rtk-base/gnss'
import { calendarOf, commentLines, field, fixed, line, programLine, type StationFacts } from './header.js'
import type { FileContents, Origin, RinexVersion } from './observation-file.js'
import { type SatelliteObservations, type SignalObservation, systemOrder } from './observations.js'

/** `  20123456.789 7`: F14.3, loss-of-lock indicator, blank signal strength. */
export function value(number: number | undefined, lli = 0): string {
  const text = number === undefined || !(Math.abs(number) < 1e10) ? '' : fixed(number, 14, 3)
  if (text.length !== 14) return ' '.repeat(16)
  return `${text}${lli === 0 ? ' ' : lli} `
}

export const lliOf = ({ isBroken, isHalf }: SignalObservation): number => (isBroken ? 1 : 0) + (isHalf ? 2 : 0)

export const byName = (p: SatelliteObservations, q: SatelliteObservations): number =>
  systemOrder.indexOf(p.system) - systemOrder.indexOf(q.system) || p.number - q.number

export const endOfHeader = line('', 'END OF HEADER')

/** The lines that both versions share, before the list of observations. */
export function commonLines(version: RinexVersion, system: string, station: StationFacts, origin: Origin): string[] {
  const { antenna, delta_m, position, receiver } = station
  const { x, y, z } = position ?? { x: 0, y: 0, z: 0 }
  return [
    line(`${version.padStart(9)}${' '.repeat(11)}${'OBSERVATION DATA'.padEnd(20)}${system}`, 'RINEX VERSION / TYPE'),
    programLine(origin.program, origin.by, origin.now_unix_s),
    ...commentLines(station.comments ?? []),
    line(field(station.marker, 60), 'MARKER NAME'),
    ...(station.markerNumber ? [line(field(station.markerNumber, 20), 'MARKER NUMBER')] : []),
    ...(version === '3.05' ? [line('GEODETIC', 'MARKER TYPE')] : []),
    line(`${field(station.observer, 20)}${field(station.agency, 40)}`, 'OBSERVER / AGENCY'),
    line(
      `${field(receiver.serial, 20)}${field(receiver.type, 20)}${field(receiver.firmware, 20)}`,
      'REC # / TYPE / VERS',
    ),
    line(`${field(antenna.serial, 20)}${field(antenna.type, 20)}`, 'ANT # / TYPE'),
    line([x, y, z].map((part) => fixed(part, 14, 4)).join(''), 'APPROX POSITION XYZ'),
    line([delta_m.up, delta_m.east, delta_m.north].map((part) => fixed(part, 14, 4)).join(''), 'ANTENNA: DELTA H/E/N'),
  ]
}

export function timeLine(time: Readonly<GpsTime>, label: string): string {
  const { year, month, day, hour, minute, second } = calendarOf(time)
  const date = [year, month, day, hour, minute].map((part) => String(part).padStart(6)).join('')
  return line(`${date}${fixed(second, 13, 7)}     GPS`, label)
}

export const intervalLines = ({ interval_s }: FileContents): string[] =>
  interval_s === undefined ? [] : [line(fixed(interval_s, 10, 3), 'INTERVAL')]
