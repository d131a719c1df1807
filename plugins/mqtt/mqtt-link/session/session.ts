import type { MqttClient } from 'mqtt'
import { topicMatches } from 'rtk-base/link'
import type { Socket } from 'rtk-base/plugin'
import type { OnlineStatus } from 'rtk-base/schemas'
import type { MqttDriver, MqttInbound, MqttProperties } from 'rtk-base/services'
import type { Broker } from '../broker.js'
import {
  breachFailure,
  disconnectFailure,
  type Failure,
  failureOf,
  isHangUp,
  isUnacceptableVersion,
} from '../failure.js'
import { clientOf, onlineTopic, type SessionOptions, socketOf } from './client.js'
import { Breach, Inspection } from './inspection.js'

/** Bytes that may wait for the socket. When none waits, one publication of any size is admitted. */
export const outboxLimit = 65_536
/** How long a farewell may take: the service has 3 s to stop. */
export const leaveLimit_ms = 1_500
/** Fixed header, lengths of topic and properties, and packet identifier of a PUBLISH at most. */
const overhead = 12

export interface SessionEnd {
  failure: Failure
  /** The broker had accepted the session before it ended. */
  accepted: boolean
  /** The broker does not speak this version of MQTT, or closed the connection before it answered. */
  otherVersion: boolean
}

export interface SessionEvents {
  accepted(): void
  /** The broker answered a ping. */
  alive(): void
  message(message: MqttInbound): void
  /** Once; not after `drop` or `leave`. */
  ended(end: SessionEnd): void
}

/** One connection to a broker, from the attempt to its end. It never reconnects. */
export class Session {
  readonly broker: Broker
  readonly version: 4 | 5
  readonly #serial: string
  readonly #client: MqttClient
  #live = true
  #pingOpen = false
  /** The largest packet that the broker accepts, where it states one (MQTT 5, section 3.2.2.3.6). */
  #largest = Number.POSITIVE_INFINITY
  /** Bytes of QoS 1 and 2 publications that the broker has not acknowledged. */
  #unacknowledged = 0
  #subscribed = new Set<string>()
  /** Topics of this session: messages in transit when a topic was unsubscribed are not a fault of the broker. */
  readonly #asked = new Set<string>()
  readonly #socket: Socket
  #breach: Breach | undefined

  /** Begins the attempt. @throws when TLS rejects the identity */
  constructor(options: SessionOptions, events: SessionEvents) {
    const { host, port, serial, version } = options
    this.broker = { host, port }
    this.version = version
    this.#serial = serial
    const socket = socketOf(options)
    this.#socket = socket
    let error: unknown
    const failed = (reported: Error) => {
      error ??= reported
      // The client would keep a connection with unreadable packets.
      socket.destroy()
    }
    const inspection = new Inspection()
    inspection.on('error', (found) => (found instanceof Breach ? this.#endBy(found) : failed(found)))
    // The client reads from its stream in this way alone.
    const inspected = socket.pipe(inspection)
    socket.pipe = (parser, how) => inspected.pipe(parser, how)
    const client = clientOf(socket, options)
    this.#client = client
    let farewell: Failure | undefined
    let accepted = false
    client.on('error', failed)
    socket.on('error', failed)
    socket.once('close', () => inspection.destroy())
    client.on('packetsend', (packet) => inspection.watch.sent(packet))
    client.on('connect', ({ properties }) => {
      accepted = true
      this.#largest = properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY
      // Nagle's algorithm delays small packets by up to 40 ms, until the ACK of the one before.
      socket.setNoDelay(true)
      if (this.#live) events.accepted()
    })
    client.on('disconnect', ({ reasonCode }) => {
      farewell = disconnectFailure(reasonCode)
      client.end(true)
    })
    client.on('message', (topic, payload, packet) => {
      if (!this.#live) return
      if (![...this.#asked].some((filter) => topicMatches(filter, topic))) {
        this.#endBy(new Breach(`it sent a message on ${topic.slice(0, 64)}, which the station did not subscribe to`))
        return
      }
      const { responseTopic, correlationData } = packet.properties ?? {}
      events.message({
        topic,
        payload,
        retain: packet.retain,
        ...(responseTopic === undefined ? {} : { responseTopic }),
        ...(correlationData === undefined ? {} : { correlationData }),
      })
    })
    client.on('packetreceive', ({ cmd }) => {
      if (cmd !== 'pingresp') return
      this.#pingOpen = false
      if (this.#live) events.alive()
    })
    client.on('close', () => {
      if (!this.#live) return
      this.#live = false
      client.end(true)
      const otherVersion = !accepted && (isUnacceptableVersion(error) || isHangUp(error))
      // A reset may come from a router that forgot the connection: only an orderly close is the broker's.
      const isUnexplained = accepted && version === 4 && error === undefined
      const failure = this.#breach
        ? breachFailure(this.#breach.message)
        : (farewell ?? { ...failureOf(error), ...(isUnexplained && { end: 'unexplained' as const }) })
      events.ended({ failure, accepted, otherVersion: otherVersion && !this.#breach })
    })
    client.connect()
  }

  /** The broker violated the protocol: nothing more is read from it. */
  #endBy(breach: Breach): void {
    this.#breach ??= breach
    this.#socket.destroy()
  }

  /** False as soon as the socket is given up, which is before `ended`. */
  get up(): boolean {
    return this.#live && this.#client.connected && !this.#client.disconnecting && this.#socket.writable
  }

  /** The name is still being resolved, or its address has not answered. */
  get unreached(): boolean {
    return this.#socket.connecting
  }

  get localAddress(): string | undefined {
    return this.#socket.localAddress
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  /** Bytes that wait for the socket, or for the broker to acknowledge them. */
  get waiting(): number {
    return this.#socket.writableLength + this.#unacknowledged
  }

  /** Whether a publication of this size would be accepted. */
  hasRoom(bytes: number): boolean {
    return this.waiting === 0 || this.waiting + bytes <= outboxLimit
  }

  /** The largest payload on `topic` that the broker accepts, in bytes. */
  largestPayload(topic: string, properties?: MqttProperties): number {
    return this.#largest - sizeOf(topic, '', properties)
  }

  publish(
    topic: string,
    payload: string | Uint8Array,
    { retain, qos, properties, followedBy }: Parameters<MqttDriver['publish']>[2],
  ): 'sent' | 'offline' | 'full' {
    if (!this.up) return 'offline'
    const v5 = this.version === 5 && properties !== undefined
    const size = sizeOf(topic, payload, v5 ? properties : undefined)
    const sizes = [size, ...(followedBy ? [sizeOf(followedBy.topic, followedBy.payload)] : [])]
    if (sizes.some((one) => one > this.#largest) || !this.hasRoom(sum(sizes))) return 'full'
    this.#send(topic, payload, { retain, qos, ...(v5 && { properties }) }, size)
    if (followedBy) this.#send(followedBy.topic, followedBy.payload, { retain, qos }, sizes[1] ?? 0)
    return 'sent'
  }

  #send(
    topic: string,
    payload: string | Uint8Array,
    options: { retain: boolean; qos: 0 | 1 | 2; properties?: MqttProperties },
    size: number,
  ): void {
    const { qos } = options
    if (qos > 0) this.#unacknowledged += size
    this.#client.publish(
      topic,
      typeof payload === 'string' ? payload : Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
      options as object,
      () => {
        if (qos > 0) this.#unacknowledged -= size
      },
    )
  }

  /** Subscribes new topics, unsubscribes removed ones. @param done gets the error if the broker rejected one */
  subscribe(filters: readonly string[], done: (refused?: Error) => void): void {
    if (!this.up) return
    const added = filters.filter((filter) => !this.#subscribed.has(filter))
    const removed = [...this.#subscribed].filter((filter) => !filters.includes(filter))
    this.#subscribed = new Set(filters)
    for (const filter of filters) this.#asked.add(filter)
    if (removed.length > 0) this.#client.unsubscribe(removed, () => this.#subscribeAgain(removed))
    if (added.length === 0) done()
    else this.#client.subscribe(added, { qos: 1 }, (error) => this.up && done(error ?? undefined))
  }

  /** Topics that were wanted again before the broker had removed them: some brokers remove what a later SUBSCRIBE has added. */
  #subscribeAgain(removed: readonly string[]): void {
    const wanted = removed.filter((filter) => this.#subscribed.has(filter))
    if (this.up && wanted.length > 0) this.#client.subscribe(wanted, { qos: 1 })
  }

  /** Sends a ping; false when the previous one was not answered. */
  ping(): boolean {
    if (this.#pingOpen) return false
    this.#pingOpen = true
    this.#client.sendPing()
    return true
  }

  /**
   * Publishes `status`, then ends with a DISCONNECT, so that no `L` follows. Takes at most 1.5 s; false: it could not be published.
   * @param patient also waits for a broker that is not reached yet
   */
  async leave(status: OnlineStatus, { patient = false } = {}): Promise<boolean> {
    const client = this.#client
    this.#live = false
    const published = await within(leaveLimit_ms, this.#goodbye(status, patient), false)
    client.end(true)
    // `end` does nothing while an end without force is in progress.
    this.#socket.destroy()
    return published
  }

  async #goodbye(status: OnlineStatus, patient: boolean): Promise<boolean> {
    const client = this.#client
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
    if (!client.connected) {
      if (this.unreached && !patient) return false
      // The broker may have the CONNECT already: without a DISCONNECT it would publish `L`.
      await Promise.race([closed, new Promise<void>((resolve) => client.once('connect', () => resolve()))])
      if (!client.connected) return false
    }
    client.publish(onlineTopic(this.#serial), status, { retain: true, qos: 0 }, () => {
      // The client would delay its DISCONNECT until the broker has acknowledged everything.
      for (const id of Object.keys(client.outgoing)) client.removeOutgoingMessage(Number(id))
      client.end(false)
    })
    await closed
    return true
  }

  /** Ends the connection without a DISCONNECT. */
  drop(): void {
    this.#live = false
    this.#client.end(true)
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

/** Size of a PUBLISH, rounded up by a few bytes. */
function sizeOf(topic: string, payload: string | Uint8Array, properties: MqttProperties = {}): number {
  const { userProperties = {}, correlationData } = properties
  const pairs = Object.entries(userProperties).map(([name, value]) => 5 + Buffer.byteLength(name + value))
  const more = pairs.reduce((sum, bytes) => sum + bytes, correlationData ? 3 + correlationData.length : 0)
  return Buffer.byteLength(topic) + Buffer.byteLength(payload) + more + overhead
}

/**
 * The result of `work`, or `otherwise` after `limit_ms` of real time: the process may be about to end, and sockets do not
 * follow a test clock.
 */
export async function within<T>(limit_ms: number, work: Promise<T>, otherwise: T): Promise<T> {
  let limit: NodeJS.Timeout | undefined
  const late = new Promise<T>((resolve) => {
    limit = setTimeout(() => resolve(otherwise), limit_ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(limit)
  }
}
