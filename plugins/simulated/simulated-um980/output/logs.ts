/** The logs of a UM980, field by field: one list makes the binary and the text (recorded; text of BESTNAV, RECTIME: assumed). */
import { ecefToGeodetic } from 'rtk-base/gnss'
import { type Epoch, glonassChannel, type PvtSolution, type Track } from 'rtk-base/simulation'
import { logOrder, namesOf, signalsOf } from '../sky.js'

import { asciiLog, binaryLog, type LogTime } from './frames.js'

/** Inputs of the logs of an epoch. */
export interface LogInput {
  readonly time: LogTime
  readonly epoch: Epoch
  readonly solution: PvtSolution
  readonly undulation_m: number
  readonly mask_deg: number
  readonly fixed: boolean
}

const sizes = { u8: 1, u16: 2, u32: 4, f32: 4, f64: 8 } as const
type Kind = keyof typeof sizes
/** One field: a number with its binary form and its text, or characters. What is not sent is not made. */
type Field =
  | { readonly kind: Kind; readonly value: number; readonly text: number | string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly text: string }

/** @param text digits behind the point, or the text itself */
const field = (kind: Kind, value: number, text: number | string = 0): Field => ({ kind, value, text })
const hex = (value: number): Field => field('u8', value, value.toString(16).padStart(2, '0'))
const chars = (value: string, size: number): Field & { kind: 'bytes' } => {
  const bytes = Buffer.alloc(size)
  bytes.write(value, 'latin1')
  return { kind: 'bytes', bytes, text: `"${value}"` }
}

function bytesOf(fields: readonly Field[]): Uint8Array {
  const size = (one: Field) => (one.kind === 'bytes' ? one.bytes.length : sizes[one.kind])
  const body = new Uint8Array(fields.reduce((sum, one) => sum + size(one), 0))
  const view = new DataView(body.buffer)
  let at = 0
  for (const one of fields) {
    if (one.kind === 'bytes') body.set(one.bytes, at)
    else if (one.kind === 'u8') view.setUint8(at, one.value)
    else if (one.kind === 'u16') view.setUint16(at, one.value, true)
    else if (one.kind === 'u32') view.setUint32(at, one.value, true)
    else if (one.kind === 'f32') view.setFloat32(at, one.value, true)
    else view.setFloat64(at, one.value, true)
    at += size(one)
  }
  return body
}

const textOf = (one: Field): string =>
  one.kind === 'bytes' || typeof one.text === 'string' ? String(one.text) : one.value.toFixed(one.text)

interface Log {
  readonly id: number
  readonly delay_ms: number
  fields(input: LogInput): Field[]
  /** Whether its text is known too. */
  readonly text?: boolean
}

const serial = '2310415000001-MD22A2225023982'

export const logs: Readonly<Record<string, Log>> = {
  VERSION: {
    id: 37,
    delay_ms: 609,
    text: true,
    fields: () => [
      field('u32', 18, '"UM980"'),
      { ...chars('17548', 33), text: '"R4.10Build17548"' },
      chars('HRPT00-S10C-P', 129),
      chars(serial, 66),
      chars('ff3b71969a9df69d', 33),
      chars('2024/12/23', 43),
    ],
  },
  BESTNAV: { id: 2118, delay_ms: 19, text: true, fields: bestNav },
  RECTIME: { id: 102, delay_ms: 20, text: true, fields: recTime },
  STADOP: { id: 954, delay_ms: 19, fields: staDop },
  SATSINFO: { id: 2124, delay_ms: 20, fields: satsInfo },
  BESTSAT: { id: 1041, delay_ms: 20, fields: bestSat },
}

/** The log of this name, with its `A` or `B`; undefined for one that is not simulated. */
export function logBytes(name: string, input: LogInput): Uint8Array | undefined {
  const log = logs[name.slice(0, -1)]
  if (!log) return undefined
  const fields = log.fields(input)
  if (name.endsWith('B')) {
    return binaryLog(log.id, input.time, log.delay_ms, bytesOf(fields))
  }
  if (!log.text) return undefined
  return Buffer.from(asciiLog(name, input.time, log.delay_ms, fields.map(textOf).join(',')))
}

const single = field('u32', 16, 'SINGLE')
const fixedPosition = field('u32', 1, 'FIXEDPOS')

function bestNav({ solution, undulation_m, epoch, fixed }: LogInput): Field[] {
  const { position, used, sigma_m } = solution
  const place = position && ecefToGeodetic(position)
  const state = place ? field('u32', 0, 'SOL_COMPUTED') : field('u32', 1, 'INSUFFICIENT_OBS')
  const none = field('u32', 0, 'NONE')
  const deviation = (value: number) => field('f32', place && !fixed ? value : 0, 4)
  const type = fixed ? fixedPosition : single
  return [
    state,
    place ? type : none,
    field('f64', place?.lat ?? 0, 11),
    field('f64', place?.lon ?? 0, 11),
    field('f64', place ? place.alt - undulation_m : -17, 4),
    field('f32', place ? undulation_m : 17, 4),
    field('u32', 61, 'WGS84'),
    ...[sigma_m.north, sigma_m.east, sigma_m.up].map(deviation),
    { kind: 'bytes', bytes: new Uint8Array(4), text: '"0"' },
    field('f32', 0, 3),
    field('f32', 1, 3),
    field('u8', epoch.tracks.length),
    ...[used.length, used.length, 0].map((count) => field('u8', count)),
    field('u8', 1),
    ...[0x12, 0x11, 0x51].map((value) => hex(place ? value : 0)),
    state,
    place ? field('u32', 8, 'DOPPLER_VELOCITY') : none,
    field('f32', 0, 3),
    field('f32', 0, 3),
    field('f64', place ? 0.004 : 0, 4),
    field('f64', place ? 90 : 0, 6),
    field('f64', 0, 4),
    deviation(0.0228),
    deviation(0.0162),
  ]
}

function recTime({ time, epoch }: LogInput): Field[] {
  const known = time.week !== undefined
  const at = new Date(epoch.utc_ms)
  const calendar = [at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes()]
  return [
    known ? field('u32', 0, 'VALID') : field('u32', 3, 'INVALID'),
    field('f64', known ? -epoch.clock_m / 299_792_458 : 0, 12),
    field('f64', known ? 1.7e-8 : 0, 12),
    field('f64', -18, 9),
    field('u32', known ? at.getUTCFullYear() : 0),
    ...calendar.map((value) => field('u8', known ? value : 0)),
    field('u32', known ? at.getUTCSeconds() * 1000 + at.getUTCMilliseconds() : 0),
    known ? field('u32', 1, 'VALID') : field('u32', 2, 'INVALID'),
  ]
}

function staDop({ time, solution: { used, position }, mask_deg }: LogInput): Field[] {
  const dop = position ? 0.55 + 12 / Math.max(8, used.length) : 9999
  const parts = position ? [1.21, 1, 0.69, 0.8, 0.6, 0.41, 0.43] : [1, 1, 1, 1, 1, 1, 1]
  return [
    field('u32', time.week === undefined ? 0 : time.tow_ms),
    ...parts.map((part) => field('f32', dop * part)),
    field('f32', mask_deg),
    field('f32', 0),
    field('u16', used.length),
    ...inOrder(used).map(({ sight }) => field('u16', namesOf(sight).stadop)),
  ]
}

/** Directions are whole degrees. */
function satsInfo({ epoch: { tracks } }: LogInput): Field[] {
  return [
    ...[tracks.length, 2, 0, 0, 0, tracks.length > 0 ? 0x3f : 0].map((value) => field('u8', value)),
    ...inOrder(tracks).flatMap(({ sight, signals }) => {
      const { satsInfo, prn } = namesOf(sight)
      return [
        field('u8', prn),
        field('u16', Math.round(sight.azimuth_deg) % 360),
        field('u8', Math.round(sight.elevation_deg)),
        ...signals.flatMap(({ cno_dbhz }, i) =>
          [satsInfo, Math.round(cno_dbhz), signalsOf(sight)[i].id, signals.length].map((value) => field('u8', value)),
        ),
      ]
    }),
  ]
}

function bestSat({ solution: { used } }: LogInput): Field[] {
  return [
    field('u32', used.length),
    ...inOrder(used).flatMap(({ sight, signals }) => {
      const { bestSat, prn } = namesOf(sight)
      const isGlonass = sight.constellation.name === 'GLONASS'
      const mask = signals.reduce((bits, _, i) => bits | signalsOf(sight)[i].bit, 0)
      return [
        field('u32', bestSat),
        field('u16', isGlonass ? glonassChannel(sight.svId) + 7 : 0),
        field('u16', prn),
        field('u32', 0),
        field('u32', mask),
      ]
    }),
  ]
}

function inOrder(tracks: readonly Track[]): Track[] {
  const place = ({ sight }: Track) => logOrder.indexOf(sight.constellation.name as (typeof logOrder)[number])
  return tracks.toSorted((p, q) => place(p) - place(q) || p.sight.svId - q.sight.svId)
}
