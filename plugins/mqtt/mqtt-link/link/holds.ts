import type { PluginContext } from 'rtk-base/plugin'

/** An unreleased hold ends after this time: it must not keep the station offline permanently. */
const longest_ms = 600_000

/** The holds that keep the station disconnected on purpose, with their reasons. */
export class Holds {
  readonly #ctx: PluginContext
  readonly #held = new Set<{ reason: string }>()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** The reason of the oldest hold; undefined while there is none. */
  get reason(): string | undefined {
    const [first] = this.#held
    return first?.reason
  }

  /** Returns the function that releases the hold. @param free called when the last hold was released */
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
