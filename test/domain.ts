/**
 * Which test an uncaught error belongs to: in place of `async-hook-domain`, on which tap is built, when tap is bundled for the tests. That one
 * follows every promise and timer of a test from its start to its end, which took a fifth of the processor time of the suite.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

type OnError = (error: unknown, type: string) => void

const domains = new AsyncLocalStorage<Domain>()

export class Domain {
  readonly onerror: OnError
  readonly #parent: Domain | undefined
  #destroyed = false

  /** What the caller starts from here on is in it. */
  constructor(onerror: OnError) {
    this.onerror = onerror
    this.#parent = domains.getStore()?.living
    domains.enterWith(this)
  }

  destroy(): void {
    this.#destroyed = true
  }

  /** The nearest that is not destroyed. */
  get living(): Domain | undefined {
    return this.#destroyed ? this.#parent?.living : this
  }
}

/** @returns whether the error was given to a test; other listeners come first */
function handle(error: unknown, type: string): boolean {
  if (process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0) return false
  const domain = domains.getStore()?.living
  domain?.onerror(error, type)
  return domain !== undefined
}

process.on('uncaughtExceptionMonitor', (error, origin) => {
  if (!handle(error, origin)) return
  // It was handled: once, the process lives on.
  process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
})

const emit = process.emit.bind(process) as (event: string, ...args: unknown[]) => boolean
Object.assign(process, {
  emit: (event: string, ...args: unknown[]) =>
    event === 'unhandledRejection' && process.listenerCount(event) === 0
      ? handle(args[0], event)
      : emit(event, ...args),
})
