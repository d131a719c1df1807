/** The reference history, and the effect of an entered position. Pure. */
import { type Json, numberAt, textAt } from '../../station/document.js'
import type { Point } from '../../station/messages.js'
import { distance_m, type Enu, enuOf, type Geodetic, toEcef, toGeodetic } from './geodesy.js'

export interface HistoryEntry extends Point {
  id: number
  what: 'used' | 'moved'
  method: 'survey' | 'manual'
  acc: number
  samples: number
  elapsed: number
  corr: boolean
  frame?: string
  epoch?: string
  source?: string
  determined: number
  t: number
  by: string
  offset?: Enu
  evidence?: string
}

export interface HistoryRow extends HistoryEntry {
  /** To the reference of now, metres; undefined where there is none. */
  readonly away_m: number | undefined
  /** It is the reference of now. */
  readonly isPresent: boolean
}

const same_m = 0.000_5

/** The chosen reference; undefined where there is none. */
export function referenceOf(document: Json | undefined): (Point & { readonly method: string }) | undefined {
  const method = textAt(document, 'gnss.ref.chosen')
  if (textAt(document, `gnss.ref.${method}.type`) === '') return undefined
  const at = (axis: string) => numberAt(document, `gnss.ref.${method}.${axis}`) ?? 0
  return { method, x: at('x'), y: at('y'), z: at('z') }
}

/** Newest first. */
export function historyRows(entries: readonly HistoryEntry[], reference: (Point & { method: string }) | undefined) {
  const isReference = (entry: HistoryEntry) =>
    reference !== undefined && entry.method === reference.method && distance_m(entry, reference) < same_m
  const present = entries.filter((entry) => entry.what === 'used' && isReference(entry)).at(-1)
  return entries
    .map(
      (entry): HistoryRow => ({
        ...entry,
        away_m: reference && distance_m(entry, reference),
        isPresent: entry === present,
      }),
    )
    .reverse()
}

/** Input by field; a decimal comma is accepted. */
export type Entry = Readonly<Record<string, string>>
export type Mode = 'angles' | 'axes'

const fields = { angles: ['lat', 'lon', 'alt'], axes: ['x', 'y', 'z'] } as const
const limits: Readonly<Record<string, number>> = { lat: 90, lon: 180, alt: 7e6, x: 7e6, y: 7e6, z: 7e6 }
export const fieldsOf = (mode: Mode) => fields[mode]

export function numberOf(text: string | undefined): number | undefined {
  const plain = (text ?? '').trim().replace(',', '.')
  return /^[+-]?\d+(\.\d+)?$/.test(plain) ? Number(plain) : undefined
}

/** Fields without a number, or with one out of bounds. */
export function badFields(mode: Mode, entry: Entry): readonly string[] {
  return fields[mode].filter((name) => {
    const value = numberOf(entry[name])
    return value === undefined || Math.abs(value) > (limits[name] as number)
  })
}

/** Undefined until it is complete. */
export function pointOf(mode: Mode, entry: Entry): Point | undefined {
  if (badFields(mode, entry).length > 0) return undefined
  const [first, second, third] = fields[mode].map((name) => numberOf(entry[name]) as number) as [number, number, number]
  return mode === 'axes' ? { x: first, y: second, z: third } : toEcef({ lat: first, lon: second, alt: third })
}

export interface Preview {
  readonly geodetic: Geodetic
  /** From the reference of now, and from where the receiver is; undefined where there is none. */
  readonly fromReference: Enu | undefined
  readonly fromLive: Enu | undefined
  /** From where the receiver is, else from the reference of now, metres. */
  readonly away_m: number | undefined
}

/** Not of now, or of a base that holds its position: that only echoes its reference. */
const noPlace = /^(|none|time)$/

/** Where the receiver finds itself now; undefined while it does not. */
export function liveOf(document: Json | undefined): Point | undefined {
  if ((numberAt(document, 'gnss.pos.t') ?? 0) === 0 || noPlace.test(textAt(document, 'gnss.state.gps_fix')))
    return undefined
  const at = (axis: string) => numberAt(document, `gnss.pos.${axis}`) ?? 0
  return { x: at('x'), y: at('y'), z: at('z') }
}

export function previewOf(point: Point, document: Json | undefined): Preview {
  const reference = referenceOf(document)
  const live = liveOf(document)
  return {
    geodetic: toGeodetic(point),
    fromReference: reference && enuOf(reference, point),
    fromLive: live && enuOf(live, point),
    away_m: (live ?? reference) && distance_m((live ?? reference) as Point, point),
  }
}

/** The body of `POST /change`. The other group of coordinates is cleared, so that they cannot disagree. */
export function changeOf(mode: Mode, entry: Entry, point: 'arp' | 'phase-centre', isChosen: boolean) {
  const other = mode === 'axes' ? fields.angles : fields.axes
  const value = (name: string) => numberOf(entry[name]) ?? entry[name]
  return {
    ...Object.fromEntries(fields[mode].map((name) => [`gnss-ref-manual-${name}`, value(name)])),
    ...Object.fromEntries(other.map((name) => [`gnss-ref-manual-${name}`, null])),
    'gnss-ref-manual-acc': numberOf(entry.acc) ?? 0,
    'gnss-ref-manual-corr': entry.corr === 'true',
    'gnss-ref-manual-point': point,
    ...(point === 'phase-centre' && { 'gnss-ref-manual-offset': value('offset') }),
    'gnss-ref-frame': entry.frame?.trim() ?? '',
    'gnss-ref-epoch': entry.epoch?.trim() ?? '',
    ...(isChosen && { 'gnss-ref-chosen': 'manual' }),
  }
}

/** `E +30.00 / N −0.20 / U +1.40 m` */
export function enuText({ east, north, up }: Enu): string {
  const part = (name: string, value: number) => `${name} ${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`
  return `${part('E', east)} / ${part('N', north)} / ${part('U', up)} m`
}
