import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const key = Symbol('connection')

/** What the gateway knows of a connection. Kept on the socket: a map would be asked, at its price, for every request. */
export class Connection {
  /** The newest answer: a malformed request behind it must not be answered into its middle. */
  answer: ServerResponse | undefined
  readonly #socket: Socket
  #moved = 0
  #still_ms = 0

  constructor(socket: Socket) {
    this.#socket = socket
    Object.assign(socket, { [key]: this })
  }

  static of(socket: Duplex): Connection | undefined {
    return (socket as { [key]?: Connection })[key]
  }

  /** Ends a connection in the middle of a request or an answer that moved no byte for `limit_ms`; a quiet stream is fine. */
  look(now_ms: number, limit_ms: number): void {
    const socket = this.#socket
    const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength
    if (moved !== this.#moved || this.#still_ms === 0) {
      this.#moved = moved
      this.#still_ms = now_ms
    } else if (now_ms - this.#still_ms >= limit_ms) {
      const { answer } = this
      const receiving = answer === undefined || !answer.req.complete
      if (receiving || socket.writableLength > 0 || answer.closed) socket.destroy()
    }
  }
}
