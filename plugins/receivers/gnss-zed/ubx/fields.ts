/**
 * The field types that UBX layouts are made of. A field knows its offset and can both read and write itself, so a
 * layout states every offset once.
 */

export interface Field<T> {
  readonly at: number
  /** Bytes from `at` that must be there. */
  readonly size: number
  /** The value encoded if the caller omits the field. */
  readonly fallback: T
  read(view: DataView, base: number): T
  write(view: DataView, base: number, value: T): void
}

export type IntType = 'u1' | 'u2' | 'u4' | 'i1' | 'i2' | 'i4'

interface IntAccess {
  size: number
  min: number
  max: number
  get(view: DataView, at: number): number
  set(view: DataView, at: number, value: number): void
}

const ints: Record<IntType, IntAccess> = {
  u1: { size: 1, min: 0, max: 0xff, get: (v, at) => v.getUint8(at), set: (v, at, x) => v.setUint8(at, x) },
  u2: {
    size: 2,
    min: 0,
    max: 0xffff,
    get: (v, at) => v.getUint16(at, true),
    set: (v, at, x) => v.setUint16(at, x, true),
  },
  u4: {
    size: 4,
    min: 0,
    max: 0xffffffff,
    get: (v, at) => v.getUint32(at, true),
    set: (v, at, x) => v.setUint32(at, x, true),
  },
  i1: { size: 1, min: -0x80, max: 0x7f, get: (v, at) => v.getInt8(at), set: (v, at, x) => v.setInt8(at, x) },
  i2: {
    size: 2,
    min: -0x8000,
    max: 0x7fff,
    get: (v, at) => v.getInt16(at, true),
    set: (v, at, x) => v.setInt16(at, x, true),
  },
  i4: {
    size: 4,
    min: -0x80000000,
    max: 0x7fffffff,
    get: (v, at) => v.getInt32(at, true),
    set: (v, at, x) => v.setInt32(at, x, true),
  },
}

/** The receiver saturates (PDOP 99.99), it never wraps. */
function saturate(value: number, { min, max }: IntAccess): number {
  return Number.isFinite(value) ? Math.min(max, Math.max(min, Math.round(value))) : 0
}

/**
 * A scaled integer. `per` is how many steps make one unit, so that dividing by it gives the nearest double.
 * @example int('i4', 28, { per: 1e7 }) // degrees
 */
export function int(type: IntType, at: number, options: { per?: number; fallback?: number } = {}): Field<number> {
  const { per = 1, fallback = 0 } = options
  const access = ints[type]
  return {
    at,
    size: access.size,
    fallback,
    read: (view, base) => access.get(view, base + at) / per,
    write: (view, base, value) => access.set(view, base + at, saturate(value * per, access)),
  }
}

/**
 * A coarse i4 and its high-precision i1 companion, read as one value.
 * @param per fine steps in one unit
 * @param ratio fine steps in one coarse step: 100, or 10 for heights
 * @example highPrecision(8, 20, 1e4, 100) // ECEF centimetres and 0.1 mm, in metres
 */
export function highPrecision(at: number, fineAt: number, per: number, ratio: number): Field<number> {
  return {
    at,
    size: fineAt + 1 - at,
    fallback: 0,
    read: (view, base) => (view.getInt32(base + at, true) * ratio + view.getInt8(base + fineAt)) / per,
    write: (view, base, value) => {
      const { coarse, fine } = splitHighPrecision(value * per, ratio)
      view.setInt32(base + at, coarse, true)
      view.setInt8(base + fineAt, fine)
    },
  }
}

/** Splits a count of fine steps the way the receiver wants it: both parts with the same sign, |fine| < ratio. */
export function splitHighPrecision(fineSteps: number, ratio: number): { coarse: number; fine: number } {
  const total = Math.round(fineSteps)
  const coarse = Math.trunc(total / ratio)
  return { coarse, fine: total - coarse * ratio }
}

/** `count` bits of an integer from bit `from` on. */
export function bits(type: 'u1' | 'u2' | 'u4', at: number, from: number, count: number): Field<number> {
  const access = ints[type]
  const mask = 2 ** count - 1
  return {
    at,
    size: access.size,
    fallback: 0,
    read: (view, base) => (access.get(view, base + at) >>> from) & mask,
    write: (view, base, value) =>
      access.set(view, base + at, (access.get(view, base + at) | ((value & mask) << from)) >>> 0),
  }
}

/** One bit of an integer. */
export function flag(type: 'u1' | 'u2' | 'u4', at: number, bit: number): Field<boolean> {
  const one = bits(type, at, bit, 1)
  return {
    ...one,
    fallback: false,
    read: (view, base) => one.read(view, base) === 1,
    write: (view, base, value) => one.write(view, base, value ? 1 : 0),
  }
}

/** NUL-padded ISO-8859-1. */
export function text(at: number, size: number): Field<string> {
  return {
    at,
    size,
    fallback: '',
    read: (view, base) => readText(view, base + at, size),
    write: (view, base, value) => {
      for (let i = 0; i < size; i++) view.setUint8(base + at + i, value.charCodeAt(i) & 0xff)
    },
  }
}

export function readText(view: DataView, at: number, size: number): string {
  let result = ''
  for (let i = 0; i < size; i++) {
    const code = view.getUint8(at + i)
    if (code === 0) break
    result += String.fromCharCode(code)
  }
  return result
}
