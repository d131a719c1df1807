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

/** A connection that was let in. */
interface Place {
  giveWay(): void
}

/**
 * Counts connections, in all and by address, and refuses excess ones. Every listener of the station has one. If all
 * places are taken, an address with few connections gets a place of the address with the most: a stranger with many
 * addresses cannot lock out others.
 */
export class Admission {
  readonly #clock: Clock
  readonly #tell: (refused: number, why: string) => void
  readonly #byAddress = new Map<string, Set<Place>>()
  #open = 0
  #refused = 0
  #told = 0
  #told_ms = Number.NEGATIVE_INFINITY

  readonly #isLoopback: (address: string) => boolean

  /**
   * @param tell called at most once a minute, with how many were refused since
   * @param isLoopback default: by the address
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

  /** Whether an address that is here already meets a limit. */
  isAtLimit(address: string, { maxConnections, maxPerAddress }: AdmissionLimits): boolean {
    const ofAddress = this.#byAddress.get(address)?.size ?? 0
    return ofAddress >= maxPerAddress || (ofAddress > 0 && this.#open >= maxConnections)
  }

  /**
   * @param giveWay ends the connection: another address gets its place. It is counted out already then
   * @returns undefined: refused; else a function to call when the connection has closed
   */
  enter(
    address: string,
    { maxConnections, maxPerAddress, keptForLoopback = 0 }: AdmissionLimits,
    giveWay: () => void,
  ): (() => void) | undefined {
    const ofAddress = this.#byAddress.get(address)?.size ?? 0
    const isKeptFor = keptForLoopback > 0 && this.#isLoopback(address)
    const places = isKeptFor ? maxConnections : maxConnections - keptForLoopback
    if (ofAddress >= maxPerAddress && !isKeptFor) return this.#refuse(`${address} has ${ofAddress}`)
    if (this.#open >= places && !this.#makeRoom(ofAddress, keptForLoopback > 0))
      return this.#refuse(`${this.#open} are open`)
    return this.#let(address, { giveWay })
  }

  #let(address: string, place: Place): () => void {
    const places = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, places.add(place))
    this.#open++
    return () => void this.#out(address, place)
  }

  #out(address: string, place: Place): void {
    const places = this.#byAddress.get(address)
    if (!places?.delete(place)) return
    this.#open--
    if (places.size === 0) this.#byAddress.delete(address)
  }

  /**
   * Closes the newest connection of the address with the most connections: a long-lived connection is more likely to be
   * useful.
   */
  #makeRoom(ofAddress: number, sparesLoopback: boolean): boolean {
    let most: [string, Set<Place>] | undefined
    for (const one of this.#byAddress) {
      if (sparesLoopback && this.#isLoopback(one[0])) continue
      if (one[1].size > (most?.[1].size ?? ofAddress + 1)) most = one
    }
    const place = most && [...most[1]].at(-1)
    if (!most || !place) return false
    this.#refuse(`${this.#open} are open, the address with most of them (${most[0]}) makes room for others`)
    this.#out(most[0], place)
    place.giveWay()
    return true
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
