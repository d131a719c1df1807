import { RtkError } from 'rtk-base/plugin'
import { routerErrors } from 'rtk-base/services'

/** More calls than this do not wait: a router that is that slow does not get better by more of them. */
const mostWaiting = 32

interface Turn {
  readonly label: string
  start(): void
  readonly leave: () => void
}

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
  readonly #waiting: Turn[] = []
  #current = ''

  constructor(after: (ms: number, fn: () => void) => () => unknown) {
    this.#after = after
  }

  /** The running call; `''` if none. */
  get current(): string {
    return this.#current
  }

  /** Calls that run or wait. */
  get length(): number {
    return this.#waiting.length + (this.#current === '' ? 0 : 1)
  }

  /**
   * Runs `work` when it is its turn.
   * @throws RTK_ERR_ABORTED, RTK_ERR_UNAVAILABLE if too many wait, RTK_ERR_ROUTER_TIMEOUT after the time limit; errors of `work`
   */
  async enter<T>(label: string, work: () => Promise<T>, options: TurnOptions = {}): Promise<T> {
    if (options.signal?.aborted) throw aborted(label)
    if (this.#waiting.length >= mostWaiting && !options.first) {
      const text = `${label}: ${mostWaiting} calls wait for the router already (${this.#current} is running): try again later`
      throw new RtkError('RTK_ERR_UNAVAILABLE', text)
    }
    if (this.#current !== '') await this.#turn(label, options)
    this.#current = label
    try {
      return await work()
    } finally {
      this.#current = ''
      this.#next()
    }
  }

  #turn(label: string, { signal, patience_ms, first }: TurnOptions): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      let cancel: () => unknown = () => {}
      const giveUp = (error: RtkError) => {
        const at = this.#waiting.indexOf(turn)
        if (at < 0) return
        this.#waiting.splice(at, 1)
        turn.leave()
        reject(error)
      }
      const onAbort = () => giveUp(aborted(label))
      const turn: Turn = {
        label,
        start: () => {
          turn.leave()
          // Reserved for the next in line: no other call may overtake it.
          this.#current = label
          resolve()
        },
        leave: () => {
          void cancel()
          signal?.removeEventListener('abort', onAbort)
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      if (patience_ms !== undefined) {
        cancel = this.#after(patience_ms, () => {
          const text = `${label}: the router is busy with ${this.#current || 'another call'}: try again later`
          giveUp(new RtkError(routerErrors.RTK_ERR_ROUTER_TIMEOUT, text))
        })
      }
      if (first) this.#waiting.unshift(turn)
      else this.#waiting.push(turn)
    })
  }

  #next(): void {
    this.#waiting.shift()?.start()
  }
}

const aborted = (label: string) =>
  new RtkError('RTK_ERR_ABORTED', `${label}: cancelled, because the caller no longer waits`)
