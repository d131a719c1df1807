import type { PluginContext } from 'rtk-base/plugin'
import type { FleetBroker, FleetStation } from 'rtk-base/services'

/**
 * The topics `online` and `state` are retained: the broker has them also of a station that died while the broker was down, without its last
 * will. So an online station must say something itself: within `confirmed_s` after the fleet has connected, and within `silent_s` later.
 */
const confirmed_s = 1_800
const silent_s = 5_400

/** When each station said something itself. The retained messages of the broker are no sign of life. */
export class SignsOfLife {
  readonly #ctx: PluginContext
  readonly #heard_ms = new Map<string, number>()
  #connected_ms = 0

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  start(broker: FleetBroker): void {
    const connected = () => {
      this.#connected_ms = this.#ctx.clock.monotonic()
    }
    connected()
    this.#ctx.on(broker.onConnected, connected)
  }

  heard(serial: string): void {
    this.#heard_ms.set(serial, this.#ctx.clock.monotonic())
  }

  isHeard(serial: string): boolean {
    return this.#heard_ms.has(serial)
  }

  forget(serial: string): void {
    this.#heard_ms.delete(serial)
  }

  /** Seconds since it said something; if it has said nothing since the fleet connected: since then. */
  silence(serial: string): { readonly length_s: number; readonly isHeard: boolean } {
    const heard_ms = this.#heard_ms.get(serial) ?? Number.NEGATIVE_INFINITY
    const isHeard = heard_ms >= this.#connected_ms
    const since_ms = isHeard ? heard_ms : this.#connected_ms
    return { length_s: (this.#ctx.clock.monotonic() - since_ms) / 1_000, isHeard }
  }

  isSilent({ serial, online }: FleetStation): boolean {
    if (online !== 'online') return false
    const { length_s, isHeard } = this.silence(serial)
    return length_s >= (isHeard ? silent_s : confirmed_s)
  }
}
