/**
 * CFG-VALSET, -VALGET and -VALDEL: lists of keys and values. Bits 30-28 of a key define the width of its value, the key table
 * its type.
 */

import { keyOf } from './keys.js'
import { ubxFrame } from './layout.js'

export const CFG = { cls: 0x06, rst: 0x04, valset: 0x8a, valget: 0x8b, valdel: 0x8c } as const

/** Layer bits of VALSET and VALDEL. */
export const layerBit = { ram: 1, bbr: 2, flash: 4 } as const
/** Layer numbers of VALGET. */
export const layerNumber = { ram: 0, bbr: 1, flash: 2, default: 7 } as const
export type LayerName = keyof typeof layerNumber

/** More pairs than this are refused. */
export const maxPairs = 64

/** 64-bit values are bigint, everything else is a number; booleans are 0 and 1. */
export type ConfigValue = number | bigint
export type ConfigPair = readonly [key: number, value: ConfigValue]

/** Bytes of a value; undefined for an ID with invalid size bits. */
export function valueSize(key: number): number | undefined {
  return [undefined, 1, 1, 2, 4, 8][(key >>> 28) & 7]
}

export function groupOf(key: number): number {
  return (key >>> 16) & 0xff
}

/** Whether `pattern` (a key, a whole group `gg FFFF`, or everything) names `key`. */
export function matchesKey(pattern: number, key: number): boolean {
  if ((pattern & 0x0fffffff) >>> 0 === 0x0fffffff) return true
  if ((pattern & 0xffff) === 0xffff) return groupOf(pattern) === groupOf(key)
  return pattern >>> 0 === key >>> 0
}

export function encodePairs(pairs: Iterable<ConfigPair>): Uint8Array {
  const bytes: number[] = []
  const scratch = new DataView(new ArrayBuffer(8))
  for (const [key, value] of pairs) {
    const size = valueSize(key) ?? 1
    scratch.setUint32(0, key, true)
    for (let i = 0; i < 4; i++) bytes.push(scratch.getUint8(i))
    scratch.setBigUint64(0, BigInt.asUintN(64, BigInt(value)), true)
    for (let i = 0; i < size; i++) bytes.push(scratch.getUint8(i))
  }
  return Uint8Array.from(bytes)
}

/** The pairs from `start` on; undefined when they don't fill the payload exactly. */
export function decodePairs(payload: Uint8Array, start: number): ConfigPair[] | undefined {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  const pairs: ConfigPair[] = []
  let at = start
  while (at < payload.length) {
    if (at + 4 > payload.length) return undefined
    const key = view.getUint32(at, true)
    const size = valueSize(key)
    at += 4
    if (size === undefined || at + size > payload.length) return undefined
    pairs.push([key, readValue(view, at, size, keyOf(key)?.signed ?? false)])
    at += size
  }
  return pairs
}

function readValue(view: DataView, at: number, size: number, signed: boolean): ConfigValue {
  switch (size) {
    case 1:
      return signed ? view.getInt8(at) : view.getUint8(at)
    case 2:
      return signed ? view.getInt16(at, true) : view.getUint16(at, true)
    case 4:
      return signed ? view.getInt32(at, true) : view.getUint32(at, true)
    default:
      return signed ? view.getBigInt64(at, true) : view.getBigUint64(at, true)
  }
}

/** 0 none, 1 start or restart, 2 continue, 3 apply and end. */
type Transaction = 0 | 1 | 2 | 3

/**
 * @param layers `layerBit`s
 * @param transaction left out: a message of its own
 * @throws RangeError above 64 pairs, which the receiver would refuse
 */
export function valset(pairs: readonly ConfigPair[], layers: number, transaction?: Transaction): Uint8Array {
  if (pairs.length > maxPairs) throw new RangeError(`VALSET holds ${maxPairs} pairs at most, not ${pairs.length}`)
  const values = encodePairs(pairs)
  const payload = new Uint8Array(4 + values.length)
  payload.set([transaction === undefined ? 0 : 1, layers, transaction ?? 0, 0])
  payload.set(values, 4)
  return ubxFrame(CFG.cls, CFG.valset, payload)
}

/** The poll. @param position number of values to skip: an answer holds 64. */
export function valgetPoll(keys: readonly number[], layer: LayerName, position = 0): Uint8Array {
  const payload = keyList(keys, 4)
  payload.set([0, layerNumber[layer], position & 0xff, position >> 8])
  return ubxFrame(CFG.cls, CFG.valget, payload)
}

/** The answer to `valgetPoll`. */
export function decodeValget(
  payload: Uint8Array,
): { layer: number; position: number; values: Map<number, ConfigValue> } | undefined {
  if (payload.length < 4 || payload[0] !== 1) return undefined
  const pairs = decodePairs(payload, 4)
  return pairs && { layer: payload[1], position: payload[2] | (payload[3] << 8), values: new Map(pairs) }
}

/** @param layers `layerBit.bbr` and `layerBit.flash` only: RAM cannot be deleted */
export function valdel(keys: readonly number[], layers: number): Uint8Array {
  const payload = keyList(keys, 4)
  payload.set([0, layers, 0, 0])
  return ubxFrame(CFG.cls, CFG.valdel, payload)
}

function keyList(keys: readonly number[], at: number): Uint8Array {
  const payload = new Uint8Array(at + 4 * keys.length)
  const view = new DataView(payload.buffer)
  for (const [i, key] of keys.entries()) view.setUint32(at + 4 * i, key, true)
  return payload
}
