import { networkOf } from '../../platform/address/address.js'
import type { Clock } from '../../platform/ports/clock.js'

const window_ms = 60_000
const mostTries = 5
const mostPeers = 1_024

/** Wrong passwords, tokens and session cookies by peer: after five within a minute a peer waits for the rest of the minute. */
export class WrongTries {
  readonly #clock: Clock
  /** Ordered by the start of each peer's minute, oldest first. */
  readonly #peers = new Map<string, { count: number; until_ms: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isBlocked(peer: string): boolean {
    return (this.#of(peer)?.count ?? 0) >= mostTries
  }

  add(peer: string): void {
    const tries = this.#of(peer)
    if (tries !== undefined) {
      tries.count += 1
      return
    }
    // A stranger chooses the addresses: the oldest entry makes room.
    const [oldest] = this.#peers.keys()
    if (this.#peers.size >= mostPeers && oldest !== undefined) this.#peers.delete(oldest)
    this.#peers.set(networkOf(peer), { count: 1, until_ms: this.#clock.monotonic() + window_ms })
  }

  /** Those of its minute. */
  #of(peer: string): { count: number } | undefined {
    const network = networkOf(peer)
    const tries = this.#peers.get(network)
    if (tries === undefined || this.#clock.monotonic() < tries.until_ms) return tries
    this.#peers.delete(network)
    return undefined
  }
}
