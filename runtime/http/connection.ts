import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const key = Symbol('connection')
const ownerKey = Symbol('owner')

/** Notes whose route an answer is. On the answer itself, for the same reason as below. */
export function noteOwner(answer: ServerResponse, owner: string): void {
  ;(answer as { [ownerKey]?: string })[ownerKey] = owner
}

/** What the gateway knows of a connection. Kept on the socket: a map would be asked, at its price, for every request. */
export class Connection {
  readonly #socket: Socket
  /** Answers under way, in the order of their requests; the newest stays when it is out. */
  #answers: ServerResponse[] = []
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
    if (this.#answers.at(-1)?.closed === false)
      this.#answers = [...this.#answers.filter(({ closed }) => !closed), answer]
    else this.#answers = [answer]
  }

  /** An answer may be half out: a malformed request behind it must not be answered into its middle. */
  get isAnswering(): boolean {
    return this.#answers.some(
      (answer, index) => !answer.writableFinished && (answer.headersSent || index < this.#answers.length - 1),
    )
  }

  /** Answers of this owner's routes that are under way. */
  answersOf(owner: string): ServerResponse[] {
    return this.#answers.filter((answer) => !answer.closed && (answer as { [ownerKey]?: string })[ownerKey] === owner)
  }

  /** The connection is gone. Node tells only the answer at the front: those behind it would never be counted as over. */
  end(): void {
    for (const answer of this.#answers) if (answer.socket === null && !answer.closed) answer.emit('close')
  }

  /** Ends a connection in the middle of a request or an answer that moved no byte for `limit_ms`; a quiet stream is fine. */
  look(now_ms: number, limit_ms: number): void {
    const socket = this.#socket
    const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength
    if (moved !== this.#moved || this.#still_ms === 0) {
      this.#moved = moved
      this.#still_ms = now_ms
    } else if (now_ms - this.#still_ms >= limit_ms) {
      const newest = this.#answers.at(-1)
      const receiving = newest === undefined || !newest.req.complete
      if (receiving || socket.writableLength > 0 || newest.closed) socket.destroy()
    }
  }
}
