import type { Dispose } from '../plugin.js'

/** The only source of time. Tests use a manual one. */
export interface Clock {
  /** Milliseconds of UTC by the system clock; may step. */
  now(): number
  /** Milliseconds since an arbitrary moment; never steps. */
  monotonic(): number
  /** Calls `fn` once after `delay_ms`. */
  timer(delay_ms: number, fn: () => void): Dispose
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delay_ms, fn) {
    const handle = setTimeout(fn, delay_ms)
    return () => clearTimeout(handle)
  },
}
