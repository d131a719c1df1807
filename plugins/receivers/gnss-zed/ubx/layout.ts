/**
 * The one codec of UBX messages: a layout is data (fields, and at most one repeated group), `decode` and `encode` read it.
 * `decode` never throws: a payload that is too short for its layout is `undefined`, a longer one is read as far as known.
 */

import { encodeUbx } from 'rtk-base/gnss'
import type { Field } from './fields.js'

// biome-ignore lint/suspicious/noExplicitAny: a table of fields of any type; each keeps its own
export type Fields = Record<string, Field<any>>
type Values<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

export interface Group<F extends Fields> {
  at: number
  /** Bytes of one block. */
  size: number
  fields: F
  /** The field that holds the number of blocks; without it they fill the payload. */
  count?: string
  /** Newer firmware may send blocks of another size: (length − at) / count is used when it is at least this. */
  minSize?: number
}

export interface Layout<F extends Fields = Fields, G extends Fields = Fields> {
  readonly name: string
  readonly cls: number
  readonly id: number
  /** Payload length without blocks. */
  readonly length: number
  /** A decoder accepts payloads of at least this length; `length` unless older firmware sends less. */
  readonly minLength?: number
  readonly fields: F
  readonly group?: Group<G>
}

export type Decoded<L extends Layout> =
  L extends Layout<infer F, infer G>
    ? Values<F> & (L extends { group: object } ? { blocks: Values<G>[] } : { blocks?: undefined })
    : never
export type Encodable<L extends Layout> =
  L extends Layout<infer F, infer G> ? Partial<Values<F>> & { blocks?: readonly Partial<Values<G>>[] } : never

/** Declares a layout; the types of its values follow from the fields. */
export function layout<F extends Fields>(l: Omit<Layout<F, Fields>, 'group'>): Layout<F>
export function layout<F extends Fields, G extends Fields>(
  l: Omit<Layout<F, G>, 'group'> & { group: Group<G> },
): Layout<F, G> & { group: Group<G> }
export function layout(l: Layout): Layout {
  return l
}

/** The values of a payload; undefined when it is too short. */
export function decode<L extends Layout>(l: L, payload: Uint8Array): Decoded<L> | undefined {
  if (payload.length < (l.minLength ?? l.length)) return undefined
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  const result: Record<string, unknown> = readFields(l.fields, view, 0, payload.length)
  if (l.group) {
    const blocks = readBlocks(l.group, view, payload.length, result)
    if (!blocks) return undefined
    result.blocks = blocks
  }
  return result as Decoded<L>
}

/** A payload of the layout. Values are rounded and saturated; omitted fields get their fallback. */
export function encode<L extends Layout>(l: L, values: Encodable<L>): Uint8Array {
  const blocks = values.blocks ?? []
  const payload = new Uint8Array(l.length + (l.group ? l.group.size * blocks.length : 0))
  const view = new DataView(payload.buffer)
  const all: Record<string, unknown> = l.group?.count ? { ...values, [l.group.count]: blocks.length } : values
  writeFields(l.fields, view, 0, all)
  if (l.group) {
    for (const [i, block] of blocks.entries()) {
      writeFields(l.group.fields, view, l.group.at + i * l.group.size, block as Record<string, unknown>)
    }
  }
  return payload
}

/** A whole frame of the layout. */
export function encodeFrame<L extends Layout>(l: L, values: Encodable<L>): Uint8Array {
  return ubxFrame(l.cls, l.id, encode(l, values))
}

/** The empty message that asks for one of this layout. */
export function poll(l: Layout): Uint8Array {
  return ubxFrame(l.cls, l.id)
}

function readFields(fields: Fields, view: DataView, base: number, end: number): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  for (const name in fields) {
    const field = fields[name] as Field<unknown>
    result[name] = base + field.at + field.size <= end ? field.read(view, base) : field.fallback
  }
  return result
}

function writeFields(fields: Fields, view: DataView, base: number, values: Record<string, unknown>): void {
  for (const name in fields) {
    const field = fields[name] as Field<unknown>
    field.write(view, base, values[name] === undefined ? field.fallback : values[name])
  }
}

function readBlocks(
  group: Group<Fields>,
  view: DataView,
  length: number,
  header: Record<string, unknown>,
): Record<string, unknown>[] | undefined {
  const room = length - group.at
  const count = group.count === undefined ? Math.floor(room / group.size) : (header[group.count] as number)
  if (count === 0) return []
  let size = group.size
  if (group.minSize !== undefined) {
    size = Math.floor(room / count)
    if (size < group.minSize) return undefined
  }
  if (count * size > room) return undefined
  const blocks: Record<string, unknown>[] = []
  for (let i = 0; i < count; i++) {
    const base = group.at + i * size
    blocks.push(readFields(group.fields, view, base, base + size))
  }
  return blocks
}

/** Class and id as one number, for tables. */
export function messageKey(cls: number, id: number): number {
  return (cls << 8) | id
}

/** The payload inside a whole, verified UBX frame. */
export function payloadOf(frame: Uint8Array): Uint8Array {
  return frame.subarray(6, Math.max(6, frame.length - 2))
}

/** A whole frame. */
export const ubxFrame = encodeUbx
