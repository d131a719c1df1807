import type { PluginContext } from 'rtk-base/plugin'

/** A message that did not come for so long is not offered any more. */
const shown_ms = 60_000
const window_ms = 120_000

/** Measured contents of a mount point: messages with their intervals, bits per second. */
export class Contents {
  readonly #clock: PluginContext['clock']
  /** By message number: monotonic ms of the last one, seconds between the last two. */
  readonly #seen = new Map<number, { last_ms: number; interval_s: number }>()
  #bytes = 0
  #since_ms: number

  constructor(clock: PluginContext['clock']) {
    this.#clock = clock
    this.#since_ms = clock.monotonic()
  }

  count(type: number, bytes: number): void {
    const now_ms = this.#clock.monotonic()
    const before = this.#seen.get(type)
    this.#seen.set(type, { last_ms: now_ms, interval_s: before ? (now_ms - before.last_ms) / 1000 : 0 })
    this.#bytes += bytes
    if (now_ms - this.#since_ms > window_ms) {
      this.#bytes /= 2
      this.#since_ms += (now_ms - this.#since_ms) / 2
    }
  }

  clear(): void {
    this.#seen.clear()
    this.#bytes = 0
    this.#since_ms = this.#clock.monotonic()
  }

  /** Of the last minute, by message number. */
  get messages(): { type: number; interval_s: number }[] {
    const now_ms = this.#clock.monotonic()
    return [...this.#seen]
      .filter(([, { last_ms }]) => now_ms - last_ms < shown_ms)
      .map(([type, { interval_s }]) => ({ type, interval_s: Math.max(1, Math.round(interval_s)) }))
      .sort((one, other) => one.type - other.type)
  }

  /** Bits a second, of the last minute or two. */
  get bitrate(): number {
    return (this.#bytes * 8_000) / Math.max(1_000, this.#clock.monotonic() - this.#since_ms)
  }
}
