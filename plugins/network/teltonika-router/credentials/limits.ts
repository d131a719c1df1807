/**
 * How often the station logs in. A router in factory state blocks an address after ten failed logins, before RUTOS 7.07 for good; its
 * count does not expire, a login that works clears it. Pure: the note of the logins is passed in.
 */
import type { Credentials } from '../transport/call.js'
import type { LoginNote } from './note.js'

const hour_ms = 3_600_000
const day_ms = 24 * hour_ms

/** At most `most` within `within_ms`. */
interface Limit {
  readonly most: number
  readonly within_ms: number
}

export const loginLimits = {
  /** Attempts, with any answer: a late or lost one may have been a rejection. */
  gap: { most: 1, within_ms: 10_000 },
  automatic: { most: 7, within_ms: hour_ms },
  /** Automatic attempts, and the one that a person causes by setting a password. */
  withPerson: { most: 8, within_ms: hour_ms },
  /** Rejections of pairs that never worked. */
  rejections: { most: 8, within_ms: day_ms },
  /** Rejections since the last login that worked: the tenth one blocks. */
  sinceLogin: 9,
  /** A rejected pair is tried again after the first pause, then after twice as long each time. */
  pause: {
    /** A router that blocks rejects the right password too. */
    worked: { first_ms: 6 * hour_ms, longest_ms: day_ms },
    neverWorked: { first_ms: 12 * hour_ms, longest_ms: Number.POSITIVE_INFINITY },
  },
} as const

/** Milliseconds until any pair may be tried; 0: now. */
export function attemptWait_ms(note: LoginNote, byPerson: boolean): number {
  const { gap, automatic, withPerson } = loginLimits
  const times_ms = note.attempts.map(({ at_ms }) => at_ms)
  const limits = [gap, byPerson ? withPerson : automatic]
  return Math.max(...limits.map((limit) => limitWait_ms(times_ms, limit, note.now_ms)))
}

/**
 * Milliseconds until this pair may be tried; 0: now. The limits of rejections hold neither a pair that once worked nor one that a person
 * has set, until the router answers it. Infinite when only a person can go on.
 */
export function pairWait_ms(note: LoginNote, pair: Credentials, byPerson: boolean): number {
  const { rejections, sinceLogin, pause } = loginLimits
  const { worked, rejectedInRow, at_ms, isEntered } = note.pair(pair)
  const { first_ms, longest_ms } = worked ? pause.worked : pause.neverWorked
  const pause_ms = rejectedInRow === 0 ? 0 : Math.min(first_ms * 2 ** (rejectedInRow - 1), longest_ms)
  const wait_ms = Math.max(attemptWait_ms(note, byPerson), at_ms + pause_ms - note.now_ms)
  if (worked || isEntered) return wait_ms
  if (note.rejectedSinceLogin >= sinceLogin) return Number.POSITIVE_INFINITY
  const rejected = note.attempts.filter(({ outcome }) => outcome === 'rejected')
  const times_ms = rejected.map((attempt) => attempt.at_ms)
  return Math.max(wait_ms, limitWait_ms(times_ms, rejections, note.now_ms))
}

/** @param times_ms the oldest first */
function limitWait_ms(times_ms: readonly number[], { most, within_ms }: Limit, now_ms: number): number {
  const leaving_ms = times_ms.at(-most)
  return leaving_ms === undefined ? 0 : Math.max(0, leaving_ms + within_ms - now_ms)
}
