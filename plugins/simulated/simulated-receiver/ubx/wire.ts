/** UBX on the wire: frames, and messages written from tables of fields. Everything is little-endian. */

/** U and I are whole numbers, X is a bit field: several fields may share its bytes. */
type Type = 'U1' | 'U2' | 'U4' | 'I1' | 'I2' | 'I4' | 'X1' | 'X2' | 'X4'

/** @param scale of a number: steps in one unit; of a bit field: its lowest bit */
export type Field = readonly [name: string, at: number, type: Type, scale?: number]

export interface Message {
  readonly is: readonly [cls: number, id: number]
  /** Bytes of the payload without blocks. */
  readonly size: number
  readonly fields: readonly Field[]
  /** Blocks after the fields; their number is in one byte. */
  readonly blocks?: { readonly size: number; readonly countAt?: number; readonly fields: readonly Field[] }
}

/** Omitted fields are 0. */
export type Values<F extends readonly Field[]> = { readonly [K in F[number][0]]?: number | boolean }

/** B5 62, class, id, length, payload, two sums (8-bit Fletcher over class to payload). */
export function frameOf([cls, id]: readonly [cls: number, id: number], payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(payload.length + 8)
  frame.set([0xb5, 0x62, cls, id, payload.length & 255, payload.length >> 8])
  frame.set(payload, 6)
  const end = frame.length - 2
  let a = 0
  let b = 0
  for (const byte of frame.subarray(2, end)) {
    a = (a + byte) & 255
    b = (b + a) & 255
  }
  frame.set([a, b], end)
  return frame
}

/** A whole frame of a message. Numbers are rounded, and end at the limits of their type. */
export function write<M extends Message>(
  message: M,
  values: Values<M['fields']>,
  blocks: readonly Values<NonNullable<M['blocks']>['fields']>[] = [],
): Uint8Array {
  const { is, size, fields, blocks: block } = message
  const payload = new Uint8Array(size + (block ? block.size * blocks.length : 0))
  const view = new DataView(payload.buffer)
  put(view, 0, fields, values)
  if (block?.countAt !== undefined) payload[block.countAt] = blocks.length
  for (const [i, one] of blocks.entries()) put(view, size + i * (block?.size ?? 0), block?.fields ?? [], one)
  return frameOf(is, payload)
}

function put(view: DataView, base: number, fields: readonly Field[], values: Readonly<Record<string, unknown>>): void {
  for (const [name, at, type, scale] of fields) {
    const value = Number(values[name] ?? 0)
    const bytes = Number(type[1])
    if (type[0] === 'X') store(view, base + at, bytes, load(view, base + at, bytes) + value * 2 ** (scale ?? 0))
    else store(view, base + at, bytes, within(value * (scale ?? 1), bytes * 8, type[0] === 'I'))
  }
}

function within(value: number, bits: number, isSigned: boolean): number {
  const least = isSigned ? -(2 ** (bits - 1)) : 0
  return Math.min(least + 2 ** bits - 1, Math.max(least, Math.round(value)))
}

function store(view: DataView, at: number, bytes: number, value: number): void {
  for (let i = 0; i < bytes; i++) view.setUint8(at + i, Math.floor(value / 256 ** i) & 255)
}

/** An unsigned number of 1 to 4 bytes. */
export function load(view: DataView, at: number, bytes: number): number {
  let value = 0
  for (let i = bytes - 1; i >= 0; i--) value = value * 256 + view.getUint8(at + i)
  return value
}

/**
 * A high-precision number as the nearest coarse step and a rest, which may have the other sign: so a ZED-F9P sends them.
 * @param fine steps of the rest in one unit
 * @param ratio of them in one coarse step
 */
export function parts(value: number, fine: number, ratio: number): [coarse: number, rest: number] {
  const total = Math.round(value * fine)
  const coarse = Math.round(total / ratio)
  return [coarse, total - coarse * ratio]
}
