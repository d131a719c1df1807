import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Dispose } from '../../../schemas/event.js'
import type { ErrorValues } from '../../../schemas/services.js'
import { Places } from '../../platform/fair-share/places.js'
import { asRuntime, type Owner, runAs, type StopReason } from '../../platform/guard/owner.js'
import { LogLimit } from '../../platform/log/log-limit.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { NetworkPort } from '../../platform/ports/network.js'
import { clientRate } from '../../platform/rates.js'
import { AcceptedConnection, note_ms } from './accepted-connection.js'
import { addressText, Door } from './door.js'
import { peerOf } from './peer.js'
import type { ConnectionHandler, Inherited, ListenAddress, Listener, ListenOptions, ListenTls } from './types.js'

/** A new connection waits so long for the next version. */
const waitLimit_ms = 5_000
/** The address is kept so long for it: a reload takes at most the stop and the start of a few plugins. */
const keepLimit_ms = 20_000
/** Connections without traffic are looked for so often, or 4 times in their limit. */
const idleLook_ms = 5_000

/** The shortest interval between searches for cut connections, so that flooding causes no work. */
const searchAgain_ms = 1_000

/** A version of the plugin that listens. */
export interface Claim {
  readonly owner: Owner
  readonly options: ListenOptions
  readonly handler: ConnectionHandler
  /** Shows trouble with the address, or that there is none. */
  report(trouble: ErrorValues | undefined): void
}

export interface ListeningDeps {
  readonly log: Logger
  readonly clock: Clock
  readonly network: NetworkPort
  /** Named in `net.proxies`. */
  isProxy(address: string): boolean
  /** The listener was closed and its last connection has ended. */
  done(listening: Listening): void
}

export const listenerDefaults = {
  maxConnections: 256,
  maxPerAddress: 16,
  maxBuffered_bytes: 1_048_576,
  rate: clientRate,
}

/**
 * One listener of one plugin, through all versions of that plugin. The address stays, connections wait while no version
 * runs, and the next version inherits connections.
 */
export class Listening {
  readonly #plugin: string
  readonly #name: string
  readonly #deps: ListeningDeps
  readonly #places: Places
  readonly #logLimit: LogLimit
  readonly #open = new Set<AcceptedConnection>()
  /** Connected, but not yet given to a plugin: with the end of their waiting time. */
  readonly #waiting = new Map<AcceptedConnection, Dispose>()
  readonly #toInherit = new Map<AcceptedConnection, Inherited>()
  #door: Door | undefined
  #claim: Claim | undefined
  /** The limits of the version that listened last. */
  #limits = { maxConnections: listenerDefaults.maxConnections, maxPerAddress: listenerDefaults.maxPerAddress }
  /** The plugin runs: connections are given to it. */
  #serving = false
  /** The previous version listened here. */
  #isReloading = false
  #keep: Dispose | undefined
  #looks: Dispose | undefined
  #notes: Dispose | undefined
  #searched_ms = Number.NEGATIVE_INFINITY
  #closed = false
  #opened: (address: ListenAddress) => void = () => {}

  constructor(plugin: string, name: string, deps: ListeningDeps) {
    this.#plugin = plugin
    this.#name = name
    this.#deps = deps
    this.#logLimit = new LogLimit(deps.clock)
    this.#places = new Places(deps.clock, (refused, why) => {
      this.#log(`${refused} connection(s) refused: ${why}; more are refused until some end`)
    })
  }

  get owner(): Owner | undefined {
    return this.#claim?.owner
  }

  get closed(): boolean {
    return this.#closed
  }

  get plugin(): string {
    return this.#plugin
  }

  get name(): string {
    return this.#name
  }

  get counts(): { plugin: string; listener: string; open: number; refused: number } {
    return { plugin: this.#plugin, listener: this.#name, open: this.#places.open, refused: this.#places.refused }
  }

  /** A version of the plugin listens from now on; new connections wait until that version runs. */
  take(claim: Claim): Listener {
    this.#claim = claim
    void this.#keep?.()
    const opened = new Promise<ListenAddress>((resolve) => {
      this.#opened = resolve
    })
    const { host, port, tls, maxConnections, maxPerAddress } = claim.options
    this.#limits = {
      maxConnections: maxConnections ?? listenerDefaults.maxConnections,
      maxPerAddress: maxPerAddress ?? listenerDefaults.maxPerAddress,
    }
    const door = this.#door
    const isSame = door?.wanted.host === host && door.wanted.port === port && door.isSecure === (tls !== undefined)
    if (door && isSame) this.#goOn(door)
    else {
      door?.close()
      this.#door = this.#newDoor({ host, port }, tls !== undefined)
    }
    const ifCurrent = <T>(fn: () => T): T | undefined => (this.#claim === claim ? fn() : undefined)
    const { counts } = this
    const listening = this
    return {
      get address() {
        return ifCurrent(() => listening.#door?.address)
      },
      get connections() {
        return ifCurrent(() => listening.#places.open) ?? 0
      },
      get refused() {
        return listening.#places.refused - counts.refused
      },
      opened,
      move: async (to) => {
        await ifCurrent(() => asRuntime(() => this.#door?.move({ ...(this.#door?.wanted ?? { host, port }), ...to })))
      },
      renew: () => ifCurrent(() => asRuntime(() => this.#door?.renew())),
      close: () => ifCurrent(() => asRuntime(() => this.close())),
    }
  }

  /** The listening version runs: it gets the waiting connections. */
  serve(owner: Owner): void {
    if (this.#claim?.owner !== owner || this.#serving) return
    this.#serving = true
    const { inherits = false } = this.#claim.options
    for (const [accepted, inherited] of this.#drain(this.#toInherit)) {
      if (inherits) this.#give(accepted, inherited)
      else accepted.end()
    }
    for (const [accepted, patience] of this.#drain(this.#waiting)) {
      void patience()
      this.#give(accepted)
    }
    this.#lookForIdle()
  }

  /** The listening version is about to stop. Connections that can be inherited are kept for the next version. */
  leave(owner: Owner, reason: StopReason): void {
    if (this.#claim?.owner !== owner || !this.#serving) return
    this.#serving = false
    this.#isReloading = reason === 'reload'
    if (reason === 'shutdown') this.end()
    if (reason !== 'reload') return
    for (const accepted of this.#open) {
      const given = accepted.give()
      if (given) this.#toInherit.set(accepted, given)
    }
  }

  /** That version has stopped, and the connections that it kept are closed. */
  release(owner: Owner): void {
    if (this.#claim?.owner !== owner || this.#closed) return
    this.#claim = undefined
    this.#serving = false
    void this.#looks?.()
    if (!this.#isReloading) {
      this.close()
      return
    }
    for (const accepted of this.#open)
      if (!this.#toInherit.has(accepted) && !this.#waiting.has(accepted)) accepted.end()
    this.#keep = this.#deps.clock.timer(keepLimit_ms, () => this.close())
  }

  /** Gives the address up and ends every connection. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    void this.#keep?.()
    void this.#looks?.()
    this.#door?.close()
    for (const accepted of this.#open) accepted.end()
    this.#claim?.report(undefined)
    if (this.#open.size === 0) this.#deps.done(this)
  }

  /** Cuts everything off at once: the service stops. */
  end(): void {
    this.close()
    for (const { socket } of this.#open) socket.destroy()
  }

  /** The address is there; the certificate is the new version's. */
  #goOn(door: Door): void {
    if (!door.address) return
    this.#opened(door.address)
    try {
      door.renew()
      this.#claim?.report(undefined)
    } catch (error) {
      this.#claim?.report({ reason: (error as Error).message })
    }
  }

  #newDoor(address: ListenAddress, secure: boolean): Door {
    return new Door(this.#deps, address, secure ? () => this.#material() : undefined, {
      isProxy: (address) => this.#deps.isProxy(address),
      proxyFailed: (address, text) => this.#proxyFailed(address, text),
      admit: (socket) => this.#admit(socket),
      handshakesRefused: (refused, why) =>
        this.#log(`${refused} TLS handshake(s) refused: ${why}; more are refused until some have finished`),
      accepted: (socket) => this.#accepted(socket),
      handshakeFailed: (error) => this.#log(`TLS handshake failed: ${error.message}`, 'debug'),
      opened: (had) => {
        this.#opened(had)
        this.#claim?.report(undefined)
        this.#log(`listening at ${addressText(had)}`, 'info')
      },
      failed: (reason, wait_ms) => {
        const { setting = '' } = this.#claim?.options ?? {}
        const to = addressText(address)
        this.#claim?.report({ reason, address: to, setting, retry_s: Math.round(wait_ms / 1000) })
      },
    })
  }

  #material(): ListenTls {
    const tls = this.#claim?.options.tls
    if (!this.#claim || !tls) throw new Error('no certificate')
    return typeof tls === 'function' ? runAs(this.#claim.owner, tls) : tls
  }

  /** At a limit a connection of the same address that was cut makes room; one client at a time waits until that is known. */
  #admit(socket: Socket): boolean | Promise<boolean> {
    const address = peerOf(socket).address
    const now_ms = this.#deps.clock.monotonic()
    if (now_ms - this.#searched_ms < searchAgain_ms || !this.#places.isAtLimit(address, this.#limits))
      return this.#enter(socket)
    this.#searched_ms = now_ms
    return this.#displaceCut(address).then(() => !socket.destroyed && this.#enter(socket))
  }

  async #displaceCut(address: string): Promise<void> {
    for (const accepted of this.#open) {
      const { socket } = accepted
      if (peerOf(socket).address !== address || !(await accepted.isCut()) || socket.destroyed) continue
      socket.destroy()
      await once(socket, 'close')
      this.#log(`a cut connection of ${address} is closed to make room for its next one`, 'info')
      return
    }
  }

  /** Counts the connection until its socket has closed. */
  #enter(socket: Socket): boolean {
    const giveWay = () => void socket.destroy()
    // Whoever has sent a request, or need not send one, gets bytes.
    const isSilent = () => socket.bytesWritten === 0
    const leave = this.#places.enter(peerOf(socket).address, this.#limits, giveWay, isSilent)
    if (leave) socket.once('close', leave)
    return leave !== undefined
  }

  #accepted(socket: Socket): void {
    const accepted = new AcceptedConnection(socket, this.#deps.clock, () => this.#gone(accepted))
    this.#open.add(accepted)
    this.#notes ??= this.#takeNotes()
    if (this.#closed) accepted.end()
    else if (this.#serving) this.#give(accepted)
    else this.#letWait(accepted)
  }

  /** A client behind it can cause failures at any rate. */
  #proxyFailed(address: string, text: string): void {
    const line = `a connection of the proxy ${address} is refused: ${text}`
    const omitted = this.#logLimit.admit(line)
    if (omitted !== undefined) this.#log(omitted > 0 ? `${line} (${omitted} more like this)` : line)
  }

  /** As long as anybody is here. */
  #takeNotes(): Dispose | undefined {
    if (this.#open.size === 0) return undefined
    return this.#deps.clock.timer(note_ms, () => {
      for (const accepted of this.#open) accepted.note()
      this.#notes = this.#takeNotes()
    })
  }

  #letWait(accepted: AcceptedConnection): void {
    const patience = this.#deps.clock.timer(waitLimit_ms, () => {
      this.#waiting.delete(accepted)
      accepted.end()
    })
    this.#waiting.set(accepted, patience)
  }

  #give(accepted: AcceptedConnection, inherited?: Inherited): void {
    const { owner, handler, options } = this.#claim as Claim
    const { maxBuffered_bytes, rate } = { ...listenerDefaults, ...options }
    if (!accepted.socket.destroyed) accepted.serve({ owner, maxBuffered_bytes, rate }, handler, inherited)
  }

  #gone(accepted: AcceptedConnection): void {
    this.#open.delete(accepted)
    this.#toInherit.delete(accepted)
    void this.#waiting.get(accepted)?.()
    this.#waiting.delete(accepted)
    if (this.#open.size === 0) {
      void this.#notes?.()
      this.#notes = undefined
    }
    if (this.#closed && this.#open.size === 0) this.#deps.done(this)
  }

  #lookForIdle(): void {
    const limit_ms = this.#claim?.options.idle_ms
    if (!limit_ms) return
    const { clock } = this.#deps
    this.#looks = clock.timer(Math.min(idleLook_ms, limit_ms / 4), () => {
      for (const accepted of this.#open) accepted.look(clock.monotonic(), limit_ms)
      this.#lookForIdle()
    })
  }

  #drain<K, V>(map: Map<K, V>): [K, V][] {
    const all = [...map]
    map.clear()
    return all
  }

  #log(text: string, level: 'debug' | 'info' | 'warn' = 'warn'): void {
    this.#deps.log[level]({ plugin: this.#plugin, listener: this.#name }, `listener ${this.#name}: ${text}`)
  }
}
