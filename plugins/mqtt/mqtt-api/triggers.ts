import type { PluginContext } from 'rtk-base/plugin'
import { receiver } from 'rtk-base/services'

/** Events, trigger 2: more uptime than this since the last successful publication. */
export const period_ms = 6 * 3_600_000
/** The condition is evaluated on this grid, and nowhere between. */
const wake_ms = 100

/**
 * Trigger 2. The condition depends on time alone, so wake-ups at which it cannot hold are left out: a station at rest sleeps until
 * the first multiple of 100 ms of uptime at which it can.
 */
export class Periodic {
  readonly #after: (ms: number, wake: () => void) => () => unknown
  readonly #uptime_ms: () => number
  readonly #due: () => void
  /** Uptime at the last successful publication. */
  last_ms = 0
  #notBefore_ms = 0
  #cancel: () => unknown = () => {}

  /** @param due called on each wake-up at which the condition holds */
  constructor(after: (ms: number, wake: () => void) => () => unknown, uptime_ms: () => number, due: () => void) {
    this.#after = after
    this.#uptime_ms = uptime_ms
    this.#due = due
  }

  start(last_ms: number): void {
    this.last_ms = last_ms
    this.#sleep()
  }

  /** A publication was sent, whichever trigger it had. */
  published(): void {
    this.last_ms = this.#uptime_ms()
    this.#sleep()
  }

  /** No wake-up for this long. */
  pause(ms: number): void {
    this.#notBefore_ms = this.#uptime_ms() + ms
    this.#sleep()
  }

  #sleep(): void {
    this.#cancel()
    const now_ms = this.#uptime_ms()
    const possible_ms = Math.max(this.last_ms + period_ms, this.#notBefore_ms, now_ms)
    const wakeAt_ms = (Math.floor(possible_ms / wake_ms) + 1) * wake_ms
    this.#cancel = this.#after(wakeAt_ms - now_ms, () => {
      if (this.#uptime_ms() - this.last_ms > period_ms) this.#due()
      this.#sleep()
    })
  }
}

/** Calls `identified` once, when the receiver has reported its unique id (SEC-UNIQID, class 0x27, id 0x03). */
export function whenIdentified(ctx: PluginContext, identified: () => void): void {
  let reported = false
  ctx.services.watch(receiver, (source) => {
    const look = () => {
      if (reported || !source || source.identity.serial === '') return
      reported = true
      identified()
    }
    look()
    return source && !reported ? ctx.on(source.onState, look) : undefined
  })
}
