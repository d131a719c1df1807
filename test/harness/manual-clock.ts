import type { Clock } from '../../runtime/platform/ports/clock.js'
import type { Dispose } from '../../runtime/plugin.js'
import { longestWait_ms } from './longest-wait.js'

interface Timer {
  at_ms: number
  order: number
  fn: () => void
}

/** Timers that may fire at the same time. */
const mostAtOnce = 100_000

/** A clock that stands still until a test advances it. Due timers then fire in order, each at its own time. */
export class ManualClock implements Clock {
  #monotonic_ms = 0
  #utc_ms: number
  #order = 0
  readonly #timers = new Set<Timer>()

  /** @param utc_ms initial time of the system clock */
  constructor(utc_ms = Date.UTC(2026, 10, 21)) {
    this.#utc_ms = utc_ms
  }

  now(): number {
    return this.#utc_ms
  }

  monotonic(): number {
    return this.#monotonic_ms
  }

  timer(delay_ms: number, fn: () => void): Dispose {
    const timer = { at_ms: this.#monotonic_ms + Math.max(0, delay_ms), order: this.#order++, fn }
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  /** Number of pending timers. */
  get pending(): number {
    return this.#timers.size
  }

  /** Steps only the system clock, as an NTP correction does. */
  stepUtc(by_ms: number): void {
    this.#utc_ms += by_ms
  }

  /** Advances the clock by `ms`. Between timers, the callbacks of settled promises run. */
  async advance(ms: number): Promise<void> {
    const end_ms = this.#monotonic_ms + ms
    let atOnce = 0
    await turn()
    for (let next = this.#next(end_ms); next; next = this.#next(end_ms)) {
      atOnce = next.at_ms > this.#monotonic_ms ? 0 : atOnce + 1
      // It would never end, and never let go of the event loop.
      if (atOnce > mostAtOnce)
        throw new Error(`${mostAtOnce} timers at ${this.#monotonic_ms} ms: one arms itself without delay`)
      this.#go(next.at_ms)
      this.#timers.delete(next)
      next.fn()
      await turn()
    }
    this.#go(end_ms)
    // One turn of the event loop, so that I/O that is ready is seen as well.
    await new Promise<void>((resolve) => setImmediate(resolve))
  }

  #go(to_ms: number): void {
    this.#utc_ms += to_ms - this.#monotonic_ms
    this.#monotonic_ms = to_ms
  }

  #next(end_ms: number): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) {
      if (timer.at_ms > end_ms) continue
      if (!first || timer.at_ms < first.at_ms || (timer.at_ms === first.at_ms && timer.order < first.order))
        first = timer
    }
    return first
  }
}

/** Lets promise chains of a few steps run. */
async function turn(): Promise<void> {
  for (let i = 0; i < 4; i++) await null
}

/**
 * Waits for an effect of real I/O by polling `condition`. It ends when the condition is true, or fails after `limit_ms` of
 * real time.
 * @param what says what is waited for, and may say what was seen last
 */
export async function until(
  condition: () => unknown,
  what: string | (() => string),
  limit_ms = longestWait_ms,
): Promise<void> {
  const end_ms = performance.now() + limit_ms
  for (let pause_ms = 1; ; pause_ms = Math.min(5, pause_ms * 1.2)) {
    const asked_ms = performance.now()
    if (await condition()) return
    const now_ms = performance.now()
    if (now_ms > end_ms) throw new Error(`${typeof what === 'string' ? what : what()}: not within ${limit_ms} ms`)
    // What takes long is asked for less often: a question may keep the process busy that it waits for.
    const wait_ms = Math.max(pause_ms, Math.min(50, 4 * (now_ms - asked_ms)))
    await new Promise<void>((resolve) => setTimeout(resolve, wait_ms))
  }
}
