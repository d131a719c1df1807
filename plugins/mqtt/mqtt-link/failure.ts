import type { MqttFailureCause } from 'rtk-base/schemas'

/** Why the link is down, for `mqtt.state.error`. Both are empty while it is not. */
export interface Failure {
  cause: MqttFailureCause
  text: string
  /**
   * How a session ended, where that decides about the next attempt. `breach`: the broker would do the same again. `taken over`: by
   * another client with the same ID. `unexplained`: MQTT 3.1.1 cannot say why, and a take-over looks like this, too.
   */
  end?: 'breach' | 'taken over' | 'unexplained'
}

export const noFailure: Failure = { cause: '', text: '' }

/** The broker sent what no broker sends, or more than the station takes. @param what `it …` */
export const breachFailure = (what: string): Failure => ({
  cause: 'protocol',
  text: `the station closed the session with the broker: ${what}`,
  end: 'breach',
})

/** A failure of the route to the broker; the others come from a broker that was reached. */
export const isOfTheWay = ({ cause }: Failure): boolean => ['dns', 'unreachable', 'timeout', 'ping'].includes(cause)

/** Only the protocol version is wrong: MQTT 3.1.1 answers 1, MQTT 5 answers 132 (0x84). */
export const isUnacceptableVersion = (error: unknown) => [1, 132].includes(Number((error as { code?: unknown })?.code))

/** The broker closed the connection without an answer, as brokers without MQTT 5 do. */
export const isHangUp = (error: unknown) =>
  error === undefined || ['ECONNRESET', 'EPIPE'].includes(String((error as { code?: unknown }).code))

/** CONNACK codes that concern the client itself: MQTT 3.1.1 table 3.1, MQTT 5 section 3.2.2.2. */
const refusedLogin = new Set([2, 4, 5, 133, 134, 135, 138, 140])

/** Socket errors by their own codes. */
const socketCauses: [RegExp, MqttFailureCause][] = [
  [/^(ENOTFOUND|EAI_)/, 'dns'],
  [/^ECONNREFUSED$/, 'refused'],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/, 'unreachable'],
  [/^ETIMEDOUT$/, 'timeout'],
  [/^(ERR_SSL|ERR_TLS|ERR_OSSL|CERT_|UNABLE_|DEPTH_|SELF_SIGNED|HOSTNAME_|EPROTO|INVALID_CA|INVALID_PURPOSE)/, 'tls'],
]

/**
 * The meaning in an OpenSSL text `<thread>:error:<number>:SSL routines:<function>:<meaning>:<file>:<line>:<more>`. An alert comes
 * from the other side, which does not trust this station.
 */
function plainTls(message: string): string {
  const meaning = /error:[0-9A-F]{8}:[^:]*:[^:]*:([^:]+):/.exec(message)?.[1]
  if (meaning === undefined) return message
  return meaning.includes('alert')
    ? `TLS: the other side reports ${meaning.replace(/^.*alert /, '')}`
    : `TLS: ${meaning}`
}

/** The cause of an error that the client, TLS or the socket reported. */
export function failureOf(error: unknown): Failure {
  if (error === undefined) return { cause: 'closed', text: 'the broker closed the connection' }
  const { code, message, errors } = error as { code?: string | number; message: string; errors?: Error[] }
  // When several addresses were tried at once, the message of the error is empty.
  const text = plainTls(message) || errors?.map((one) => one.message).join('; ') || String(code ?? 'unknown')
  const failure = (cause: MqttFailureCause): Failure => ({ cause, text })
  if (/before secure TLS connection was established/.test(text))
    return {
      cause: 'tls',
      text: 'the broker ended the TLS handshake: does it speak TLS at this port (mqtt-port)? A plain one is 1883',
    }
  if (typeof code === 'number') {
    if (isUnacceptableVersion(error)) return failure('protocol')
    return failure(refusedLogin.has(code) ? 'auth' : 'refused')
  }
  for (const [pattern, cause] of socketCauses) if (pattern.test(code ?? '')) return failure(cause)
  if (/timeout/i.test(text)) return failure('timeout')
  if (/TLS|certificate/.test(text)) return failure('tls')
  // Socket errors have a code, errors of the client's parser have none.
  return code === undefined
    ? { cause: 'protocol', text: `the other side does not speak MQTT: ${text}` }
    : failure('closed')
}

/** Reason codes of a DISCONNECT (MQTT 5, section 3.14.2.1) that a person can act on. */
const disconnectTexts: Record<number, string> = {
  135: 'the broker no longer authorises this station',
  137: 'the broker is busy',
  139: 'the broker is shutting down',
  141: 'the broker received nothing within the keepalive time',
  142: 'another client with the same client id took over the session: every station needs its own {SN}',
  149: 'a packet was too large for the broker',
  151: 'a quota of the broker is used up',
  152: 'an administrator of the broker ended the session',
}

export function disconnectFailure(reasonCode: number | undefined): Failure {
  const code = reasonCode ?? 0
  const text = disconnectTexts[code] ?? `the broker ended the session (reason 0x${code.toString(16).padStart(2, '0')})`
  return { cause: code === 135 ? 'auth' : 'closed', text, ...(code === 142 && { end: 'taken over' }) }
}
