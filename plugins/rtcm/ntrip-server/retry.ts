/** Time of the next attempt, chosen so that no caster ever bans the station. Times are monotonic unless named UTC. */
import type { ConnectionEnd, ConnectionRetry } from 'rtk-base/link'
import type { PluginContext } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import { waitAfter_ms } from 'rtk-base/time'
import { type Static, Type } from 'typebox'
import type { RefusalKind } from './reply.js'

/** Minimum delay after the last attempt. */
const shortest_ms = 15_000
const longest_ms = 900_000
const taken_ms = 30_000
const mostTaken = 5
const final_ms = 6 * 3_600_000

/** `idle`: the station itself ended the push, as it had nothing to send. */
export type End = RefusalKind | 'network' | 'closed' | 'idle'

export interface RetryState {
  /** Failures since data was last acknowledged for 5 min. */
  failures: number
  taken: number
  /** Before it no attempt is made. */
  notBefore_ms: number
  /** The time of the last attempt. */
  tried_ms: number
  last: End | ''
}
export const fresh: RetryState = {
  failures: 0,
  taken: 0,
  notBefore_ms: Number.NEGATIVE_INFINITY,
  tried_ms: Number.NEGATIVE_INFINITY,
  last: '',
}

/** Stored state: only delays caused by a caster. Cutting others short by a restart does no harm to a caster. */
export const KeptWait = Type.Object({
  failures: Type.Integer(),
  taken: Type.Integer(),
  last: Type.Enum(['taken', 'final', 'other']),
  /** From `since_utc_ms` on. */
  rest_ms: Type.Number({ minimum: 0 }),
  /** 0 where the time was not known. */
  since_utc_ms: Type.Number({ minimum: 0 }),
})
export type KeptWait = Static<typeof KeptWait>

/** @param random 0–1, the jitter of ±20 % */
export function afterEnd(state: RetryState, end: End, now_ms: number, random: number): RetryState {
  // A push ended by the station is not a failure of the caster: the next delay is not longer.
  const failures = end === 'idle' ? state.failures : state.failures + 1
  const taken = end === 'taken' ? state.taken + 1 : 0
  const always_ms = end === 'final' ? final_ms : end === 'taken' && taken <= mostTaken ? taken_ms : undefined
  const waits = { first_ms: always_ms ?? shortest_ms, longest_ms: always_ms ?? longest_ms, random: () => random }
  const wait_ms = waitAfter_ms(state.failures + 1, waits)
  return { failures, taken, notBefore_ms: now_ms + Math.max(shortest_ms, wait_ms), tried_ms: state.tried_ms, last: end }
}

/** The station's network came back: delays caused only by the network end, delays caused by a caster do not. */
export function afterNetworkUp(state: RetryState): RetryState {
  if (state.last !== 'network') return state
  return { ...state, notBefore_ms: Math.min(state.notBefore_ms, state.tried_ms + shortest_ms) }
}

/** Milliseconds until the next attempt. */
export const waitOf = (state: RetryState, now_ms: number): number => Math.max(0, state.notBefore_ms - now_ms)

/** For the store; undefined where no caster asked for a wait. @param utc_ms 0 while it is not known */
export function keptOf(state: RetryState, now_ms: number, utc_ms: number): KeptWait | undefined {
  const { failures, taken, last } = state
  if (last !== 'taken' && last !== 'final' && last !== 'other') return undefined
  return { failures, taken, last, rest_ms: waitOf(state, now_ms), since_utc_ms: utc_ms }
}

/**
 * The state after a restart: the rest of the delay, less the elapsed time if known. A clock that was set
 * back or is wrong never extends the delay.
 */
export function restored(kept: KeptWait, now_ms: number, utc_ms: number): RetryState {
  const { failures, taken, last, since_utc_ms } = kept
  const rest_ms = Math.min(kept.rest_ms, final_ms * 1.2)
  const passed_ms = since_utc_ms > 0 ? Math.max(0, utc_ms - since_utc_ms) : 0
  return { ...fresh, failures, taken, last, notBefore_ms: now_ms + Math.max(0, rest_ms - passed_ms) }
}

/** A connection to a caster ended for the network's reasons if its cause is none of these. */
const ends: readonly string[] = ['taken', 'final', 'web', 'other', 'closed'] satisfies End[]
const isEnd = (cause: string): cause is End => ends.includes(cause)

/** The delays of one push: in memory, and in the store where a caster asked for them. */
export class CasterRetry implements ConnectionRetry<End> {
  readonly #ctx: Pick<PluginContext, 'clock' | 'services'>
  readonly #keep: (wait: KeptWait | undefined) => void
  /** The wait from the store, until it is known how much of it has passed. */
  #kept: KeptWait | undefined
  #state: RetryState

  /**
   * @param kept the wait that the caster asked for before the service was restarted
   * @param keep stores such a wait; undefined: there is none any more
   */
  constructor(
    ctx: Pick<PluginContext, 'clock' | 'services'>,
    kept: KeptWait | undefined,
    keep: (wait: KeptWait | undefined) => void,
  ) {
    this.#ctx = ctx
    this.#kept = kept
    this.#keep = keep
    this.#state = kept ? restored(kept, this.#now_ms, 0) : fresh
  }

  wait_ms(): number {
    if (this.#kept) this.#shorten(this.#kept)
    return waitOf(this.#state, this.#now_ms)
  }

  begins(): void {
    this.#kept = undefined
    this.#state = { ...this.#state, tried_ms: this.#now_ms }
  }

  accepted(): void {
    this.#keep(undefined)
  }

  ended({ cause }: Pick<ConnectionEnd<End>, 'cause'>): void {
    this.#state = afterEnd(this.#state, isEnd(cause) ? cause : 'network', this.#now_ms, Math.random())
    this.#keep(keptOf(this.#state, this.#now_ms, this.#ctx.services.use(device).utc_ms()))
  }

  paused(): void {
    this.#state = afterEnd(this.#state, 'idle', this.#now_ms, Math.random())
    this.#keep(undefined)
  }

  networkUp(): void {
    this.#state = afterNetworkUp(this.#state)
  }

  /** Data was acknowledged for long: the next delay is a short one again. @returns whether it was not before */
  proven(): boolean {
    if (this.#state.failures === 0) return false
    this.#state = { ...fresh, tried_ms: this.#state.tried_ms }
    return true
  }

  /** How long the station was off is known when the time is: the receiver's, as a machine without a clock shows any. */
  #shorten(kept: KeptWait): void {
    const station = this.#ctx.services.use(device)
    if (!station.knowsUtc) return
    const { notBefore_ms } = restored(kept, this.#now_ms, station.utc_ms())
    this.#kept = undefined
    this.#state = { ...this.#state, notBefore_ms: Math.min(this.#state.notBefore_ms, notBefore_ms) }
  }

  get #now_ms(): number {
    return this.#ctx.clock.monotonic()
  }
}
