import { connect, type MqttClient } from 'mqtt'
import type { PluginContext } from 'rtk-base/plugin'
import type { MqttLinkState } from 'rtk-base/schemas'
import type { MqttDriver, MqttInbound } from 'rtk-base/services'
import { backoff_ms } from './backoff.js'
import { type Failure, failureOf, isHangUp, isUnacceptableVersion, noFailure, viaOf } from './failure.js'
import { type CertificateInfo, type Identity, type IdentityFiles, noCertificate, readIdentity } from './identity.js'
import { lastWill, type OnlineStatus, onlineStatus, onlineTopic } from './online-status.js'

/**
 * The link's states and what moves it between them; an event that has no entry changes nothing.
 * `reconnect`: another broker, another identity. `failed`: the attempt or the session ended by itself. `due`: the
 * back-off is over. `left`: the DISCONNECT of a planned reconnect is out.
 */
export const linkStates = {
  disabled: { enable: 'connecting' },
  connecting: { accepted: 'up', failed: 'down', reconnect: 'connecting', disable: 'disabled' },
  up: { failed: 'down', reconnect: 'renewing', disable: 'disabled' },
  renewing: { left: 'connecting', disable: 'disabled' },
  down: { due: 'connecting', reconnect: 'connecting', disable: 'disabled' },
} as const satisfies Record<MqttLinkState, Partial<Record<LinkEvent, MqttLinkState>>>

export type LinkEvent = 'enable' | 'disable' | 'accepted' | 'failed' | 'due' | 'reconnect' | 'left'

/** Bytes that may wait for the socket; one publication is admitted whatever its size when none waits. */
export const outboxLimit = 65_536
const keepalive_s = 120
const ping_ms = 20_000
const connectTimeout_ms = 20_000
/** A session that held for so long was a good one: the next loss starts the back-off anew. */
const stable_ms = 30_000
const versionMemory_ms = 24 * 3_600_000
const leaveLimit_ms = 1_500

export interface LinkSettings {
  enabled: boolean
  host: string
  port: number
}

export interface LinkOptions extends IdentityFiles {
  clientId: string
  protocol: 'auto' | '4' | '5'
  /** Plain TCP, unless an identity is given. */
  insecure: boolean
}

export interface LinkEvents {
  /** The broker accepted the session; `y` is out and the topics are subscribed. */
  up(session: { clientId: string; reconnect: boolean }): void
  message(message: MqttInbound): void
}

/** The client of the broker: connects, stays connected, says what it is doing. Carries the bus as its driver. */
export class Link implements MqttDriver {
  readonly #ctx: PluginContext
  readonly #options: LinkOptions
  readonly #settings: () => LinkSettings
  readonly #events: LinkEvents
  #state: MqttLinkState = 'disabled'
  #failure: Failure = noFailure
  #certificate: CertificateInfo = noCertificate
  #client: MqttClient | undefined
  #filters: readonly string[] = []
  #subscribed = new Set<string>()
  #attempt = 0
  #upSince_ms = 0
  #sessions = 0
  #pingOpen = false
  /** Bytes of QoS 1 and 2 publications that the broker has not acknowledged. */
  #unacknowledged = 0
  #cancelRetry: () => unknown = () => {}
  /** Until when a broker (`host:port`) is known to speak 3.1.1 only, in monotonic time. */
  readonly #oldBrokers: Map<string, number>
  #toldFailure = ''
  #toldWarning = ''

  constructor(
    ctx: PluginContext,
    options: LinkOptions,
    settings: () => LinkSettings,
    events: LinkEvents,
    oldBrokers: Iterable<readonly [string, number]> = [],
  ) {
    this.#ctx = ctx
    this.#options = options
    this.#settings = settings
    this.#events = events
    this.#oldBrokers = new Map(oldBrokers)
  }

  get state() {
    return { link: this.#state, cert: this.#certificate, error: this.#failure }
  }

  get via(): string {
    const stream = this.#state === 'up' ? (this.#client?.stream as { localAddress?: string } | undefined) : undefined
    return stream === undefined ? '' : viaOf(stream.localAddress)
  }

  get oldBrokers(): [string, number][] {
    return [...this.#oldBrokers]
  }

  start(): void {
    this.#ctx.timers.every(ping_ms, () => this.#ping())
    this.apply()
  }

  /** The settings changed: enables, disables, or goes to the other broker. */
  apply(): void {
    if (!this.#settings().enabled) this.#dispatch('disable')
    else this.#dispatch(this.#state === 'disabled' ? 'enable' : 'reconnect')
    if (this.#state === 'disabled') this.#ctx.status('switched off (mqtt-en is 0)')
  }

  /** Says goodbye and ends with a DISCONNECT, so that no `L` follows. Takes at most 1.5 s. */
  async stop(status: OnlineStatus): Promise<void> {
    this.#cancelRetry()
    this.#state = 'disabled'
    await this.#leave(status)
  }

  // ── the bus's driver ──────────────────────────────────────────────────────────────────────────────────────────────

  publish(
    topic: string,
    payload: string | Uint8Array,
    { retain, qos, properties }: Parameters<MqttDriver['publish']>[2],
  ): 'sent' | 'offline' | 'full' {
    const client = this.#client
    if (this.#state !== 'up' || client?.connected !== true) return 'offline'
    const size = Buffer.byteLength(payload) + Buffer.byteLength(topic) + 8
    const waiting = (client.stream as { writableLength: number }).writableLength + this.#unacknowledged
    if (waiting > 0 && waiting + size > outboxLimit) return 'full'
    if (qos > 0) this.#unacknowledged += size
    const v5 = client.options.protocolVersion === 5 && properties !== undefined
    client.publish(
      topic,
      typeof payload === 'string' ? payload : Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
      { retain, qos, ...(v5 ? { properties: properties as object } : {}) },
      () => {
        if (qos > 0 && client === this.#client) this.#unacknowledged -= size
      },
    )
    return 'sent'
  }

  subscribe(filters: readonly string[]): void {
    this.#filters = filters
    this.#subscribe(() => {})
  }

  #subscribe(done: () => void): void {
    const filters = this.#filters
    const client = this.#client
    if (this.#state !== 'up' || client?.connected !== true) return
    const added = filters.filter((filter) => !this.#subscribed.has(filter))
    const removed = [...this.#subscribed].filter((filter) => !filters.includes(filter))
    this.#subscribed = new Set(filters)
    // A refused subscription leaves the publications working: it is told, and tried again with the next session.
    const told = (error?: Error | null) => {
      if (error)
        this.#ctx.log.warn(
          { err: error },
          'the broker refused a subscription; it is tried again after the next connect',
        )
    }
    if (removed.length > 0) client.unsubscribe(removed, told)
    if (added.length === 0) {
      done()
      return
    }
    client.subscribe(added, { qos: 1 }, (error) => {
      told(error)
      if (client === this.#client && this.#state === 'up') done()
    })
  }

  /** Says `y` again. */
  sayOnline(): void {
    if (this.#state === 'up') this.publish(onlineTopic(this.#ctx.serial), onlineStatus.online, { retain: true, qos: 0 })
  }

  // ── the state machine ─────────────────────────────────────────────────────────────────────────────────────────────

  #dispatch(event: LinkEvent): void {
    const before = this.#state
    const next = (linkStates[before] as Partial<Record<LinkEvent, MqttLinkState>>)[event]
    if (next === undefined || this.#ctx.signal.aborted) return
    this.#state = next
    this.#cancelRetry()
    this.#ctx.log.debug({ event, before, next }, 'link')
    if (next === 'connecting') void this.#open()
    if (next === 'up') this.#greet()
    if (next === 'down') this.#retryLater(before)
    if (next === 'renewing') void this.#leave(onlineStatus.restarting).then(() => this.#dispatch('left'))
    if (next === 'disabled') void this.#leave(onlineStatus.quitting)
  }

  async #open(): Promise<void> {
    this.#drop()
    const { host, port } = this.#settings()
    if (host === '') return this.#fail({ cause: 'config', text: 'no broker is set: change mqtt-host' })
    let identity: Identity
    try {
      identity = await readIdentity(this.#options)
    } catch (error) {
      return this.#fail({ cause: 'identity', text: (error as Error).message })
    }
    // Reading took a moment: another broker may be wanted by now, and its own attempt under way.
    if (this.#state !== 'connecting' || this.#client !== undefined || this.#ctx.signal.aborted) return
    const now = this.#settings()
    if (now.host !== host || now.port !== port) return void this.#open()
    this.#certificate = identity.info
    if (identity.warning !== '' && identity.warning !== this.#toldWarning) this.#ctx.log.warn(identity.warning)
    this.#toldWarning = identity.warning
    this.#attach(host, port, identity, this.#version(host, port))
  }

  #version(host: string, port: number): 4 | 5 {
    if (this.#options.protocol !== 'auto') return this.#options.protocol === '4' ? 4 : 5
    const until_ms = this.#oldBrokers.get(`${host}:${port}`) ?? 0
    return until_ms > this.#ctx.clock.monotonic() ? 4 : 5
  }

  #attach(host: string, port: number, identity: Identity, version: 4 | 5): void {
    const { ca, cert, key } = identity
    const tls = !this.#options.insecure || ca !== undefined || cert !== undefined
    let client: MqttClient
    try {
      client = connect({
        host,
        port,
        protocol: tls ? 'mqtts' : 'mqtt',
        ...(tls ? { ca, cert, key, rejectUnauthorized: true } : {}),
        clientId: this.#options.clientId,
        clean: true,
        protocolVersion: version,
        keepalive: keepalive_s,
        connectTimeout: connectTimeout_ms,
        reconnectPeriod: 0,
        queueQoSZero: false,
        resubscribe: false,
        will: lastWill(this.#ctx.serial),
      })
    } catch (error) {
      this.#fail({ cause: 'identity', text: (error as Error).message })
      return
    }
    this.#client = client
    this.#unacknowledged = 0
    let error: unknown
    let accepted = false
    client.on('error', (reported) => {
      error ??= reported
    })
    client.on('connect', () => {
      if (client !== this.#client) return
      accepted = true
      if (version === 4 && this.#options.protocol === 'auto')
        this.#oldBrokers.set(`${host}:${port}`, this.#ctx.clock.monotonic() + versionMemory_ms)
      this.#dispatch('accepted')
    })
    client.on('message', (topic, payload, packet) => {
      if (client !== this.#client) return
      const { responseTopic, correlationData } = packet.properties ?? {}
      this.#events.message({
        topic,
        payload,
        retain: packet.retain,
        ...(responseTopic === undefined ? {} : { responseTopic }),
        ...(correlationData === undefined ? {} : { correlationData }),
      })
    })
    client.on('packetreceive', ({ cmd }) => {
      if (cmd === 'pingresp' && client === this.#client) this.#pingOpen = false
    })
    client.on('close', () => {
      if (client !== this.#client) return
      const older = version === 5 && this.#options.protocol === 'auto' && !accepted
      if (older && (isUnacceptableVersion(error) || isHangUp(error))) {
        this.#drop()
        this.#attach(host, port, identity, 4)
        return
      }
      this.#fail(failureOf(error))
    })
  }

  #greet(): void {
    const { host, port } = this.#settings()
    this.#failure = noFailure
    this.#toldFailure = ''
    this.#pingOpen = false
    this.#upSince_ms = this.#ctx.clock.monotonic()
    this.#ctx.log.info({ host, port, version: this.#client?.options.protocolVersion }, 'the MQTT link is up')
    this.#ctx.status(`connected to ${host}:${port}`)
    // Nagle's algorithm holds small packets back for up to 40 ms behind a delayed ACK.
    const stream = this.#client?.stream as { setNoDelay?(on: boolean): void } | undefined
    stream?.setNoDelay?.(true)
    this.sayOnline()
    this.#subscribed.clear()
    const session = { clientId: this.#options.clientId, reconnect: this.#sessions++ > 0 }
    // The session is announced when requests can reach the device: who sees the document may send one.
    this.#subscribe(() => this.#events.up(session))
  }

  #fail(failure: Failure): void {
    this.#failure = failure
    this.#drop()
    this.#dispatch('failed')
  }

  #retryLater(before: MqttLinkState): void {
    const { cause, text } = this.#failure
    if (before === 'up' && this.#ctx.clock.monotonic() - this.#upSince_ms >= stable_ms) this.#attempt = 0
    // Only a change of the settings can help here.
    const hopeless = cause === 'config'
    const wait_ms = backoff_ms(this.#attempt++, Math.random())
    this.#ctx.status(hopeless ? text : `down (${cause}): ${text}; tried again by itself`)
    if (text !== this.#toldFailure)
      this.#ctx.log.warn({ cause, retry_ms: hopeless ? undefined : wait_ms }, `the MQTT link is down: ${text}`)
    this.#toldFailure = text
    if (!hopeless) this.#cancelRetry = this.#ctx.timers.after(wait_ms, () => this.#dispatch('due'))
  }

  /** A TCP connection can be dead for a quarter of an hour before the system says so. */
  #ping(): void {
    const client = this.#client
    if (this.#state !== 'up' || client === undefined) return
    if (this.#pingOpen) {
      this.#fail({ cause: 'ping', text: `the broker answered no ping for ${ping_ms / 1000} s` })
      return
    }
    this.#pingOpen = true
    client.sendPing()
  }

  /** Publishes `status`, then ends with a DISCONNECT. */
  async #leave(status: OnlineStatus): Promise<void> {
    const client = this.#client
    this.#client = undefined
    this.#pingOpen = false
    this.#attempt = 0
    this.#failure = noFailure
    if (client === undefined) return
    if (!client.connected) {
      client.end(true)
      return
    }
    // Real time: the process may be about to end, and a socket does not keep to a test's clock.
    let limit: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, leaveLimit_ms)
    })
    const left = new Promise<void>((resolve) => {
      client.once('close', () => resolve())
      client.publish(onlineTopic(this.#ctx.serial), status, { retain: true, qos: 0 }, () => client.end(false))
    })
    await Promise.race([left, late])
    clearTimeout(limit)
    client.end(true)
  }

  /** Lets go of a connection without a word. */
  #drop(): void {
    const client = this.#client
    this.#client = undefined
    this.#pingOpen = false
    client?.end(true)
  }
}
