import type { Enu } from 'rtk-base/gnss'

/** One kind of evidence about where the antenna of a fixed base is. Its own position is an echo of the reference. */
export interface Evidence<T> {
  /** @returns why the antenna is suspected to have moved, for people; undefined while nothing speaks for it */
  hear(observation: T, now_ms: number): string | undefined
  /** Offset of the antenna from the reference in the last seconds; undefined where this kind does not say. */
  newest(now_ms: number): Enu | undefined
  /** Where it saw the antenna in the first 10 min; undefined until then, or where it has none. */
  readonly baseline: Enu | undefined
}
