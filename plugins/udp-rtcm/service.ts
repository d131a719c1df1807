import type { RemoteInfo } from 'node:dgram'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import { correctionInput, type LocalNetwork, type RtcmStream } from 'rtk-base/services'
import { isRtcm, type PeerRecord, Peers } from './peers.js'
import { UdpSocket } from './socket.js'

/** A port that is taken is tried again after these, the last one for ever. */
const retries_ms = [1_000, 2_000, 5_000, 10_000, 30_000]

export interface UdpOptions {
  host: string
  maxSubscribers: number
  queue_bytes: number
}

/** The socket and its peers: opens, moves to another port, tries again where a port is taken. */
export class UdpService {
  readonly #ctx: PluginContext
  readonly #options: UdpOptions
  #socket: UdpSocket | undefined
  #peers: Peers | undefined
  #network: LocalNetwork | undefined
  #retry: Dispose | undefined
  #failures = 0
  #tellFrom_ms = 0

  constructor(ctx: PluginContext, options: UdpOptions) {
    this.#ctx = ctx
    this.#options = options
  }

  start(stream: RtcmStream, network: LocalNetwork): void {
    const { maxSubscribers } = this.#options
    this.#network = network
    this.#peers = new Peers(this.#ctx, stream, maxSubscribers, () => this.#socket)
    this.#ctx.defer(() => this.#close())
  }

  /** Opens as it was set. Never fails: a port that is taken is tried again. */
  async open(enabled: boolean, port: number, attempt = 0): Promise<void> {
    if (!enabled) {
      this.#ctx.status('disabled')
      return
    }
    try {
      await this.#bind(port)
    } catch (error) {
      const delay_ms = retries_ms[Math.min(attempt, retries_ms.length - 1)]
      this.#ctx.errors.raise(
        'udp',
        `UDP port ${port}: ${(error as Error).message}; tried again every ${delay_ms / 1000} s`,
      )
      this.#ctx.status(`port ${port} cannot be opened`)
      this.#retry = this.#ctx.timers.after(delay_ms, () => this.open(enabled, port, attempt + 1))
    }
  }

  /**
   * Applies a change: the new port is opened before the old one is given up, so a port that is taken refuses the change
   * and nobody loses anything.
   */
  async apply(enabled: boolean, port: number): Promise<void> {
    if (!this.#peers) return
    if (enabled && this.#socket?.port === port) return
    // A port that cannot be bound refuses the change: a retry of the old one that is pending goes on.
    if (enabled) await this.#bind(port)
    void this.#retry?.()
    if (enabled) return
    await this.#close()
    this.#peers.clear()
    this.#ctx.errors.clear('udp')
    this.#ctx.status('disabled')
  }

  restore(records: unknown): void {
    if (Array.isArray(records)) this.#peers?.restore(records as PeerRecord[])
  }

  /** For a person: where RTCM can be had now. */
  describe(): string {
    return this.#socket ? `UDP port ${this.#socket.port}: send one datagram, frames come back for 60 s` : ''
  }

  handOver(): PeerRecord[] {
    return this.#peers?.records() ?? []
  }

  async #bind(port: number): Promise<void> {
    const { host, queue_bytes } = this.#options
    const next = await UdpSocket.open(host, port, queue_bytes, {
      received: (datagram, from) => this.#received(datagram, from),
      drained: () => this.#peers?.resume(),
      failed: (error) => this.#sendFailed(error),
      after: (ms, fn) => this.#ctx.timers.after(ms, fn),
    })
    const old = this.#socket
    this.#socket = next
    await old?.close()
    this.#ctx.errors.clear('udp')
    this.#ctx.status(`port ${port}`)
    this.#peers?.resume()
  }

  /** Peers come and go: one line a minute, with how many datagrams were refused meanwhile. */
  #sendFailed(error: Error): void {
    this.#failures += 1
    const now_ms = this.#ctx.clock.monotonic()
    if (now_ms < this.#tellFrom_ms) return
    this.#tellFrom_ms = now_ms + 60_000
    this.#ctx.log.warn({ failures: this.#failures }, `UDP: ${error.message}; these datagrams are lost`)
    this.#failures = 0
  }

  async #close(): Promise<void> {
    const socket = this.#socket
    this.#socket = undefined
    await socket?.close()
  }

  #received(datagram: Buffer, { address, port }: RemoteInfo): void {
    if (port === 0 || !this.#network?.isLocal(address)) return
    if (isRtcm(datagram)) {
      // Whether it is whole, wanted and from the right one is for the owner of the input to say.
      this.#ctx.services.find(correctionInput)?.take(datagram, `udp ${address}:${port}`, address)
    } else this.#peers?.heard(address, port, datagram)
  }
}
