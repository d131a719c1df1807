import { networkInterfaces } from 'node:os'
import type { Dispose } from '../../../schemas/event.js'
import type { Prefixes } from '../../platform/address/address.js'
import type { Clock } from '../../platform/ports/clock.js'
import { isLocalPeer, ownPrefixes } from './access.js'
import { CaptivePortal } from './captive-portal.js'

/** How long the prefixes of own interfaces are believed: asking for them costs a system call each. */
const prefixAge_ms = 10_000

/** The current local network of this machine. */
export class LocalNetwork {
  readonly portal = new CaptivePortal()
  readonly #clock: Clock
  #own: { list: Prefixes; at_ms: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The prefixes of own interfaces. */
  prefixes(): Prefixes {
    const now = this.#clock.monotonic()
    if (this.#own === undefined || now - this.#own.at_ms > prefixAge_ms)
      this.#own = { list: ownPrefixes(networkInterfaces()), at_ms: now }
    return this.#own.list
  }

  isLocal(address: string): boolean {
    return isLocalPeer(address, this.prefixes())
  }

  isNeighbour(address: string): boolean {
    return this.prefixes().has(address)
  }

  redirectProbes(addresses: () => readonly string[]): Dispose {
    return this.portal.add(addresses)
  }
}
