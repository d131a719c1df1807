/** A connection to a D-Bus. */
import type { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import type { Message, MessageBus } from '@jellybrick/dbus-next'
import type { Dispose } from '../../../schemas/event.js'
import { ownPackages } from '../../platform/host-packages.js'

/** Loaded where a bus is used: a station without one does not pay for it. */
const library = () => ownPackages['@jellybrick/dbus-next']() as typeof import('@jellybrick/dbus-next')

/** A received D-Bus signal. */
export interface BusSignal {
  readonly sender: string
  readonly path: string
  readonly interface: string
  readonly member: string
  /** Plain values: D-Bus variants are replaced by their contents, and 64-bit integers by JavaScript numbers. */
  readonly body: readonly unknown[]
}

/** Callbacks of a `BusConnection`, and its timer. */
export interface BusEvents {
  signal(signal: BusSignal): void
  /** The connection was lost. */
  lost(reason: string): void
  /** Calls `fn` after `ms`, e.g. `ctx.timers.after`. */
  after(ms: number, fn: () => void): Dispose
}

/** A call of a D-Bus method. */
export interface Call {
  readonly destination: string
  readonly path: string
  readonly interface: string
  readonly member: string
  readonly signature?: string
  readonly body?: readonly unknown[]
  /** Called when the answer arrives: signals before that are older than the answer, signals after it are newer. */
  readonly answered?: () => void
}

/** The other side's error reply. `kind` is a name like `org.freedesktop.DBus.Error.AccessDenied`. */
export class BusError extends Error {
  readonly kind: string
  constructor(kind: string, text: string) {
    super(text)
    this.kind = kind
  }
}
/** No answer came in time. */
export class BusTimeout extends Error {}
/** The connection is lost. */
export class BusLost extends Error {}

/** The library reports errors of its connection, but not its end, and cannot close it hard: these are its own parts. */
interface Internals {
  readonly _connection: EventEmitter & { readonly stream?: Duplex }
}

const daemon = { destination: 'org.freedesktop.DBus', path: '/org/freedesktop/DBus', interface: 'org.freedesktop.DBus' }
/**
 * After this many calls in a row without an answer, the connection counts as dead, and its pending calls are given up.
 */
const mostUnanswered = 3

/** Address of the bus of the machine. */
export const systemBus = (env: NodeJS.ProcessEnv = process.env): string =>
  env.DBUS_SYSTEM_BUS_ADDRESS || 'unix:path=/run/dbus/system_bus_socket'

/** A connection to a D-Bus daemon. */
export class BusConnection {
  readonly #bus: MessageBus
  readonly #events: BusEvents
  readonly #limit_ms: number
  readonly #pending = new Set<(error: Error) => void>()
  #unanswered = 0
  /** The newest call that wants to know when its answer arrives. */
  #answered: { readonly serial: number; readonly fn: () => void } | undefined
  #end: string | undefined

  private constructor(bus: MessageBus, events: BusEvents, limit_ms: number) {
    this.#bus = bus
    this.#events = events
    this.#limit_ms = limit_ms
    const ended = (reason: string) => this.#lost(reason)
    ;(bus as EventEmitter).on('error', (error: Error) => ended(error.message))
    bus.on('message', (message: Message) => this.#received(message))
    connectionOf(bus).on('end', () => ended('the D-Bus daemon closed the connection'))
  }

  /** @param limit_ms time limit for connecting and for every call. @throws if the daemon is not reached */
  static async open(address: string, events: BusEvents, limit_ms: number): Promise<BusConnection> {
    const raw = library().sessionBus({ busAddress: address })
    const bus = new BusConnection(raw, events, limit_ms)
    try {
      await bus.#limited<void>('the connection was not accepted', (resolve) => raw.once('connect', () => resolve()))
    } catch (error) {
      bus.close()
      throw error
    }
    return bus
  }

  /** Answers with plain values. @throws BusError, BusTimeout, BusLost */
  async call(call: Call): Promise<readonly unknown[]> {
    return (await this.callRaw(call)).map(plain)
  }

  /** Answers with the library's own types, which can be sent back unchanged. @throws BusError, BusTimeout, BusLost */
  async callRaw(call: Call): Promise<readonly unknown[]> {
    if (this.#end !== undefined) throw new BusLost(this.#end)
    const { signature = '', body = [], answered, ...target } = call
    const message = new (library().Message)({ ...target, signature, body: [...body] })
    const reply = await this.#limited<Message | null>(`${call.member} was not answered`, (resolve, reject) => {
      this.#bus.call(message).then(resolve, reject)
      if (answered && message.serial !== null) this.#answered = { serial: message.serial, fn: answered }
    }).catch((error: Error) => {
      if (error instanceof BusTimeout) this.#notAnswered()
      throw error instanceof library().DBusError ? new BusError(error.type, error.text || error.message) : error
    })
    this.#unanswered = 0
    return reply?.body ?? []
  }

  /** Subscribes to the signals that match `rule`. */
  async match(rule: string): Promise<void> {
    await this.call({ ...daemon, member: 'AddMatch', signature: 's', body: [rule] })
  }

  /** Unique name of a name's current owner; `''`: none. */
  async ownerOf(name: string): Promise<string> {
    try {
      const [owner] = await this.call({ ...daemon, member: 'GetNameOwner', signature: 's', body: [name] })
      return String(owner)
    } catch (error) {
      if (error instanceof BusError && error.kind === 'org.freedesktop.DBus.Error.NameHasNoOwner') return ''
      throw error
    }
  }

  close(): void {
    this.#finish('the connection to the D-Bus daemon was closed')
  }

  #received(message: Message): void {
    const { path, interface: name, member, sender } = message
    if (message.replySerial !== undefined && message.replySerial === this.#answered?.serial) this.#answered.fn()
    // 4: a signal
    if (message.type !== 4 || !path || !name || !member || this.#end !== undefined) return
    this.#events.signal({ sender: sender ?? '', path, interface: name, member, body: message.body.map(plain) })
  }

  #limited<T>(what: string, begin: (resolve: (value: T) => void, reject: (error: Error) => void) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const settle = () => {
        void limit()
        this.#pending.delete(failed)
      }
      const failed = (error: Error) => {
        settle()
        reject(error)
      }
      const limit = this.#events.after(this.#limit_ms, () =>
        failed(new BusTimeout(`${what} within ${this.#limit_ms / 1000} s`)),
      )
      this.#pending.add(failed)
      begin((value) => {
        settle()
        resolve(value)
      }, failed)
    })
  }

  #notAnswered(): void {
    this.#unanswered++
    if (this.#unanswered >= mostUnanswered) this.#lost(`${this.#unanswered} calls in a row were not answered`)
  }

  #lost(reason: string): void {
    if (this.#end !== undefined) return
    this.#finish(reason)
    this.#events.lost(reason)
  }

  #finish(reason: string): void {
    this.#end ??= reason
    for (const reject of [...this.#pending]) reject(new BusLost(reason))
    connectionOf(this.#bus).stream?.destroy()
  }
}

const connectionOf = (bus: MessageBus) => (bus as unknown as Internals)._connection

/** Without the library's own types. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof library().Variant) return plain(value.value)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
}

/** A value with its D-Bus signature, as dictionaries of settings or properties need it. */
export function variant(signature: string, value: unknown): unknown {
  return new (library().Variant)(signature, value)
}
