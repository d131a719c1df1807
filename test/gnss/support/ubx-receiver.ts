/** The other half of the protocol: what a receiver reads and writes, made from the codec of gnss-zed. */
import * as ubx from '../../../plugins/receivers/gnss-zed/ubx/index.js'

/** Class and ID of VALGET. */
export const valgetKey = ubx.messageKey(ubx.CFG.cls, ubx.CFG.valget)

export function decodeValset(payload: Uint8Array) {
  if (payload.length < 4) return undefined
  const pairs = ubx.decodePairs(payload, 4)
  const [version, layers, transaction] = payload as unknown as [number, number, number]
  return pairs && { version, layers, transaction: version === 1 ? transaction : 0, pairs }
}

export function decodeValgetPoll(payload: Uint8Array) {
  const keys = payload[0] === 0 ? keysOf(payload) : undefined
  return keys && { layer: payload[1], position: (payload[2] as number) | ((payload[3] as number) << 8), keys }
}

export function valgetAnswer(pairs: readonly ubx.ConfigPair[], layer: number, position: number): Uint8Array {
  const header = [1, layer, position & 0xff, position >> 8]
  return ubx.ubxFrame(ubx.CFG.cls, ubx.CFG.valget, Uint8Array.of(...header, ...ubx.encodePairs(pairs)))
}

export function decodeValdel(payload: Uint8Array) {
  const keys = keysOf(payload)
  return keys && { layers: payload[1], keys }
}

function keysOf(payload: Uint8Array): number[] | undefined {
  if (payload.length < 4 || payload.length % 4 !== 0) return undefined
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  return Array.from({ length: payload.length / 4 - 1 }, (_, i) => view.getUint32(4 + 4 * i, true))
}

/** The message INF of a level, 0 (error) to 4 (debug). */
export const infFrame = (id: number, message: string): Uint8Array =>
  ubx.ubxFrame(ubx.INF_CLASS, id, Uint8Array.from(Buffer.from(message, 'latin1')))
