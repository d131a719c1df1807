import type { PluginContext } from 'rtk-base/plugin'

const code = 'mqtt-serial-shared'
/** So many take-overs in this time are no half-open session of the station itself: another client is there. */
const most = 3
const window_ms = 600_000
/** The other client makes its attempts up to 72 min apart. */
const alone_ms = 7_200_000

/** Whether another client uses the serial number of this station: each of the two ends the session of the other. */
export class SharedSerial {
  readonly #ctx: PluginContext
  #takenOver_ms: number[] = []
  #isShared = false
  #cancel: () => unknown = () => {}

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  get isShared(): boolean {
    return this.#isShared
  }

  /** Another client took over the session. */
  takenOver(): void {
    const { clock, errors, serial } = this.#ctx
    const now_ms = clock.monotonic()
    this.#cancel()
    this.#takenOver_ms = [...this.#takenOver_ms.filter((at_ms) => now_ms - at_ms < window_ms), now_ms].slice(-most)
    if (this.#takenOver_ms.length < most || this.#isShared) return
    this.#isShared = true
    errors.raise(code, {
      text: `another client uses this serial number (${serial}) at the broker: each of the two ends the session of the other`,
      advice:
        'give one of the two stations another serial number, and restart it; this one tries again every 5 min to 1 h',
      values: { serial },
    })
  }

  /** A session is up: it belongs to this station if it lasts. */
  up(): void {
    if (!this.#isShared) return
    this.#cancel()
    this.#cancel = this.#ctx.timers.after(alone_ms, () => this.forget())
  }

  /** Other settings: the next broker knows one client of the name. */
  forget(): void {
    this.#cancel()
    this.#takenOver_ms = []
    this.#isShared = false
    this.#ctx.errors.clear(code)
  }
}
