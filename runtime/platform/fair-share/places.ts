import { isLoopbackAddress, networkOf } from '../address/address.js'
import type { Clock } from '../ports/clock.js'

/** One line about refused connections in this time. */
const line_ms = 60_000

export interface PlaceLimits {
  readonly maxConnections: number
  readonly maxPerAddress: number
  /** Places of `maxConnections` that only programs on this machine get; they have no limit per address then: a proxy speaks for many. */
  readonly keptForLoopback?: number
}

/** A connection that was let in. */
interface Place {
  readonly crowd: Crowd
  giveWay(): void
  isSilent(): boolean
}

/** The addresses of a network (`networkOf`), in the order in which they came, and how many connections they have together. */
interface NetworkCrowds {
  readonly name: string
  readonly crowds: Set<Crowd>
  size: number
}

/** The connections of an address, oldest first. */
interface Crowd {
  readonly address: string
  readonly network: NetworkCrowds
  readonly isLoopback: boolean
  readonly places: Set<Place>
}

/**
 * Strangers share places, e.g. of a listener's connections, which are limited in all and by address. If all places are taken,
 * an address of a network (`networkOf`) with few connections gets a place of the network with the most, and an address
 * with few connections gets one of the address with the most. If all have equally many, it gets the place of the oldest
 * connection that has not sent a request, unless it has such a connection itself. So a stranger with many addresses
 * cannot lock out others. What is used up instead of held: `fair-share.ts`.
 */
export class Places {
  readonly #clock: Clock
  readonly #tell: (refused: number, why: string) => void
  readonly #byAddress = new Map<string, Crowd>()
  readonly #byNetwork = new Map<string, NetworkCrowds>()
  /** Oldest first. Whoever has asked is taken out when it is met: it never becomes silent again. */
  readonly #silent = new Set<Place>()
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
  isAtLimit(address: string, { maxConnections, maxPerAddress }: PlaceLimits): boolean {
    const ofAddress = this.#byAddress.get(address)?.places.size ?? 0
    return ofAddress >= maxPerAddress || (ofAddress > 0 && this.#open >= maxConnections)
  }

  /**
   * @param giveWay ends the connection: another address gets its place. It is counted out already then
   * @param isSilent whether it has not sent a request yet
   * @returns undefined: refused; else a function to call when the connection has closed
   */
  enter(
    address: string,
    { maxConnections, maxPerAddress, keptForLoopback = 0 }: PlaceLimits,
    giveWay: () => void,
    isSilent: () => boolean = () => false,
  ): (() => void) | undefined {
    const crowd = this.#byAddress.get(address) ?? this.#crowdOf(address)
    const isKeptFor = keptForLoopback > 0 && crowd.isLoopback
    const most = isKeptFor ? maxConnections : maxConnections - keptForLoopback
    if (crowd.places.size >= maxPerAddress && !isKeptFor) return this.#refuse(`${address} has ${crowd.places.size}`)
    if (this.#open >= most && !this.#displace(this.#yielding(crowd, keptForLoopback > 0)))
      return this.#refuse(`${this.#open} are open`)
    return this.#let({ crowd, giveWay, isSilent })
  }

  #crowdOf(address: string): Crowd {
    const isLoopback = this.#isLoopback(address)
    // Of its own: an address of this machine may be in the network of strangers, and is not counted as one of them.
    const name = isLoopback ? address : networkOf(address)
    const network = this.#byNetwork.get(name) ?? { name, crowds: new Set(), size: 0 }
    return { address, network, isLoopback, places: new Set() }
  }

  #let(place: Place): () => void {
    const { crowd } = place
    const { network } = crowd
    this.#byAddress.set(crowd.address, crowd)
    this.#byNetwork.set(network.name, network)
    network.crowds.add(crowd)
    crowd.places.add(place)
    this.#silent.add(place)
    network.size++
    this.#open++
    return () => void this.#out(place)
  }

  #out(place: Place): void {
    const { address, network, places } = place.crowd
    if (!places.delete(place)) return
    this.#silent.delete(place)
    this.#open--
    network.size--
    if (places.size > 0) return
    this.#byAddress.delete(address)
    network.crowds.delete(place.crowd)
    if (network.size === 0) this.#byNetwork.delete(network.name)
  }

  /** Runs for each newcomer while all places are taken, so it looks at networks and addresses, not at connections. */
  #yielding(own: Crowd, sparesLoopback: boolean): Place | undefined {
    const isSpared = ({ isLoopback }: Crowd) => sparesLoopback && isLoopback
    let largest = own.network
    for (const crowd of this.#byAddress.values())
      if (crowd.network.size > largest.size && !isSpared(crowd)) largest = crowd.network
    if (largest.size > own.network.size + 1) {
      const inIt = [...largest.crowds]
      const silent = () => this.#oldestSilent(({ network }) => network === largest)
      return newestOfMost(inIt, 1) ?? silent() ?? newestOfMost(inIt.reverse(), 0)
    }
    // Whoever has fewer than the newcomer would have is spared: it may be about to ask.
    const most = own.places.size + 1
    const newest = newestOfMost(this.#byAddress.values(), most, isSpared)
    if (newest || [...own.places].some((place) => place.isSilent())) return newest
    return this.#oldestSilent((crowd) => crowd.places.size >= most && !isSpared(crowd))
  }

  #oldestSilent(isWanted: (crowd: Crowd) => boolean): Place | undefined {
    for (const place of this.#silent) {
      if (!place.isSilent()) this.#silent.delete(place)
      else if (isWanted(place.crowd)) return place
    }
    return undefined
  }

  #displace(place: Place | undefined): boolean {
    if (!place) return false
    const { address, places } = place.crowd
    const whose = places.size > 1 ? `the address with most of them (${address})` : address
    this.#refuse(`${this.#open} are open, ${whose} makes room for others`)
    this.#out(place)
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

/**
 * The newest connection of the address with the most (the first of equals), if it has more than `than`: a long-lived
 * connection is more likely to be useful.
 */
function newestOfMost(
  crowds: Iterable<Crowd>,
  than: number,
  isSpared: (crowd: Crowd) => boolean = () => false,
): Place | undefined {
  let crowd: Crowd | undefined
  for (const one of crowds) if (one.places.size > (crowd?.places.size ?? than) && !isSpared(one)) crowd = one
  return crowd && [...crowd.places].at(-1)
}
