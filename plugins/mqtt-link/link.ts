import type { PluginContext } from 'rtk-base/plugin'
import type { MqttLinkState } from 'rtk-base/schemas'
import type { MqttDriver, MqttProperties } from 'rtk-base/services'
import { type CertificateInfo, noCertificate } from './certificate.js'
import { type Failure, noFailure } from './failure.js'
import { Farewell } from './farewell.js'
import { Holds } from './holds.js'
import type { Identity } from './identity.js'
import type { IdentityChoice } from './identity-choice.js'
import { type OnlineStatus, onlineStatus, onlineTopic } from './online-status.js'
import { Retry } from './retry.js'
import type { Session } from './session.js'
import { Sessions } from './sessions.js'
import { type Broker, type LinkEvents, type LinkOptions, type LinkSettings, sameBroker } from './settings.js'
import { type LinkEvent, nextState } from './states.js'
import { TlsTime } from './tls-time.js'
import { viaOf } from './via.js'

const ping_ms = 20_000
const timeLook_ms = 1_000

/** Keeps a session with the broker, and says what it is doing. Carries the bus as its driver. */
export class Link implements MqttDriver {
  readonly #ctx: PluginContext
  readonly #options: LinkOptions
  readonly #settings: () => LinkSettings
  readonly #choice: IdentityChoice
  readonly #events: LinkEvents
  readonly #sessions: Sessions
  readonly #time: TlsTime
  readonly #holds: Holds
  readonly #farewell: Farewell
  readonly #retry: Retry
  #state: MqttLinkState = 'disabled'
  #failure: Failure = noFailure
  #certificate: CertificateInfo = noCertificate
  #identity: Identity | undefined
  #session: Session | undefined
  #filters: readonly string[] = []
  #toldTooLarge: Broker | undefined
  /** Counts the attempts, so that what was awaited for an earlier one is dropped. */
  #turn = 0
  #accepted = 0

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
    this.#holds = new Holds(ctx)
    this.#retry = new Retry(ctx)
    this.#farewell = new Farewell((broker) => {
      const silent = { accepted() {}, message() {}, ended() {} }
      return this.#identity && this.#sessions.begin(broker, this.#identity, this.#sessions.version(broker), silent)
    })
    this.#sessions = new Sessions(ctx, options)
  }

  get state() {
    return { link: this.#state, cert: this.#certificate, error: this.#failure }
  }

  get via(): string {
    return this.#state === 'up' ? viaOf(this.#session?.localAddress) : ''
  }

  /** Sessions that a broker accepted since the plugin was loaded. */
  get sessions(): number {
    return this.#accepted
  }

  get version(): 4 | 5 | undefined {
    return this.#state === 'up' ? this.#session?.version : undefined
  }

  /** The identity of the session, or of the last attempt. */
  get identity(): Identity | undefined {
    return this.#identity
  }

  get handoff(): { oldBrokers: [string, number][]; promised: Broker | undefined } {
    return { oldBrokers: this.#sessions.oldBrokers.entries, promised: this.#farewell.promised }
  }

  start(handoff: Partial<Link['handoff']> = {}): void {
    this.#sessions.oldBrokers.load(handoff.oldBrokers ?? [])
    this.#farewell.load(handoff.promised)
    this.#ctx.timers.every(ping_ms, () => this.#ping())
    this.apply()
  }

  /** The settings changed: enables, disables, or goes to the other broker. */
  apply(): void {
    const settings = this.#settings()
    if (!settings.enabled) this.#dispatch('disable')
    else if (this.#state === 'disabled') this.#dispatch('enable')
    else if (this.#state !== 'up' || !sameBroker(settings, this.#session?.broker)) this.#dispatch('reconnect')
    if (this.#state === 'disabled') this.#ctx.status('switched off (mqtt-en is 0)')
  }

  /** Connects anew, with the identity that is there now. */
  reconnect(): void {
    if (this.#state !== 'disabled') this.#dispatch('reconnect')
  }

  /** A network came up: what kept the link down may be over, and an attempt that reached nobody may be on the wrong way. */
  networkUp(): void {
    this.#retry.reset()
    if (this.#holds.reason !== undefined) return
    if (this.#state === 'down') this.#dispatch('due')
    else if (this.#state === 'connecting' && this.#session?.unreached === true) this.#dispatch('reconnect')
  }

  /** Ends the link with `q` and stays away until what it returns is called. */
  async hold(reason: string): Promise<() => void> {
    const release = this.#holds.add(reason, () => this.networkUp())
    if (this.#state !== 'disabled') this.#failure = { cause: 'held', text: reason }
    const quit = this.#quit()
    this.#dispatch('hold')
    await quit
    return release
  }

  /** Says goodbye and ends with a DISCONNECT, so that no `L` follows. */
  async stop(status: OnlineStatus): Promise<void> {
    this.#retry.cancel()
    this.#state = 'disabled'
    if (status === onlineStatus.quitting) return this.#quit()
    this.#turn++
    await this.#farewell.restart(this.#takeSession())
  }

  /** Says `y` again. */
  sayOnline(): void {
    this.publish(onlineTopic(this.#ctx.serial), onlineStatus.online, { retain: true, qos: 0 })
  }

  // ── the bus's driver ──────────────────────────────────────────────────────────────────────────────────────────────

  publish(...[topic, payload, options]: Parameters<MqttDriver['publish']>): 'sent' | 'offline' | 'full' {
    const session = this.#session
    if (this.#state !== 'up' || session === undefined) return 'offline'
    const result = session.publish(topic, payload, options)
    if (result === 'full') this.#tellTooLarge(session, topic, Buffer.byteLength(payload), options.properties)
    return result
  }

  /** Once per broker: what it does not take is dropped, because it would end the session. */
  #tellTooLarge(session: Session, topic: string, bytes: number, properties?: MqttProperties): void {
    const limit = session.largestPayload(topic, properties)
    if (bytes <= limit || sameBroker(session.broker, this.#toldTooLarge)) return
    this.#toldTooLarge = session.broker
    this.#ctx.log.warn(
      { topic, bytes, limit },
      'the broker does not take packets of this size: they are dropped; raise its limit',
    )
  }

  /** The largest payload on `topic` that the broker takes. */
  largestPayload(topic: string): number {
    return this.#session?.largestPayload(topic) ?? Number.POSITIVE_INFINITY
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
    // Other settings or another identity: what kept the last ones down is no news of these.
    if (event === 'reconnect') this.#failure = noFailure
    this.#retry.cancel()
    this.#ctx.log.debug({ event, before, next }, 'link')
    if (next === 'connecting') void this.#open()
    if (next === 'up') this.#greet()
    if (next === 'down') {
      if (before === 'up') this.#retry.lost()
      this.#retry.failed(this.#failure, () => this.#dispatch('due'))
    }
    if (next === 'renewing') this.#restart()
    if (next === 'disabled') this.#disable()
  }

  /** Says `r` and goes; also when the broker seems dead, because it may only be slow. */
  #restart(): void {
    this.#retry.reset()
    void this.#farewell.restart(this.#takeSession()).then(() => this.#dispatch('left'))
  }

  #disable(): void {
    this.#retry.reset()
    this.#failure = noFailure
    void this.#quit()
  }

  /** Says `q` and goes, whatever is under way. */
  #quit(): Promise<void> {
    this.#turn++
    return this.#farewell.quit(this.#takeSession())
  }

  // ── an attempt ────────────────────────────────────────────────────────────────────────────────────────────────────

  async #open(): Promise<void> {
    const turn = ++this.#turn
    this.#choice.begin()
    // An attempt that is given up for another broker may have been accepted a moment ago.
    void this.#farewell.restart(this.#takeSession())
    const { host, port } = this.#settings()
    const held = this.#holds.reason
    if (held !== undefined) return this.#fail({ cause: 'held', text: held })
    if (host === '') return this.#fail({ cause: 'config', text: 'no broker is set: change mqtt-host' })
    let identity: Identity
    try {
      await this.#farewell.over
      identity = await this.#choice.next()
    } catch (error) {
      if (turn === this.#turn) this.#fail({ cause: 'identity', text: (error as Error).message })
      return
    }
    if (turn !== this.#turn || this.#state !== 'connecting' || this.#ctx.signal.aborted) return
    if (this.#sessions.usesTls(identity) && this.#time.awaited) return this.#waitForTime()
    this.#identity = identity
    this.#certificate = identity.info
    this.#connect({ host, port }, identity, this.#sessions.version({ host, port }))
  }

  #waitForTime(): void {
    this.#ctx.status('waiting for the time, which TLS needs')
    this.#retry.after(timeLook_ms, () => {
      if (this.#state === 'connecting') void this.#open()
    })
  }

  #connect(broker: Broker, identity: Identity, version: 4 | 5): void {
    const turn = this.#turn
    try {
      this.#session = this.#sessions.begin(broker, identity, version, {
        accepted: () => {
          if (turn !== this.#turn) return
          this.#sessions.accepted(broker, version)
          this.#dispatch('accepted')
        },
        message: (message) => this.#events.message(message),
        ended: (end) => {
          if (turn !== this.#turn) return
          this.#session = undefined
          if (this.#sessions.fallsBack(version, end)) this.#connect(broker, identity, 4)
          else this.#fail(this.#time.explained(end.failure))
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
    this.#retry.succeeded()
    this.#ctx.log.info({ host, port, version }, 'the MQTT link is up')
    this.#ctx.status(`connected to ${host}:${port}`)
    this.sayOnline()
    this.#farewell.kept()
    if (this.#identity !== undefined) void this.#choice.connected(this.#identity).then(() => this.#events.settled())
    const session = { clientId: this.#options.clientId, reconnect: this.#accepted++ > 0 }
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
