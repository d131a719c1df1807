import type { Dispose, PluginContext } from 'rtk-base/plugin'
import { fleetBroker } from 'rtk-base/services'

/** Publications are counted over this time at least. */
const window_s = 30
const mostKept = 200

/** Seconds after which a station that publishes so often has been observed. */
export const observation_s = (rate_s: number): number => Math.max(window_s, 2.5 * rate_s)

/** Counts the RTCM publications of the stations that are being changed, at the broker: what a rover there would get. */
export class EpochWatch {
  readonly #ctx: PluginContext
  readonly #watched = new Map<string, { since_ms: number; times: number[]; stop: Dispose }>()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Observes exactly these from now on. */
  watch(serials: ReadonlySet<string>): void {
    for (const [serial, { stop }] of this.#watched) {
      if (serials.has(serial)) continue
      void stop()
      this.#watched.delete(serial)
    }
    const { clock, services } = this.#ctx
    for (const serial of serials) {
      if (this.#watched.has(serial)) continue
      const times: number[] = []
      const stop = services.use(fleetBroker).subscribe(`base/${serial}/drtk`, ({ retained, payload }) => {
        if (retained || payload.length < 10) return
        times.push(clock.monotonic())
        if (times.length > mostKept) times.shift()
      })
      this.#watched.set(serial, { since_ms: clock.monotonic(), times, stop })
    }
  }

  /** @param rate_s seconds between two publications of this station */
  count(serial: string, rate_s: number): number | undefined {
    const found = this.#watched.get(serial)
    const now_ms = this.#ctx.clock.monotonic()
    const length_ms = 1_000 * observation_s(rate_s)
    if (!found || now_ms - found.since_ms < length_ms) return undefined
    return found.times.filter((at_ms) => now_ms - at_ms <= length_ms).length
  }

  stop(): void {
    this.watch(new Set())
  }
}
