import { networkOf } from 'rtk-base/link'

/** Wrong logins in a row from which answers are delayed, and from which they are refused for a while. */
const lateFrom = 5
const refusedFrom = 20
const late_ms = 2_000

/** Wrong logins by address: after some of them answers come late, then none are worth asking for. */
export class WrongLogins {
  readonly #failures = new Map<string, { count: number; until_ms: number }>()
  readonly #now_ms: () => number

  constructor(now_ms: () => number) {
    this.#now_ms = now_ms
  }

  /** Milliseconds that the next answer to this address waits; infinite: it is not even looked at. */
  delay_ms(address: string): number {
    const count = this.failures(address)
    if (count >= refusedFrom) return Number.POSITIVE_INFINITY
    return count >= lateFrom ? late_ms : 0
  }

  /** Wrong logins that still count against this address. */
  failures(address: string): number {
    const found = this.#failures.get(networkOf(address))
    return found && found.until_ms > this.#now_ms() ? found.count : 0
  }

  failed(address: string): void {
    const now_ms = this.#now_ms()
    const count = this.failures(address) + 1
    const network = networkOf(address)
    this.#failures.delete(network)
    this.#failures.set(network, { count, until_ms: now_ms + (count < refusedFrom ? 60_000 : 600_000) })
    // Drops the oldest address: flooding from many addresses gains nothing.
    if (this.#failures.size > 1_024) this.#failures.delete(this.#failures.keys().next().value as string)
  }

  succeeded(address: string): void {
    this.#failures.delete(networkOf(address))
  }
}
