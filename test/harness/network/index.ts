/** A network in memory, of which each delivery is an event of a clock. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '../../../runtime/platform/ports/clock.js'
import type {
  BindOptions,
  Bound,
  DatagramOptions,
  DatagramSocket,
  DialOptions,
  HostAddress,
  NetworkPort,
  Socket,
} from '../../../runtime/platform/ports/network.js'
import { isMulticast, MemoryDatagram } from './datagram.js'
import { type Carry, type Endpoint, MemorySocket, systemError } from './socket.js'
import { carryTls } from './tls.js'

/** The line between two hosts. */
export interface Line {
  /** One way; default: 0. */
  latency_ms?: number
  /** Whether a datagram is lost; default: none is. */
  loses?(bytes: Uint8Array): boolean
  /**
   * `silent`: packets disappear, as in a NAT that has forgotten a connection. `unreachable`: a router answers that
   * there is no route. Default: `up`.
   */
  state?: 'up' | 'silent' | 'unreachable'
}

/** While another address is left, Node tries one for so long. */
const eachAddress_ms = 2_000
/** Linux gives up an unanswered connection after so long. */
const unanswered_ms = 127_000
const firstFreePort = 32_768

/** The hosts, and the lines between them. */
export class MemoryNetwork {
  readonly clock: Clock
  readonly #hosts: MemoryHost[] = []
  readonly #lines = new Map<string, Line>()
  /** When the last packet of a direction arrives: the next one does not overtake it. */
  readonly #last_ms = new Map<string, number>()
  readonly #connections = new Set<readonly [MemorySocket, MemorySocket]>()
  readonly #usual: Line

  /** @param usual the line between any two hosts, unless `line` sets another one */
  constructor(clock: Clock, usual: Line = {}) {
    this.clock = clock
    this.#usual = usual
    carryTls()
  }

  /** @param addresses of the host, the first one is that of its connections @param names by which others find it */
  host(addresses: readonly string[], names: readonly string[] = []): MemoryHost {
    const host = new MemoryHost(this, addresses, names)
    this.#hosts.push(host)
    return host
  }

  /** Sets the line between two addresses, in both directions. */
  line(one: string, other: string, line: Line): void {
    this.#lines.set(`${one} ${other}`, line)
    this.#lines.set(`${other} ${one}`, line)
  }

  /** Cuts every connection between two addresses: both ends get a reset. */
  cut(one: string, other: string): void {
    for (const pair of this.#connections) {
      const ends = pair.map(({ localAddress }) => localAddress)
      if (ends.includes(one) && ends.includes(other)) for (const end of pair) end.cut()
    }
  }

  lineOf(from: string, to: string): Line {
    return { ...this.#usual, ...this.#lines.get(`${from} ${to}`) }
  }

  /** Delivers after the latency of the line, in order; never while it is silent. */
  carry(from: string, to: string, arrive: () => void): void {
    const { latency_ms = 0, state } = this.lineOf(from, to)
    if (state === 'silent' || state === 'unreachable') return
    const key = `${from} ${to}`
    const now_ms = this.clock.monotonic()
    const at_ms = Math.max(now_ms + latency_ms, this.#last_ms.get(key) ?? 0)
    this.#last_ms.set(key, at_ms)
    this.clock.timer(at_ms - now_ms, arrive)
  }

  at(address: string): MemoryHost | undefined {
    return this.#hosts.find(({ addresses }) => addresses.includes(address))
  }

  named(name: string): string[] {
    return this.#hosts.filter(({ names }) => names.includes(name)).flatMap(({ addresses }) => addresses)
  }

  /** Those that get a datagram. */
  receivers({ address, port }: Endpoint): [address: string, MemoryDatagram][] {
    const hosts = isMulticast(address)
      ? this.#hosts
      : this.#hosts.filter(({ addresses }) => addresses.includes(address))
    return hosts.flatMap((host) => {
      const own = isMulticast(address) ? (host.addresses[0] ?? '') : address
      return host.receivers(address, port).map((socket): [string, MemoryDatagram] => [own, socket])
    })
  }

  joined(pair: readonly [MemorySocket, MemorySocket]): void {
    this.#connections.add(pair)
    for (const end of pair)
      end.once('close', () => pair.every(({ destroyed }) => destroyed) && this.#connections.delete(pair))
  }
}

const isLoopback = (address: string) => address === '::1' || address.startsWith('127.')
const isAny = (address: string) => address === '0.0.0.0' || address === '::'
const covers = (bound: string, address: string) => isAny(bound) || bound === address

interface Server extends Endpoint {
  readonly halfOpen: boolean
  connected(socket: MemorySocket): void
}

/** One host: the `NetworkPort` of a station, or of whoever talks to it. */
export class MemoryHost implements NetworkPort {
  readonly addresses: readonly string[]
  readonly names: readonly string[]
  readonly #network: MemoryNetwork
  readonly #servers = new Set<Server>()
  readonly #datagrams = new Map<MemoryDatagram, Endpoint & { shared: boolean }>()
  #nextPort = firstFreePort

  constructor(network: MemoryNetwork, addresses: readonly string[], names: readonly string[]) {
    this.#network = network
    this.addresses = addresses
    this.names = names
  }

  dial({ host, port, tls, resolve = this.resolve }: DialOptions): Socket {
    const socket = new MemorySocket(this.#network.clock, false)
    const targets = isIP(host) === 0 ? resolve(host) : Promise.resolve([{ address: host }])
    targets.then(
      (found) => {
        if (found.length === 0) socket.destroy(systemError('ENOTFOUND', 'getaddrinfo', host))
        const targets = found.map(({ address }) => ({ address, port }))
        this.#attempt(socket, targets)
      },
      (error) => void socket.destroy(error),
    )
    if (tls === undefined) return socket
    const servername = isIP(host) === 0 ? { servername: host } : {}
    return connectTls({ rejectUnauthorized: true, ...servername, host, ...tls, socket })
  }

  async bind({ host, port, halfOpen = false }: BindOptions, connected: (socket: Socket) => void): Promise<Bound> {
    const asBinder = AsyncLocalStorage.snapshot()
    const own = this.#free('listen', [...this.#servers], { address: host, port })
    const server: Server = {
      ...own,
      halfOpen,
      connected: (socket) =>
        asBinder(() => {
          socket.on('error', () => {})
          connected(socket)
        }),
    }
    this.#servers.add(server)
    return {
      address: { host: own.address, port: own.port },
      close: async () => void this.#servers.delete(server),
    }
  }

  async datagram({ host, port, shared = false }: DatagramOptions): Promise<DatagramSocket> {
    const taken = [...this.#datagrams.values()].filter((one) => !(shared && one.shared))
    const own = this.#free('bind', taken, { address: host, port })
    const socket: MemoryDatagram = new MemoryDatagram(own, {
      send: (bytes, from, to) => this.#send(bytes, from, to),
      closed: () => void this.#datagrams.delete(socket),
    })
    this.#datagrams.set(socket, { ...own, shared })
    return socket as unknown as DatagramSocket
  }

  resolve = async (host: string): Promise<readonly HostAddress[]> => {
    const found = isIP(host) !== 0 ? [host] : host === 'localhost' ? ['127.0.0.1'] : this.#network.named(host)
    if (found.length === 0) throw systemError('ENOTFOUND', 'getaddrinfo', host)
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }

  /** Who accepts connections there. */
  server(address: string, port: number): Server | undefined {
    return [...this.#servers].find((one) => one.port === port && covers(one.address, address))
  }

  receivers(address: string, port: number): MemoryDatagram[] {
    const isFor = ([socket, own]: [MemoryDatagram, Endpoint]) =>
      own.port === port && (isMulticast(address) ? socket.groups.has(address) : covers(own.address, address))
    return [...this.#datagrams].filter(isFor).map(([socket]) => socket)
  }

  /** @throws EADDRINUSE, EADDRNOTAVAIL */
  #free(syscall: string, taken: readonly Endpoint[], { address, port }: Endpoint): Endpoint {
    const own = [...this.addresses, '127.0.0.1', '::1', '0.0.0.0', '::', '']
    const wanted = address === 'localhost' ? '127.0.0.1' : address
    if (!own.includes(wanted) && !isLoopback(wanted)) throw systemError('EADDRNOTAVAIL', syscall, `${address}:${port}`)
    const isTaken = (at: number) =>
      taken.some((one) => one.port === at && (covers(one.address, wanted) || covers(wanted, one.address)))
    if (port === 0) while (isTaken(this.#nextPort)) this.#nextPort++
    else if (isTaken(port)) throw systemError('EADDRINUSE', syscall, `${address}:${port}`)
    return { address: wanted, port: port || this.#nextPort++ }
  }

  /** The own address towards another one. */
  #from(to: string): string {
    if (isLoopback(to)) return to
    return this.addresses.find((one) => one.includes(':') === to.includes(':')) ?? '127.0.0.1'
  }

  #attempt(socket: MemorySocket, [to, ...others]: readonly Endpoint[]): void {
    if (socket.destroyed || to === undefined) return
    const { clock } = this.#network
    const from = { address: this.#from(to.address), port: this.#nextPort++ }
    let isOver = false
    const over = (code?: string) => {
      if (isOver || socket.destroyed) return
      isOver = true
      void late()
      if (code === undefined) return
      const error = systemError(code, 'connect', `${to.address}:${to.port}`)
      if (others.length > 0) this.#attempt(socket, others)
      else socket.run(() => void socket.destroy(error))
    }
    const late = clock.timer(others.length > 0 ? eachAddress_ms : unanswered_ms, () => over('ETIMEDOUT'))
    socket.once('close', () => void late())
    if (this.#network.lineOf(from.address, to.address).state === 'unreachable') {
      clock.timer(0, () => over('EHOSTUNREACH'))
      return
    }
    const host = isLoopback(to.address) ? this : this.#network.at(to.address)
    const there: Carry = (arrive) => this.#network.carry(from.address, to.address, arrive)
    const back: Carry = (arrive) => this.#network.carry(to.address, from.address, arrive)
    there(() => {
      const server = host?.server(to.address, to.port)
      if (!server) return host && back(() => over('ECONNREFUSED'))
      back(() => {
        if (isOver || socket.destroyed) return there(() => accepted.cut())
        over()
        socket.join(accepted, from, to, there)
        socket.run(() => {
          socket.emit('connect')
          socket.emit('ready')
        })
      })
      const accepted = this.#accept(server, socket, { from, to, back })
    })
  }

  #accept(
    server: Server,
    socket: MemorySocket,
    { from, to, back }: { from: Endpoint; to: Endpoint; back: Carry },
  ): MemorySocket {
    const accepted = new MemorySocket(this.#network.clock, server.halfOpen)
    accepted.join(socket, to, from, back)
    this.#network.joined([socket, accepted])
    server.connected(accepted)
    return accepted
  }

  #send(bytes: Buffer, own: Endpoint, to: Endpoint): void {
    const isGroup = isMulticast(to.address)
    const address = isAny(own.address) ? (isGroup ? (this.addresses[0] ?? '') : this.#from(to.address)) : own.address
    const from = { address, port: own.port }
    const receivers = isLoopback(to.address)
      ? this.receivers(to.address, to.port).map((socket) => [to.address, socket] as const)
      : this.#network.receivers(to)
    for (const [receiver, socket] of receivers) {
      if (this.#network.lineOf(from.address, receiver).loses?.(bytes)) continue
      this.#network.carry(from.address, receiver, () => socket.receive(bytes, from))
    }
  }
}
