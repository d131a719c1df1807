/**
 * Work that is done one piece at a time: the next piece is that of the network that used the least time lately. However
 * much costly work strangers ask for, a client that asks seldom waits for at most one piece of each.
 */
import { FairShare } from './fair-share.js'

/** Half-life of the time charged to a network. */
const halfLife_ms = 1_000
/** Initial time charged to a new network: a stranger with many is not served before a client that asks once a second. */
const newcomer_ms = 20

export interface QueueLimits {
  /** A turn that takes longer waits for something other than the processor: the next one begins. Default: never. */
  readonly longest_ms?: number
  /** Pieces of work that wait or have their turn, of one network and in all. Default: no limit. */
  readonly perNetwork?: number
  readonly inAll?: number
}

class Client {
  readonly waiting: (() => void)[] = []
  /** Pieces that wait or have their turn. */
  pieces = 0
  #used_ms = newcomer_ms
  #at_ms: number

  constructor(now_ms: number) {
    this.#at_ms = now_ms
  }

  /** Time that the client used, with older use weighing less. */
  used_ms(now_ms: number): number {
    return this.#used_ms * 0.5 ** ((now_ms - this.#at_ms) / halfLife_ms)
  }

  charge(ms: number, now_ms: number): void {
    this.#used_ms = this.used_ms(now_ms) + ms
    this.#at_ms = now_ms
  }
}

export class FairQueue {
  readonly #limits: QueueLimits
  readonly #now_ms: () => number
  readonly #clients: FairShare<Client>
  #pieces = 0
  #isTaken = false

  constructor(limits: QueueLimits, now_ms = () => performance.now()) {
    this.#limits = limits
    this.#now_ms = now_ms
    this.#clients = new FairShare({
      open: (at_ms) => new Client(at_ms),
      isIdle: (client, at_ms) => client.pieces === 0 && client.used_ms(at_ms) < 1,
      others: new Client(now_ms()),
    })
  }

  /** Pieces of work that wait or have their turn. */
  get pieces(): number {
    return this.#pieces
  }

  /**
   * Begins the work when it is its turn: at once where nobody waits.
   * @returns to be called when the work is over or no longer wanted; undefined: too much waits already
   */
  take(address: string, work: () => void): (() => void) | undefined {
    const client = this.#clients.of(address, this.#now_ms())
    const { perNetwork = Number.POSITIVE_INFINITY, inAll = Number.POSITIVE_INFINITY } = this.#limits
    if (client.pieces >= perNetwork || this.#pieces >= inAll) return undefined
    client.pieces++
    this.#pieces++
    let isOver = false
    let leave = (): void => void client.waiting.splice(client.waiting.indexOf(begin), 1)
    const begin = () => {
      leave = this.#beginTurn(client)
      work()
    }
    if (this.#isTaken) client.waiting.push(begin)
    else begin()
    return () => {
      if (isOver) return
      isOver = true
      client.pieces--
      this.#pieces--
      leave()
    }
  }

  /** @returns ends the turn, unless its time is over already */
  #beginTurn(client: Client): () => void {
    this.#isTaken = true
    const began_ms = this.#now_ms()
    const { longest_ms } = this.#limits
    let isOver = false
    const end = () => {
      if (isOver) return
      isOver = true
      clearTimeout(late)
      const now_ms = this.#now_ms()
      client.charge(now_ms - began_ms, now_ms)
      // Data that arrived meanwhile is handled too: RTCM first of all.
      setImmediate(() => this.#next())
    }
    const late = longest_ms === undefined ? undefined : setTimeout(end, longest_ms)
    return end
  }

  #next(): void {
    const now_ms = this.#now_ms()
    let [next, least_ms]: [Client | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
    for (const client of this.#clients) {
      const used_ms = client.used_ms(now_ms)
      if (client.waiting.length > 0 && used_ms < least_ms) [next, least_ms] = [client, used_ms]
    }
    const begin = next?.waiting.shift()
    if (begin) begin()
    else this.#isTaken = false
  }
}
