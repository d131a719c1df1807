import { Mutex } from 'async-mutex'
import { RtkError } from 'rtk-base/plugin'
import { routerErrors } from 'rtk-base/services'

/** More calls than this do not wait: a router that is that slow does not get better by more of them. */
const mostWaiting = 32

export interface TurnOptions {
  signal?: AbortSignal
  /** How long to wait for the turn; for ever when left out. */
  patience_ms?: number
  /** Before everybody who waits, also where no more may wait. */
  first?: boolean
}

/** One call at a time: a router's web server has few workers, and its modem one port. */
export class RouterQueue {
  readonly #after: (ms: number, fn: () => void) => () => unknown
  readonly #turns = new Mutex()
  /** The running call; `''` if none. */
  #current = ''
  #length = 0

  constructor(after: (ms: number, fn: () => void) => () => unknown) {
    this.#after = after
  }

  /** Calls that run or wait. */
  get length(): number {
    return this.#length
  }

  /**
   * Waits for the turn. A call that no longer waits passes its turn on when it comes.
   * @returns to be called when the call is over
   * @throws RTK_ERR_ABORTED, RTK_ERR_UNAVAILABLE if too many wait, RTK_ERR_ROUTER_TIMEOUT after `patience_ms`
   */
  async acquire(label: string, { signal, patience_ms, first }: TurnOptions = {}): Promise<() => void> {
    if (signal?.aborted) throw aborted(label)
    if (this.#length > mostWaiting && !first) {
      const text = `${label}: ${mostWaiting} calls wait for the router already (${this.#current} is running): try again later`
      throw new RtkError('RTK_ERR_UNAVAILABLE', text)
    }
    this.#length++
    const turn = this.#turns.acquire(first ? 1 : 0)
    let giveUp: (error: RtkError) => void = () => {}
    const gaveUp = new Promise<never>((_resolve, reject) => {
      giveUp = reject
    })
    const onAbort = () => giveUp(aborted(label))
    const onTimeout = () => {
      const text = `${label}: the router is busy with ${this.#current || 'another call'}: try again later`
      giveUp(new RtkError(routerErrors.RTK_ERR_ROUTER_TIMEOUT, text))
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    const cancel = patience_ms === undefined ? undefined : this.#after(patience_ms, onTimeout)
    try {
      const release = await Promise.race([turn, gaveUp])
      this.#current = label
      return () => {
        this.#current = ''
        this.#length--
        release()
      }
    } catch (error) {
      this.#length--
      void turn.then((release) => release())
      throw error
    } finally {
      void cancel?.()
      signal?.removeEventListener('abort', onAbort)
    }
  }
}

const aborted = (label: string) =>
  new RtkError('RTK_ERR_ABORTED', `${label}: cancelled, because the caller no longer waits`)
