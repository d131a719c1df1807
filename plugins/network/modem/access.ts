import { Mutex } from 'async-mutex'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type CellularModem, cellularModem, cellularRouter } from 'rtk-base/services'

/** Errors that prove that the router answered. */
const answers = ['RTK_ERR_ROUTER_REFUSED', 'RTK_ERR_ROUTER_UNSUPPORTED', 'RTK_ERR_ROUTER_ANSWER']
/** Calls in a row that fail before the modem counts as away. */
const mostFailures = 2

/**
 * Access to the modem. One task uses it at a time, every call has a time limit, and running calls end when the
 * router's plugin stops.
 */
export class Access {
  readonly #ctx: PluginContext
  readonly #turns = new Mutex()
  #modem: CellularModem | undefined
  /** Ends a call that is under way. */
  readonly #calls = new Set<(reason: RtkError) => void>()
  /** Calls that failed since one succeeded. */
  #failures = 0

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  /** @param came the modem may answer now. From `start` on */
  follow(came: () => void): void {
    const { services, signal } = this.#ctx
    const stopped = new RtkError('RTK_ERR_ABORTED', 'the plugin modem was stopped or reloaded')
    signal.addEventListener('abort', () => this.#endCalls(stopped), { once: true })
    services.watch(cellularModem, (modem) => {
      this.#modem = modem
      this.#failures = 0
      if (modem) came()
      return () => {
        this.#modem = undefined
        this.#endCalls(new RtkError('RTK_ERR_ABORTED', 'the plugin of the router was stopped or reloaded'))
      }
    })
    services.watch(
      cellularRouter,
      (router) => router && this.#ctx.on(router.onState, () => router.state === 'online' && came()),
    )
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

  /** @throws the modem's rejection, RTK_ERR_ABORTED, or RTK_ERR_UNAVAILABLE without a modem or after `limit_ms` */
  async call<T>(limit_ms: number, ask: (modem: CellularModem, signal: AbortSignal) => Promise<T>): Promise<T> {
    const modem = this.#modem
    if (!modem) throw new RtkError('RTK_ERR_UNAVAILABLE', this.absence)
    const ended = new AbortController()
    let end: (reason: RtkError) => void = () => {}
    // A call that does not hear the signal is left behind.
    const cut = new Promise<never>((_resolve, reject) => {
      end = (reason) => {
        ended.abort(reason)
        reject(reason)
      }
    })
    this.#calls.add(end)
    const cancel = this.#ctx.timers.after(limit_ms, () =>
      end(new RtkError('RTK_ERR_UNAVAILABLE', `no answer of the modem in ${limit_ms / 1000} s`)),
    )
    try {
      const value = await Promise.race([ask(modem, ended.signal), cut])
      this.#failures = 0
      return value
    } catch (error) {
      this.#failures = isAnswer(error) ? 0 : this.#failures + 1
      throw error
    } finally {
      void cancel()
      this.#calls.delete(end)
    }
  }

  #endCalls(reason: RtkError): void {
    for (const end of this.#calls) end(reason)
  }
}

const isAnswer = (error: unknown) => answers.includes(String((error as { code?: unknown } | undefined)?.code))

/** Code and message of an error, in one line. */
export function reasonOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const text = typeof message === 'string' ? message : String(error)
  return typeof code === 'string' ? `${code}: ${text}` : text
}
