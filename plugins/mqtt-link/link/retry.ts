import type { PluginContext } from 'rtk-base/plugin'
import type { Failure } from '../failure.js'

const first_ms = 1_000
const longest_ms = 60_000
/** A session that held for this long was a good one: after its loss the back-off starts again. */
const stable_ms = 30_000

/**
 * How long to wait before attempt `attempt` (0 is the first retry): 1 s doubling to 60 s with full jitter, so that a
 * fleet does not come back to its broker in step.
 * @param random between 0 and 1
 */
export function backoff_ms(attempt: number, random: number): number {
  return Math.round(random * Math.min(longest_ms, first_ms * 2 ** Math.min(attempt, 16)))
}

/** When the next attempt follows a failure. Logs each failure once, until a session was up again. */
export class Retry {
  readonly #ctx: PluginContext
  #attempt = 0
  #upSince_ms = 0
  #logged = ''
  #cancel: () => unknown = () => {}

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** The next wait is a short one. */
  reset(): void {
    this.#attempt = 0
  }

  /** A session is up. */
  succeeded(): void {
    this.#logged = ''
    this.#upSince_ms = this.#ctx.clock.monotonic()
  }

  /** The session that was up has ended by itself. */
  lost(): void {
    if (this.#ctx.clock.monotonic() - this.#upSince_ms >= stable_ms) this.reset()
  }

  failed({ cause, text }: Failure, again: () => void): void {
    // These two end with a change of the settings, or when the hold is released.
    const waits = cause === 'config' || cause === 'held'
    const wait_ms = backoff_ms(this.#attempt++, Math.random())
    this.#ctx.status(waits ? text : `down (${cause}): ${text}; the next attempt follows`)
    if (text !== this.#logged) {
      const next = waits ? '' : '; the next attempts follow by themselves'
      this.#ctx.log.warn({ cause, retry_ms: waits ? undefined : wait_ms }, `the MQTT link is down: ${text}${next}`)
    }
    this.#logged = text
    if (!waits) this.after(wait_ms, again)
  }

  /** One thing at a time waits: the newest. */
  after(wait_ms: number, again: () => void): void {
    this.cancel()
    this.#cancel = this.#ctx.timers.after(wait_ms, again)
  }

  cancel(): void {
    this.#cancel()
  }
}
