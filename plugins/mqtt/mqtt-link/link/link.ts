import { randomUUID } from 'node:crypto'
import type { PluginContext } from 'rtk-base/plugin'
import type { MqttLinkState, OnlineStatus } from 'rtk-base/schemas'
import type { MqttInbound, MqttLink } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { type Broker, type BrokerChoice, sameBroker } from '../broker.js'
import { type Failure, noFailure } from '../failure.js'
import { type CertificateInfo, type Identity, noCertificate } from '../identity/identity.js'
import type { StationIdentity } from '../identity/station-identity.js'
import { onlineStatus } from '../session/client.js'
import { Farewell } from '../session/farewell.js'
import type { Session } from '../session/session.js'
import { type LinkOptions, SessionFactory } from '../session/session-factory.js'
import { BusDriver } from './bus-driver.js'
import { BrokerOutbound } from './outbound.js'
import { Retry } from './retry.js'
import { type LinkEvent, nextState } from './states.js'

const ping_ms = 20_000
const timeLook_ms = 1_000
/** For the answer to SUBSCRIBE: a link that hears nothing is none. */
const subscribeLimit_ms = 20_000

/** State handed over to the next instance. */
export const LinkHandoff = Type.Object({
  /** Brokers without MQTT 5, and until when that is remembered. */
  oldBrokers: Type.Array(Type.Tuple([Type.String(), Type.Number()])),
  /** The broker that has `r` retained. */
  promised: Type.Optional(
    Type.Object({ host: Type.String({ minLength: 1 }), port: Type.Integer({ minimum: 1, maximum: 65_535 }) }),
  ),
})
type LinkHandoff = Static<typeof LinkHandoff>

export interface LinkEvents {
  /** The broker accepted the session; `y` is published and the topics are subscribed. */
  up(session: { clientId: string; reconnect: boolean }): void
  message(message: MqttInbound): void
  /** The broker answered. @param address the station's own, of that connection */
  alive(address: string): void
  /** The identity that stays in use is decided. */
  settled(): void
}

/** Keeps a session with the broker. It is the service `mqtt-link` for other plugins, too. */
export class BrokerLink implements MqttLink {
  /** Carries the bus. */
  readonly driver: BusDriver
  readonly #ctx: PluginContext
  readonly #options: LinkOptions
  readonly #broker: Pick<BrokerChoice, 'enabled' | 'current'>
  readonly #identities: StationIdentity
  readonly #events: LinkEvents
  readonly #sessions: SessionFactory
  readonly #farewell: Farewell
  readonly #retry: Retry
  readonly #out: BrokerOutbound
  #state: MqttLinkState = 'disabled'
  #failure: Failure = noFailure
  #certificate: CertificateInfo = noCertificate
  #identity: Identity | undefined
  #session: Session | undefined
  #announced: { session: Session; name: string } | undefined
  /** Counts the attempts: one that was given up before its session began ends by itself. */
  #turn = 0
  #accepted = 0

  constructor(
    ctx: PluginContext,
    options: LinkOptions,
    broker: Pick<BrokerChoice, 'enabled' | 'current'>,
    identities: StationIdentity,
    events: LinkEvents,
  ) {
    this.#ctx = ctx
    this.#options = options
    this.#broker = broker
    this.#identities = identities
    this.#events = events
    this.driver = new BusDriver(ctx, () => this.#live)
    this.#retry = new Retry(ctx)
    this.#out = new BrokerOutbound(ctx, () => this.#session)
    this.#farewell = new Farewell(ctx.clock, (broker) => {
      const silent = { accepted() {}, alive() {}, message() {}, ended() {} }
      return this.#identity && this.#sessions.begin(broker, this.#identity, this.#sessions.version(broker), silent)
    })
    this.#sessions = new SessionFactory(ctx, options)
  }

  get enabled(): boolean {
    return this.#broker.enabled
  }

  get broker(): MqttLink['broker'] {
    const { host, port } = this.#broker.current
    return host === '' ? undefined : { host, port, tls: this.#sessions.usesTls(this.#identity ?? {}) }
  }

  get state(): MqttLinkState {
    return this.#state
  }

  get failure(): Pick<Failure, 'cause' | 'text'> {
    const { cause, text } = this.#failure
    return { cause, text }
  }

  get up(): boolean {
    return this.#live !== undefined
  }

  /** The session that is up. */
  get #live(): Session | undefined {
    return this.#state === 'up' ? this.#session : undefined
  }

  /** `mqtt.state` and `mqtt.via` */
  get fields() {
    return { via: this.via, state: { link: this.#state, cert: this.#certificate, error: this.failure } }
  }

  get via(): MqttLink['via'] {
    return this.#live ? this.#out.via(this.#live) : ''
  }

  /** Number of sessions that a broker accepted since the plugin was loaded. */
  get sessions(): number {
    return this.#accepted
  }

  /** Each session has another name, from the moment that it was announced. */
  get session(): string | undefined {
    return this.up && this.#session === this.#announced?.session ? this.#announced?.name : undefined
  }

  get version(): 4 | 5 | undefined {
    return this.#live?.version
  }

  get brokerAddress(): string {
    return this.#live?.remoteAddress ?? ''
  }

  hasRoom(bytes: number): boolean {
    return this.#live?.up === true && this.#live.hasRoom(bytes)
  }

  largestPayload(topic: string): number {
    return this.#live?.largestPayload(topic) ?? Number.POSITIVE_INFINITY
  }

  get certificateUntil_s(): number {
    return this.#certificate.until
  }

  get certificate(): string | undefined {
    return this.#identity?.cert
  }

  async sign(data: Uint8Array): ReturnType<MqttLink['sign']> {
    if (this.#identity === undefined) throw new Error('the certificate is not read yet')
    return this.#identity.sign(data)
  }

  get handoff(): LinkHandoff {
    const { promised } = this.#farewell
    return { oldBrokers: this.#sessions.oldBrokers, ...(promised && { promised }) }
  }

  start(handoff?: LinkHandoff): void {
    this.#sessions.remember(handoff?.oldBrokers ?? [])
    this.#farewell.load(handoff?.promised)
    this.#ctx.timers.every(ping_ms, () => this.#ping())
    this.#ctx.defer(() => this.#out.close())
    this.#out.follow({ up: () => this.networkUp(), stranded: (failure) => this.#stranded(failure) })
    this.apply()
  }

  /** The settings changed: switches the link on or off, or goes to the other broker. */
  apply(): void {
    this.#retry.restart()
    if (!this.enabled) this.#dispatch('disable')
    else if (this.#state === 'disabled') this.#dispatch('enable')
    else if (this.#state !== 'up' || !sameBroker(this.#broker.current, this.#session?.broker))
      this.#dispatch('reconnect')
    if (this.#state === 'disabled') {
      this.#ctx.status('switched off (mqtt-en is 0)')
      this.#out.idle('switched off (mqtt-en is 0)')
    }
  }

  /** Reconnects with the current identity. */
  reconnect(): void {
    if (this.#state !== 'disabled') this.#dispatch('reconnect')
  }

  /** A network came up: the cause of the failure may be gone, and a pending attempt may use the wrong route. */
  networkUp(): void {
    if (this.#retry.heldFor !== undefined || this.#failure.end === 'breach' || this.#retry.isShared) return
    this.#retry.reset()
    if (this.#state === 'down') this.#dispatch('due')
    else if (this.#state === 'connecting' && this.#session?.unreached === true) this.#dispatch('reconnect')
  }

  #stranded(failure: Failure): void {
    this.#retry.reset()
    this.#fail(failure, { reported: false })
  }

  /** Ends the link with `q` and makes no attempt until the returned function is called. */
  async hold(reason: string): Promise<() => void> {
    const release = this.#retry.hold(reason, () => this.networkUp())
    if (this.#state !== 'disabled') this.#failure = { cause: 'held', text: reason }
    const quit = this.#quit()
    this.#dispatch('hold')
    await quit
    return release
  }

  /** Publishes `status` and ends with a DISCONNECT, so that no `L` follows. */
  async stop(status: OnlineStatus): Promise<void> {
    this.#retry.cancel()
    this.#state = 'disabled'
    if (status === onlineStatus.quitting) return this.#quit()
    this.#turn++
    await this.#farewell.restart(this.#takeSession())
  }

  // ── the state machine ─────────────────────────────────────────────────────────────────────────────────────────────

  #dispatch(event: LinkEvent): void {
    const before = this.#state
    const next = nextState(before, event)
    if (next === undefined || this.#ctx.signal.aborted) return
    this.#state = next
    // Failures of the previous broker or identity do not apply to the next one.
    if (event === 'reconnect') this.#failure = noFailure
    this.#retry.cancel()
    this.#ctx.log.debug({ event, before, next }, 'link')
    if (next === 'connecting') void this.#open()
    if (next === 'up') this.#greet()
    if (next === 'down') {
      if (before === 'up') this.#retry.lost()
      const wait_ms = this.#retry.failed(this.#failure, () => this.#dispatch('due'))
      this.#out.down(this.#failure, wait_ms)
    }
    if (next === 'renewing') this.#restart()
    if (next === 'disabled') this.#disable()
  }

  /** Publishes `r` and leaves; also when the broker seems dead, because it may only be slow. */
  #restart(): void {
    this.#retry.reset()
    void this.#farewell.restart(this.#takeSession()).then(() => this.#dispatch('left'))
  }

  #disable(): void {
    this.#retry.reset()
    this.#failure = noFailure
    void this.#quit()
  }

  /** Publishes `q` and leaves, in any state. */
  #quit(): Promise<void> {
    this.#turn++
    return this.#farewell.quit(this.#takeSession())
  }

  // ── an attempt ────────────────────────────────────────────────────────────────────────────────────────────────────

  async #open(): Promise<void> {
    const turn = ++this.#turn
    this.#identities.begin()
    // The broker may have accepted the attempt that is given up here a moment ago.
    void this.#farewell.restart(this.#takeSession())
    const { host, port } = this.#broker.current
    this.#out.aim({ host, port })
    const held = this.#retry.heldFor
    if (held !== undefined) return this.#fail({ cause: 'held', text: held })
    if (host === '') return this.#fail({ cause: 'config', text: 'no broker is set: set mqtt-host' })
    let identity: Identity
    try {
      await this.#farewell.over
      identity = await this.#identities.next()
    } catch (error) {
      if (turn === this.#turn) this.#fail({ cause: 'identity', text: (error as Error).message })
      return
    }
    if (turn !== this.#turn || this.#state !== 'connecting' || this.#ctx.signal.aborted) return
    if (this.#sessions.awaitsTime(identity)) return this.#waitForTime()
    this.#identity = identity
    this.#certificate = identity.info
    this.#out.tries()
    this.#connect({ host, port }, identity, this.#sessions.version({ host, port }))
  }

  #waitForTime(): void {
    this.#ctx.status('waiting for the time, which TLS needs')
    this.#retry.after(timeLook_ms, () => {
      if (this.#state === 'connecting') void this.#open()
    })
  }

  #connect(broker: Broker, identity: Identity, version: 4 | 5): void {
    try {
      this.#session = this.#sessions.begin({ ...broker, resolve: this.#out.resolve }, identity, version, {
        accepted: () => {
          this.#sessions.accepted(broker, version)
          this.#subscribe()
        },
        alive: () => this.#reportAlive(),
        message: (message) => this.#events.message(message),
        ended: (end) => {
          this.#session = undefined
          if (this.#sessions.fallsBack(version, end)) this.#connect(broker, identity, 4)
          else this.#fail(this.#sessions.explained(end.failure))
        },
      })
    } catch (error) {
      this.#fail({ cause: 'identity', text: `the certificate or key cannot be used: ${(error as Error).message}` })
    }
  }

  /** The link is up when requests can reach the station: a client that reads the document may send one at once. */
  #subscribe(): void {
    const session = this.#session
    const late = this.#ctx.timers.after(subscribeLimit_ms, () => {
      if (session !== this.#session || this.#state !== 'connecting') return
      this.#fail({
        cause: 'timeout',
        text: `the broker did not answer the subscription in ${subscribeLimit_ms / 1000} s`,
      })
    })
    // First: the broker may still retain the `L` of the previous session, and sends it to new subscribers.
    this.driver.sayOnline(session)
    this.driver.subscribeAll(session, () => {
      void late()
      if (session !== this.#session) return
      this.#dispatch('accepted')
      // A topic may have been added meanwhile.
      this.driver.subscribeAll(this.#live, () => {})
    })
  }

  /**
   * Uplinks, recovery and HTTP read the state of the interfaces each time, so it has to be seldom: a broker cannot answer more
   * pings than it was sent (`inspection.ts`).
   */
  #reportAlive(): void {
    const session = this.#live
    if (session?.localAddress === undefined) return
    this.#events.alive(session.localAddress)
    this.#out.uplinks.reached(session, 'the broker answers')
  }

  #greet(): void {
    const session = this.#session
    const { host, port } = session?.broker ?? this.#broker.current
    this.#failure = noFailure
    this.#out.up(session)
    this.#retry.succeeded()
    this.#ctx.log.info({ host, port, version: session?.version }, 'the MQTT link is up')
    this.#ctx.status(`connected to ${host}:${port}`)
    this.#reportAlive()
    this.#farewell.published()
    if (this.#identity !== undefined) void this.#identities.connected(this.#identity).then(() => this.#events.settled())
    const reconnect = this.#accepted++ > 0
    if (session === undefined) return
    this.#announced = { session, name: randomUUID() }
    this.#events.up({ clientId: this.#options.clientId, reconnect })
  }

  // ── failures ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #fail(failure: Failure, { reported = true } = {}): void {
    this.#failure = failure
    if (reported) this.#out.wayFailed(failure)
    this.#takeSession()?.drop()
    if (this.#state === 'connecting' && this.#identities.failed(failure)) void this.#open()
    else this.#dispatch('failed')
  }

  /** TCP reports a dead connection only after up to a quarter of an hour, even with pending data. */
  #ping(): void {
    if (this.#state !== 'up' || this.#session?.ping() !== false) return
    const text = `the broker answered no ping for ${ping_ms / 1000} s`
    this.#failure = { cause: 'ping', text }
    this.#out.wayFailed(this.#failure, this.#session.localAddress)
    this.#ctx.log.warn({ cause: 'ping' }, `reconnecting the MQTT link: ${text}`)
    this.#dispatch('dead')
  }

  #takeSession(): Session | undefined {
    const session = this.#session
    this.#session = undefined
    return session
  }
}
