import type { Enu } from 'rtk-base/gnss'

/** One kind of evidence about where the antenna of a fixed base is. Its own position is an echo of the reference. */
export interface Evidence<T> {
  /** @returns why the antenna is suspected to have moved, for people; undefined while nothing speaks for it */
  hear(observation: T, now_ms: number): string | undefined
}

/** Evidence that measures where the antenna is. */
export interface OffsetEvidence<T> extends Evidence<T> {
  /** Offset of the antenna from the reference in the last seconds; undefined where this kind does not say. */
  newest(now_ms: number): Enu | undefined
  /** Whether the last 15 s bear out where the antenna is expected; undefined while they do not say. */
  confirms(now_ms: number): boolean | undefined
  /** The offset of the last 30 min from the reference, when it is larger than the accuracies explain. */
  doubtful(now_ms: number): Enu | undefined
  /** Where it saw the antenna in the first 10 min; undefined until then. Never far from what was known before. */
  readonly baseline: Enu | undefined
}
