import type { PluginContext } from 'rtk-base/plugin'
import type { RtcmSignature } from 'rtk-base/schemas'
import { device, type MqttLink } from 'rtk-base/services'
import type { Sequence } from './sequence.js'

/**
 * The bytes that a signature covers: topic in UTF-8, 0x00, sequence and time (UTC, ms) as unsigned 64 bit big-endian, payload.
 * So a publication can be given neither another topic nor another place in the order nor another time.
 */
export function signedBytes(topic: string, sequence: number, time_ms: number, payload: Uint8Array): Buffer {
  const numbers = Buffer.alloc(16)
  numbers.writeBigUInt64BE(BigInt(sequence), 0)
  numbers.writeBigUInt64BE(BigInt(time_ms), 8)
  return Buffer.concat([Buffer.from(topic, 'utf8'), Buffer.from([0]), numbers, payload])
}

/** Signs one publication. Rejects with the reason when it cannot be signed. */
export async function signatureOf(
  ctx: PluginContext,
  link: MqttLink,
  sequence: Sequence,
  topic: string,
  payload: Uint8Array,
): Promise<RtcmSignature> {
  const number = await sequence.issue()
  const time_ms = Math.floor(ctx.services.use(device).utc_ms())
  const { algorithm, signature, serial } = await link.sign(signedBytes(topic, number, time_ms, payload))
  return {
    'sig-alg': algorithm as RtcmSignature['sig-alg'],
    sig: Buffer.from(signature).toString('base64'),
    'sig-cert': serial,
    'sig-seq': String(number),
    'sig-time': String(time_ms),
  }
}
