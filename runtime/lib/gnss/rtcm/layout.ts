/** How an RTCM 3 message is laid out, as data, and the one codec that reads and writes such layouts. */
import type { BitReader, BitWriter } from './bits.js'

/** One field of a message, in wire order. */
export type Field =
  | { readonly kind: 'uint'; readonly name: string; readonly bits: number }
  /** One bit, a boolean. */
  | { readonly kind: 'flag'; readonly name: string }
  /** An integer on the wire that counts `per`-ths of the unit. */
  | {
      readonly kind: 'scaled'
      readonly name: string
      readonly bits: number
      readonly per: number
      readonly signed: boolean
    }
  /** As `scaled`, but a sign bit and a magnitude: GLONASS counts so. */
  | { readonly kind: 'signMagnitude'; readonly name: string; readonly bits: number; readonly per: number }
  /** A u8 count and as many 8-bit characters. */
  | { readonly kind: 'text'; readonly name: string }
  /** One mask bit per name, then a scaled signed integer for each bit that is set. */
  | {
      readonly kind: 'masked'
      readonly name: string
      readonly names: readonly string[]
      readonly bits: number
      readonly per: number
    }
  /** Reserved: written as zero, not looked at. */
  | { readonly kind: 'reserved'; readonly bits: number }

export const uint = <N extends string>(name: N, bits: number) => ({ kind: 'uint', name, bits }) as const
export const flag = <N extends string>(name: N) => ({ kind: 'flag', name }) as const
export const signed = <N extends string>(name: N, bits: number, per: number) =>
  ({ kind: 'scaled', name, bits, per, signed: true }) as const
export const unsigned = <N extends string>(name: N, bits: number, per: number) =>
  ({ kind: 'scaled', name, bits, per, signed: false }) as const
export const signMagnitude = <N extends string>(name: N, bits: number, per: number) =>
  ({ kind: 'signMagnitude', name, bits, per }) as const
export const text = <N extends string>(name: N) => ({ kind: 'text', name }) as const
export const masked = <N extends string, M extends string>(name: N, names: readonly M[], bits: number, per: number) =>
  ({ kind: 'masked', name, names, bits, per }) as const
export const reserved = (bits: number) => ({ kind: 'reserved', bits }) as const

type ValueOf<F> = F extends { kind: 'flag' }
  ? boolean
  : F extends { kind: 'text' }
    ? string
    : F extends { kind: 'masked'; names: readonly (infer M extends string)[] }
      ? { [K in M]?: number }
      : number

/** The values of a layout. */
export type Values<L extends readonly Field[]> = {
  -readonly [F in L[number] as F extends { name: infer N extends string } ? N : never]: ValueOf<F>
}

export function readFields<L extends readonly Field[]>(reader: BitReader, layout: L): Values<L> {
  const values: Record<string, unknown> = {}
  for (const field of layout) {
    switch (field.kind) {
      case 'uint':
        values[field.name] = reader.uint(field.bits)
        break
      case 'flag':
        values[field.name] = reader.uint(1) === 1
        break
      case 'scaled':
        // A division rounds once, so 0.1 mm come out as the nearest double of the decimal number.
        values[field.name] = (field.signed ? reader.int(field.bits) : reader.uint(field.bits)) / field.per
        break
      case 'signMagnitude': {
        const isNegative = reader.uint(1) === 1
        const magnitude = reader.uint(field.bits - 1) / field.per
        // Not a negative zero.
        values[field.name] = isNegative && magnitude > 0 ? -magnitude : magnitude
        break
      }
      case 'text':
        values[field.name] = readText(reader)
        break
      case 'masked': {
        const present = field.names.filter(() => reader.uint(1) === 1)
        values[field.name] = Object.fromEntries(present.map((name) => [name, reader.int(field.bits) / field.per]))
        break
      }
      case 'reserved':
        reader.uint(field.bits)
    }
  }
  return values as Values<L>
}

/** @throws RangeError when a value does not fit its field */
export function writeFields<L extends readonly Field[]>(writer: BitWriter, layout: L, values: Values<L>): void {
  const given = values as Record<string, unknown>
  for (const field of layout) {
    switch (field.kind) {
      case 'uint':
        writer.uint(given[field.name] as number, field.bits)
        break
      case 'flag':
        writer.uint(given[field.name] ? 1 : 0, 1)
        break
      case 'scaled': {
        const counts = Math.round((given[field.name] as number) * field.per)
        if (field.signed) writer.int(counts, field.bits)
        else writer.uint(counts, field.bits)
        break
      }
      case 'signMagnitude': {
        const counts = Math.round((given[field.name] as number) * field.per)
        writer.uint(counts < 0 ? 1 : 0, 1)
        writer.uint(Math.abs(counts), field.bits - 1)
        break
      }
      case 'text':
        writeText(writer, given[field.name] as string)
        break
      case 'masked': {
        const biases = given[field.name] as Record<string, number | undefined>
        for (const name of field.names) writer.uint(biases[name] === undefined ? 0 : 1, 1)
        for (const name of field.names) {
          const value = biases[name]
          if (value !== undefined) writer.int(Math.round(value * field.per), field.bits)
        }
        break
      }
      case 'reserved':
        writer.uint(0, field.bits)
    }
  }
}

function readText(reader: BitReader): string {
  const codes = Array.from({ length: reader.uint(8) }, () => reader.uint(8))
  return String.fromCharCode(...codes)
}

function writeText(writer: BitWriter, value: string): void {
  writer.uint(value.length, 8)
  for (let i = 0; i < value.length; i++) writer.uint(value.charCodeAt(i), 8)
}
