import type { PluginContext } from 'rtk-base/plugin'
import type { Device } from 'rtk-base/services'

const look_ms = 10_000
const tolerated_ms = 2_000
/** Minimum time between two clock settings: a clock that is off again has a competing keeper or a bad crystal. */
const pause_ms = 600_000
/** After a failure the pause is twice as long, up to this. */
const longestPause_ms = 6 * 3_600_000

/**
 * Sets the system clock from the receiver at runtime, if it is off by more than 2 s and nothing else keeps it:
 * base stations often boot without a clock, TLS needs one, and a crystal drifts by a quarter of an hour per year.
 */
export class SystemClock {
  readonly #ctx: PluginContext
  readonly #device: Device
  #next_ms = Number.NEGATIVE_INFINITY
  #failures = 0
  /** Whether something else keeps the clock; undefined while that is not known. */
  #isSynchronised: boolean | undefined
  #askedAt_ms = Number.NEGATIVE_INFINITY
  #isSet = false

  constructor(ctx: PluginContext, device: Device) {
    this.#ctx = ctx
    this.#device = device
  }

  start(): void {
    // Whether something else keeps it is known from the start.
    void this.#ask()
    this.#ctx.timers.every(look_ms, () => this.#look())
  }

  /** `base.clock` */
  get fields(): { kept: 'ntp' | 'receiver' | 'nobody' | 'unknown'; offset: number } {
    const { clock } = this.#ctx
    const offset_ms = this.#device.knowsUtc ? this.#device.utc_ms() - clock.now() : 0
    const offset = Math.round(offset_ms) / 1000
    if (this.#isSynchronised === undefined) return { kept: 'unknown', offset }
    if (this.#isSynchronised) return { kept: 'ntp', offset }
    return { kept: this.#isSet ? 'receiver' : 'nobody', offset }
  }

  async #ask(): Promise<boolean> {
    this.#askedAt_ms = this.#ctx.clock.monotonic()
    this.#isSynchronised = await this.#device.isClockSynchronised().catch(() => undefined)
    return this.#isSynchronised === true
  }

  async #look(): Promise<void> {
    const { clock, errors } = this.#ctx
    const device = this.#device
    if (clock.monotonic() - this.#askedAt_ms >= pause_ms) await this.#ask()
    if (!device.knowsUtc) return
    const off_ms = device.utc_ms() - clock.now()
    if (Math.abs(off_ms) <= tolerated_ms) {
      this.#failures = 0
      errors.while('clock', false)
      return
    }
    if (clock.monotonic() < this.#next_ms) return
    this.#rest(0)
    if (await this.#ask()) return
    try {
      await device.setSystemClock()
      this.#isSet = true
      this.#failures = 0
      errors.while('clock', false)
      this.#ctx.log.info({ off_ms: Math.round(off_ms) }, 'system clock set from the receiver')
    } catch (error) {
      this.#isSet = false
      this.#rest(++this.#failures)
      // The last output line of a failed program.
      const reason = (error as Error).message.trim().split('\n').at(-1) ?? ''
      const off_s = Math.round(Math.abs(off_ms) / 1000)
      errors.while('clock', { off_s, reason })
    }
  }

  #rest(failures: number): void {
    this.#next_ms = this.#ctx.clock.monotonic() + Math.min(pause_ms * 2 ** failures, longestPause_ms)
  }
}
