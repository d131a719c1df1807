/** The routes that answer now, and the change from one set of them to the next. */
import type { Logger } from 'pino'
import type { Dispose } from '../../../schemas/event.js'
import type { HttpRoute } from '../../../schemas/services.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { App } from './app.js'

/** How long an old app may finish its answers. */
export const drain_ms = 30_000

export class Apps {
  readonly #log: Logger
  readonly #clock: Clock
  #live: App | undefined
  /** Built last, and not committed: its plugins could not start. */
  #staged: App | undefined
  /** Old apps with answers under way → cancels the end of their time. */
  readonly #draining = new Map<App, Dispose>()

  constructor(log: Logger, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  /** Answers new requests; undefined while the service starts. */
  get live(): App | undefined {
    return this.#live
  }

  /** Routes that answer now. */
  get routes(): readonly HttpRoute[] {
    return this.#live?.routes ?? []
  }

  async stage(staged: App): Promise<App> {
    await this.#dropStaged()
    this.#staged = staged
    return staged
  }

  /** `next` answers new requests. The old app answers its own to the end, then closes. */
  commit(next: App): void {
    if (this.#staged === next) this.#staged = undefined
    const old = this.#live
    this.#live = next
    if (old === undefined || old === next) return
    this.#draining.set(
      old,
      this.#clock.timer(drain_ms, () => void this.#retire(old)),
    )
    void old.idle().then(() => this.#retire(old))
  }

  async #retire(old: App): Promise<void> {
    void this.#draining.get(old)?.()
    if (!this.#draining.delete(old)) return
    await this.#end(old)
  }

  /** Code of plugins in it may hold resources that only its end gives back. */
  async #dropStaged(): Promise<void> {
    const dropped = this.#staged
    this.#staged = undefined
    await this.#end(dropped)
  }

  /** All that have to end. */
  get #all(): App[] {
    return [...this.#draining.keys(), ...(this.#live ? [this.#live] : [])]
  }

  /** Resolves when no answer is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#all.map((app) => app.idle()))
  }

  async close(): Promise<void> {
    const apps = this.#all
    await this.#dropStaged()
    for (const app of apps) {
      void this.#draining.get(app)?.()
      this.#draining.delete(app)
      await this.#end(app)
    }
  }

  /** Code of plugins in it runs once more. */
  async #end(app: App | undefined): Promise<void> {
    await app?.close().catch((error) => this.#log.warn({ err: error }, 'an onClose hook of a route failed'))
  }
}
