/**
 * Messages of the receiver, decoded. Layouts by the Unicore N4 Reference Commands Manual; each is held against a recording of a UM980.
 */
import { geodeticToEcef, gpsToUnix } from 'rtk-base/gnss'
import type { Answer } from 'rtk-base/link'
import type {
  ConstellationName,
  GpsFix,
  ReceiverFix,
  ReceiverTarget,
  Satellite,
  SatelliteSignal,
} from 'rtk-base/services'
import type { Log } from './framing.js'

export const bestNav = 2118
export const recTime = 102
export const satsInfo = 2124
export const bestSat = 1041

// ── lines ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The answer to a command, which has no values. Undefined: the line is no answer to this command. */
export function answerTo(asked: string, line: string): Answer | undefined {
  const [, command, answer] = /^\$command,(.*),response: ?(.*)$/.exec(line) ?? []
  if (command?.toUpperCase() !== asked.toUpperCase()) return undefined
  return answer === 'OK' ? [] : answer || 'it failed'
}

/** A restart ends with `$devicename,COM3*65`. */
export const isGreeting = (line: string): boolean => line.startsWith('$devicename,')

export interface Version {
  readonly module: string
  readonly firmware: string
  readonly hardware: string
  readonly serial: string
}

/** `#VERSIONA,…;"UM980","R4.10Build11833","HRPT00-S10C-P","2310415000001-…","ff3b…","2023/11/24"`. */
export function versionOf(line: string): Version | undefined {
  const [, fields] = /^#VERSIONA,[^;]*;(.*)$/.exec(line) ?? []
  if (fields === undefined) return undefined
  const [module = '', firmware = '', , serial = '', hardware = ''] = fields
    .split(',')
    .map((field) => field.replaceAll('"', ''))
  return { module, firmware, hardware, serial }
}

/** Mode that `MODE` answers; a base that this driver did not make is as one that surveys. Undefined: the line is something else. */
export function modeOf(line: string): ReceiverTarget | { mode: 'survey-in' } | undefined {
  const [, mode, words = ''] = /^#MODE,[^;]*;MODE (ROVER|BASE|HEADING2?|MOVINGBASE)\b([^,]*)/.exec(line) ?? []
  if (mode === undefined) return undefined
  if (mode !== 'BASE') return { mode: 'rover' }
  const numbers = words.trim().split(/\s+/).map(Number)
  const [first = Number.NaN, second = Number.NaN, third = Number.NaN] = numbers.slice(-3)
  if (words.includes('TIME') || !Number.isFinite(first + second + third)) return { mode: 'survey-in' }
  // In degrees: its height may be one above the sea.
  if (Math.hypot(first, second, third) < 1e6) return { mode: 'survey-in' }
  return { mode: 'fixed', arp: { x: first, y: second, z: third }, acc_m: 0 }
}

/** The value of a line of `CONFIG`, such as `2` of `$CONFIG,SIGNALGROUP,CONFIG SIGNALGROUP 2`. */
export function configOf(name: string, line: string): string | undefined {
  const [, setting, value] = /^\$CONFIG,([^,]*),(?:CONFIG )?\S+ ?(.*)$/.exec(line) ?? []
  return setting === name ? value : undefined
}

// ── logs ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Position types of BESTNAV, as in NovAtel's BESTPOS. */
const fixes: Readonly<Record<number, GpsFix>> = {
  1: 'time',
  ...{ 16: '3d', 17: '3d', 18: '3d', 68: '3d', 69: '3d' },
  ...{ 32: 'rtk-float', 33: 'rtk-float', 34: 'rtk-float' },
  ...{ 48: 'rtk-fixed', 49: 'rtk-fixed', 50: 'rtk-fixed' },
}
const single = 16
const sbas = 18

/** BESTNAV; the height is above mean sea level, and the undulation beside it. */
export function fixOf({ body, time, leap_s }: Log, arrival_ms: number): ReceiverFix | undefined {
  if (body.byteLength < 72) return undefined
  const type = body.getUint32(4, true)
  const geoidSeparation_m = body.getFloat32(32, true)
  const [lat, lon] = [body.getFloat64(8, true), body.getFloat64(16, true)]
  const alt = body.getFloat64(24, true) + geoidSeparation_m
  const deviations_m = [40, 44, 48].map((at) => body.getFloat32(at, true))
  const fix = fixes[type] ?? 'none'
  const isSolved = body.getUint32(0, true) === 0 && fix !== 'none' && Number.isFinite(lat + lon + alt)
  const acc_m = Math.hypot(...deviations_m)
  return {
    t: time && leap_s > 0 ? gpsToUnix({ week: time.week, tow_s: time.tow_ms / 1000 }, leap_s) : 0,
    fix: isSolved ? fix : 'none',
    ok: isSolved,
    position: isSolved ? geodeticToEcef({ lat, lon, alt }) : { x: 0, y: 0, z: 0 },
    ...(isSolved ? { lat, lon, alt } : { lat: 0, lon: 0, alt: 0 }),
    acc_m: isSolved && acc_m > 0 ? acc_m : Number.POSITIVE_INFINITY,
    geoidSeparation_m: isSolved ? geoidSeparation_m : 0,
    satellitesUsed: body.getUint8(65),
    corrected: isSolved && type > single,
    ...(type === sbas ? { sbas: true } : {}),
    arrival_ms,
  }
}

/** RECTIME: UTC seconds once date and leap seconds are known. */
export function utcOf({ body }: Log): number | undefined {
  if (body.byteLength < 44) return undefined
  const isValid = body.getUint32(0, true) === 0 && body.getUint32(40, true) === 1
  if (!isValid) return undefined
  const [month = 1, day = 1, hour = 0, minute = 0] = [32, 33, 34, 35].map((at) => body.getUint8(at))
  const utc_s = (Date.UTC(body.getUint32(28, true), month - 1, day, hour, minute) + body.getUint32(36, true)) / 1000
  return Number.isFinite(utc_s) ? utc_s : undefined
}

const firstGlonass = 38
/** By the system of SATSINFO: a name, the first number in the field's own count, and its signals. */
const systems: readonly { name: ConstellationName; first: number; signals: Readonly<Record<number, string>> }[] = [
  { name: 'gps', first: 1, signals: { 0: 'L1', 3: 'L1', 6: 'L5', 9: 'L2', 11: 'L1', 14: 'L5', 17: 'L2' } },
  { name: 'glonass', first: firstGlonass, signals: { 0: 'L1', 5: 'L2' } },
  { name: 'sbas', first: 120, signals: { 0: 'L1', 6: 'L5' } },
  { name: 'galileo', first: 1, signals: { 1: 'E1', 2: 'E1', 12: 'E5a', 17: 'E5b', 18: 'E6', 22: 'E6' } },
  {
    name: 'beidou',
    first: 1,
    signals: {
      ...{ 0: 'B1I', 5: 'B2I', 6: 'B3I', 8: 'B1C', 12: 'B2a', 13: 'B2b' },
      ...{ 17: 'B2I', 21: 'B3I', 23: 'B1C', 28: 'B2a' },
    },
  },
  { name: 'qzss', first: 193, signals: { 0: 'L1', 3: 'L1', 6: 'L5', 9: 'L2', 11: 'L1', 14: 'L5', 17: 'L2' } },
]

/** GLONASS satellites are counted from 38, those of the others as everywhere. */
const numberOf = (name: ConstellationName, number: number) => (name === 'glonass' ? number - firstGlonass + 1 : number)
const keyOf = ({ constellation, satellite }: Pick<Satellite, 'constellation' | 'satellite'>) =>
  `${constellation} ${satellite}`

/** By the system of BESTSAT. */
const namesOfBestSat: Readonly<Record<number, ConstellationName>> = {
  ...{ 0: 'gps', 1: 'glonass', 2: 'sbas', 5: 'galileo', 6: 'beidou', 7: 'qzss' },
}

/** BESTSAT: the satellites in the position, 16 bytes each: system, channel of GLONASS and number (u16 each), status (0 is good), signals. */
export function usedSatellitesOf({ body }: Log): Set<string> {
  const used = new Set<string>()
  for (let at = 4; at + 16 <= body.byteLength; at += 16) {
    const constellation = namesOfBestSat[body.getUint32(at, true)]
    const number = body.getUint16(at + 6, true)
    const isGood = body.getUint32(at + 8, true) === 0 && body.getUint32(at + 12, true) !== 0
    if (constellation && isGood) used.add(keyOf({ constellation, satellite: numberOf(constellation, number) }))
  }
  return used
}

/**
 * SATSINFO: 6 bytes with the number of satellites first, then for each its number, azimuth (u16) and elevation, and for each of its
 * signals 4 bytes: system, C/N0, signal, how many signals the satellite has.
 * @param used by `usedSatellitesOf`
 */
export function satellitesOf({ body }: Log, used: ReadonlySet<string>): Satellite[] {
  const satellites: Satellite[] = []
  let at = 6
  for (let left = body.byteLength > 0 ? body.getUint8(0) : 0; left > 0 && at + 8 <= body.byteLength; left--) {
    const [number, azimuth_deg, elevation_deg] = [
      body.getUint8(at),
      body.getUint16(at + 1, true),
      body.getUint8(at + 3),
    ]
    const count = body.getUint8(at + 7)
    const system = systems[body.getUint8(at + 4)]
    at += 4
    if (count === 0 || at + 4 * count > body.byteLength) break
    const signals: SatelliteSignal[] = []
    for (const end = at + 4 * count; at < end; at += 4) {
      const cno_dbhz = body.getUint8(at + 1)
      const id = body.getUint8(at + 2)
      const signal = system?.signals[id] ?? `signal ${id}`
      signals.push({ signal, cno_dbhz, residual_m: Number.NaN, locked: cno_dbhz > 0, used: false })
    }
    if (!system || number < system.first) continue
    const satellite = { constellation: system.name, satellite: numberOf(system.name, number) }
    const isPlaced = elevation_deg <= 90 && azimuth_deg <= 360
    const cno_dbhz = Math.max(...signals.map((signal) => signal.cno_dbhz))
    satellites.push({
      ...satellite,
      ...(isPlaced ? { azimuth_deg, elevation_deg } : { azimuth_deg: undefined, elevation_deg: undefined }),
      ...{ cno_dbhz, locked: cno_dbhz > 0, used: used.has(keyOf(satellite)), signals },
    })
  }
  return satellites
}
