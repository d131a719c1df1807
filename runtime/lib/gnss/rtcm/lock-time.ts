/** Lock time indicators: how long a phase has been tracked without a break (RTCM 10403.3: DF402 and DF407 of MSM, DF013). */

/** The range of lock times of an indicator: at least `from_ms`, less than `below_ms`. */
export interface LockTime {
  readonly from_ms: number
  readonly below_ms: number
}

/** DF402, 4 bits (MSM1-5): 0 is below 32 ms, each further value doubles, 15 is open. */
const coarse: readonly LockTime[] = Array.from({ length: 16 }, (_, indicator) => ({
  from_ms: indicator === 0 ? 0 : 2 ** (indicator + 4),
  below_ms: indicator === 15 ? Infinity : 2 ** (indicator + 5),
}))

const lastFine = 704

/** DF407, 10 bits (MSM6 and 7): milliseconds up to 63, then the resolution doubles every 32 values; 704 is open. */
const fine: readonly LockTime[] = Array.from({ length: lastFine + 1 }, (_, indicator) => {
  const step_ms = 2 ** Math.max(0, Math.floor(indicator / 32) - 1)
  const from_ms = step_ms * (indicator - 32 * Math.log2(step_ms))
  return { from_ms, below_ms: indicator === lastFine ? Infinity : from_ms + step_ms }
})

const unknown: LockTime = { from_ms: 0, below_ms: Infinity }

/**
 * @param type the message number of the MSM; a missing or reserved indicator gives 0 to infinity
 */
export function lockTime(type: number, indicator: number | undefined): LockTime {
  return (type % 10 >= 6 ? fine : coarse)[indicator ?? -1] ?? unknown
}

/** DF013, 7 bits (1001-1012): seconds up to 23, then the resolution doubles every 24 values; 127 is open from 937 s. */
const legacyStarts_s: readonly number[] = Array.from({ length: 128 }, (_, indicator) => {
  const step_s = 2 ** Math.floor(indicator / 24)
  return indicator === 127 ? 937 : step_s * (indicator % 24) + 24 * (step_s - 1)
})

/** The lock time indicator of 1001-1012 for a phase that has been tracked this long. */
export function legacyLock(lock_ms: number): number {
  return legacyStarts_s.findLastIndex((start_s) => start_s * 1000 <= lock_ms)
}

/** Receivers round lock times: an indicator equal to the interval is not a break. */
const rounding = 0.98

/**
 * Whether the phase was lost between two epochs: the indicator decreased, or is less than the time elapsed. An
 * unchanged indicator is not a break: u-blox receivers stop counting at 64 s.
 */
export function lockBroken(before: LockTime, now: LockTime, interval_ms: number): boolean {
  return now.below_ms <= before.from_ms || now.below_ms <= interval_ms * rounding
}
