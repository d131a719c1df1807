import { type EventSource, type PluginContext, RtkError } from 'rtk-base/plugin'
import { type CellularRouter, routerErrors } from 'rtk-base/services'
import { CredentialLadder, usersOf } from './credentials/ladder.js'
import { CredentialLookup } from './credentials/lookup.js'
import { LoginNote } from './credentials/note.js'
import { LinkMetrics } from './link/metrics.js'
import { RouterLink } from './link/router-link.js'
import type { RouterOptions } from './options.js'
import { RouterParameters } from './parameters.js'
import { Arrival } from './state/arrival.js'
import { RouterFacts } from './state/facts.js'
import { RouterPoll } from './state/poll.js'
import { RouterTrouble } from './state/trouble.js'
import type { Credentials } from './transport/call.js'
import { CertificatePin } from './transport/certificate.js'

/** How long a person waits for a turn: commands have 30 s. */
const patience_ms = 15_000

/** The router: its link, state and credentials. */
export class Router {
  readonly facts: RouterFacts
  readonly poll: RouterPoll
  readonly pin: CertificatePin
  readonly logins: LoginNote
  readonly lookup: CredentialLookup
  readonly parameters: RouterParameters
  readonly onState: EventSource<void>
  readonly #ctx: PluginContext
  readonly #metrics: LinkMetrics
  #link: RouterLink | undefined
  #arrival: Arrival | undefined

  constructor(ctx: PluginContext, options: RouterOptions) {
    this.#ctx = ctx
    this.facts = new RouterFacts(ctx)
    this.poll = new RouterPoll(ctx, this, this.facts)
    this.pin = new CertificatePin(ctx.store)
    this.logins = new LoginNote(ctx.store.protected, ctx.clock)
    this.lookup = new CredentialLookup(ctx, options)
    this.onState = ctx.event<void>()
    this.parameters = new RouterParameters(ctx, {
      credentials: () => this.tryCredentials(),
      pingHost: () => this.#applyPing(),
    })
    this.#metrics = new LinkMetrics(ctx, {
      online: () => this.state === 'online',
      queue: () => this.#link?.queue.length ?? 0,
    })
  }
  /**
   * @param url where it answers
   * @param defaults credentials that are tried last
   */
  async start(url: string, defaults: readonly Credentials[]): Promise<void> {
    await this.pin.load(url)
    await this.logins.load()
    const arrival = new Arrival({
      ctx: this.#ctx,
      url,
      logins: this.logins,
      facts: this.facts,
      pingReboot: () => this.parameters.pingReboot,
      replaced: () => this.onState.emit(),
    })
    await arrival.load()
    const ladder = new CredentialLadder({
      log: this.#ctx.log,
      note: this.logins,
      lookup: this.lookup,
      override: () => this.parameters.override,
      defaults,
      mac: () => arrival.mac,
      loggedIn: (result) => this.#metrics.login(result),
    })
    const link = new RouterLink({
      ctx: this.#ctx,
      url,
      pin: this.pin,
      ladder,
      metrics: () => this.#metrics,
      onState: this.onState,
      meet: arrival.meet,
      arrived: arrival.arrived,
      renewed: () => this.facts.outdate('board'),
    })
    this.#arrival = arrival
    this.#link = link
    const trouble = new RouterTrouble(this.#ctx, link, this.pin)
    this.#ctx.on(this.onState.on, () => {
      if (link.connected) this.facts.set('version', link.connected.version)
      this.poll.stateChanged()
      trouble.report()
    })
    trouble.start()
    this.poll.start()
    link.start()
  }

  /** From `start` on. */
  get link(): RouterLink {
    if (!this.#link) throw new RtkError(routerErrors.RTK_ERR_ROUTER_OFFLINE, 'the router is not looked for yet')
    return this.#link
  }

  get state(): CellularRouter['state'] {
    return this.#link?.state ?? 'searching'
  }

  /** Why it is not online; `''` while it is. */
  get error(): string {
    return this.#link?.error ?? ''
  }

  /** How the station talks to it; undefined before the first login. */
  get connected(): RouterLink['connected'] {
    return this.#link?.connected
  }

  get macaddr(): string {
    return this.facts.get('board')?.macaddr || this.#arrival?.mac || ''
  }

  get address(): string {
    return this.#arrival?.address ?? ''
  }

  /** The credentials that are in use, or that would be tried first. */
  get credentials(): Credentials {
    const { override } = this.parameters
    return this.#link?.credentials ?? (override.pswd === '' ? this.logins.default : override)
  }

  /** A person set credentials: they are tried at once, even if rejected before. */
  tryCredentials(): void {
    const { user, pswd } = this.parameters.override
    const set = [...usersOf(user).map((one) => ({ user: one, pswd })), this.logins.default]
    void this.logins
      .enter(set)
      .catch((error: unknown) => this.#ctx.log.warn({ err: error }, 'the list of failed logins could not be stored'))
      .then(() => this.#link?.retry(true))
  }

  /** Credentials for the protected store. */
  async protect(credentials: Credentials): Promise<void> {
    await this.logins.setDefault(credentials)
    this.tryCredentials()
  }

  async reboot(signal?: AbortSignal): Promise<void> {
    await this.link.restart('reboot', { patience_ms, ...(signal && { signal }) })
  }

  async factory(signal: AbortSignal): Promise<void> {
    await this.link.restart('factory', { patience_ms, signal })
  }

  /** A person confirms the certificate that the router shows now. @param seen as for `CertificatePin.accept` */
  async acceptCertificate(seen: string): Promise<boolean> {
    if (!(await this.pin.accept(seen))) return false
    this.#link?.retry(false)
    return true
  }

  /** The change is stored; a router that is away gets it when it is back. */
  #applyPing(): void {
    const [link, arrival] = [this.#link, this.#arrival]
    if (!link || !arrival || link.state !== 'online') return
    link.schedule('setPingReboot', (performer, signal) => arrival.reconcilePing(performer, signal))
  }
}
