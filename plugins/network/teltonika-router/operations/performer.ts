import { RtkError } from 'rtk-base/plugin'
import { routerErrors } from 'rtk-base/services'
import type { Outcome, Transport } from '../transport/call.js'
import { BrokenOff } from '../transport/http.js'
import type { Dialect } from './dialect.js'
import type { FactName, Input, OperationName, Output, RouterFactIds, Way } from './operations.js'
import { waysOf } from './table.js'

/** Resolves after `ms`, rejects when the signal aborts. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>

/** Facts that change at runtime: a second SIM may take over. */
const changing: ReadonlySet<FactName> = new Set(['simSlot', 'simId'])
/** Defaults of unreported facts. */
const usual: Partial<Record<FactName, string>> = { simSlot: '1' }

type AnyWay = Way<never, unknown>
type Failure = Extract<Outcome, { ok: false }>
type Attempt<O> = { ok: true; value: O } | Failure

/** Performs operations on one router by the table. Order and turns belong to its user. */
export class Performer {
  readonly #transport: Transport
  readonly dialect: Dialect
  /** Logs in again; rejects when that fails. */
  readonly renew: (signal: AbortSignal) => Promise<void>
  /**
   * Alternatives that this router lacks, or for which the user has no right: skipped while another one works. A missing one
   * may only be late: the modem's objects appear minutes after the login.
   */
  readonly #closed = new Map<AnyWay, Failure>()
  readonly #facts = new Map<FactName, string>()
  /** Calls of each way, by their place in it, that a new session is refused too: none of them is worth another login. */
  readonly #forbidden = new WeakMap<AnyWay, Set<number>>()
  /** The present session has answered something, or was never tried: only such a session can have ended. */
  #isSessionGood = true

  readonly #pause: Pause

  constructor(transport: Transport, dialect: Dialect, renew: (signal: AbortSignal) => Promise<void>, pause: Pause) {
    this.#transport = transport
    this.dialect = dialect
    this.renew = renew
    this.#pause = pause
  }

  /** The user had no right to some alternatives: they are tried again with a new session, for rights may be given later. */
  async renewRights(signal: AbortSignal): Promise<void> {
    const refused = [...this.#closed].flatMap(([way, { kind }]) => (kind === 'expired' ? [way] : []))
    if (refused.length === 0) return
    await this.renew(signal)
    for (const way of refused) this.#closed.delete(way)
  }

  /** By the first way that this router has. @throws RTK_ERR_ROUTER_… */
  async perform<K extends OperationName>(name: K, input: Input<K>, signal: AbortSignal): Promise<Output<K>> {
    const ways = waysOf(name, this.dialect)
    const trials: [AnyWay, Failure][] = []
    let last: Failure | undefined
    try {
      for (const way of ways) {
        const closed = this.#closed.get(way as AnyWay)
        last = closed ?? last
        if (closed) continue
        const facts = await this.#factsFor(way.needs ?? [], signal)
        const started = await this.#attempt(way, input, facts, signal)
        const attempt = started.ok && way.poll ? await this.#polled(way, way.poll, input, signal) : started
        if (attempt.ok) {
          for (const [failed, why] of trials) this.#closed.set(failed, why)
          return attempt.value
        }
        last = attempt
        if (way.isTrial) trials.push([way as AnyWay, attempt])
        if (attempt.kind === 'absent' || attempt.kind === 'expired') this.#closed.set(way as AnyWay, attempt)
        else if (way.writes) break
      }
      throw failureOf(name, this.dialect, last)
    } catch (error) {
      for (const way of ways as readonly AnyWay[])
        if (this.#closed.get(way)?.kind === 'absent') this.#closed.delete(way)
      throw error
    }
  }

  async #factsFor(needs: readonly FactName[], signal: AbortSignal): Promise<RouterFactIds> {
    for (const fact of needs) {
      // A missing fact may exist by now.
      if (!changing.has(fact) && this.#facts.get(fact)) continue
      this.#facts.set(fact, await this.#fact(fact, signal))
    }
    return Object.fromEntries(this.#facts) as RouterFactIds
  }

  async #fact(fact: FactName, signal: AbortSignal): Promise<string> {
    try {
      return await this.perform(fact, undefined, signal)
    } catch (error) {
      const isUnknown =
        error instanceof RtkError && ['RTK_ERR_ROUTER_UNSUPPORTED', 'RTK_ERR_ROUTER_REFUSED'].includes(error.code)
      if (isUnknown && usual[fact] !== undefined) return usual[fact]
      throw error
    }
  }

  /** The result of a background operation. */
  async #polled<I, O>(
    way: Way<I, O>,
    { calls, every_ms, most_ms }: NonNullable<Way<I, O>['poll']>,
    input: I,
    signal: AbortSignal,
  ): Promise<Attempt<O>> {
    for (let waited_ms = 0; waited_ms < most_ms; waited_ms += every_ms) {
      await this.#pause(every_ms, signal)
      const look: Way<I, O> = { calls: () => calls, read: way.read }
      const attempt = await this.#attempt(look, input, {} as RouterFactIds, signal)
      if (attempt.ok) return attempt
    }
    return { ok: false, kind: 'timeout', text: `no result within ${most_ms / 1000} s` }
  }

  /**
   * A session that expired is renewed and everything is sent again once: uncommitted uci changes are lost with their session. A read is
   * also sent again when the router closed the connection: it may have been an old one.
   */
  async #attempt<I, O>(way: Way<I, O>, input: I, facts: RouterFactIds, signal: AbortSignal): Promise<Attempt<O>> {
    const calls = way.calls(input, facts)
    const send = () => this.#transport.call(calls, way.together === true, signal)
    try {
      const forbidden = this.#forbidden.get(way as AnyWay) ?? new Set<number>()
      for (let again = false; ; again = true) {
        const outcomes = await send().catch((error: unknown) => {
          if (way.writes || !(error instanceof BrokenOff)) throw error
          return send()
        })
        const denied = outcomes.flatMap((one, index) => (!one.ok && one.kind === 'expired' ? [index] : []))
        this.#isSessionGood ||= outcomes.some(({ ok }) => ok)
        if (!again && this.#isSessionGood && denied.some((index) => !forbidden.has(index))) {
          await this.renew(signal)
          this.#isSessionGood = false
          continue
        }
        for (const [index, { ok }] of outcomes.entries()) if (ok) forbidden.delete(index)
        // Also without a login for it, where the session was new: one that has answered nothing yet has not ended.
        for (const index of denied) forbidden.add(index)
        this.#forbidden.set(way as AnyWay, forbidden)
        return judged(way, input, facts, calls, outcomes)
      }
    } catch (error) {
      if (!way.mayBreakOff || !isBreakOff(error)) throw error
      return { ok: true, value: way.read([], input, facts) as O }
    }
  }
}

/** The router restarted before its answer was out. */
const isBreakOff = (error: unknown) =>
  error instanceof BrokenOff || (error instanceof RtkError && error.code === 'RTK_ERR_ROUTER_TIMEOUT')

function judged<I, O>(
  way: Way<I, O>,
  input: I,
  facts: RouterFactIds,
  calls: readonly { optional?: boolean }[],
  outcomes: readonly Outcome[],
): Attempt<O> {
  const failed = outcomes.filter((one): one is Failure => !one.ok)
  const fatal = outcomes.find((one, index): one is Failure => !one.ok && calls[index]?.optional !== true)
  if (fatal) return fatal
  // Nothing but optional ones, and none went well.
  if (outcomes.length > 0 && failed.length === outcomes.length) return failed[0] as Failure
  // A started background operation has no result yet.
  if (way.poll) return { ok: true, value: undefined as O }
  const value = way.read(
    outcomes.map((one) => (one.ok ? one.value : undefined)),
    input,
    facts,
  )
  // A valid answer without content, e.g. for a missing modem.
  return value === undefined
    ? { ok: false, kind: 'refused', text: 'the answer does not have the value' }
    : { ok: true, value }
}

function failureOf(name: OperationName, dialect: Dialect, last: Failure | undefined): RtkError {
  const [generation, transport] = dialect.split('/')
  if (last === undefined || last.kind === 'absent') {
    const detail = last ? `: ${last.text}` : ''
    const text = `${name} is not possible on this router (generation ${generation}, ${transport})${detail}`
    return new RtkError(routerErrors.RTK_ERR_ROUTER_UNSUPPORTED, text)
  }
  if (last.kind === 'timeout') return new RtkError(routerErrors.RTK_ERR_ROUTER_TIMEOUT, `${name}: ${last.text}`)
  if (last.kind === 'answer') return new RtkError(routerErrors.RTK_ERR_ROUTER_ANSWER, `${name}: ${last.text}`)
  const text = last.kind === 'expired' ? `${last.text}: the user has no right to that` : last.text
  return new RtkError(routerErrors.RTK_ERR_ROUTER_REFUSED, `${name}: ${text}`)
}
