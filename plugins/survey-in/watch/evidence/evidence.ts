import type { Enu } from 'rtk-base/gnss'

/** Why the antenna is suspected to have moved, and how far. */
export interface Suspect {
  /** For people. */
  readonly text: string
  /** Metres; the least where only that is known. */
  readonly size_m: number
}

/** One kind of evidence about where the antenna of a fixed base is. Its own position is an echo of the reference. */
export interface Evidence<T> {
  /** @returns undefined while nothing speaks for a move */
  hear(observation: T, now_ms: number): Suspect | undefined
}

/** Evidence that measures where the antenna is. */
export interface OffsetEvidence<T> extends Evidence<T> {
  /** Offset of the antenna from the reference in the last seconds; undefined where this kind does not say. */
  newest(now_ms: number): Enu | undefined
  /** Whether the last 15 s bear out where the antenna is expected; undefined while they do not say. */
  confirms(now_ms: number): boolean | undefined
  /**
   * The offset of the last 30 min from the reference, when it is larger than the accuracies explain.
   * @param stands it was before: it ends well below the limit at which it begins
   */
  doubtful(now_ms: number, stands: boolean): Enu | undefined
  /** Where it saw the antenna in the first 10 min; undefined until then. Never far from what was known before. */
  readonly baseline: Enu | undefined
}
