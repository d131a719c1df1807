import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const key = Symbol('connection')

/** What the gateway knows of a connection. Kept on the socket: a map would be asked, at its price, for every request. */
export class Connection {
  readonly #socket: Socket
  /** Answers go out in the order of their requests: when the one before the newest is out, all before it are. */
  #newest: ServerResponse | undefined
  #before: ServerResponse | undefined
  #moved = 0
  #still_ms = 0

  constructor(socket: Socket) {
    this.#socket = socket
    Object.assign(socket, { [key]: this })
  }

  static of(socket: Duplex): Connection | undefined {
    return (socket as { [key]?: Connection })[key]
  }

  /** A request came; a client may send the next one before its answer (pipelining). */
  begin(answer: ServerResponse): void {
    this.#before = this.#newest
    this.#newest = answer
  }

  /** An answer may be half out: a malformed request behind it must not be answered into its middle. */
  get isAnswering(): boolean {
    const [before, newest] = [this.#before, this.#newest]
    if (before !== undefined && !before.writableFinished) return true
    return newest?.headersSent === true && !newest.writableFinished
  }

  /** Ends a connection in the middle of a request or an answer that moved no byte for `limit_ms`; a quiet stream is fine. */
  look(now_ms: number, limit_ms: number): void {
    const socket = this.#socket
    const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength
    if (moved !== this.#moved || this.#still_ms === 0) {
      this.#moved = moved
      this.#still_ms = now_ms
    } else if (now_ms - this.#still_ms >= limit_ms) {
      const newest = this.#newest
      const receiving = newest === undefined || !newest.req.complete
      if (receiving || socket.writableLength > 0 || newest.closed) socket.destroy()
    }
  }
}
