import type { PluginContext } from 'rtk-base/plugin'

/** Who holds the link and forgets it does not keep the station away for good. */
const longest_ms = 600_000

/** Who keeps the station away from its broker on purpose, and why. */
export class Holds {
  readonly #ctx: PluginContext
  readonly #held = new Set<{ reason: string }>()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** Of the first one that still holds; undefined while nobody does. */
  get reason(): string | undefined {
    const [first] = this.#held
    return first?.reason
  }

  /** Returns what lets go. @param free the last one let go */
  add(reason: string, free: () => void): () => void {
    const one = { reason }
    this.#held.add(one)
    const release = () => {
      void cancel()
      if (this.#held.delete(one) && this.#held.size === 0) free()
    }
    const cancel = this.#ctx.timers.after(longest_ms, release)
    return release
  }
}
