import { BusConnection, type BusSignal, type Call } from 'rtk-base/link'
import type { Dispose, PluginContext } from 'rtk-base/plugin'
import { Backoff } from 'rtk-base/time'
import {
  callLimit_ms,
  deviceFailed,
  interfaces,
  managerPath,
  objectManagerInterface,
  rootPath,
  service,
} from './names.js'
import { numberOf, ObjectModel } from './object-model.js'

/** For a fleet that starts simultaneously, and for a bus that stays away. */
const waits = { first_ms: 500, longest_ms: 30_000, spread: [0.5, 1] } as const

/** A port without a DHCP server keeps it starting for much longer. */
const startUp_ms = 5_000

const noDaemon =
  'NetworkManager is not running: start it (systemctl start NetworkManager); it is used as soon as it answers'

export interface DaemonEvents {
  /** NetworkManager came or went, or its objects changed. */
  changed(): void
}

/** NetworkManager on its bus: the connection, its objects and how both come back. */
export class Daemon {
  readonly model = new ObjectModel()
  readonly #ctx: Pick<PluginContext, 'log' | 'timers' | 'signal'>
  readonly #address: string
  readonly #events: DaemonEvents
  readonly #backoff = new Backoff(waits)
  readonly #reasons = new Map<string, number>()
  #bus: BusConnection | undefined
  /** Unique name of the daemon; `''` while it does not run. */
  #owner = ''
  /** Counts connections and readings, so that late results of earlier ones are dropped. */
  #connection = 0
  #reading = 0
  #retry: Dispose = () => {}
  /** Signals between the arrival of the state and its use, a moment later. */
  #kept: BusSignal[] | undefined
  #loaded = false
  /** After its start the daemon takes over the kernel's connections one by one; until then they look down. */
  #starting = false
  #started: Dispose = () => {}
  #failure = 'NetworkManager was not asked yet'
  #logged = ''

  constructor(ctx: Pick<PluginContext, 'log' | 'timers' | 'signal'>, address: string, events: DaemonEvents) {
    this.#ctx = ctx
    this.#address = address
    this.#events = events
  }

  get ready(): boolean {
    return this.#loaded && !this.#starting
  }

  get failure(): string {
    return this.#failure
  }

  /** Why the last activation of a device failed, NMDeviceStateReason; 0 when it did not. */
  lastReason(path: string): number {
    return this.#reasons.get(path) ?? 0
  }

  forgetReason(path: string): void {
    this.#reasons.delete(path)
  }

  async start(): Promise<void> {
    await this.#connect()
  }

  stop(): void {
    this.#connection++
    this.#reading++
    void this.#retry()
    this.#bus?.close()
    this.#bus = undefined
  }

  /** @throws BusError, BusTimeout, BusLost; undefined while the daemon is away */
  call(path: string, interfaceName: string, member: string, signature = '', body: readonly unknown[] = []) {
    return this.#bus?.call(this.#target({ path, interface: interfaceName, member, signature, body }))
  }

  callRaw(path: string, interfaceName: string, member: string, signature = '', body: readonly unknown[] = []) {
    return this.#bus?.callRaw(this.#target({ path, interface: interfaceName, member, signature, body }))
  }

  #target(call: Omit<Call, 'destination'>): Call {
    return { destination: this.#owner || service, ...call }
  }

  // ── the connection ────────────────────────────────────────────────────────────────────────────────────────────────

  async #connect(): Promise<void> {
    const connection = ++this.#connection
    try {
      const bus = await BusConnection.open(
        this.#address,
        {
          signal: (signal) => this.#received(connection, signal),
          lost: (reason) => this.#lost(connection, reason),
          after: (ms, fn) => this.#ctx.timers.after(ms, fn),
        },
        callLimit_ms,
      )
      if (connection !== this.#connection || this.#ctx.signal.aborted) return bus.close()
      this.#bus = bus
      await bus.match(
        `type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='${service}'`,
      )
      await bus.match(`type='signal',sender='${service}',path_namespace='${managerPath}'`)
      const owner = await bus.ownerOf(service)
      if (connection === this.#connection) await this.#owned(owner)
    } catch (error) {
      this.#lost(connection, (error as Error).message)
    }
  }

  #lost(connection: number, reason: string): void {
    if (connection !== this.#connection || this.#ctx.signal.aborted) return
    this.#connection++
    this.#reading++
    this.#bus?.close()
    this.#bus = undefined
    const wait_ms = this.#backoff.next()
    this.#away(`the system bus (${this.#address}) cannot be reached: ${reason}; retrying automatically`)
    this.#again(wait_ms, () => this.#connect())
  }

  // ── the daemon ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The daemon came, went or was replaced. */
  async #owned(owner: string): Promise<void> {
    this.#owner = owner
    this.#reading++
    void this.#retry()
    if (owner === '') return this.#away(noDaemon)
    if (this.#loaded) this.#away('NetworkManager was started again: its state is read')
    await this.#load()
  }

  async #load(): Promise<void> {
    const reading = ++this.#reading
    const bus = this.#bus
    if (!bus) return
    this.#kept = undefined
    try {
      const call = { path: managerPath, interface: objectManagerInterface, member: 'GetManagedObjects' }
      // Signals before the answer are included in it.
      const answered = () => {
        if (reading === this.#reading) this.#kept = []
      }
      const [managed] = await bus.call({ ...this.#target(call), answered })
      if (reading !== this.#reading) return
      const kept = this.#kept ?? []
      this.#kept = undefined
      this.model.load(managed)
      for (const signal of kept) this.model.apply(signal)
      this.#backoff.reset()
      this.#loaded = true
      this.#starting = true
      this.#failure = 'NetworkManager is starting'
      this.#started = this.#ctx.timers.after(startUp_ms, () => this.#settle(true))
      this.#settle()
    } catch (error) {
      if (reading !== this.#reading || this.#ctx.signal.aborted) return
      this.#kept = undefined
      const wait_ms = this.#backoff.next()
      this.#away(`NetworkManager does not report its state: ${(error as Error).message}; retrying automatically`)
      this.#again(wait_ms, () => this.#load())
    }
  }

  #received(connection: number, signal: BusSignal): void {
    if (signal.member === 'NameOwnerChanged' && signal.sender === 'org.freedesktop.DBus') {
      const [name, , owner] = signal.body
      if (name === service && this.#bus && typeof owner === 'string') void this.#owned(owner)
      return
    }
    if (signal.sender !== this.#owner || connection !== this.#connection) return
    if (signal.interface === interfaces.device && signal.member === 'StateChanged') this.#noteReason(signal)
    if (this.#kept) this.#kept.push(signal)
    else if (this.#loaded && this.model.apply(signal)) this.#settle()
  }

  /** NetworkManager's objects changed. @param isOver its start has lasted long enough */
  #settle(isOver = false): void {
    const isStarting = this.model.of(rootPath, interfaces.root).Startup === true
    if (this.#starting && (isOver || !isStarting)) {
      void this.#started()
      this.#starting = false
      this.#failure = ''
      if (this.#logged !== '') this.#ctx.log.info('NetworkManager answers')
      this.#logged = ''
    }
    this.#events.changed()
  }

  /** A failed device becomes ready again at once, without a reason. */
  #noteReason({ path, body }: BusSignal): void {
    const [now, , reason] = body.map(numberOf)
    if (now === deviceFailed) this.#reasons.set(path, reason)
    else if (now === 100) this.#reasons.delete(path)
    // A device that was pulled out comes back by another path.
    for (const one of this.#reasons.keys()) if (!this.model.has(one)) this.#reasons.delete(one)
  }

  #away(failure: string): void {
    this.#loaded = false
    void this.#started()
    this.#kept = undefined
    this.#failure = failure
    this.model.clear()
    this.#reasons.clear()
    if (failure !== this.#logged) this.#ctx.log.warn(failure)
    this.#logged = failure
    this.#events.changed()
  }

  #again(wait_ms: number, fn: () => Promise<void>): void {
    void this.#retry()
    this.#retry = this.#ctx.timers.after(wait_ms, fn)
  }
}
