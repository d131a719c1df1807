/** CFG-VALSET, -VALGET, -VALDEL and -RST as the receiver reads and answers them. */
import { keyOf } from './keys.js'
import { frameOf, load } from './wire.js'

/** Class and ids of the questions. */
export const cfg = { cls: 0x06, rst: 0x04, valset: 0x8a, valget: 0x8b, valdel: 0x8c } as const

/** Layers as bits in VALSET and VALDEL. */
export const layers = { ram: 1, bbr: 2, flash: 4 } as const
/** Layers as numbers in VALGET. */
export const layerNumbers = { ram: 0, bbr: 1, flash: 2, factory: 7 } as const
/** Maximum keys per message. */
export const mostPairs = 64

export type Pair = readonly [key: number, value: number]

const valueBytes = [0, 1, 1, 2, 4, 8]
const bytesOf = (key: number) => valueBytes[(key >>> 28) & 7] ?? 0
export const groupOf = (key: number) => (key >>> 16) & 255
/** A whole group, or everything. */
export const isWildcard = (pattern: number) => (pattern & 0xffff) === 0xffff
export const matches = (pattern: number, key: number): boolean =>
  (pattern & 0x0fffffff) === 0x0fffffff || (isWildcard(pattern) ? groupOf(pattern) === groupOf(key) : pattern === key)

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) => new DataView(buffer, byteOffset, byteLength)

export interface SetRequest {
  layers: number
  /** 0: none; 1 begins, 2 continues, 3 ends and applies. */
  transaction: number
  pairs: Pair[]
}

/** Undefined: it cannot be read. */
export function readSet(payload: Uint8Array): SetRequest | undefined {
  if (payload.length < 4) return undefined
  const view = viewOf(payload)
  const pairs: Pair[] = []
  for (let at = 4; at < payload.length; ) {
    if (at + 4 > payload.length) return undefined
    const key = load(view, at, 4)
    const bytes = bytesOf(key)
    if (bytes === 0 || at + 4 + bytes > payload.length) return undefined
    const raw = load(view, at + 4, bytes)
    pairs.push([key, keyOf(key)?.isSigned && raw >= 2 ** (8 * bytes - 1) ? raw - 2 ** (8 * bytes) : raw])
    at += 4 + bytes
  }
  return { layers: payload[1] ?? 0, transaction: payload[0] === 1 ? (payload[2] ?? 0) : 0, pairs }
}

export interface GetRequest {
  layer: number
  /** Number of values to skip. */
  position: number
  keys: number[]
}

export function readGet(payload: Uint8Array): GetRequest | undefined {
  const keys = payload[0] === 0 ? keysIn(payload) : undefined
  return keys && { layer: payload[1] ?? 0, position: load(viewOf(payload), 2, 2), keys }
}

export function readDelete(payload: Uint8Array): { layers: number; keys: number[] } | undefined {
  const keys = keysIn(payload)
  return keys && { layers: payload[1] ?? 0, keys }
}

export function readReset(payload: Uint8Array): { mode: number; isCold: boolean } | undefined {
  if (payload.length < 4) return undefined
  return { mode: payload[2] ?? 0, isCold: load(viewOf(payload), 0, 2) !== 0 }
}

/** The answer to VALGET: a whole frame. */
export function writeValues(pairs: readonly Pair[], layer: number, position: number): Uint8Array {
  const payload = [1, layer, position & 255, position >> 8]
  const push = (value: number, bytes: number) => {
    for (let i = 0; i < bytes; i++) payload.push(Math.floor(value / 256 ** i) & 255)
  }
  for (const [key, value] of pairs) {
    push(key, 4)
    push(value, bytesOf(key))
  }
  return frameOf([cfg.cls, cfg.valget], Uint8Array.from(payload))
}

function keysIn(payload: Uint8Array): number[] | undefined {
  if (payload.length < 4 || payload.length % 4 !== 0) return undefined
  const view = viewOf(payload)
  return Array.from({ length: payload.length / 4 - 1 }, (_, i) => load(view, 4 + 4 * i, 4))
}
