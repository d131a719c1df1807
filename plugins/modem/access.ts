import { Mutex } from 'async-mutex'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type CellularModem, cellularModem, cellularRouter } from 'rtk-base/services'

/** The router answered: it is there, whatever it said. */
const answers = ['RTK_ERR_ROUTER_REFUSED', 'RTK_ERR_ROUTER_UNSUPPORTED', 'RTK_ERR_ROUTER_ANSWER']
/** Calls in a row that fail before the modem counts as away. */
const mostFailures = 2

/**
 * The way to the modem. One piece of work uses it at a time, every call has a time limit, and what is under way ends when the
 * router's plugin goes.
 */
export class Access {
  readonly #ctx: PluginContext
  readonly #turns = new Mutex()
  #modem: CellularModem | undefined
  #gone = new AbortController()
  /** Calls that failed since one succeeded. */
  #failures = 0

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** @param came the modem may answer now. From `start` on */
  follow(came: () => void): void {
    const { services } = this.#ctx
    services.watch(cellularModem, (modem) => {
      this.#modem = modem
      this.#failures = 0
      this.#gone = new AbortController()
      if (modem) came()
      return () => {
        this.#modem = undefined
        this.#gone.abort(new RtkError('RTK_ERR_ABORTED', 'the plugin of the router was stopped or reloaded'))
      }
    })
    services.watch(cellularRouter, (router) => router && this.#ctx.on(router.onState, () => router.state === 'online' && came()))
  }

  /** Why the modem cannot be reached; empty while it can. */
  get absence(): string {
    if (!this.#modem) return 'no plugin of a cellular router runs'
    const router = this.#ctx.services.find(cellularRouter)
    if (router && router.state !== 'online') return `the router is ${router.state}`
    return this.offline ? 'the router does not answer' : ''
  }

  /** The last calls failed. */
  get offline(): boolean {
    return this.#failures >= mostFailures
  }

  get hasModem(): boolean {
    return this.#modem !== undefined
  }

  /** Work is under way. */
  get busy(): boolean {
    return this.#turns.isLocked()
  }

  /** Runs `work` when the work before it is done. */
  turn(work: () => Promise<void>): Promise<void> {
    return this.#turns.runExclusive(work)
  }

  /** @throws what the modem rejects with; RTK_ERR_UNAVAILABLE without a modem or after `limit_ms`; RTK_ERR_ABORTED */
  async call<T>(limit_ms: number, ask: (modem: CellularModem, signal: AbortSignal) => Promise<T>): Promise<T> {
    const modem = this.#modem
    if (!modem) throw new RtkError('RTK_ERR_UNAVAILABLE', this.absence)
    const limit = new AbortController()
    const cancel = this.#ctx.timers.after(limit_ms, () =>
      limit.abort(new RtkError('RTK_ERR_UNAVAILABLE', `no answer of the modem in ${limit_ms / 1000} s`)),
    )
    const signal = AbortSignal.any([limit.signal, this.#gone.signal, this.#ctx.signal])
    try {
      // A call that does not hear the signal is left behind.
      const value = await Promise.race([ask(modem, signal), aborted(signal)])
      this.#failures = 0
      return value
    } catch (error) {
      this.#failures = isAnswer(error) ? 0 : this.#failures + 1
      throw error
    } finally {
      void cancel()
    }
  }
}

const isAnswer = (error: unknown) => answers.includes(String((error as { code?: unknown } | undefined)?.code))

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => {
      const { reason } = signal
      reject(
        reason instanceof RtkError ? reason : new RtkError('RTK_ERR_ABORTED', 'the plugin modem was stopped or reloaded'),
      )
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}

/** Code and message of whatever was thrown, in one line. */
export function reasonOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const text = typeof message === 'string' ? message : String(error)
  return typeof code === 'string' ? `${code}: ${text}` : text
}
