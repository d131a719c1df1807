import type { Logger } from 'pino'
import type { Dispose } from '../../../schemas/event.js'
import { messageOf } from '../../errors.js'
import { attempt } from '../../platform/guard/guard.js'
import type { Owner } from '../../platform/guard/owner.js'

const disposeLimit_ms = 5_000

/**
 * The owned effects of one plugin instance. Each effect is labelled and knows its undo; `close` undoes them
 * last-in-first-out, one after the other, and attempts every one. An effect that comes after `close` began is undone at
 * once, so nothing can outlive its owner.
 */
export class Scope {
  readonly #owner: Owner & { readonly log: Logger }
  readonly #effects = new Set<{ label: string; dispose: Dispose }>()
  readonly #abort = new AbortController()
  #closing: Promise<void> | undefined

  constructor(owner: Owner & { readonly log: Logger }) {
    this.#owner = owner
  }

  /** Aborts first thing when the scope closes. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** How much is owned right now. */
  get size(): number {
    return this.#effects.size
  }

  /** Owns an undo. The returned function undoes this effect alone, once. */
  own(label: string, dispose: Dispose): Dispose {
    const effect = { label, dispose }
    if (this.#closing) {
      this.#owner.log.warn({ effect: label }, 'registered after the plugin was stopped: undone at once')
      void this.#dispose(effect)
      return () => {}
    }
    this.#effects.add(effect)
    return () => {
      if (this.#effects.delete(effect)) return effect.dispose()
    }
  }

  /** Aborts `signal`; resources are kept until `close`. */
  abort(): void {
    this.#abort.abort()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#abort.abort()
    for (const effect of [...this.#effects].reverse()) {
      this.#effects.delete(effect)
      await this.#dispose(effect)
    }
  }

  async #dispose({ label, dispose }: { label: string; dispose: Dispose }): Promise<void> {
    try {
      await attempt<unknown>(this.#owner, `undo of ${label}`, dispose, disposeLimit_ms)
    } catch (error) {
      this.#owner.log.error(
        { err: error, effect: label },
        `could not undo ${label}: ${messageOf(error)}; the rest is undone`,
      )
    }
  }
}
