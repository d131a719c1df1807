/** When the next attempt may come: so that no caster ever bans the station. */
import type { RefusalKind } from './reply.js'

const ladder_s = [15, 30, 60, 120, 300, 600, 900]
/** Never sooner after the last attempt, whatever happened. */
const shortest_ms = 15_000
const taken_ms = 30_000
const mostTaken = 5
const final_ms = 6 * 3_600_000

/** `idle`: the station itself ended the push, as it had nothing to send. */
export type End = RefusalKind | 'network' | 'closed' | 'idle'

export interface RetryState {
  /** Failures since data was last acknowledged for 5 min. */
  failures: number
  taken: number
  /** UTC ms before which no attempt is made; 0: at once. */
  notBefore_ms: number
  /** Of the last attempt, UTC ms. */
  tried_ms: number
  last: End | ''
}
export const fresh: RetryState = { failures: 0, taken: 0, notBefore_ms: 0, tried_ms: 0, last: '' }

/** @param random 0–1, the jitter of ±20 % */
export function afterEnd(state: RetryState, end: End, now_ms: number, random: number): RetryState {
  // A push that the station ends itself is no failure of the caster: the next wait is not a longer one.
  const failures = end === 'idle' ? state.failures : state.failures + 1
  const taken = end === 'taken' ? state.taken + 1 : 0
  const rung = ladder_s[Math.min(state.failures, ladder_s.length - 1)] ?? 900
  const base_ms = end === 'final' ? final_ms : end === 'taken' && taken <= mostTaken ? taken_ms : rung * 1000
  const wait_ms = base_ms * (0.8 + 0.4 * random)
  return { failures, taken, notBefore_ms: now_ms + Math.max(shortest_ms, wait_ms), tried_ms: state.tried_ms, last: end }
}

/** The own network came back: a wait that only it was to blame for is over, one that a caster asked for is not. */
export function afterNetworkUp(state: RetryState): RetryState {
  if (state.last !== 'network') return state
  return { ...state, notBefore_ms: Math.min(state.notBefore_ms, state.tried_ms + shortest_ms) }
}

/** Milliseconds until the next attempt. A clock that was set back makes nobody wait longer than the longest wait. */
export const waitOf = (state: RetryState, now_ms: number): number =>
  Math.min(Math.max(0, state.notBefore_ms - now_ms), final_ms * 1.2)
