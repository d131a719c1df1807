import type { PluginContext } from 'rtk-base/plugin'

/** What the driver or a daemon does not do, one error a setting. */
export class Trouble {
  readonly #ctx: Pick<PluginContext, 'errors' | 'log' | 'signal'>
  readonly #shown = new Map<string, string>()

  constructor(ctx: Pick<PluginContext, 'errors' | 'log' | 'signal'>) {
    this.#ctx = ctx
  }

  /** Runs `work`; when it fails the error says `what` and the reason, and is gone after it succeeds. @returns whether it did */
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
