import { isLoopbackAddress, networkOf } from '../../platform/address/address.js'
import type { Clock } from '../../platform/ports/clock.js'

/** One line about refused connections in this time. */
const line_ms = 60_000

export interface AdmissionLimits {
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
interface Network {
  readonly name: string
  readonly crowds: Set<Crowd>
  size: number
}

/** The connections of an address, oldest first. */
interface Crowd {
  readonly address: string
  readonly network: Network
  readonly isLoopback: boolean
  readonly places: Set<Place>
}

/**
 * Counts connections, in all and by address, and refuses excess ones. Every listener of the station has one. If all
 * places are taken, an address of a network (`networkOf`) with few connections gets a place of the network with the
 * most, and an address with few connections gets one of the address with the most. If all have equally many, it gets
 * the place of the oldest connection that has not sent a request, unless it has such a connection itself. So a stranger
 * with many addresses cannot lock out others.
 */
export class Admission {
  readonly #clock: Clock
  readonly #tell: (refused: number, why: string) => void
  readonly #byAddress = new Map<string, Crowd>()
  readonly #byNetwork = new Map<string, Network>()
  /** Number of addresses, by how many connections each of them has. */
  readonly #bySize: number[] = []
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
  isAtLimit(address: string, { maxConnections, maxPerAddress }: AdmissionLimits): boolean {
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
    { maxConnections, maxPerAddress, keptForLoopback = 0 }: AdmissionLimits,
    giveWay: () => void,
    isSilent: () => boolean = () => false,
  ): (() => void) | undefined {
    const crowd = this.#byAddress.get(address) ?? this.#crowdOf(address)
    const isKeptFor = keptForLoopback > 0 && crowd.isLoopback
    const most = isKeptFor ? maxConnections : maxConnections - keptForLoopback
    if (crowd.places.size >= maxPerAddress && !isKeptFor) return this.#refuse(`${address} has ${crowd.places.size}`)
    if (this.#open >= most && !this.#makeRoom(crowd, keptForLoopback > 0)) return this.#refuse(`${this.#open} are open`)
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
    this.#resized(crowd, 1)
    network.size++
    this.#open++
    return () => void this.#out(place)
  }

  #resized({ places: { size } }: Crowd, by: 1 | -1): void {
    this.#bySize[size] = (this.#bySize[size] ?? 0) + 1
    this.#bySize[size - by] = (this.#bySize[size - by] ?? 0) - 1
  }

  #out(place: Place): void {
    const { address, network, places } = place.crowd
    if (!places.delete(place)) return
    this.#resized(place.crowd, -1)
    this.#silent.delete(place)
    this.#open--
    network.size--
    if (places.size > 0) return
    this.#byAddress.delete(address)
    network.crowds.delete(place.crowd)
    if (network.size === 0) this.#byNetwork.delete(network.name)
  }

  /** Runs for each newcomer while all places are taken: under an attack looking at all of them each time would be the attack's work. */
  #makeRoom(own: Crowd, sparesLoopback: boolean): boolean {
    const isSpared = ({ isLoopback }: Crowd) => sparesLoopback && isLoopback
    const largest = this.#largestNetwork(sparesLoopback)
    if (largest && largest.size > own.network.size + 1) {
      const inIt = [...largest.crowds].filter((crowd) => !isSpared(crowd))
      const silent = () => this.#oldestSilent((crowd) => crowd.network === largest && !isSpared(crowd))
      return this.#displace(newestOfMost(inIt, 1) ?? silent() ?? newestOfMost(inIt.reverse(), 0))
    }
    // Whoever has fewer than the newcomer would have is spared: it may be about to ask.
    const most = own.places.size + 1
    if (this.#bySize.some((addresses, size) => size > most && addresses > 0)) {
      const place = newestOfMost(
        [...this.#byAddress.values()].filter((crowd) => !isSpared(crowd)),
        most,
      )
      if (place) return this.#displace(place)
    }
    if ([...own.places].some((place) => place.isSilent())) return false
    return this.#displace(this.#oldestSilent((crowd) => crowd.places.size >= most && !isSpared(crowd)))
  }

  #oldestSilent(isWanted: (crowd: Crowd) => boolean): Place | undefined {
    for (const place of this.#silent) {
      if (!place.isSilent()) this.#silent.delete(place)
      else if (isWanted(place.crowd)) return place
    }
    return undefined
  }

  #largestNetwork(sparesLoopback: boolean): Network | undefined {
    let largest: Network | undefined
    for (const network of this.#byNetwork.values()) {
      if (largest && network.size <= largest.size) continue
      const [first] = network.crowds
      if (!(sparesLoopback && first?.isLoopback)) largest = network
    }
    return largest
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
function newestOfMost(crowds: readonly Crowd[], than: number): Place | undefined {
  let crowd: Crowd | undefined
  for (const one of crowds) if (one.places.size > (crowd?.places.size ?? than)) crowd = one
  return crowd && [...crowd.places].at(-1)
}
