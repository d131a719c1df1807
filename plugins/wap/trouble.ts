import type { PluginContext } from 'rtk-base/plugin'

/** Errors of settings that the driver or a daemon did not apply, one per setting. */
export class Trouble {
  readonly #ctx: Pick<PluginContext, 'errors' | 'log' | 'signal'>
  readonly #shown = new Map<string, string>()

  constructor(ctx: Pick<PluginContext, 'errors' | 'log' | 'signal'>) {
    this.#ctx = ctx
  }

  /** Runs `work`. On failure it raises an error with `what` and the reason, on success it clears the error. @returns whether it did */
  async during(code: string, what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      this.clear(code)
      return true
    } catch (error) {
      if (!this.#ctx.signal.aborted) this.raise(code, `${what}: ${(error as Error).message}`)
      return false
    }
  }

  raise(code: string, text: string, advice = ''): void {
    if (this.#shown.get(code) === text) return
    this.#shown.set(code, text)
    this.#ctx.errors.raise(code, { text, advice })
  }

  has(code: string): boolean {
    return this.#shown.has(code)
  }

  clear(code: string): void {
    if (!this.#shown.delete(code)) return
    this.#ctx.errors.clear(code)
  }
}
