import type { PluginContext } from 'rtk-base/plugin'
import type { MqttLinkState } from 'rtk-base/schemas'
import type { MqttDriver } from 'rtk-base/services'
import { backoff_ms } from './backoff.js'
import { type CertificateInfo, noCertificate } from './certificate.js'
import { type Failure, noFailure } from './failure.js'
import type { Identity } from './identity.js'
import type { IdentityChoice } from './identity-choice.js'
import { OldBrokers } from './old-brokers.js'
import { type OnlineStatus, onlineStatus, onlineTopic } from './online-status.js'
import { Session } from './session.js'
import type { Broker, LinkEvents, LinkOptions, LinkSettings } from './settings.js'
import { type LinkEvent, nextState } from './states.js'
import { TlsTime } from './tls-time.js'
import { viaOf } from './via.js'

const ping_ms = 20_000
/** A session that held for so long was a good one: the next loss starts the back-off anew. */
const stable_ms = 30_000
const timeLook_ms = 1_000
/** Who holds the link and forgets it does not keep the station away for good. */
const longestHold_ms = 600_000

/** Keeps a session with the broker, and says what it is doing. Carries the bus as its driver. */
export class Link implements MqttDriver {
  readonly #ctx: PluginContext
  readonly #options: LinkOptions
  readonly #settings: () => LinkSettings
  readonly #choice: IdentityChoice
  readonly #events: LinkEvents
  readonly #oldBrokers: OldBrokers
  readonly #time: TlsTime
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
  #cancelRetry: () => unknown = () => {}
  #toldFailure = ''

  constructor(
    ctx: PluginContext,
    options: LinkOptions,
    settings: () => LinkSettings,
    choice: IdentityChoice,
    events: LinkEvents,
  ) {
    this.#ctx = ctx
    this.#options = options
    this.#settings = settings
    this.#choice = choice
    this.#events = events
    this.#time = new TlsTime(ctx)
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
    this.#choice.begin()
    // An attempt that is given up for another broker may have been accepted a moment ago.
    void this.#takeSession()?.leave(onlineStatus.restarting)
    const { host, port } = this.#settings()
    const [held] = this.#holds
    if (held !== undefined) return this.#fail({ cause: 'held', text: held })
    if (host === '') return this.#fail({ cause: 'config', text: 'no broker is set: change mqtt-host' })
    let identity: Identity
    try {
      identity = await this.#choice.next()
    } catch (error) {
      if (turn === this.#turn) this.#fail({ cause: 'identity', text: (error as Error).message })
      return
    }
    if (turn !== this.#turn || this.#state !== 'connecting' || this.#ctx.signal.aborted) return
    const tls = !this.#options.insecure || identity.ca !== undefined || identity.cert !== undefined
    if (tls && this.#time.awaited) return this.#waitForTime()
    this.#identity = identity
    this.#certificate = identity.info
    this.#connect({ host, port }, identity, tls, this.#version({ host, port }))
  }

  #waitForTime(): void {
    this.#ctx.status('waiting for the time, which TLS needs')
    this.#cancelRetry = this.#ctx.timers.after(timeLook_ms, () => {
      if (this.#state === 'connecting') void this.#open()
    })
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
          else this.#fail(this.#time.explained(failure))
        },
      })
    } catch (error) {
      this.#fail({ cause: 'identity', text: `the certificate or key cannot be used: ${(error as Error).message}` })
    }
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
    if (this.#identity !== undefined) void this.#choice.connected(this.#identity).then(() => this.#events.settled())
    const session = { clientId: this.#options.clientId, reconnect: this.#sessions++ > 0 }
    // The session is announced when requests can reach the device: who sees the document may send one.
    this.#subscribe(() => this.#events.up(session))
  }

  // ── failures ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #fail(failure: Failure): void {
    this.#failure = failure
    this.#takeSession()?.drop()
    if (this.#state === 'connecting' && this.#choice.failed(failure)) void this.#open()
    else this.#dispatch('failed')
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
