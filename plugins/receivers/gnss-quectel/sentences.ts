/**
 * The receiver's own sentences (`PQTM…`), decoded.
 * @see Quectel LG290P & LGx80P GNSS Protocol Specification; each is held against a recording of an LG290P
 */
import { encodeNmea, geodeticToEcef } from 'rtk-base/gnss'
import type { Answer } from 'rtk-base/link'
import type { GpsFix, ReceiverFix, ReceiverIdentity, ReceiverTarget } from 'rtk-base/services'

/** A verified sentence by its commas; the first is its name with the talker: `GNRMC`, `PQTMPVT`. */
export type Sentence = readonly string[]

export function sentenceOf(bytes: Uint8Array): Sentence {
  const text = new TextDecoder('latin1').decode(bytes)
  return text.slice(1, text.lastIndexOf('*')).split(',')
}

/** Without CR and LF the receiver ignores it. */
export const command = (text: string): Uint8Array => encodeNmea(text)

// ── answers ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The codes of the receiver. */
const errors: Readonly<Record<string, string>> = {
  1: 'wrong parameters',
  2: 'it failed',
  3: 'this firmware does not know it',
}

/** The values of an answer to a command, or why it was refused. Undefined: not an answer to it. */
export function answerTo(asked: string, [name, ok, ...values]: Sentence): Answer | undefined {
  const [sent, access, message] = asked.split(',')
  if (name !== sent) return undefined
  if (ok === 'ERROR') return errors[values[0] ?? ''] ?? `error ${values[0]}`
  if (ok !== 'OK') return undefined
  // The rates of other messages are answered by the same name.
  const isOther = sent === 'PQTMCFGMSGRATE' && access === 'R' && values[0] !== message
  return isOther ? undefined : values
}

/** `PQTMVERNO,LG290P03AANR02A01S,2025/12/12,10:05:52`: the module, and the firmware with its date. */
export function versionOf([name, firmware = '', date = '']: Sentence): Partial<ReceiverIdentity> | undefined {
  if (name !== 'PQTMVERNO' || !date.includes('/')) return undefined
  const module = /^(?:LG|LC)\d{2,3}[A-Z]/.exec(firmware)?.[0] ?? firmware
  return { module, firmware: `${firmware} ${date}` }
}

/** `0` rover by its own default, `1` rover, `2` base. */
export const baseMode = '2'

/** @param mode of `PQTMCFGRCVRMODE`, in which a stored position has no effect unless it is the base mode @param svin of `PQTMCFGSVIN` */
export function targetOf(
  mode: string | undefined,
  [kind, , , x, y, z]: readonly (string | undefined)[],
): ReceiverTarget | { mode: 'survey-in' } {
  if (mode !== baseMode) return { mode: 'rover' }
  const arp = { x: Number(x), y: Number(y), z: Number(z) }
  return kind === '2' && Number.isFinite(arp.x + arp.y + arp.z)
    ? { mode: 'fixed', arp, acc_m: 0 }
    : { mode: 'survey-in' }
}

// ── reports ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The end of an epoch, whose sentences came before: `PQTMEOE,1,000950.000,20260930,2438,259808000`; its time of week. */
export function towOf([name, , , , , tow]: Sentence): number | undefined {
  return name === 'PQTMEOE' && /^\d{1,9}$/.test(tow ?? '') ? Number(tow) : undefined
}

/** `PQTMEPE,2,north,east,down,2D,3D`: the error in three dimensions, metres; empty in a base that knows its place. */
export function accuracyOf([name, version, , , , , all]: Sentence): number | undefined {
  const acc_m = Number(all)
  return name === 'PQTMEPE' && version === '2' && acc_m > 0 ? acc_m : undefined
}

const fixes: Readonly<Record<string, GpsFix>> = { 2: '2d', 3: '3d' }
/** Leap seconds are unknown below: a receiver that has no almanac yet says 0. */
const leastLeap_s = 18

/**
 * `PQTMPVT,1,tow,date,time,?,fix,satellites,leap seconds,lat,lon,height above the sea,undulation,velocities…`.
 * @param acc_m by `accuracyOf`
 */
export function fixOf(sentence: Sentence, acc_m: number | undefined, arrival_ms: number): ReceiverFix | undefined {
  const [name, , , date = '', time = '', , kind = '', used, leap] = sentence
  if (name !== 'PQTMPVT') return undefined
  const [lat = Number.NaN, lon = Number.NaN, altMsl_m = Number.NaN, geoidSeparation_m = Number.NaN] = sentence
    .slice(9, 13)
    .map((field) => (field === '' ? Number.NaN : Number(field)))
  const alt = altMsl_m + geoidSeparation_m
  const fix = fixes[kind] ?? 'none'
  const isSolved = fix !== 'none' && Number.isFinite(lat + lon + alt)
  return {
    t: isSolved && Number(leap) >= leastLeap_s ? utcOf(date, time) : 0,
    fix: isSolved ? fix : 'none',
    ok: isSolved,
    position: isSolved ? geodeticToEcef({ lat, lon, alt }) : { x: 0, y: 0, z: 0 },
    ...(isSolved ? { lat, lon, alt } : { lat: 0, lon: 0, alt: 0 }),
    acc_m: (isSolved && acc_m) || Number.POSITIVE_INFINITY,
    geoidSeparation_m: isSolved ? geoidSeparation_m : 0,
    satellitesUsed: Number(used) || 0,
    corrected: false,
    arrival_ms,
  }
}

/** `20260930`, `000950.000` as UTC seconds; 0 if it is no time. */
function utcOf(date: string, time: string): number {
  const [, year = '', month = '', day = ''] = /^(\d{4})(\d\d)(\d\d)$/.exec(date) ?? []
  const [, hours = '', minutes = '', seconds = ''] = /^(\d\d)(\d\d)(\d\d(?:\.\d+)?)$/.exec(time) ?? []
  const utc_ms = Date.UTC(+year, +month - 1, +day, +hours, +minutes) + Number(seconds) * 1000
  return year !== '' && hours !== '' ? utc_ms / 1000 : 0
}
