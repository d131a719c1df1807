import type { PluginContext } from 'rtk-base/plugin'

/** Between attempts to count a start on a full disk. */
const retry_ms = 30_000

/** The counter of starts and the production flag. In the protected store, so that a factory reset keeps them. */
export class BootRecord {
  readonly #ctx: PluginContext
  #bootcnt = 0
  #productionflag = 0

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  get fields(): { productionflag: number; bootcnt: number } {
    return { productionflag: this.#productionflag, bootcnt: this.#bootcnt }
  }

  /** @param counted this start was counted already: the plugin was only reloaded. */
  async load(counted: boolean): Promise<void> {
    const { protected: store } = this.#ctx.store
    this.#productionflag = numberOf(await store.get('productionflag'))
    this.#bootcnt = numberOf(await store.get('bootcnt'))
    if (counted) return
    this.#bootcnt += 1
    await this.#count()
  }

  async #count(): Promise<void> {
    const { errors, store, timers } = this.#ctx
    try {
      await store.protected.set('bootcnt', this.#bootcnt)
      errors.while('store', false)
    } catch (error) {
      errors.while('store', { reason: (error as Error).message })
      timers.after(retry_ms, () => this.#count())
    }
  }

  /** @throws RTK_ERR_STORE_WRITE */
  async setProductionFlag(value: number): Promise<void> {
    await this.#ctx.store.protected.set('productionflag', value)
    this.#productionflag = value
  }
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}
