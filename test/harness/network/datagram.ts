import { AsyncLocalStorage } from 'node:async_hooks'
import type { RemoteInfo } from 'node:dgram'
import { EventEmitter } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type Endpoint, systemError } from './socket.js'

/** The largest payload of UDP. */
const largest_bytes = 65_507

export interface DatagramRoutes {
  send(bytes: Buffer, from: Endpoint, to: Endpoint): void
  closed(socket: MemoryDatagram): void
}

/** A UDP socket in memory: what the users of `dgram.Socket` need of it. */
export class MemoryDatagram extends EventEmitter {
  readonly #asMaker = AsyncLocalStorage.snapshot()
  readonly #routes: DatagramRoutes
  readonly #own: Endpoint
  readonly groups = new Set<string>()
  #multicastFrom: string
  #isOpen = true

  constructor(own: Endpoint, routes: DatagramRoutes) {
    super()
    this.#own = own
    this.#multicastFrom = own.address
    this.#routes = routes
  }

  address(): AddressInfo {
    this.#mustBeOpen()
    return { ...this.#own, family: this.#own.address.includes(':') ? 'IPv6' : 'IPv4' }
  }

  /** `send(bytes, [offset, length,] port, address, [sent])` */
  send(message: Uint8Array | string, ...more: unknown[]): void {
    this.#mustBeOpen()
    const bytes = Buffer.from(message as Uint8Array)
    const hasRange = typeof more[2] === 'number'
    const [offset, length] = hasRange ? (more.splice(0, 2) as [number, number]) : [0, bytes.length]
    const [port, address, sent] = more as [number, string, ((error: Error | null, bytes: number) => void)?]
    if (length > largest_bytes) {
      const error = systemError('EMSGSIZE', 'send', `${address}:${port}`)
      process.nextTick(() => (sent ? sent(error, 0) : this.emit('error', error)))
      return
    }
    const from = { ...this.#own, address: isMulticast(address) ? this.#multicastFrom : this.#own.address }
    this.#routes.send(bytes.subarray(offset, offset + length), from, { address, port })
    if (sent) process.nextTick(() => sent(null, length))
  }

  receive(bytes: Buffer, from: Endpoint): void {
    const family = from.address.includes(':') ? ('IPv6' as const) : ('IPv4' as const)
    const remote: RemoteInfo = { ...from, family, size: bytes.length }
    if (this.#isOpen) this.#asMaker(() => this.emit('message', bytes, remote))
  }

  close(closed?: () => void): this {
    this.#mustBeOpen()
    this.#isOpen = false
    this.#routes.closed(this)
    if (closed) this.once('close', closed)
    setImmediate(() => this.emit('close'))
    return this
  }

  addMembership(group: string): void {
    this.groups.add(group)
  }

  dropMembership(group: string): void {
    this.groups.delete(group)
  }

  setMulticastInterface(address: string): void {
    this.#multicastFrom = address
  }

  setMulticastTTL(): void {}
  setMulticastLoopback(): void {}
  setBroadcast(): void {}

  getSendQueueSize(): number {
    return 0
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  #mustBeOpen(): void {
    if (!this.#isOpen) throw Object.assign(new Error('Not running'), { code: 'ERR_SOCKET_DGRAM_NOT_RUNNING' })
  }
}

export const isMulticast = (address: string): boolean => /^(22[4-9]|23\d)\.|^ff/i.test(address)
