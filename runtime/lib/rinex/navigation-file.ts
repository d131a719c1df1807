/** The text of a RINEX navigation file (RINEX 3.05, tables A5 to A14) from ephemeris messages of RTCM. */

import type { Ephemeris, KeplerEphemeris } from 'rtk-base/gnss'
import { decodeEphemeris, isEphemeris, messageNumber, secondsPerWeek } from 'rtk-base/gnss'
import { type EphemerisLayouts, type EphemerisMessage, ephemerisLayouts } from '../gnss/orbits/layouts.js'
import { BitReader } from '../gnss/rtcm/bits.js'
import { readFields, type Values } from '../gnss/rtcm/layout.js'
import { calendarOf, fixed, line, programLine } from './header.js'
import type { Origin } from './observation-file.js'
import { type SystemLetter, satelliteName } from './observations.js'

type Fields = { [T in EphemerisMessage]: Values<EphemerisLayouts[T]> & { readonly type: T } }[EphemerisMessage]

/** An ephemeris with all fields of its message. */
export interface NavigationRecord {
  readonly type: EphemerisMessage
  readonly ephemeris: Ephemeris
  readonly fields: Fields
}

/**
 * The ephemeris of a frame; undefined if the frame is not an ephemeris message.
 * @param frame whole verified RTCM frame of any type
 * @param leap_s GPS − UTC
 * @param now_s the current time within a few hours, `gpsSeconds`
 */
export function navigationRecord(frame: Uint8Array, now_s: number, leap_s: number): NavigationRecord | undefined {
  const type = messageNumber(frame)
  const ephemeris = isEphemeris(type) ? decodeEphemeris(frame, now_s, leap_s) : undefined
  if (!ephemeris) return undefined
  const message = type as EphemerisMessage
  const reader = new BitReader(frame, 3, frame.length - 3)
  reader.uint(12)
  const fields = { type: message, ...readFields(reader, ephemerisLayouts[message]) } as Fields
  return { type: message, ephemeris, fields }
}

/** Records of one satellite and one issue are one. */
export function recordId({ ephemeris: { constellation, issue, satellite, toe_s }, type }: NavigationRecord): string {
  return `${constellation} ${satellite} ${type} ${toe_s} ${issue}`
}

/** Accuracy indices in metres (IS-GPS-200, 20.3.3.3.1.3), for GPS, QZSS and BeiDou. */
const accuracies_m = [2, 2.8, 4, 5.7, 8, 11.3, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]
/** SISA in metres (Galileo OS SIS ICD 2.1, table 89); −1: no prediction. */
function sisa_m(index: number): number {
  if (index < 50) return index * 0.01
  if (index < 75) return 0.5 + (index - 50) * 0.02
  if (index < 100) return 1 + (index - 75) * 0.04
  return index <= 125 ? 2 + (index - 100) * 0.16 : -1
}

const letters: Readonly<Record<Ephemeris['constellation'], SystemLetter>> = {
  GPS: 'G',
  GLONASS: 'R',
  Galileo: 'E',
  BeiDou: 'C',
  QZSS: 'J',
}

/** D19.12, four in a line. */
function exponent(value: number): string {
  const text = value
    .toExponential(12)
    .replace(/e([+-])(\d)$/, 'e$10$2')
    .replace('e', 'E')
  return text.padStart(19)
}
const orbit = (...values: readonly number[]) => `    ${values.map(exponent).join('')}`

/** BeiDou time, 14 s behind GPS, is that of its records. */
const beidouOffset_s = 14
/** Weeks of BeiDou begin 1356 weeks after those of GPS. */
const beidouWeeks = 1356

function epochText(time_s: number): string {
  const { year, month, day, hour, minute, second } = calendarOf({ week: 0, tow_s: Math.round(time_s) })
  return `${year}${[month, day, hour, minute, second].map((part) => ` ${String(part).padStart(2, '0')}`).join('')}`
}

/** The lines of one record. */
export function recordText({ ephemeris, fields }: NavigationRecord, leap_s: number): string {
  const name = satelliteName(letters[ephemeris.constellation], ephemeris.satellite)
  if (ephemeris.constellation === 'GLONASS') {
    if (fields.type !== 1020) return ''
    const { position_m: p, velocity_mps: v, acceleration_mps2: a } = ephemeris
    // Of the day of week, UTC; the message counts the hours, minutes and halves of them of the Moscow day.
    const { frameTime } = fields
    const moscow_s = (frameTime >> 7) * 3600 + ((frameTime >> 1) & 63) * 60 + (frameTime & 1) * 30
    const utc_s = ephemeris.toe_s - leap_s
    const week_s = Math.floor(utc_s / secondsPerWeek) * secondsPerWeek
    const day_s = Math.floor((utc_s - week_s + 10_800) / 86_400) * 86_400
    const frame_s = day_s + moscow_s - 10_800
    const status =
      fields.m * 128 + (fields.p4 ? 64 : 0) + (fields.p3 ? 32 : 0) + (fields.p2 ? 16 : 0) + fields.p1 * 4 + fields.p
    return [
      `${name} ${epochText(utc_s)}${[-ephemeris.tau_s, ephemeris.gamma, (frame_s + secondsPerWeek) % secondsPerWeek].map(exponent).join('')}`,
      orbit(p.x / 1000, v.x / 1000, a.x / 1000, fields.unhealthy ? 1 : 0),
      orbit(p.y / 1000, v.y / 1000, a.y / 1000, ephemeris.channel),
      orbit(p.z / 1000, v.z / 1000, a.z / 1000, fields.age_days),
      orbit(status, fields.deltaTau_s, fields.accuracy, fields.ln ? 4 : 0),
    ].join('\n')
  }
  return keplerLines(name, ephemeris, fields).join('\n')
}

function keplerLines(name: string, e: KeplerEphemeris, fields: Fields): string[] {
  const isBeidou = e.constellation === 'BeiDou'
  const offset_s = isBeidou ? beidouOffset_s : 0
  const week = Math.floor((e.toe_s - offset_s) / secondsPerWeek)
  const tow_s = e.toe_s - offset_s - week * secondsPerWeek
  const tail = tailOf(fields)
  const shownWeek = isBeidou ? week - beidouWeeks : week
  return [
    `${name} ${epochText(e.toc_s - offset_s)}${[e.af0_s, e.af1_sps, e.af2_sps2].map(exponent).join('')}`,
    orbit(e.issue, e.crs_m, e.deltaN_radps, e.m0_rad),
    orbit(e.cuc_rad, e.e, e.cus_rad, e.sqrtA),
    orbit(tow_s, e.cic_rad, e.omega0_rad, e.cis_rad),
    orbit(e.i0_rad, e.crc_m, e.omega_rad, e.omegaDot_radps),
    orbit(e.idot_radps, tail.source, shownWeek, tail.l2p),
    orbit(tail.accuracy_m, tail.health, tail.delay_s, tail.last),
    orbit(unknownTime_s, tail.fit),
  ]
}

/** When the message was sent is not in it (RINEX 3.05, table A6). */
const unknownTime_s = 0.9999e9

/** The part of a record that differs by system. */
function tailOf(fields: Fields) {
  switch (fields.type) {
    case 1042:
      return {
        ...{ source: 0, l2p: 0, accuracy_m: accuracies_m[fields.accuracy] ?? 8192, health: fields.health },
        ...{ delay_s: fields.groupDelay1_ns * 1e-9, last: fields.groupDelay2_ns * 1e-9, fit: fields.clockIssue },
      }
    case 1045:
      // F/NAV of E5a: its clock is for E5a and E1.
      return {
        ...{ source: 258, l2p: 0, accuracy_m: sisa_m(fields.accuracy), delay_s: fields.groupDelayE5a_s },
        // Health status, then validity, of E5a; in the record validity stands below status.
        ...{ health: ((fields.health >> 1) << 4) + ((fields.health & 1) << 3), last: 0, fit: 0 },
      }
    case 1046: {
      const { health } = fields
      const e5b = (((health >> 4) & 3) << 7) + (((health >> 3) & 1) << 6)
      const e1 = (((health >> 1) & 3) << 1) + (health & 1)
      return {
        ...{ source: 517, l2p: 0, accuracy_m: sisa_m(fields.accuracy), health: e5b + e1 },
        ...{ delay_s: fields.groupDelayE5a_s, last: fields.groupDelayE5b_s, fit: 0 },
      }
    }
    case 1019:
    case 1044: {
      // QZSS has no L2 P.
      const isL2pOff = fields.type === 1044 || fields.l2pOff
      return {
        ...{ source: fields.codeOnL2, l2p: isL2pOff ? 1 : 0, health: fields.health },
        ...{ accuracy_m: accuracies_m[fields.accuracy] ?? 8192, delay_s: fields.groupDelay_s, last: fields.clockIssue },
        // GPS: 4 h, or more than that; QZSS: a flag.
        fit: fields.type === 1019 ? (fields.longFit ? 6 : 4) : fields.longFit ? 1 : 0,
      }
    }
    default:
      throw new Error(`${fields.type} has no Keplerian elements`)
  }
}

const recordsInPart = 50

/** A navigation file of all systems, in pieces. */
export function* navigationParts(
  records: readonly NavigationRecord[],
  origin: Origin,
  leap_s: number,
): Generator<string> {
  const sorted = records.toSorted(
    (p, q) => p.ephemeris.toe_s - q.ephemeris.toe_s || (recordId(p) < recordId(q) ? -1 : 1),
  )
  const systems = new Set(records.map(({ ephemeris }) => letters[ephemeris.constellation]))
  const [only = 'G'] = systems
  const header = [
    line(
      `${fixed(3.05, 9, 2)}${' '.repeat(11)}${'N: GNSS NAV DATA'.padEnd(20)}${systems.size === 1 ? only : 'M'}`,
      'RINEX VERSION / TYPE',
    ),
    programLine(origin.program, origin.by, origin.now_unix_s),
    line(String(leap_s).padStart(6), 'LEAP SECONDS'),
    line('', 'END OF HEADER'),
  ]
  yield `${header.join('\n')}\n`
  for (let at = 0; at < sorted.length; at += recordsInPart) {
    const part = sorted.slice(at, at + recordsInPart).map((record) => recordText(record, leap_s))
    yield `${part.join('\n')}\n`
  }
}
