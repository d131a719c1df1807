import { signedBytes } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { RtcmSignature } from 'rtk-base/schemas'
import { device, type MqttLink } from 'rtk-base/services'
import type { Sequence } from './sequence.js'

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
