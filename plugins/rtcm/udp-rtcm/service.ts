import { budgetsByNetwork, listenReason, normalAddress, rates } from 'rtk-base/link'
import { type Dispose, LogLimit, type PluginContext, type RemoteInfo } from 'rtk-base/plugin'
import { correctionInput, type LocalNetwork, type RtcmStream } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import { isRtcm, type PeerRecord, Peers } from './peers.js'
import { UdpSocket } from './socket.js'

/** When a port that is taken is tried again. */
const waits = { first_ms: 1_000, longest_ms: 30_000 }

export interface UdpOptions {
  host: string
  maxSubscribers: number
  maxPerAddress: number
  allow: readonly string[]
  queue_bytes: number
}

/** The socket and its peers: opens, moves to another port, retries while a port is taken. */
export class UdpService {
  readonly #ctx: PluginContext
  readonly #options: UdpOptions
  #socket: UdpSocket | undefined
  #peers: Peers | undefined
  #network: LocalNetwork | undefined
  #retry: Dispose | undefined
  readonly #backoff = new Backoff(waits)
  readonly #logLimit: LogLimit
  readonly #budgets: ReturnType<typeof budgetsByNetwork>

  constructor(ctx: PluginContext, options: UdpOptions) {
    this.#ctx = ctx
    this.#options = options
    this.#logLimit = new LogLimit(ctx.clock)
    this.#budgets = budgetsByNetwork(rates.datagramRate, ctx.clock.monotonic())
  }

  start(stream: RtcmStream, network: LocalNetwork): void {
    this.#network = network
    this.#peers = new Peers(this.#ctx, stream, this.#options, () => this.#socket)
  }

  /** Opens the port that is set. Never fails: a port that is taken is tried again. */
  async open(enabled: boolean, port: number): Promise<void> {
    if (!enabled) {
      this.#ctx.status('disabled')
      return
    }
    try {
      await this.#bind(port)
    } catch (error) {
      if (this.#ctx.signal.aborted) return
      const delay_ms = this.#backoff.next()
      const reason = listenReason(error)
      const retry_s = Math.round(delay_ms / 1000)
      this.#ctx.errors.while('udp', { port, reason, retry_s, setting: 'udp-port' })
      this.#ctx.status(`port ${port} cannot be opened`)
      this.#retry = this.#ctx.timers.after(delay_ms, () => this.open(enabled, port))
    }
  }

  /**
   * Applies a change: the new port is opened before the old one is closed, so a port that is taken rejects the change
   * and no subscriber loses anything.
   */
  async apply(enabled: boolean, port: number): Promise<void> {
    if (!this.#peers) return
    if (enabled && this.#socket?.port === port) return
    // A pending retry of the old port continues then.
    if (enabled)
      await this.#bind(port).catch((error: unknown) => {
        throw new Error(`UDP port ${port} cannot be opened: ${listenReason(error)}`)
      })
    void this.#retry?.()
    if (enabled) return
    await this.#close()
    this.#peers.clear()
    this.#ctx.errors.while('udp', false)
    this.#ctx.status('disabled')
  }

  restore(records: readonly PeerRecord[]): void {
    this.#peers?.restore(records)
  }

  /** For a person: where RTCM is available now. */
  describe(): string {
    return this.#socket ? `UDP port ${this.#socket.port}: send one datagram, frames come back for 60 s` : ''
  }

  /** @returns the peers, for the next version */
  async stop(): Promise<PeerRecord[]> {
    const peers = this.#peers?.records() ?? []
    await this.#close()
    return peers
  }

  async #bind(port: number): Promise<void> {
    const { host, queue_bytes } = this.#options
    const next = await UdpSocket.open(this.#ctx.net, host, port, queue_bytes, {
      received: (datagram, from) => this.#received(datagram, from),
      drained: () => this.#peers?.resume(),
      failed: (error) => this.#sendFailed(error),
      after: (ms, fn) => this.#ctx.timers.after(ms, fn),
    })
    const old = this.#socket
    this.#socket = next
    this.#backoff.reset()
    await old?.close()
    this.#ctx.errors.while('udp', false)
    this.#ctx.status(`port ${port}`)
    this.#peers?.resume()
  }

  /** Peers come and go: one line a minute, with the number of datagrams that could not be sent. */
  #sendFailed(error: Error): void {
    const omitted = this.#logLimit.admit('send')
    if (omitted === undefined) return
    this.#ctx.log.warn({ failures: omitted + 1 }, `UDP: ${error.message}; these datagrams are lost`)
  }

  async #close(): Promise<void> {
    const socket = this.#socket
    this.#socket = undefined
    await socket?.close()
  }

  #received(datagram: Buffer, { address, port }: RemoteInfo): void {
    if (port === 0 || !(this.#network?.isNeighbour(address) || this.#options.allow.includes(normalAddress(address))))
      return
    const now_ms = this.#ctx.clock.monotonic()
    if (!this.#budgets.of(address, now_ms).admits(datagram.length, now_ms)) return
    if (isRtcm(datagram)) {
      // The owner of the input decides whether it is complete, wanted and from the right sender.
      this.#ctx.services.find(correctionInput)?.take(datagram, `udp ${address}:${port}`, address)
    } else this.#peers?.heard(address, port, datagram)
  }
}
