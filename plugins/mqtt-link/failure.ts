import { networkInterfaces } from 'node:os'
import type { MqttFailureCause } from 'rtk-base/schemas'

/** Why the link is down, for `mqtt.state.error`. Both are empty while it is not. */
export interface Failure {
  cause: MqttFailureCause
  text: string
}

export const noFailure: Failure = { cause: '', text: '' }

/** Only the protocol version is wrong: MQTT 3.1.1 answers 1, MQTT 5 answers 132 (0x84). */
export const isUnacceptableVersion = (error: unknown) => [1, 132].includes(Number((error as { code?: unknown })?.code))

/** The broker hung up without a word, as brokers that know no MQTT 5 do. */
export const isHangUp = (error: unknown) =>
  error === undefined || ['ECONNRESET', 'EPIPE'].includes(String((error as { code?: unknown }).code))

const refusedLogin = new Set([2, 4, 5, 133, 134, 135, 138, 140])

/** Names the cause of what the client, TLS or the socket reported. */
export function failureOf(error: unknown): Failure {
  if (error === undefined) return { cause: 'closed', text: 'the broker closed the connection' }
  const { code, message } = error as { code?: string | number; message: string }
  const failure = (cause: MqttFailureCause): Failure => ({ cause, text: message })
  if (typeof code === 'number') {
    if (isUnacceptableVersion(error)) return failure('protocol')
    return failure(refusedLogin.has(code) ? 'auth' : 'refused')
  }
  if (/^(ENOTFOUND|EAI_)/.test(code ?? '')) return failure('dns')
  if (code === 'ECONNREFUSED') return failure('refused')
  if (/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/.test(code ?? '')) return failure('unreachable')
  if (code === 'ETIMEDOUT' || /timeout/i.test(message)) return failure('timeout')
  if (
    /^(ERR_SSL|ERR_TLS|ERR_OSSL|CERT_|UNABLE_|DEPTH_|SELF_SIGNED|HOSTNAME_|EPROTO)/.test(code ?? '') ||
    /TLS|certificate/.test(message)
  )
    return failure('tls')
  return failure('closed')
}

/** `mqtt.via`: the kind of interface that has the socket's own address. */
export function viaOf(localAddress: string | undefined): 'eth' | 'sta' | 'cellular' | '' {
  const address = (localAddress ?? '').replace(/^::ffff:/, '')
  for (const [name, addresses] of Object.entries(networkInterfaces())) {
    if (!addresses?.some((own) => own.address === address && !own.internal)) continue
    if (/^(wl|sta)/.test(name)) return 'sta'
    if (/^(ww|ppp|usb|qmi|rmnet|cdc)/.test(name)) return 'cellular'
    if (/^(e|br)/.test(name)) return 'eth'
  }
  return ''
}
