import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { logs } from 'rtk-base/services'
import type { LogFiles } from './files.js'
import type { LogRing } from './ring.js'
import { parsed } from './text.js'

/** Saves the ring periodically and at the end of the run. */
export class LogKeeper {
  readonly #ctx: PluginContext
  readonly #ring: LogRing
  readonly #files: LogFiles
  #saved = 0
  #cancel = () => {}
  readonly #onExit = () => this.tryToSave()

  constructor(ctx: PluginContext, ring: LogRing, files: LogFiles) {
    this.#ctx = ctx
    this.#ring = ring
    this.#files = files
  }

  /** @param lines of the previous instance */
  start(lines: string): void {
    for (const line of lines.split('\n').filter(Boolean)) this.#ring.add(parsed(line))
    this.#ctx.on(this.#ctx.services.use(logs).onLine, (line) => this.#ring.add(line))
    // Also if the process ends by an error: the last lines show it.
    process.on('exit', this.#onExit)
    this.#ctx.defer(() => void process.off('exit', this.#onExit))
  }

  every(period_s: number): void {
    this.#cancel()
    this.#cancel = () => {}
    if (period_s > 0) this.#cancel = this.#ctx.timers.every(period_s * 1000, () => this.tryToSave())
  }

  /** @throws RTK_ERR_STORE_WRITE */
  save(): void {
    try {
      this.#files.save(this.#ring.text())
      this.#saved = this.#ring.count
      this.#ctx.errors.while('log-not-saved', false)
    } catch (error) {
      const reason = (error as Error).message
      const entry = this.#ctx.errors.while('log-not-saved', { reason })
      throw new RtkError('RTK_ERR_STORE_WRITE', entry?.text ?? reason, { cause: error })
    }
  }

  /** Nothing new is nothing to write: flash wears. */
  tryToSave(): void {
    if (this.#ring.count === this.#saved) return
    try {
      this.save()
    } catch {}
  }

  stop(): [string, unknown][] {
    this.tryToSave()
    return [['lines', this.#ring.text()]]
  }
}
