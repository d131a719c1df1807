import type { PluginContext } from 'rtk-base/plugin'
import type { MqttLinkState } from 'rtk-base/schemas'
import { device, type MqttDriver, type MqttInbound } from 'rtk-base/services'
import { backoff_ms } from './backoff.js'
import { type CertificateInfo, noCertificate } from './certificate.js'
import { type Failure, noFailure } from './failure.js'
import type { Identities, Identity } from './identity.js'
import { OldBrokers } from './old-brokers.js'
import { type OnlineStatus, onlineStatus, onlineTopic } from './online-status.js'
import { Session } from './session.js'
import { type LinkEvent, nextState } from './states.js'
import { viaOf } from './via.js'

const ping_ms = 20_000
/** A session that held for so long was a good one: the next loss starts the back-off anew. */
const stable_ms = 30_000
/** TLS needs to know the time; after so much uptime it is tried without. */
const timeWait_ms = 60_000
const timeLook_ms = 1_000
/** Who holds the link and forgets it does not keep the station away for good. */
const longestHold_ms = 600_000

export interface Broker {
  host: string
  port: number
}

export interface LinkSettings extends Broker {
  enabled: boolean
}

export interface LinkOptions {
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

/** Keeps a session with the broker, and says what it is doing. Carries the bus as its driver. */
export class Link implements MqttDriver {
  readonly #ctx: PluginContext
  readonly #options: LinkOptions
  readonly #settings: () => LinkSettings
  readonly #identities: Identities
  readonly #events: LinkEvents
  readonly #oldBrokers: OldBrokers
  readonly #holds = new Set<string>()
  #state: MqttLinkState = 'disabled'
  #failure: Failure = noFailure
  #certificate: CertificateInfo = noCertificate
  #identity: Identity | undefined
  #session: Session | undefined
  /** Where the last session that a broker accepted was. */
  #proven: Broker | undefined
  #filters: readonly string[] = []
  #attempt = 0
  /** Counts the attempts, so that what was awaited for an earlier one is dropped. */
  #turn = 0
  #upSince_ms = 0
  #sessions = 0
  /** The attempt under way uses the renewed identity, which has not connected yet. */
  #onTrial = false
  /** The renewed identity failed: the old one is next. */
  #trialFailed: Failure | undefined
  #cancelRetry: () => unknown = () => {}
  #toldFailure = ''

  constructor(
    ctx: PluginContext,
    options: LinkOptions,
    settings: () => LinkSettings,
    identities: Identities,
    events: LinkEvents,
  ) {
    this.#ctx = ctx
    this.#options = options
    this.#settings = settings
    this.#identities = identities
    this.#events = events
    this.#oldBrokers = new OldBrokers(() => ctx.clock.monotonic())
  }

  get state() {
    return { link: this.#state, cert: this.#certificate, error: this.#failure }
  }

  get via(): string {
    return this.#state === 'up' ? viaOf(this.#session?.localAddress) : ''
  }

  /** Sessions that a broker accepted since the plugin was loaded. */
  get sessions(): number {
    return this.#sessions
  }

  get version(): 4 | 5 | undefined {
    return this.#state === 'up' ? this.#session?.version : undefined
  }

  /** The identity of the session, or of the last attempt. */
  get identity(): Identity | undefined {
    return this.#identity
  }

  get proven(): Broker | undefined {
    return this.#proven
  }

  get handoff(): { oldBrokers: [string, number][]; proven: Broker | undefined } {
    return { oldBrokers: this.#oldBrokers.entries, proven: this.#proven }
  }

  start(handoff: Partial<Link['handoff']> = {}): void {
    this.#oldBrokers.load(handoff.oldBrokers ?? [])
    this.#proven = handoff.proven
    this.#ctx.timers.every(ping_ms, () => this.#ping())
    this.apply()
  }

  /** The settings changed: enables, disables, or goes to the other broker. */
  apply(): void {
    if (!this.#settings().enabled) this.#dispatch('disable')
    else this.#dispatch(this.#state === 'disabled' ? 'enable' : 'reconnect')
    if (this.#state === 'disabled') this.#ctx.status('switched off (mqtt-en is 0)')
  }

  /** Connects anew, with the identity that is there now. */
  reconnect(): void {
    if (this.#state !== 'disabled') this.#dispatch('reconnect')
  }

  /** A network came up: what kept the link down may be over. */
  networkUp(): void {
    this.#attempt = 0
    if (this.#state === 'down' && this.#holds.size === 0) this.#dispatch('due')
  }

  /** Ends the link with `q` and stays away until what it returns is called. */
  async hold(reason: string): Promise<() => void> {
    this.#holds.add(reason)
    const session = this.#takeSession()
    this.#failure = { cause: 'held', text: reason }
    this.#dispatch('hold')
    await session?.leave(onlineStatus.quitting)
    const release = () => {
      if (this.#holds.delete(reason) && this.#holds.size === 0) this.networkUp()
    }
    this.#ctx.timers.after(longestHold_ms, release)
    return release
  }

  /** Says goodbye and ends with a DISCONNECT, so that no `L` follows. Takes at most 1.5 s. */
  async stop(status: OnlineStatus): Promise<void> {
    this.#cancelRetry()
    this.#state = 'disabled'
    this.#turn++
    await this.#takeSession()?.leave(status)
  }

  /** Says `y` again. */
  sayOnline(): void {
    this.publish(onlineTopic(this.#ctx.serial), onlineStatus.online, { retain: true, qos: 0 })
  }

  // ── the bus's driver ──────────────────────────────────────────────────────────────────────────────────────────────

  publish(...[topic, payload, options]: Parameters<MqttDriver['publish']>): 'sent' | 'offline' | 'full' {
    if (this.#state !== 'up') return 'offline'
    return this.#session?.publish(topic, payload, options) ?? 'offline'
  }

  /** Whether the link is up and would admit a publication of so many bytes. */
  hasRoom(bytes: number): boolean {
    return this.#state === 'up' && this.#session?.up === true && this.#session.hasRoom(bytes)
  }

  subscribe(filters: readonly string[]): void {
    this.#filters = filters
    if (this.#state === 'up') this.#subscribe(() => {})
  }

  #subscribe(done: () => void): void {
    const session = this.#session
    session?.subscribe(this.#filters, (refused) => {
      // A refused subscription leaves the publications working: it is told, and tried again with the next session.
      if (refused !== undefined)
        this.#ctx.log.warn({ err: refused }, 'the broker refused a subscription; the next session tries it again')
      if (session === this.#session && this.#state === 'up') done()
    })
  }

  // ── the state machine ─────────────────────────────────────────────────────────────────────────────────────────────

  #dispatch(event: LinkEvent): void {
    const before = this.#state
    const next = nextState(before, event)
    if (next === undefined || this.#ctx.signal.aborted) return
    this.#state = next
    this.#cancelRetry()
    this.#ctx.log.debug({ event, before, next }, 'link')
    if (next === 'connecting') void this.#open()
    if (next === 'up') this.#greet()
    if (next === 'down') this.#retryLater(before)
    if (next === 'renewing') this.#restart(event)
    if (next === 'disabled') this.#disable()
  }

  /** Says `r` and goes; also when the broker seems dead, because it may only be slow. */
  #restart(event: LinkEvent): void {
    this.#attempt = 0
    if (event === 'reconnect') this.#failure = noFailure
    const left = this.#takeSession()?.leave(onlineStatus.restarting) ?? Promise.resolve()
    void left.then(() => this.#dispatch('left'))
  }

  #disable(): void {
    this.#attempt = 0
    this.#failure = noFailure
    void this.#takeSession()?.leave(onlineStatus.quitting)
  }

  // ── an attempt ────────────────────────────────────────────────────────────────────────────────────────────────────

  async #open(): Promise<void> {
    const turn = ++this.#turn
    // An attempt that is given up for another broker may have been accepted a moment ago.
    void this.#takeSession()?.leave(onlineStatus.restarting)
    const { host, port } = this.#settings()
    const [held] = this.#holds
    if (held !== undefined) return this.#fail({ cause: 'held', text: held })
    if (host === '') return this.#fail({ cause: 'config', text: 'no broker is set: change mqtt-host' })
    let identity: Identity
    try {
      identity = await this.#chooseIdentity()
    } catch (error) {
      if (turn === this.#turn) this.#fail({ cause: 'identity', text: (error as Error).message })
      return
    }
    if (turn !== this.#turn || this.#state !== 'connecting' || this.#ctx.signal.aborted) return
    const tls = !this.#options.insecure || identity.ca !== undefined || identity.cert !== undefined
    if (tls && this.#waitsForTime()) return
    this.#identity = identity
    this.#certificate = identity.info
    this.#connect({ host, port }, identity, tls, this.#version({ host, port }))
  }

  /** The renewed identity until it has failed, then the old one, in turn until one of the two connects. */
  async #chooseIdentity(): Promise<Identity> {
    const candidate = this.#trialFailed === undefined ? await this.#identities.candidate() : undefined
    const identity = candidate ?? (await this.#identities.current())
    this.#onTrial = candidate !== undefined
    return identity
  }

  /** A station often boots without a clock, and TLS refuses certificates of the future. */
  #waitsForTime(): boolean {
    const { utc_ms, uptime_ms } = this.#clock()
    if (utc_ms > 0 || uptime_ms >= timeWait_ms) return false
    this.#ctx.status('waiting for the time, which TLS needs')
    this.#cancelRetry = this.#ctx.timers.after(timeLook_ms, () => {
      if (this.#state === 'connecting') void this.#open()
    })
    return true
  }

  #clock(): { utc_ms: number; uptime_ms: number } {
    const clock = this.#ctx.services.use(device)
    return { utc_ms: clock.utc_ms(), uptime_ms: clock.uptime_ms() }
  }

  #version(broker: Broker): 4 | 5 {
    const { protocol } = this.#options
    if (protocol !== 'auto') return protocol === '4' ? 4 : 5
    return this.#oldBrokers.has(broker) ? 4 : 5
  }

  #connect(broker: Broker, identity: Identity, tls: boolean, version: 4 | 5): void {
    const turn = this.#turn
    const auto = this.#options.protocol === 'auto'
    const options = { ...broker, serial: this.#ctx.serial, clientId: this.#options.clientId, identity, tls, version }
    try {
      this.#session = new Session(options, {
        accepted: () => {
          if (turn !== this.#turn) return
          if (version === 4 && auto) this.#oldBrokers.add(broker)
          this.#proven = broker
          this.#dispatch('accepted')
        },
        message: (message) => this.#events.message(message),
        ended: ({ failure, otherVersion }) => {
          if (turn !== this.#turn) return
          this.#session = undefined
          if (version === 5 && auto && otherVersion) this.#connect(broker, identity, tls, 4)
          else this.#fail(this.#explained(failure, tls))
        },
      })
    } catch (error) {
      this.#fail({ cause: 'identity', text: `the certificate or key cannot be used: ${(error as Error).message}` })
    }
  }

  #explained(failure: Failure, tls: boolean): Failure {
    if (failure.cause !== 'tls' || !tls || this.#clock().utc_ms > 0) return failure
    return { ...failure, text: `${failure.text} (this station does not know the time yet, which may be why)` }
  }

  #greet(): void {
    const { host, port } = this.#settings()
    const version = this.#session?.version
    this.#failure = noFailure
    this.#toldFailure = ''
    this.#upSince_ms = this.#ctx.clock.monotonic()
    this.#ctx.log.info({ host, port, version }, 'the MQTT link is up')
    this.#ctx.status(`connected to ${host}:${port}`)
    this.sayOnline()
    void this.#settleIdentity()
    const session = { clientId: this.#options.clientId, reconnect: this.#sessions++ > 0 }
    // The session is announced when requests can reach the device: who sees the document may send one.
    this.#subscribe(() => this.#events.up(session))
  }

  /** Of two identities the one that has connected stays, the other one goes. */
  async #settleIdentity(): Promise<void> {
    const failed = this.#trialFailed
    this.#trialFailed = undefined
    try {
      if (this.#onTrial) {
        await this.#identities.accept()
        this.#ctx.errors.clear('mqtt-renew')
        this.#ctx.log.info({ serial: this.#certificate.serial }, 'the renewed certificate is in use')
      } else if (failed !== undefined) {
        await this.#identities.reject()
        const text = `the renewed certificate was not accepted (${failed.text}): the old one goes on`
        this.#ctx.errors.raise('mqtt-renew', `${text}; it is renewed again by itself, or by mqtt-renew`)
      }
    } catch (error) {
      // Both stay in the store: the next connect settles it.
      this.#ctx.errors.raise('mqtt-renew', `the identity could not be stored: ${(error as Error).message}`)
    }
  }

  // ── failures ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #fail(failure: Failure): void {
    this.#failure = failure
    this.#takeSession()?.drop()
    if (this.#onTrial && this.#state === 'connecting') {
      // The old identity is tried at once: it is known to work.
      this.#trialFailed = failure
      this.#ctx.log.warn({ cause: failure.cause }, `the renewed certificate did not connect: ${failure.text}`)
      void this.#open()
      return
    }
    // The old identity failed as well, so it was not the renewed one's fault: that one is next again.
    if (this.#state === 'connecting') this.#trialFailed = undefined
    this.#dispatch('failed')
  }

  #retryLater(before: MqttLinkState): void {
    const { cause, text } = this.#failure
    if (before === 'up' && this.#ctx.clock.monotonic() - this.#upSince_ms >= stable_ms) this.#attempt = 0
    // These end with a change of the settings, or when whoever holds the link lets go.
    const waits = cause === 'config' || cause === 'held'
    const wait_ms = backoff_ms(this.#attempt++, Math.random())
    this.#ctx.status(waits ? text : `down (${cause}): ${text}; tried again by itself`)
    if (text !== this.#toldFailure)
      this.#ctx.log.warn({ cause, retry_ms: waits ? undefined : wait_ms }, `the MQTT link is down: ${text}`)
    this.#toldFailure = text
    if (!waits) this.#cancelRetry = this.#ctx.timers.after(wait_ms, () => this.#dispatch('due'))
  }

  /** A TCP connection can be dead for a quarter of an hour before the system says so, whatever is written. */
  #ping(): void {
    if (this.#state !== 'up' || this.#session?.ping() !== false) return
    const text = `the broker answered no ping for ${ping_ms / 1000} s`
    this.#failure = { cause: 'ping', text }
    this.#ctx.log.warn({ cause: 'ping' }, `the MQTT link is given up and made anew: ${text}`)
    this.#dispatch('dead')
  }

  #takeSession(): Session | undefined {
    const session = this.#session
    this.#session = undefined
    return session
  }
}
