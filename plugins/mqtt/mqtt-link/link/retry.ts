import type { PluginContext } from 'rtk-base/plugin'
import { Backoff } from 'rtk-base/time'
import type { Failure } from '../failure.js'
import { SharedSerial } from './shared-serial.js'

/** Full jitter, so that a fleet does not come back to its broker in step. */
export const waits = { first_ms: 1_000, longest_ms: 60_000, spread: [0, 1] } as const
/** A broker that floods the station does it again, and the link may be paid for by volume. Another broker is tried at once. */
const breachWaits = { first_ms: 900_000, longest_ms: 21_600_000 } as const
/** Two stations have the same serial number: each attempt ends the session of the other one. */
const sharedWaits = { first_ms: 300_000, longest_ms: 3_600_000 } as const
/** A session that held for this long was a good one: after its loss the back-off starts again. */
const stable_ms = 30_000

/** An unreleased hold ends after this time: it must not keep the station offline permanently. */
const longestHold_ms = 600_000

/** When the next attempt follows a failure, and what holds it back. Logs each failure once, until a session was up again. */
export class Retry {
  readonly #ctx: PluginContext
  readonly #backoff = new Backoff(waits)
  readonly #breaches = new Backoff(breachWaits)
  readonly #shared = new Backoff(sharedWaits)
  readonly #serial: SharedSerial
  /** Holds keep the station disconnected on purpose. */
  readonly #holds = new Set<{ reason: string }>()
  #upSince_ms = 0
  #logged = ''
  #cancel: () => unknown = () => {}

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    this.#serial = new SharedSerial(ctx)
  }

  /** The serial number is shared: each attempt throws the other station off the broker, so a network that comes up is no reason for one. */
  get isShared(): boolean {
    return this.#serial.isShared
  }

  /** The reason of the oldest hold; undefined while there is none. */
  get heldFor(): string | undefined {
    const [first] = this.#holds
    return first?.reason
  }

  /** Returns the function that releases the hold. @param free called when the last hold was released */
  hold(reason: string, free: () => void): () => void {
    const one = { reason }
    this.#holds.add(one)
    const release = () => {
      void cancel()
      if (this.#holds.delete(one) && this.#holds.size === 0) free()
    }
    const cancel = this.#ctx.timers.after(longestHold_ms, release)
    return release
  }

  /** Other settings: the next wait is a short one, whatever was before. */
  restart(): void {
    this.reset()
    this.#shared.reset()
    this.#serial.forget()
  }

  /** The next wait is a short one. */
  reset(): void {
    this.#backoff.reset()
    this.#breaches.reset()
  }

  /** A session is up. */
  succeeded(): void {
    this.#logged = ''
    this.#serial.up()
    this.#upSince_ms = this.#ctx.clock.monotonic()
  }

  /** The session was lost. */
  lost(): void {
    if (this.#ctx.clock.monotonic() - this.#upSince_ms >= stable_ms) this.#backoff.reset()
  }

  /** @returns the wait, milliseconds; 0: the settings or the hold decide */
  failed({ cause, text, end }: Failure, again: () => void): number {
    if (end === 'taken over') this.#serial.takenOver()
    if (end === 'unexplained') this.#serial.endedUnexplained()
    // These two end with a change of the settings, or when the hold is released.
    const waits = cause === 'config' || cause === 'held'
    const isRival = end === 'taken over' && this.isShared
    const wait_ms = (end === 'breach' ? this.#breaches : isRival ? this.#shared : this.#backoff).next()
    this.#ctx.status(waits ? text : `down (${cause}): ${text}; retrying`)
    if (text !== this.#logged) {
      const minutes = Math.round(wait_ms / 60_000)
      const soon =
        end === 'breach' || isRival ? `; the next attempt follows in ${minutes} min` : '; retrying automatically'
      const next = waits ? '' : soon
      this.#ctx.log.warn({ cause, retry_ms: waits ? undefined : wait_ms }, `the MQTT link is down: ${text}${next}`)
    }
    this.#logged = text
    if (waits) return 0
    this.after(wait_ms, again)
    return wait_ms
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
