import type { PluginContext } from 'rtk-base/plugin'
import { backoff_ms } from './backoff.js'
import type { Failure } from './failure.js'

/** A session that held for so long was a good one: its loss starts the back-off anew. */
const stable_ms = 30_000

/** When the next attempt follows a failure, and that the failure is told: once, until a session was up again. */
export class Retry {
  readonly #ctx: PluginContext
  #attempt = 0
  #upSince_ms = 0
  #told = ''
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
    this.#told = ''
    this.#upSince_ms = this.#ctx.clock.monotonic()
  }

  /** The session that was up has ended by itself. */
  lost(): void {
    if (this.#ctx.clock.monotonic() - this.#upSince_ms >= stable_ms) this.reset()
  }

  failed({ cause, text }: Failure, again: () => void): void {
    // These end with a change of the settings, or when whoever holds the link lets go.
    const waits = cause === 'config' || cause === 'held'
    const wait_ms = backoff_ms(this.#attempt++, Math.random())
    this.#ctx.status(waits ? text : `down (${cause}): ${text}; tried again by itself`)
    if (text !== this.#told)
      this.#ctx.log.warn({ cause, retry_ms: waits ? undefined : wait_ms }, `the MQTT link is down: ${text}`)
    this.#told = text
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
