import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { routerErrors } from 'rtk-base/services'
import type { Credentials, LoginAnswer, Transport } from '../transport/call.js'
import { BrokenOff } from '../transport/http.js'
import { attemptWait_ms, loginLimits, pairWait_ms } from './limits.js'
import type { CredentialLookup } from './lookup.js'
import type { LoginNote } from './note.js'

/** Where a pair of credentials comes from. */
export type Rung = 'override' | 'protected' | 'lookup' | 'default'

export interface Candidate extends Credentials {
  readonly rung: Rung
}

/** The result of a step: logged in, or how long to wait before it is worth another one. */
export type Step =
  | { readonly candidate: Candidate }
  | {
      readonly wait_ms: number
      readonly reason: string
      /** Set by a person, possibly not tried yet. */
      readonly byPerson: boolean
    }

export interface LadderDeps {
  readonly log: PluginContext['log']
  readonly note: LoginNote
  readonly lookup: CredentialLookup
  /** `rtr-user`, `rtr-pswd`. */
  override(): Credentials
  /** The table of the option `defaults`. */
  readonly defaults: readonly Credentials[]
  /** The router's MAC address, if known before a login. */
  mac(): string
  loggedIn(result: 'ok' | 'refused'): void
}

/** Routers as shipped; those of the legacy generation log in as `root`, with the password of the label. */
const usualUsers = ['admin', 'root'] as const
const retry_ms = 30_000
/** A router that denies logins has started by then. */
const starting_ms = 60_000
const deniesText = 'the router denies logins, as one does that starts'

/** The users that a password is tried with. */
export const usersOf = (user: string): readonly string[] => (user === '' ? usualUsers : [user])

/**
 * The ladder of credentials: the protected pair where it worked, the override, the lookup, the table of
 * defaults, in this order; each once before any is tried again. Every attempt is noted durably before it is made.
 */
export class CredentialLadder {
  readonly #deps: LadderDeps

  constructor(deps: LadderDeps) {
    this.#deps = deps
  }

  /**
   * One attempt, with the first of the candidates that were tried least.
   * @param byPerson a person has just set credentials: they come first, and are held by the limit of an hour alone
   * @throws RTK_ERR_ROUTER_…: the router could not be asked
   */
  async step(transport: Transport, byPerson: boolean, signal: AbortSignal): Promise<Step> {
    const { note, log } = this.#deps
    const rejections = (candidate: Candidate) => note.pair(candidate).rejectedInRow
    let [shortest_ms, chosen]: [number | undefined, Candidate | undefined] = [undefined, undefined]
    for await (const candidate of this.#candidates(byPerson, signal)) {
      const wait_ms = pairWait_ms(note, candidate, byPerson && isSet(candidate))
      shortest_ms = Math.min(shortest_ms ?? wait_ms, wait_ms)
      if (wait_ms > 0) continue
      if (!chosen || rejections(candidate) < rejections(chosen)) chosen = candidate
      if (rejections(chosen) === 0) break
    }
    if (shortest_ms === undefined) {
      return { wait_ms: retry_ms, reason: 'no credentials are known: set rtr-user and rtr-pswd', byPerson: false }
    }
    const any_ms = attemptWait_ms(note, byPerson)
    if (!chosen) {
      return { wait_ms: shortest_ms, reason: this.#whyWaiting(any_ms), byPerson: byPerson && any_ms > 0 }
    }
    const next = (wait_ms: number, reason: string) => ({ wait_ms, reason, byPerson: byPerson && isSet(chosen) })
    const answer = await this.try(transport, chosen, signal)
    if (answer === 'accepted') return { candidate: chosen }
    if (answer === 'denied') return next(starting_ms, deniesText)
    log.info({ user: chosen.user, from: chosen.rung }, 'the router rejected a login: the next credentials are tried')
    const next_ms = Math.max(attemptWait_ms(note, byPerson), 1)
    const isSoon = next_ms <= loginLimits.gap.within_ms
    return next(next_ms, isSoon ? 'looking for the right credentials' : this.#whyWaiting(next_ms))
  }

  /**
   * A login with the pair that worked last, unless the limits require a wait.
   * @throws RTK_ERR_ROUTER_LOGIN where it was rejected, denied, or not made
   */
  async renew(transport: Transport, candidate: Candidate, signal: AbortSignal): Promise<void> {
    const failed = (text: string) => new RtkError(routerErrors.RTK_ERR_ROUTER_LOGIN, `${transport.origin}: ${text}`)
    const wait_ms = attemptWait_ms(this.#deps.note, false)
    // The password may be right: nothing was said of it.
    if (wait_ms > loginLimits.gap.within_ms) throw failed(`the session ended: ${this.#whyWaiting(wait_ms)}`)
    if (wait_ms > 0) throw failed(`the session ended: another login follows in ${Math.ceil(wait_ms / 1000)} s`)
    const answer = await this.try(transport, candidate, signal)
    if (answer === 'denied') throw failed(`${deniesText}: another login follows`)
    if (answer === 'rejected')
      throw failed('the router rejects the password that it accepted before: the other ones are tried')
  }

  /**
   * A login with one pair, noted. `denied` says nothing of the pair: the router decides that before it looks at the password.
   * @throws RTK_ERR_ROUTER_…
   */
  async try(transport: Transport, candidate: Candidate, signal: AbortSignal): Promise<LoginAnswer> {
    const { note, log } = this.#deps
    await note.begin()
    let answer: LoginAnswer
    try {
      answer = await transport.login(candidate, signal)
    } catch (error) {
      // Not seen by the router, or the correct password of a router that first requires a new one. A login with a late or lost answer
      // may have been counted by the router.
      const isUncounted =
        error instanceof RtkError &&
        ['RTK_ERR_ROUTER_OFFLINE', 'RTK_ERR_ROUTER_LOGIN'].includes(error.code) &&
        !(error instanceof BrokenOff)
      if (isUncounted) await note.withdraw()
      throw error
    }
    this.#deps.loggedIn(answer === 'accepted' ? 'ok' : 'refused')
    if (answer === 'rejected') await note.rejected(candidate)
    if (answer !== 'accepted') return answer
    // An override is stored already, as the parameter that it is.
    await note.succeeded(candidate, candidate.rung !== 'override').catch((error: unknown) => {
      log.warn({ err: error }, 'the login worked and could not be stored: after a restart it is looked for again')
    })
    return answer
  }

  /** @param any_ms how long no pair at all may be tried */
  #whyWaiting(any_ms: number): string {
    const remedy = 'set rtr-user and rtr-pswd as on its label'
    if (any_ms <= loginLimits.gap.within_ms) return `the router rejected every known password: ${remedy}`
    const { attempts } = this.#deps.note
    const unanswered = attempts.filter(({ outcome }) => outcome === 'open').length
    const rejected = attempts.length - unanswered
    const parts = [
      ...(rejected > 0 ? [`the router rejected ${rejected} logins`] : []),
      ...(unanswered > 0 ? [`${rejected > 0 ? '' : 'the router gave '}no answer to ${unanswered}`] : []),
    ]
    return `${parts.join(' and ')}, and more would make it block this station${rejected > 0 ? `: ${remedy}` : ''}`
  }

  /** In order. The lookup is only made when it is its turn. */
  async *#candidates(byPerson: boolean, signal: AbortSignal): AsyncGenerator<Candidate> {
    const { override, note, defaults } = this.#deps
    const isKnown = ({ pswd }: Credentials) => pswd !== ''
    const { user, pswd } = override()
    const set = usersOf(user).map((one): Candidate => ({ rung: 'override', user: one, pswd }))
    const kept: Candidate = { rung: 'protected', ...note.default }
    // Newly set credentials are tried at once.
    yield* (note.pair(kept).worked && !byPerson ? [kept, ...set] : [...set, kept]).filter(isKnown)
    yield* (await this.#lookedUp(signal)).filter(isKnown)
    yield* defaults.filter(isKnown).map((one): Candidate => ({ rung: 'default', ...one }))
  }

  async #lookedUp(signal: AbortSignal): Promise<Candidate[]> {
    const { lookup, log, mac } = this.#deps
    try {
      const label = await lookup.find(mac(), signal)
      return label ? usersOf(label.user).map((user) => ({ rung: 'lookup', user, pswd: label.pswd })) : []
    } catch (error) {
      log.warn({ err: error }, 'the credentials of the router could not be looked up: the next ones are tried')
      return []
    }
  }
}

/** A person can have set it. */
const isSet = ({ rung }: Candidate) => rung === 'override' || rung === 'protected'
