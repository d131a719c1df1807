import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { BrokenOff, type Credentials, type Transport } from '../transport/index.js'
import { guardLimits, type LoginGuard } from './guard.js'
import type { CredentialLookup } from './lookup.js'
import type { Vault } from './vault.js'

/** Where a pair of credentials comes from. */
export type Rung = 'override' | 'protected' | 'lookup' | 'default'

export interface Candidate extends Credentials {
  readonly rung: Rung
}

/** The result of a walk: logged in, or how long to wait before it is worth another one. */
export type Walk = { readonly candidate: Candidate } | { readonly wait_ms: number; readonly reason: string }

export interface LadderDeps {
  readonly log: PluginContext['log']
  readonly guard: LoginGuard
  readonly vault: Vault
  readonly lookup: CredentialLookup
  /** `rtr-user`, `rtr-pswd`. */
  override(): Credentials
  /** The table of the option `defaults`. */
  readonly defaults: readonly Credentials[]
  /** The router's MAC address, as far as it is known before a login. */
  mac(): string
  loggedIn(result: 'ok' | 'refused'): void
}

const usualUser = 'admin'
const retry_ms = 30_000

/**
 * The ladder of credentials (spec.md, Authentication 3-6): override, protected store, lookup, the table of defaults, in this order.
 * Every attempt is counted by the guard before it is made.
 */
export class CredentialLadder {
  readonly #deps: LadderDeps

  constructor(deps: LadderDeps) {
    this.#deps = deps
  }

  /**
   * One attempt, with the first candidate that is worth one.
   * @param byPerson a person has just set credentials: one more attempt than usual is allowed
   * @throws RTK_ERR_ROUTER_…: the router could not be asked
   */
  async step(transport: Transport, byPerson: boolean, signal: AbortSignal): Promise<Walk> {
    const { guard, log } = this.#deps
    const guard_ms = guard.wait_ms(byPerson)
    let shortest_ms = Number.POSITIVE_INFINITY
    let count = 0
    for await (const candidate of this.#candidates(signal)) {
      count++
      const pair_ms = guard.pairWait_ms(candidate, candidate.rung === 'protected' && this.#deps.vault.worked)
      const wait_ms = Math.max(guard_ms, pair_ms)
      shortest_ms = Math.min(shortest_ms, wait_ms)
      if (wait_ms > 0) continue
      if (await this.try(transport, candidate, signal)) return { candidate }
      log.info(
        { user: candidate.user, from: candidate.rung },
        'the router rejected a login: the next credentials are tried',
      )
      const next_ms = Math.max(guard.wait_ms(false), 1)
      const reason = next_ms > guardLimits.gap_ms ? this.#tooMany() : 'looking for the right credentials'
      return { wait_ms: next_ms, reason }
    }
    if (count === 0) return { wait_ms: retry_ms, reason: 'no credentials are known: set rtr-user and rtr-pswd' }
    const rejected = 'the router rejected every known password: set rtr-user and rtr-pswd as its label says'
    const reason = guard_ms > guardLimits.gap_ms ? this.#tooMany() : rejected
    return { wait_ms: shortest_ms, reason }
  }

  /**
   * A login with the pair that worked last, unless the guard has to rest.
   * @throws RTK_ERR_ROUTER_LOGIN when that is rejected
   */
  async renew(transport: Transport, candidate: Candidate, signal: AbortSignal): Promise<void> {
    const rests = this.#deps.guard.wait_ms(false) > 0
    if (!rests && (await this.try(transport, candidate, signal))) return
    const text = `${transport.origin}: the router rejects the password that it accepted before: the other ones are tried`
    throw new RtkError('RTK_ERR_ROUTER_LOGIN', text)
  }

  /**
   * A login with one pair, counted. @returns false when the router rejects it
   * @throws RTK_ERR_ROUTER_…
   */
  async try(transport: Transport, candidate: Candidate, signal: AbortSignal): Promise<boolean> {
    const { guard, vault, log } = this.#deps
    await guard.begin()
    let accepted: boolean
    try {
      accepted = await transport.login(candidate, signal)
    } catch (error) {
      // Not seen by the router, or the right password of a router that wants another one first. A login whose answer was cut off may
      // have been counted by the router.
      const isUncounted =
        error instanceof RtkError &&
        ['RTK_ERR_ROUTER_OFFLINE', 'RTK_ERR_ROUTER_LOGIN'].includes(error.code) &&
        !(error instanceof BrokenOff)
      if (isUncounted) await guard.withdraw()
      throw error
    }
    this.#deps.loggedIn(accepted ? 'ok' : 'refused')
    if (!accepted) {
      await guard.failed(candidate)
      return false
    }
    try {
      await guard.succeeded(candidate)
      // An override is stored already, as the parameter that it is.
      if (candidate.rung !== 'override') await vault.set(candidate, true)
    } catch (error) {
      log.warn({ err: error }, 'the login worked and could not be stored: after a restart it is looked for again')
    }
    return true
  }

  #tooMany(): string {
    const { attempts } = this.#deps.guard
    return `the router rejected ${attempts} logins, and more would make it block this station: set rtr-user and rtr-pswd as its label says`
  }

  /** In order, each pair once. The lookup is only made when it is its turn. */
  async *#candidates(signal: AbortSignal): AsyncGenerator<Candidate> {
    const { override, vault, defaults } = this.#deps
    const seen = new Set<string>()
    const fresh = (candidate: Candidate) => {
      const key = `${candidate.user}\0${candidate.pswd}`
      if (candidate.pswd === '' || seen.has(key)) return false
      seen.add(key)
      return true
    }
    const { user, pswd } = override()
    const first: Candidate[] = [
      { rung: 'override', user: user || usualUser, pswd },
      { rung: 'protected', ...vault.default },
    ]
    for (const candidate of first) if (fresh(candidate)) yield candidate
    const found = await this.#lookedUp(signal)
    if (found && fresh(found)) yield found
    for (const one of defaults) {
      const candidate: Candidate = { rung: 'default', ...one }
      if (fresh(candidate)) yield candidate
    }
  }

  async #lookedUp(signal: AbortSignal): Promise<Candidate | undefined> {
    const { lookup, log, mac } = this.#deps
    try {
      const label = await lookup.find(mac(), signal)
      return label && { rung: 'lookup', user: label.user || usualUser, pswd: label.pswd }
    } catch (error) {
      log.warn({ err: error }, 'the credentials of the router could not be looked up: the next ones are tried')
      return undefined
    }
  }
}
