import { AsyncLocalStorage } from 'node:async_hooks'
// Not the global timers: a timer of the clock belongs to its scope, so it is not a handle that a plugin left open.
import { clearTimeout, setTimeout } from 'node:timers'
import type { Dispose } from '../../../schemas/event.js'

/** The only source of time. Tests use a manual one. */
export interface Clock {
  /** Milliseconds of UTC by the system clock; may step. */
  now(): number
  /** Milliseconds since an arbitrary moment; never steps. */
  monotonic(): number
  /** Calls `fn` once after `delay_ms`. */
  timer(delay_ms: number, fn: () => void): Dispose
  /** A timer for periodic work: it may run up to a quarter of a second later, together with others. */
  tick?(delay_ms: number, fn: () => void): Dispose
}

/** The longest delay that setTimeout takes; with a longer one it fires at once. */
const longest_ms = 2 ** 31 - 1

/** Each wake-up of a processor at rest costs power: periodic work shares four wake-ups a second. */
const grid_ms = 250

interface Ring {
  readonly due: Set<() => void>
  readonly cancel: Dispose
}
const rings = new Map<number, Ring>()
/** A shared timer has no owner: it must not retain the plugin that asked for it first. */
const asNobody = AsyncLocalStorage.snapshot()

function ringAt(at_ms: number): Ring {
  const known = rings.get(at_ms)
  if (known) return known
  const due = new Set<() => void>()
  const fire = () => {
    rings.delete(at_ms)
    for (const fn of due) fn()
  }
  const ring = { due, cancel: asNobody(() => systemClock.timer(Math.ceil(at_ms - performance.now()), fire)) }
  rings.set(at_ms, ring)
  return ring
}

function tick(delay_ms: number, fn: () => void): Dispose {
  const at_ms = Math.ceil((performance.now() + delay_ms) / grid_ms) * grid_ms
  const ring = ringAt(at_ms)
  const own = () => fn()
  ring.due.add(own)
  return () => {
    if (!ring.due.delete(own) || ring.due.size > 0 || rings.get(at_ms) !== ring) return
    rings.delete(at_ms)
    void ring.cancel()
  }
}

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
  tick,
}
