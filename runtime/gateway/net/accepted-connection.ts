import type { Socket } from 'node:net'
import type { Callback } from '../../../schemas/event.js'
import { guard, isThenable } from '../../platform/guard/guard.js'
import type { Owner } from '../../platform/guard/owner.js'
import { Intake, type Rate, rateText } from '../../platform/intake.js'
import type { Clock } from '../../platform/ports/clock.js'
import { queueOf } from '../../platform/ports/tcp-queues.js'
import { peerOf } from './peer.js'
import { Stillness } from './stillness.js'
import type { Connection, ConnectionHandler, Inherited } from './types.js'

/** An `end` may take so long until both sides are done. */
const endLimit_ms = 5_000
/** A client that sends nothing more waits so long for an answer that takes time, e.g. of a password that is derived. */
const answerLimit_ms = 10_000

/** Number of write notes kept: the oldest of three is 10 s old. */
const notes = 3
/** How often a note is taken. */
export const note_ms = 5_000

/** Whom a connection belongs to, and by which rules. */
export interface Terms {
  readonly owner: Owner
  readonly maxBuffered_bytes: number
  readonly rate: Rate
}

/** A connection as its plugin sees it. Cut loose from its socket when the next version gets that. */
class Client implements Connection {
  readonly remoteAddress: string
  readonly remotePort: number
  readonly socket: Socket
  readonly #terms: Terms
  #accepted: AcceptedConnection | undefined
  #data: Callback<[Buffer]> | undefined
  #drain: Callback | undefined
  #close: Callback<[Error | undefined]> | undefined
  #state: (() => unknown) | undefined
  paused = false

  constructor(accepted: AcceptedConnection, terms: Terms) {
    const { socket } = accepted
    this.socket = socket
    const { address, port } = peerOf(socket)
    this.remoteAddress = address
    this.remotePort = port
    this.#accepted = accepted
    this.#terms = terms
  }

  get bufferedAmount(): number {
    return this.#accepted ? this.socket.writableLength : 0
  }

  get closed(): boolean {
    return this.#accepted === undefined || this.socket.destroyed
  }

  write(data: string | Uint8Array): boolean {
    const { socket } = this
    if (!this.#accepted || !socket.writable) return false
    const { maxBuffered_bytes } = this.#terms
    if (socket.writableLength > maxBuffered_bytes) {
      socket.destroy(new Error(`the client does not read: more than ${maxBuffered_bytes} bytes wait for it`))
      return false
    }
    const isTaken = socket.write(data)
    this.#accepted.wrote()
    return isTaken
  }

  end(data?: string | Uint8Array): void {
    if (data !== undefined) this.write(data)
    this.#accepted?.end()
  }

  destroy(): void {
    if (this.#accepted) this.socket.destroy()
  }

  pause(): void {
    this.paused = true
    if (this.#accepted) this.socket.pause()
  }

  resume(): void {
    this.paused = false
    this.#accepted?.read()
  }

  onData(fn: Callback<[Buffer]>): void {
    this.#data = this.#guarded('data', fn)
  }

  onDrain(fn: Callback): void {
    this.#drain = this.#guarded('drain', fn)
  }

  onClose(fn: Callback<[Error | undefined]>): void {
    this.#close = this.#guarded('close', fn)
  }

  async isCut(): Promise<boolean> {
    return this.#accepted?.isCut() ?? false
  }

  inheritable(state: () => unknown): void {
    this.#state = state
  }

  received(bytes: Buffer): void {
    this.#data?.(bytes)
  }

  drained(): void {
    this.#drain?.()
  }

  gone(error: Error | undefined): void {
    this.#accepted = undefined
    this.#close?.(error)
  }

  /** The state that goes to the next version, or undefined when the plugin keeps the connection to its end. */
  give(): Inherited | undefined {
    const state = this.#state
    if (!state || this.closed || this.socket.writableEnded) return undefined
    const clone = () => ({ state: structuredClone(state()) })
    const given = guard(this.#terms.owner, 'the state of a connection for the next version', clone)()
    if (given) this.#accepted = undefined
    return given
  }

  #guarded<A extends unknown[]>(event: string, fn: Callback<A>): Callback<A> {
    // It is unknown how far a plugin that failed got with these bytes.
    const options = { limit_ms: Number.POSITIVE_INFINITY, failed: () => this.destroy() }
    return guard(this.#terms.owner, `${event} of a connection`, fn, options)
  }
}

/** One socket, through the lives of the plugin that it belongs to. Its listeners are the runtime's alone. */
export class AcceptedConnection {
  readonly socket: Socket
  readonly #clock: Clock
  #client: Client | undefined
  #intake: Intake | undefined
  #begun = false
  /** The client sends nothing more, and has no answer yet. */
  #isAwaited = false
  #error: Error | undefined
  #stillness: Stillness
  /** Bytes written to it by now, 5 s ago, and so on. */
  #written: readonly number[] = []

  constructor(socket: Socket, clock: Clock, gone: (accepted: AcceptedConnection) => void) {
    this.socket = socket
    this.#clock = clock
    this.#stillness = new Stillness(socket)
    socket.on('error', (error) => {
      this.#error = error
    })
    socket.once('close', () => {
      gone(this)
      this.#intake?.close()
      const client = this.#client
      this.#client = undefined
      client?.gone(this.#error)
    })
    socket.on('drain', () => this.#client?.drained())
    socket.once('end', () => this.#peerEnded())
  }

  /** The client will send nothing more. Where it has asked and has no answer yet, that answer ends the connection. */
  #peerEnded(): void {
    const { socket } = this
    this.#isAwaited = socket.bytesRead > 0 && socket.bytesWritten === 0
    if (!this.#isAwaited) {
      this.end()
      return
    }
    const limit = this.#clock.timer(answerLimit_ms, () => this.end())
    socket.once('close', () => void limit())
  }

  /** The plugin wrote data: everything it writes in one go is the answer. */
  wrote(): void {
    if (!this.#isAwaited) return
    this.#isAwaited = false
    setImmediate(() => this.end())
  }

  /** Gives the connection to a plugin. */
  serve(terms: Terms, handler: ConnectionHandler, inherited?: Inherited): void {
    const { owner } = terms
    const client = new Client(this, terms)
    this.#client = client
    this.#intake ??= this.#newIntake(terms.rate)
    this.#stillness = new Stillness(this.socket)
    const begin = () => {
      this.#begun = true
      this.read()
    }
    this.#begun = false
    const options = { limit_ms: Number.POSITIVE_INFINITY, failed: () => client.destroy() }
    const taken: unknown = guard(owner, 'a new connection', handler, options)(client, inherited)
    if (!isThenable(taken)) begin()
    else
      void taken.then(
        () => client === this.#client && begin(),
        () => {},
      )
  }

  /** Reads, if the plugin is ready for it. */
  read(): void {
    if (!this.#begun || !this.#client || this.#client.paused || this.#intake?.rests) return
    if (this.socket.listenerCount('data') === 0)
      this.socket.on('data', (bytes: Buffer) => {
        this.#intake?.run(bytes.length, 1, () => this.#client?.received(bytes))
      })
    this.socket.resume()
  }

  #newIntake(rate: Rate): Intake {
    const { socket } = this
    const overrun = () => void socket.destroy(new Error(`the client sent ${rateText(rate)}`))
    const stream = { pause: () => socket.pause(), resume: () => this.#goOn() }
    return new Intake(stream, { rate, overrun })
  }

  /** Data after the end is read and dropped. */
  #goOn(): void {
    if (this.socket.writableEnded) this.socket.resume()
    else this.read()
  }

  /** Takes the connection from its plugin, with the state for the next version; undefined: the plugin keeps it to its end. */
  give(): Inherited | undefined {
    const given = this.#client?.give()
    if (!given) return undefined
    this.socket.pause()
    this.#client = undefined
    return given
  }

  /** Sends what was written, then ends; a client that does not take it or does not end in its turn is cut off. */
  end(): void {
    const { socket } = this
    if (socket.destroyed || socket.writableEnded) return
    socket.end()
    // Read on: a socket closed with unread bytes is reset by the system, and the client may lose the last ones sent.
    this.#begun = true
    socket.resume()
    const limit = this.#clock.timer(endLimit_ms, () => socket.destroy())
    socket.once('close', () => void limit())
  }

  /** To be called every `note_ms`. */
  note(): void {
    this.#written = [this.socket.bytesWritten, ...this.#written].slice(0, notes)
  }

  /** As `Connection.isCut`. */
  async isCut(): Promise<boolean> {
    const { socket } = this
    const before = this.#written[notes - 1]
    const queue = before === undefined ? undefined : await queueOf(socket)
    if (before === undefined || queue === undefined) return false
    return socket.bytesWritten - socket.writableLength - queue < before
  }

  /** Ends the connection when no byte moved for `limit_ms`. */
  look(now_ms: number, limit_ms: number): void {
    if (this.#stillness.for_ms(now_ms) >= limit_ms)
      this.socket.destroy(new Error(`no byte moved for ${limit_ms / 1000} s`))
  }
}
