/** Time of the next attempt, chosen so that no caster ever bans the station. Times are monotonic unless named UTC. */
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
  /** Of the last attempt. */
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
