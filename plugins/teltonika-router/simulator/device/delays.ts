import type { SimulatorClock } from '../options.js'

/** Everything that the router waits for. It ends with the power. */
export class Delays {
  readonly #clock: SimulatorClock
  readonly #pending = new Set<() => unknown>()

  constructor(clock: SimulatorClock) {
    this.#clock = clock
  }

  /** @returns what cancels it */
  after(ms: number, fn: () => void): () => void {
    const cancelTimer = this.#clock.after(ms, () => {
      this.#pending.delete(cancel)
      fn()
    })
    const cancel = () => {
      this.#pending.delete(cancel)
      void cancelTimer()
    }
    this.#pending.add(cancel)
    return cancel
  }

  /** Does not resolve when the power goes meanwhile. */
  async wait(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => void this.after(ms, resolve))
  }

  clear(): void {
    for (const cancel of [...this.#pending]) cancel()
  }
}
