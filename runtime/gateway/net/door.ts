import type { Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import type { Dispose } from '../../../schemas/event.js'
import { listenReason, messageOf, RtkError } from '../../errors.js'
import { type PlaceLimits, Places } from '../../platform/fair-share/places.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { Bound, NetworkPort } from '../../platform/ports/network.js'
import { Backoff } from '../../platform/time/backoff.js'
import { notePeer, type Peer, peerOf, readProxyHeader } from './peer.js'
import type { ListenAddress, ListenTls } from './types.js'

/** Between tries to get an address. */
const waits = { first_ms: 1_000, longest_ms: 30_000 }
const handshakeLimit_ms = 10_000
/** Limits on unfinished TLS handshakes: a client that only begins them occupies no client's place. */
export const handshakeLimits: PlaceLimits = { maxConnections: 64, maxPerAddress: 8 }
/** A proxy sends its header first. */
const proxyLimit_ms = 5_000

export interface DoorEvents {
  /** Connections of this address begin with a PROXY header, see `peer.ts`. */
  isProxy(address: string): boolean
  proxyFailed(address: string, text: string): void
  /** A client connected, with TLS after the handshake. False: it is refused, before anything is spent on it. */
  admit(socket: Socket): boolean | Promise<boolean>
  /** Told at most once a minute. */
  handshakesRefused(refused: number, why: string): void
  /** The socket can be talked to; with TLS after the handshake. */
  accepted(socket: Socket): void
  handshakeFailed(error: Error): void
  opened(address: ListenAddress): void
  /** The address cannot be had, and why; it is tried again after `wait_ms`. */
  failed(reason: string, wait_ms: number, error: unknown): void
}

/** The listening socket: gets its address, sooner or later, and keeps it. */
export class Door {
  readonly #network: NetworkPort
  readonly #clock: Clock
  readonly #events: DoorEvents
  readonly #tls: (() => ListenTls) | undefined
  #wanted: ListenAddress
  #secure: TlsServer | undefined
  #open: Bound | undefined
  readonly #backoff = new Backoff(waits)
  #retry: Dispose | undefined
  /** Counts decisions about the address; results of an older decision are dropped. */
  #decision = 0
  readonly #handshakePlaces: Places
  /** Ends of handshakes that are not over, by the peer's address and port. */
  readonly #handshakes = new Map<string, () => void>()
  /** The peer of the raw connection below a TLS connection. */
  readonly #secured = new Map<string, Peer>()

  constructor(
    { network, clock }: { network: NetworkPort; clock: Clock },
    wanted: ListenAddress,
    tls: (() => ListenTls) | undefined,
    events: DoorEvents,
  ) {
    this.#network = network
    this.#clock = clock
    this.#wanted = wanted
    this.#tls = tls
    this.#events = events
    this.#handshakePlaces = new Places(clock, (refused, why) => events.handshakesRefused(refused, why))
    void this.#try(++this.#decision)
  }

  get wanted(): ListenAddress {
    return this.#wanted
  }

  get isSecure(): boolean {
    return this.#tls !== undefined
  }

  get address(): ListenAddress | undefined {
    return this.#open?.address
  }

  /** @throws RTK_ERR_NET_LISTEN */
  async move(to: ListenAddress): Promise<void> {
    const decision = ++this.#decision
    void this.#retry?.()
    const before = this.#open
    // One port on two addresses, one of them possibly the wildcard: the system refuses the second.
    const overlaps = before !== undefined && to.port !== 0 && to.port === before.address.port
    if (overlaps) await before.close()
    try {
      const open = await this.#bind(to)
      if (decision !== this.#decision) {
        void open.close()
        throw new Error('the listener was closed or moved meanwhile')
      }
      if (!overlaps) void before?.close()
      this.#wanted = to
      this.#enter(open)
    } catch (error) {
      if (decision === this.#decision && (overlaps || !before)) {
        this.#open = undefined
        this.#backoff.reset()
        void this.#try(decision)
      }
      throw new RtkError('RTK_ERR_NET_LISTEN', `cannot listen at ${addressText(to)}: ${listenReason(error)}`, {
        cause: error,
      })
    }
  }

  /** @throws RTK_ERR_NET_LISTEN; the certificate before it stays in use */
  renew(): void {
    if (!this.#tls || !this.#secure) return
    try {
      this.#secure.setSecureContext(this.#tls())
    } catch (error) {
      throw new RtkError('RTK_ERR_NET_LISTEN', `the certificate is not valid: ${messageOf(error)}`, { cause: error })
    }
  }

  close(): void {
    this.#decision++
    void this.#retry?.()
    void this.#open?.close()
    this.#open = undefined
  }

  async #try(decision: number): Promise<void> {
    try {
      const open = await this.#bind(this.#wanted)
      if (decision === this.#decision) this.#enter(open)
      else void open.close()
    } catch (error) {
      if (decision !== this.#decision) return
      const wait_ms = this.#backoff.next()
      this.#events.failed(listenReason(error), wait_ms, error)
      if (decision !== this.#decision) return
      this.#retry = this.#clock.timer(wait_ms, () => void this.#try(decision))
    }
  }

  #enter(open: Bound): void {
    this.#open = open
    this.#events.opened(open.address)
  }

  async #bind(wanted: ListenAddress): Promise<Bound> {
    this.#secure ??= this.#tls && this.#secureServer(this.#tls())
    // A client that has half-closed after its request still gets its answer: see AcceptedConnection. TLS has its own end.
    return this.#network.bind({ ...wanted, halfOpen: this.#tls === undefined }, (raw) => this.#connected(raw))
  }

  #connected(raw: Socket): void {
    if (this.#events.isProxy(raw.remoteAddress ?? '')) this.#readHeader(raw)
    else this.#begin(raw)
  }

  #begin(raw: Socket): void {
    if (this.#secure) this.#shakeHands(raw, this.#secure)
    else this.#enterClient(raw)
  }

  /** Without a header the client is unknown: taken for the proxy itself, it might count as the local network. */
  #readHeader(raw: Socket): void {
    let bytes = Buffer.alloc(0)
    const refuse = (text: string) => {
      over()
      this.#events.proxyFailed(raw.remoteAddress ?? '', text)
      raw.destroy()
    }
    const gone = () => refuse('it ended before its PROXY header was complete')
    const late = this.#clock.timer(proxyLimit_ms, () => refuse(`no PROXY header within ${proxyLimit_ms / 1_000} s`))
    const take = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const header = readProxyHeader(bytes)
      if (header === 'more') return
      if (header === 'wrong') return refuse('its connection does not begin with a PROXY header')
      over()
      raw.pause()
      raw.unshift(bytes.subarray(header.length))
      if (header.peer) notePeer(raw, header.peer)
      this.#begin(raw)
    }
    const over = () => {
      void late()
      raw.off('data', take).off('end', gone).off('close', over)
    }
    raw.on('data', take).once('end', gone).once('close', over)
  }

  #enterClient(socket: Socket): void {
    const enter = (isAdmitted: boolean) => {
      if (isAdmitted && !socket.destroyed) this.#events.accepted(socket)
      else socket.destroy()
    }
    const admitted = this.#events.admit(socket)
    if (typeof admitted === 'boolean') enter(admitted)
    else void admitted.then(enter)
  }

  /** Node reports a handshake that takes too long, and keeps its socket. */
  #shakeHands(raw: Socket, secure: TlsServer): void {
    const refuse = () => void raw.destroy()
    const isSilent = () => true
    const over = this.#handshakePlaces.enter(peerOf(raw).address, handshakeLimits, refuse, isSilent)
    if (over === undefined) {
      raw.destroy()
      return
    }
    const key = endOf(raw)
    const peer = peerOf(raw)
    this.#secured.set(key, peer)
    const late = this.#clock.timer(handshakeLimit_ms, () => raw.destroy())
    this.#handshakes.set(key, () => {
      if (!this.#handshakes.delete(key)) return
      void late()
      over()
    })
    raw.once('close', () => {
      this.#secured.delete(key)
      this.#handshakes.get(key)?.()
    })
    secure.emit('connection', raw)
  }

  #secureServer(material: ListenTls): TlsServer {
    const { requestCert = false } = material
    const options = { ...material, requestCert, rejectUnauthorized: requestCert, minVersion: 'TLSv1.2' as const }
    const server = createTlsServer(options)
    server.on('secureConnection', (socket: TLSSocket) => {
      socket.on('error', () => {})
      const key = endOf(socket)
      notePeer(socket, this.#secured.get(key) ?? peerOf(socket))
      this.#handshakes.get(key)?.()
      this.#enterClient(socket)
    })
    server.on('tlsClientError', (error, socket) => {
      this.#events.handshakeFailed(error)
      socket.destroy()
    })
    return server
  }
}

const endOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

export function addressText({ host, port }: ListenAddress): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
