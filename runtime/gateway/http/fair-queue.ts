/**
 * Picks the next of several waiting requests: that of the address that used the least time lately. However many
 * strangers send costly requests, a client that asks seldom waits for at most one of them.
 */
import type { ServerResponse } from 'node:http'
import { networkOf } from '../../platform/address/address.js'

/** An answer that takes longer is waiting for something other than the processor: the next one begins. */
const longest_ms = 50
/** Half-life of the time charged to an address. */
const halfLife_ms = 1_000
/**
 * Initial time charged to a new address: a stranger with many addresses is not served before a client that asks once a
 * second.
 */
const newcomer_ms = 20
/** Addresses with a remembered history. */
const mostKept = 1_024

interface Waiting {
  readonly answer: ServerResponse
  readonly work: () => void
}

class Client {
  readonly waiting: Waiting[] = []
  #used_ms = newcomer_ms
  #at_ms: number

  constructor(now_ms: number) {
    this.#at_ms = now_ms
  }

  /** Its time used, with older use weighing less. */
  used_ms(now_ms: number): number {
    return this.#used_ms * 0.5 ** ((now_ms - this.#at_ms) / halfLife_ms)
  }

  charge(ms: number, now_ms: number): void {
    this.#used_ms = this.used_ms(now_ms) + ms
    this.#at_ms = now_ms
  }
}

/**
 * Waits for its turn or for the end of its connection: Node never emits `close` for an answer queued behind another
 * (pipelining).
 */
function wait(client: Client, one: Waiting): void {
  client.waiting.push(one)
  one.answer.once('close', () => {
    const at = client.waiting.indexOf(one)
    if (at >= 0) client.waiting.splice(at, 1)
  })
}

export class FairQueue {
  readonly #clients = new Map<string, Client>()
  readonly #now_ms: () => number
  #isTaken = false

  constructor(now_ms = () => performance.now()) {
    this.#now_ms = now_ms
  }

  /**
   * Does the work when it is its turn; the turn lasts until the answer is out, at most 50 ms. A client that has
   * disconnected loses it.
   */
  take(address: string, answer: ServerResponse, work: () => void): void {
    const network = networkOf(address)
    let client = this.#clients.get(network)
    if (client === undefined) {
      if (this.#clients.size >= mostKept) this.#forget()
      client = new Client(this.#now_ms())
      this.#clients.set(network, client)
    }
    if (this.#isTaken) wait(client, { answer, work })
    else this.#begin(client, { answer, work })
  }

  #begin(client: Client, { answer, work }: Waiting): void {
    this.#isTaken = true
    const began_ms = this.#now_ms()
    const end = () => {
      clearTimeout(late)
      answer.off('close', end)
      const now_ms = this.#now_ms()
      client.charge(now_ms - began_ms, now_ms)
      // Data that arrived meanwhile is handled too: RTCM first of all.
      setImmediate(() => this.#next())
    }
    const late = setTimeout(end, longest_ms)
    answer.once('close', end)
    work()
  }

  #next(): void {
    const now_ms = this.#now_ms()
    let [next, least_ms]: [Client | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
    for (const client of this.#clients.values()) {
      const used_ms = client.used_ms(now_ms)
      if (client.waiting.length > 0 && used_ms < least_ms) [next, least_ms] = [client, used_ms]
    }
    const waiting = next?.waiting.shift()
    if (next && waiting) this.#begin(next, waiting)
    else this.#isTaken = false
  }

  #forget(): void {
    const now_ms = this.#now_ms()
    for (const [address, client] of this.#clients)
      if (client.waiting.length === 0 && client.used_ms(now_ms) < 1) this.#clients.delete(address)
  }
}
