import type { DatagramSocket, NetworkPort, RemoteInfo } from 'rtk-base/plugin'

export interface UdpHandlers {
  received(datagram: Buffer, from: RemoteInfo): void
  /** There is room again after a send was rejected. */
  drained(): void
  failed(error: Error): void
  after(ms: number, fn: () => void): unknown
}

/** When to look for room after a send was rejected. */
const room_ms = 20

/** A bound UDP socket with a bounded number of bytes under way. */
export class UdpSocket {
  readonly port: number
  readonly #socket: DatagramSocket
  readonly #limit: number
  readonly #handlers: UdpHandlers
  readonly #after: (ms: number, fn: () => void) => unknown
  #refused = false
  #closed = false

  private constructor(socket: DatagramSocket, port: number, limit: number, handlers: UdpHandlers) {
    this.#after = handlers.after
    this.#socket = socket
    this.port = port
    this.#limit = limit
    this.#handlers = handlers
    socket.on('message', (datagram, from) => handlers.received(datagram, from))
    socket.on('error', (error) => handlers.failed(error))
  }

  /** Rejects when the address cannot be bound. */
  static async open(
    net: Pick<NetworkPort, 'datagram'>,
    host: string,
    port: number,
    limit: number,
    handlers: UdpHandlers,
  ): Promise<UdpSocket> {
    const socket = await net.datagram({ host, port })
    return new UdpSocket(socket, socket.address().port, limit, handlers)
  }

  /** Hands one datagram to the system; false when too much is under way, and `drained` will be called. */
  send(bytes: Uint8Array, address: string, port: number): boolean {
    if (this.#closed) return true
    if (this.#socket.getSendQueueSize() + bytes.length > this.#limit) {
      this.#waitForRoom()
      return false
    }
    // Without a callback: most datagrams leave at once, and a callback for each would cost more than that. Rejections by a
    // missing or unreachable peer arrive as socket errors.
    this.#socket.send(bytes, 0, bytes.length, port, address)
    return true
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
  }

  #waitForRoom(): void {
    if (this.#refused) return
    this.#refused = true
    this.#after(room_ms, () => {
      this.#refused = false
      if (!this.#closed) this.#handlers.drained()
    })
  }
}
