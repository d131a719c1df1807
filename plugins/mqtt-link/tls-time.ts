import type { PluginContext } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import type { Failure } from './failure.js'

/** After so much uptime TLS is tried without knowing the time. */
const longestWait_ms = 60_000

/** A station often boots without a clock, and TLS refuses certificates of the future. */
export class TlsTime {
  readonly #ctx: PluginContext

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Whether an attempt should wait for the time. */
  get awaited(): boolean {
    return !this.#known && this.#ctx.services.use(device).uptime_ms() < longestWait_ms
  }

  /** Says of a failure of TLS that the time may be why. */
  explained(failure: Failure): Failure {
    if (failure.cause !== 'tls' || this.#known) return failure
    return { ...failure, text: `${failure.text} (this station does not know the time yet, which may be why)` }
  }

  get #known(): boolean {
    return this.#ctx.services.use(device).utc_ms() > 0
  }
}
