import { asciiHost } from '../../../platform/address/host-name.js'
import { Intake, rateText } from '../../../platform/intake.js'
import type { NetworkPort, Socket } from '../../../platform/ports/network.js'
import { dialledRate } from '../../../platform/rates.js'
import type { Edges } from '../../../platform/time/edges.js'
import { isAnswer, type Outbound } from './outbound.js'

const connect_ms = 10_000

export interface DialTarget {
  host: string
  port: number
  /** The certificate of the other end is checked. */
  tls?: boolean | undefined
}

/** Why a connection failed. `flood`: the other end sends more than its limit. */
export type DialFailure = 'dns' | 'refused' | 'certificate' | 'not-tls' | 'timeout' | 'flood' | 'network'

export interface DialEvents {
  /** Connected, and over TLS the certificate is good. */
  connected(socket: Socket): void
  data(bytes: Buffer): void
  /** The system has accepted the waiting bytes. */
  drain?(): void
  /**
   * The connection could not be made, or failed. Called once, never after `hangUp`.
   * @param answered the other end was reached, so only it can solve the problem
   * @param code the reason, for a program
   */
  failed(text: string, answered: boolean, code: DialFailure): void
  /** The other end closed the connection, orderly or by a reset. Called once, instead of `failed`. */
  closed(): void
}

/** A connection that the station makes. */
export interface Dialled {
  readonly socket: Socket
  /** Ends the connection. Nothing is reported after that. */
  hangUp(): void
}

/**
 * Connects within 10 s, or reports the reason in words for the person who entered the address.
 * @param out selects the addresses for this attempt; default: those of the name, in order
 */
export function dial(
  { net, timers }: { net: Pick<NetworkPort, 'dial'>; timers: Pick<Edges['timers'], 'after'> },
  target: DialTarget,
  events: DialEvents,
  out?: Outbound,
): Dialled {
  const { host, port, tls = false } = target
  const socket = net.dial({
    host: asciiHost(host),
    port,
    ...(tls && { tls: {} }),
    ...(out && { resolve: out.resolve }),
  })
  out?.tries(socket)
  let over = false
  let isConnected = false
  const hangUp = () => {
    over = true
    void late()
    intake.close()
    socket.destroy()
  }
  const failed = (text: string, answered: boolean, code: DialFailure) => {
    if (over) return
    hangUp()
    events.failed(text, answered, code)
  }
  const late = timers.after(connect_ms, () => failed(`no connection to ${host} in 10 s`, false, 'timeout'))
  socket.setNoDelay(true)
  socket.once(tls ? 'secureConnect' : 'connect', () => {
    void late()
    isConnected = true
    if (!over) events.connected(socket)
  })
  const intake = new Intake(socket, {
    rate: dialledRate,
    overrun: () => failed(`${host} sends ${rateText(dialledRate)}: check host and port`, true, 'flood'),
  })
  socket.on('data', (bytes) => {
    if (!over) intake.run(bytes.length, 1, () => events.data(bytes))
  })
  socket.on('drain', () => {
    if (!over) events.drain?.()
  })
  const closed = () => {
    if (over) return
    hangUp()
    events.closed()
  }
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // Closing a socket with unread bytes sends a reset: casters do so when they end a push.
    if (isConnected && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '')) closed()
    else failed(failureText(error, host), isAnswer(error), failureCode(error))
  })
  socket.on('close', closed)
  return { socket, hangUp }
}

const failureCodes: readonly (readonly [RegExp, DialFailure])[] = [
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'dns'],
  [/^ECONNREFUSED$/, 'refused'],
  [/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/, 'certificate'],
  [/^(ERR_SSL|EPROTO)/, 'not-tls'],
  [/^ETIMEDOUT$/, 'timeout'],
]

function failureCode({ code = '' }: NodeJS.ErrnoException): DialFailure {
  return failureCodes.find(([pattern]) => pattern.test(code))?.[1] ?? 'network'
}

/** Why a connection failed, for a person. */
export function failureText({ code = '', message }: NodeJS.ErrnoException, host: string): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `${host} is not known: check the name, and the DNS of the network`
  if (code === 'ECONNREFUSED') return `${host} refuses connections: wrong port, or this address is banned there`
  if (code === 'CERT_NOT_YET_VALID')
    return `the certificate of ${host} is not valid yet: check the clock of this station`
  if (code === 'CERT_HAS_EXPIRED')
    return `the certificate of ${host} has expired, or the clock of this station is wrong`
  if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code)) return `the certificate of ${host} is not valid: ${message}`
  if (/^(ERR_SSL|EPROTO)/.test(code)) return `${host} does not speak TLS at this port: ${reasonOf(message)}`
  return `the connection failed: ${reasonOf(message)}`
}

/** OpenSSL's reason alone: around it stand a thread, a number, a function, and a line of its source. */
const reasonOf = (message: string) => /:error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/i.exec(message)?.[1] ?? message
