import type { PluginContext } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import type { Failure } from '../failure.js'

/** After this uptime TLS is tried although the time is not known. */
const longestWait_ms = 60_000

/** A station often boots without a clock, and TLS rejects certificates that are not valid yet. */
export class TlsTime {
  readonly #ctx: PluginContext

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Whether an attempt has to wait for the time. */
  get awaited(): boolean {
    return !this.#known && this.#ctx.services.use(device).uptime_ms() < longestWait_ms
  }

  /** Adds to a TLS failure that the unknown time may be the cause. */
  explained(failure: Failure): Failure {
    if (failure.cause !== 'tls' || this.#known) return failure
    return { ...failure, text: `${failure.text} (the time is not known yet, which may be the cause)` }
  }

  get #known(): boolean {
    return this.#ctx.services.use(device).utc_ms() > 0
  }
}
