import { BlockList, isIPv6 } from 'node:net'
import type { Clock } from '../ports/clock.js'

/** One line about refused connections in this time. */
const line_ms = 60_000

/** `::ffff:192.0.2.1` is an IPv4 client of a socket that takes both. */
export function plainAddress(address: string | undefined): string {
  return address?.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : (address ?? '')
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

export interface AdmissionLimits {
  readonly maxConnections: number
  readonly maxPerAddress: number
  /** Places of `maxConnections` that only programs on this machine get; they have no limit per address then: a proxy speaks for many. */
  readonly keptForLoopback?: number
}

/** An address of this machine that no other can have. */
export const isLoopbackAddress = (address: string) => loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

/** Counts connections, in all and by address, and refuses what is too much. Every listener of the station has one. */
export class Admission {
  readonly #clock: Clock
  readonly #tell: (refused: number, why: string) => void
  readonly #byAddress = new Map<string, number>()
  #open = 0
  #refused = 0
  #told = 0
  #told_ms = Number.NEGATIVE_INFINITY

  readonly #isLoopback: (address: string) => boolean

  /**
   * @param tell called at most once a minute, with how many were refused since
   * @param isLoopback left out: by the address
   */
  constructor(clock: Clock, tell: (refused: number, why: string) => void, isLoopback = isLoopbackAddress) {
    this.#clock = clock
    this.#tell = tell
    this.#isLoopback = isLoopback
  }

  get open(): number {
    return this.#open
  }

  get refused(): number {
    return this.#refused
  }

  /** @returns undefined: refused; else a function to call once when the connection is gone */
  enter(
    address: string,
    { maxConnections, maxPerAddress, keptForLoopback = 0 }: AdmissionLimits,
  ): (() => void) | undefined {
    const ofAddress = this.#byAddress.get(address) ?? 0
    const isKeptFor = keptForLoopback > 0 && this.#isLoopback(address)
    const places = isKeptFor ? maxConnections : maxConnections - keptForLoopback
    if (this.#open >= places) return this.#refuse(`${this.#open} are open`)
    if (ofAddress >= maxPerAddress && !isKeptFor) return this.#refuse(`${address} has ${ofAddress}`)
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
