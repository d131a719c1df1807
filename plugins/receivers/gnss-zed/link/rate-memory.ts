import type { PluginContext } from 'rtk-base/plugin'

const key = 'baud'

/** The line rate that worked, so that the next start of the service need not search for it. */
export class RateMemory {
  readonly #ctx: PluginContext
  #kept: number | undefined

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  async load(): Promise<number | undefined> {
    const stored = await this.#ctx.store.get(key).catch(() => undefined)
    if (typeof stored === 'number') this.#kept = stored
    return this.#kept
  }

  /** @param baud 0 where the line has none */
  keep(baud: number): void {
    if (baud === 0 || baud === this.#kept) return
    this.#kept = baud
    this.#ctx.store
      .set(key, baud)
      .catch((error: unknown) => this.#ctx.log.warn({ err: error }, 'the rate is not remembered; it is found again'))
  }
}
