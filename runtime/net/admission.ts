import type { Clock } from '../ports/clock.js'

/** One line about refused connections in this time. */
const line_ms = 60_000

/** `::ffff:192.0.2.1` is an IPv4 client of a socket that takes both. */
export function plainAddress(address: string | undefined): string {
  return address?.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : (address ?? '')
}

/** Counts connections, in all and by address, and refuses what is too much. */
export class Admission {
  readonly #clock: Clock
  readonly #tell: (refused: number, why: string) => void
  readonly #byAddress = new Map<string, number>()
  #open = 0
  #refused = 0
  #told = 0
  #told_ms = Number.NEGATIVE_INFINITY

  /** @param tell called at most once a minute, with how many were refused since */
  constructor(clock: Clock, tell: (refused: number, why: string) => void) {
    this.#clock = clock
    this.#tell = tell
  }

  get open(): number {
    return this.#open
  }

  get refused(): number {
    return this.#refused
  }

  /** @returns undefined: refused; else a function to call once when the connection is gone */
  enter(address: string, limits: { maxConnections: number; maxPerAddress: number }): (() => void) | undefined {
    const ofAddress = this.#byAddress.get(address) ?? 0
    if (this.#open >= limits.maxConnections) return this.#refuse(`${limits.maxConnections} are open`)
    if (ofAddress >= limits.maxPerAddress) return this.#refuse(`${address} has ${ofAddress}`)
    this.#open++
    this.#byAddress.set(address, ofAddress + 1)
    return () => {
      this.#open--
      const left = (this.#byAddress.get(address) ?? 1) - 1
      if (left > 0) this.#byAddress.set(address, left)
      else this.#byAddress.delete(address)
    }
  }

  #refuse(why: string): undefined {
    this.#refused++
    const now_ms = this.#clock.monotonic()
    if (now_ms - this.#told_ms < line_ms) return
    this.#tell(this.#refused - this.#told, why)
    this.#told = this.#refused
    this.#told_ms = now_ms
  }
}
