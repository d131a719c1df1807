import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Owner } from '../../platform/guard/owner.js'
import type { Budget } from '../../platform/intake.js'
import { Stillness } from '../net/stillness.js'

const key = Symbol('connection')
const replyKey = Symbol('reply')

/** Notes the reply of an answer, which knows route and owner. On the answer itself, for the same reason as below. */
export function noteReply(reply: FastifyReply): void {
  ;(reply.raw as { [replyKey]?: FastifyReply })[replyKey] = reply
}

const replyOf = (answer: ServerResponse) => (answer as { [replyKey]?: FastifyReply })[replyKey]

/** A stream that was handed over is an answer that has begun, also before its first byte takes the head along. */
const hasBegun = (answer: ServerResponse) => answer.headersSent || answer.listenerCount('unpipe') > 0

/** Since when an answer is waited for: answers of slow handlers alone are in it. */
const waitingSince_ms = new WeakMap<ServerResponse, number>()

/** The HTTP server's state of a connection. Stored on the socket: a map lookup for every request would be expensive. */
export class HttpConnection {
  readonly #socket: Socket
  /** Answers under way, in the order of their requests; the newest stays when it is out. */
  #answers: ServerResponse[] = []
  readonly #budget: Budget | undefined
  /**
   * The client's address exceeded the request rate: the connection closes after the answer that reports this, and further data is
   * ignored.
   */
  isRefused = false
  readonly #stillness: Stillness

  /** @param budget of requests of its address; default: they are not counted */
  constructor(socket: Socket, budget?: Budget) {
    this.#socket = socket
    this.#budget = budget
    this.#stillness = new Stillness(socket)
    Object.assign(socket, { [key]: this })
  }

  static of(socket: Duplex): HttpConnection | undefined {
    return (socket as { [key]?: HttpConnection })[key]
  }

  /** Whether its address may ask now. Node reads on once an answer is sent, so a pause here holds back no client. */
  get mayAsk(): boolean {
    return this.#budget?.admits(0, performance.now()) ?? true
  }

  /** A request came; a client may send the next one before its answer (pipelining). */
  begin(answer: ServerResponse): void {
    if (this.#answers.at(-1)?.closed === false)
      this.#answers = [...this.#answers.filter(({ closed }) => !closed), answer]
    else this.#answers = [answer]
  }

  /** Whether the head of a request came. */
  get hasAsked(): boolean {
    return this.#answers.length > 0
  }

  /** An answer may be half out: a malformed request behind it must not be answered into its middle. */
  get isAnswering(): boolean {
    return this.#answers.some(
      (answer, index) => !answer.writableFinished && (answer.headersSent || index < this.#answers.length - 1),
    )
  }

  get underWay(): ServerResponse[] {
    return this.#answers.filter(({ closed }) => !closed)
  }

  /** Answers of this instance's routes that are under way. */
  answersOf(owner: Owner): ServerResponse[] {
    return this.underWay.filter((answer) => replyOf(answer)?.routeOptions.config.owner === owner)
  }

  /** Replies with a handler that has had the whole request for longer than its limit and has not begun to answer. */
  overdue(now_ms: number, limit_ms: number): FastifyReply[] {
    return this.#answers.flatMap((answer) => {
      const reply = replyOf(answer)
      if (reply === undefined || answer.closed || hasBegun(answer) || !answer.req.complete) return []
      const since_ms = waitingSince_ms.get(answer)
      if (since_ms === undefined) waitingSince_ms.set(answer, now_ms)
      const waited_ms = now_ms - (since_ms ?? now_ms)
      return waited_ms >= (reply.routeOptions.config.timeout_ms ?? limit_ms) ? [reply] : []
    })
  }

  /**
   * The connection has closed. Node reports it only to the answer at the front; without this, the answers behind it
   * would count as open for ever.
   */
  end(): void {
    for (const answer of this.#answers) if (answer.socket === null && !answer.closed) answer.emit('close')
  }

  /** Ends a connection in the middle of a request or an answer that moved no byte for `limit_ms`; a quiet stream is fine. */
  look(now_ms: number, limit_ms: number): void {
    if (this.#stillness.for_ms(now_ms) < limit_ms) return
    const newest = this.#answers.at(-1)
    const receiving = newest === undefined || !newest.req.complete
    if (receiving || this.#socket.writableLength > 0 || newest.closed) this.#socket.destroy()
  }

  /** Resolves when the connection has closed. */
  cutOff(): Promise<void> {
    // Not `events.once`, which rejects for an error of the connection.
    return new Promise((resolve) => {
      this.#socket.once('close', () => resolve())
      this.#socket.destroy()
    })
  }
}
