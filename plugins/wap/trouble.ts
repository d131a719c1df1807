import type { Trouble as ErrorText, PluginContext } from 'rtk-base/plugin'
import type { ErrorValues } from 'rtk-base/services'

/** Errors of settings that the driver or a daemon did not apply, one per setting. */
export class Trouble {
  readonly #ctx: Pick<PluginContext, 'errors' | 'log' | 'signal'>
  readonly #shown = new Map<string, string>()

  constructor(ctx: Pick<PluginContext, 'errors' | 'log' | 'signal'>) {
    this.#ctx = ctx
  }

  /** Runs `work`. On failure it raises an error with `what` and the reason, on success it clears the error. @returns whether it did */
  async during(code: string, what: string, work: () => Promise<void>, values: ErrorValues = {}): Promise<boolean> {
    try {
      await work()
      this.clear(code)
      return true
    } catch (error) {
      const reason = (error as Error).message
      if (!this.#ctx.signal.aborted) this.raise(code, { text: `${what}: ${reason}`, values: { ...values, reason } })
      return false
    }
  }

  raise(code: string, trouble: ErrorText): void {
    if (this.#shown.get(code) === trouble.text) return
    this.#shown.set(code, trouble.text)
    this.#ctx.errors.raise(code, trouble)
  }

  has(code: string): boolean {
    return this.#shown.has(code)
  }

  clear(code: string): void {
    if (!this.#shown.delete(code)) return
    this.#ctx.errors.clear(code)
  }
}
