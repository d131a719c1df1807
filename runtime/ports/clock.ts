// Not the global ones: a timer of the clock belongs to its scope, and is no handle that a plugin left open.
import { clearTimeout, setTimeout } from 'node:timers'
import type { Dispose } from '../../schemas/event.js'

/** The only source of time. Tests use a manual one. */
export interface Clock {
  /** Milliseconds of UTC by the system clock; may step. */
  now(): number
  /** Milliseconds since an arbitrary moment; never steps. */
  monotonic(): number
  /** Calls `fn` once after `delay_ms`. */
  timer(delay_ms: number, fn: () => void): Dispose
}

/** The longest delay that setTimeout takes; with a longer one it fires at once. */
const longest_ms = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(delay_ms, fn) {
    let handle: NodeJS.Timeout
    const arm = (left_ms: number) => {
      if (left_ms <= longest_ms) handle = setTimeout(fn, left_ms)
      else handle = setTimeout(() => arm(left_ms - longest_ms), longest_ms)
    }
    arm(delay_ms)
    return () => clearTimeout(handle)
  },
}
