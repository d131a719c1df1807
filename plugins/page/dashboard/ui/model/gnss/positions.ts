/** The list of positions with its history, and the effect of an entered position. Pure. */

import {
  distance,
  type Enu,
  ecefToGeodetic,
  enu,
  type Geodetic,
  geodeticToEcef,
} from '../../../../../../runtime/lib/gnss/geodesy.js'
import { type Json, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import { hasReference } from '../../../../../../runtime/lib/page/ui/station/set-up.js'
import type { Point } from '../../station/messages.js'
import type { ReadPosition } from './position-text.js'

export interface PositionEvent {
  readonly id: number
  readonly what: 'used' | 'moved' | 'confirmed'
  readonly t: number
  readonly by: string
  readonly offset?: Enu
  readonly evidence?: string
}

/** An entry of `GET /positions`. */
export interface Position extends Point {
  readonly id: number
  /** Empty: it is not saved under a name. */
  readonly name: string
  readonly provenance: 'surveyed' | 'rtk-averaged' | 'entered' | 'ppp'
  readonly acc: number
  readonly frame: { readonly epsg: number; readonly name: string; readonly epoch: string }
  readonly source?: string
  readonly samples: number
  readonly elapsed: number
  readonly t: number
  readonly events: readonly PositionEvent[]
}

/** A position with one of its events. */
export interface HistoryRow extends Position {
  readonly event: PositionEvent
  /** To the reference of now, metres; undefined where there is none. */
  readonly away_m: number | undefined
  /** It is the present reference. */
  readonly isPresent: boolean
}

const same_m = 0.000_5

/** The reference in use; undefined without one. */
export function referenceOf(document: Json | undefined): (Point & { readonly method: string }) | undefined {
  const method = textAt(document, 'gnss.ref.chosen')
  if (!document || !hasReference(document) || textAt(document, `gnss.ref.${method}.type`) === '') return undefined
  const at = (axis: string) => numberAt(document, `gnss.ref.${method}.${axis}`) ?? 0
  return { method, x: at('x'), y: at('y'), z: at('z') }
}

/** The events of all positions, newest first. */
export function historyRows(
  positions: readonly Position[],
  reference: (Point & { method: string }) | undefined,
): HistoryRow[] {
  const isReference = (position: Position) => {
    const method = position.provenance === 'entered' || position.provenance === 'ppp' ? 'manual' : 'survey'
    return reference !== undefined && method === reference.method && distance(position, reference) < same_m
  }
  const rows = positions
    .flatMap((position) =>
      position.events.map((event) => ({ ...position, event, away_m: reference && distance(position, reference) })),
    )
    .sort((a, b) => b.event.id - a.event.id)
  const present = rows.find((row) => row.event.what === 'used' && isReference(row))
  return rows.map((row) => ({ ...row, isPresent: row === present }))
}

/** By name. */
export const namedPositions = (positions: readonly Position[]): Position[] =>
  positions.filter(({ name }) => name !== '').sort((a, b) => a.name.localeCompare(b.name))

export const frameText = ({ frame: { name, epoch } }: Position): string => [name, epoch].filter(Boolean).join(' ')

/** A decimal comma is accepted. */
export function numberOf(text: string | undefined): number | undefined {
  const plain = (text ?? '').trim().replace(',', '.')
  return /^[+-]?\d+(\.\d+)?$/.test(plain) ? Number(plain) : undefined
}

/** Points that an entered position may be of. */
export const entryPoints = ['arp', 'marker', 'phase-centre'] as const
export type EntryPoint = (typeof entryPoints)[number]

export interface PositionEntry {
  readonly read: ReadPosition
  readonly of: EntryPoint
  /** Marker: the antenna reference point above it. Phase centre: itself above the antenna reference point. Metres. */
  readonly height_m: number
  /** 1 sigma, metres; 0: unknown. */
  readonly acc_m: number
  readonly frame: string
  readonly epoch: string
  readonly isCorrected: boolean
  readonly isChosen: boolean
}

/** Where the antenna is by that entry: above a marker by the measured height. */
export function antennaOf({ read, of, height_m }: Pick<PositionEntry, 'read' | 'of' | 'height_m'>): Point {
  if (of === 'arp') return read.point
  const place = ecefToGeodetic(read.point)
  return geodeticToEcef({ ...place, alt: place.alt + (of === 'marker' ? height_m : -height_m) })
}

/** The body of `POST /positions`: of the antenna reference point. */
export function savedOf(name: string, entry: PositionEntry) {
  const { x, y, z } = antennaOf(entry)
  const { acc_m: acc, isCorrected: corr, frame, epoch } = entry
  const place = { x: round(x, 4), y: round(y, 4), z: round(z, 4) }
  return { name: name.trim(), ...place, acc, corr, frame: frame.trim(), epoch: epoch.trim() }
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

/** The position of now for the field of the form, and its accuracy, 1 sigma, metres; 0: unknown. */
export function liveText(document: Json | undefined): { text: string; acc_m: number } | undefined {
  const live = liveOf(document)
  if (!live) return undefined
  const { lat, lon, alt } = ecefToGeodetic(live)
  return {
    text: `${lat.toFixed(9)} ${lon.toFixed(9)} ${alt.toFixed(3)}`,
    acc_m: numberAt(document, 'gnss.pos.acc') ?? 0,
  }
}

export function previewOf(point: Point, document: Json | undefined): Preview {
  const reference = referenceOf(document)
  const live = liveOf(document)
  return {
    geodetic: ecefToGeodetic(point),
    fromReference: reference && enu(reference, point),
    fromLive: live && enu(live, point),
    away_m: (live ?? reference) && distance((live ?? reference) as Point, point),
  }
}

/** The body of `POST /change`. The other kind of coordinates is cleared, so that they cannot disagree. */
export function changeOf(entry: PositionEntry) {
  const { acc_m, epoch, frame, height_m, isChosen, isCorrected, of, read } = entry
  // The station itself lowers a phase centre.
  const point = of === 'marker' ? antennaOf(entry) : read.point
  const { lat, lon, alt } = ecefToGeodetic(point)
  const isAxes = read.kind === 'ecef' || read.kind === 'csrs'
  const angles = { lat: round(lat, 10), lon: round(lon, 10), alt: round(alt, 4) }
  const axes = { x: round(point.x, 4), y: round(point.y, 4), z: round(point.z, 4) }
  const cleared = (names: object) => Object.fromEntries(Object.keys(names).map((name) => [name, null]))
  const coordinates = isAxes ? { ...axes, ...cleared(angles) } : { ...angles, ...cleared(axes) }
  return {
    ...Object.fromEntries(Object.entries(coordinates).map(([name, value]) => [`gnss-ref-manual-${name}`, value])),
    'gnss-ref-manual-acc': acc_m,
    'gnss-ref-manual-corr': isCorrected,
    'gnss-ref-manual-point': of === 'phase-centre' ? of : 'arp',
    ...(of === 'phase-centre' && { 'gnss-ref-manual-offset': height_m }),
    'gnss-ref-frame': frame.trim(),
    'gnss-ref-epoch': epoch.trim(),
    ...(isChosen && { 'gnss-ref-chosen': 'manual' }),
  }
}

const round = (value: number, digits: number) => Number(value.toFixed(digits))

/** `E +30.00 / N −0.20 / U +1.40 m` */
export function enuText({ east, north, up }: Enu): string {
  const part = (name: string, value: number) => `${name} ${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`
  return `${part('E', east)} / ${part('N', north)} / ${part('U', up)} m`
}
