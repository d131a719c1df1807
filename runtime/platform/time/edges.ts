/** Clock and timers come from the plugin's context, so that a test can control them. */
import type { Callback, Dispose } from '../../../schemas/event.js'

/** Clock and timers of a plugin's context. */
export interface Edges {
  readonly clock: {
    /** Milliseconds of UTC by the system clock; may step. */
    now(): number
    /** Milliseconds of a clock that never steps. Use it for ages and timeouts. */
    monotonic(): number
  }
  readonly timers: {
    /** Calls `fn` every `ms` milliseconds. A run that takes longer delays the next run: runs never overlap. */
    every(ms: number, fn: Callback): Dispose
    after(ms: number, fn: Callback): Dispose
  }
}

/** Resolves after `ms`; never when the plugin is stopped first. */
export function pause(timers: Pick<Edges['timers'], 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    timers.after(ms, resolve)
  })
}

/** Ticks come a little late on a busy machine. */
const tolerated = 2

/**
 * A monotonic clock (milliseconds) of the time in which this process could run. While the event loop is blocked
 * nothing is read, so silence of a device
 * proves nothing: a limit that is measured with this clock does not count that time. It must be read at least once per tick.
 */
export class AwakeClock {
  readonly #clock: Pick<Edges['clock'], 'monotonic'>
  readonly #tick_ms: number
  #read_ms: number
  #lost_ms = 0

  /** @param tick_ms how often the owner reads the clock: in a gap of more than two ticks nothing could run */
  constructor(clock: Pick<Edges['clock'], 'monotonic'>, tick_ms: number) {
    this.#clock = clock
    this.#tick_ms = tick_ms
    this.#read_ms = clock.monotonic()
  }

  monotonic(): number {
    const now_ms = this.#clock.monotonic()
    const gap_ms = now_ms - this.#read_ms
    if (gap_ms > tolerated * this.#tick_ms) this.#lost_ms += gap_ms - this.#tick_ms
    this.#read_ms = now_ms
    return now_ms - this.#lost_ms
  }

  /** Milliseconds so far that did not count. */
  get lost_ms(): number {
    return this.#lost_ms
  }
}
