import { AsyncLocalStorage } from 'node:async_hooks'
import { type AddressInfo, Socket } from 'node:net'
import type { Clock } from '../../../runtime/platform/ports/clock.js'
import { unacknowledged } from '../../../runtime/platform/ports/tcp-queues.js'
import type { Dispose } from '../../../runtime/plugin.js'

/** Of one direction: what the sender's system takes beyond what was acknowledged, and what the receiver's keeps unread. */
const buffer_bytes = 65_536

/** Carries a packet to the other end: later, in order, or never. */
export type Carry = (arrive: () => void) => void

export interface Endpoint {
  readonly address: string
  readonly port: number
}

export const systemError = (code: string, syscall: string, text = ''): NodeJS.ErrnoException =>
  Object.assign(new Error(`${syscall} ${code}${text && ` ${text}`}`), { code, syscall })

interface Packet {
  readonly bytes: Buffer
  /** The receiver's system has it: the sender's may forget it. */
  isKept: boolean
  acknowledged(): void
}

/**
 * One end of a TCP connection in memory. It is a `net.Socket` without a handle, so whoever takes a socket takes it. Whatever arrives is
 * an event of the clock, and runs on behalf of whoever made the socket.
 */
export class MemorySocket extends Socket {
  readonly #asMaker = AsyncLocalStorage.snapshot()
  readonly #clock: Clock
  #carry: Carry = () => {}
  #peer: MemorySocket | undefined
  #unacknowledged = 0
  /** Writes that wait for room in the sender's system. */
  readonly #blocked: (() => void)[] = []
  /** Arrived, and not read: those beyond the buffer are not acknowledged. */
  readonly #arrived: Packet[] = []
  #kept_bytes = 0
  #isOver = false
  #hasEnded = false
  #wants = false
  #read_bytes = 0
  #written_bytes = 0
  #moved_ms = 0
  #idle: Dispose = () => {}

  constructor(clock: Clock, halfOpen: boolean) {
    super({ allowHalfOpen: halfOpen })
    this.#clock = clock
    const own = <T>(get: () => T) => ({ get, configurable: true })
    Object.defineProperties(this, {
      bytesRead: own(() => this.#read_bytes),
      bytesWritten: own(() => this.#written_bytes + this.writableLength),
      [unacknowledged]: own(() => this.#unacknowledged),
    })
    Object.assign(this, { connecting: true })
    // Node's TLS waits for `connect` of a socket without a handle, even if that is connected.
    this.on('newListener', (event: string, listener: () => void) => {
      if (event === 'connect' && !this.connecting) process.nextTick(listener)
    })
  }

  /** The connection is made. */
  join(peer: MemorySocket, local: Endpoint, remote: Endpoint, carry: Carry): void {
    this.#peer = peer
    this.#carry = carry
    const family = (address: string) => (address.includes(':') ? 'IPv6' : 'IPv4')
    const value = (one: unknown) => ({ value: one, configurable: true })
    Object.defineProperties(this, {
      localAddress: value(local.address),
      localPort: value(local.port),
      localFamily: value(family(local.address)),
      remoteAddress: value(remote.address),
      remotePort: value(remote.port),
      remoteFamily: value(family(remote.address)),
    })
    Object.assign(this, { connecting: false })
  }

  /** On behalf of whoever made this socket. */
  run(fn: () => void): void {
    this.#asMaker(fn)
  }

  override address(): AddressInfo {
    return { address: this.localAddress ?? '', port: this.localPort ?? 0, family: this.localFamily ?? '' }
  }

  override ref(): this {
    return this
  }

  override unref(): this {
    return this
  }

  override setTimeout(timeout_ms: number, callback?: () => void): this {
    void this.#idle()
    Object.assign(this, { timeout: timeout_ms })
    if (callback) {
      if (timeout_ms === 0) this.removeListener('timeout', callback)
      else this.once('timeout', callback)
    }
    if (timeout_ms > 0) {
      this.#moved_ms = this.#clock.monotonic()
      this.#waitForIdle(timeout_ms, timeout_ms)
    }
    return this
  }

  override resetAndDestroy(): this {
    this.#sendReset()
    return this.destroy()
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.connecting) {
      this.once('connect', () => this._write(chunk, encoding, done))
      return
    }
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk)
    const peer = this.#peer
    this.#moved_ms = this.#clock.monotonic()
    this.#written_bytes += bytes.length
    this.#unacknowledged += bytes.length
    this.#carry(() =>
      peer?.run(() => peer.#arrive({ bytes, isKept: false, acknowledged: () => this.#acknowledged(bytes.length) })),
    )
    if (this.#unacknowledged <= buffer_bytes) done()
    else this.#blocked.push(() => done())
  }

  override _writev(
    chunks: { chunk: Buffer | string; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    const all = chunks.map(({ chunk, encoding }) => (typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk))
    this._write(Buffer.concat(all), 'utf8', done)
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.connecting) {
      this.once('connect', () => this._final(done))
      return
    }
    this.#sendEnd()
    done()
  }

  override _read(): void {
    this.#wants = true
    this.#deliver()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    void this.#idle()
    this.#isOver = true
    // Closing a socket with unread bytes sends a reset, as the system does.
    if (this.#arrived.length > 0) this.#sendReset()
    else this.#sendEnd()
    super._destroy(error, done)
  }

  /** The connection was cut off by the other end, or between. */
  cut(code = 'ECONNRESET'): void {
    if (this.#isOver) return
    this.#hasEnded = true
    this.run(() => void this.destroy(systemError(code, 'read')))
  }

  #sendEnd(): void {
    const peer = this.#peer
    if (this.#hasEnded || !peer) return
    this.#hasEnded = true
    this.#carry(() => peer.run(() => peer.#arrive({ bytes: Buffer.alloc(0), isKept: true, acknowledged() {} })))
  }

  #sendReset(): void {
    const peer = this.#peer
    this.#hasEnded = true
    if (peer) this.#carry(() => peer.cut())
  }

  /** Without bytes: the other end has ended. */
  #arrive(packet: Packet): void {
    if (this.#isOver) {
      // Nobody reads here any more.
      if (packet.bytes.length > 0) this.#sendReset()
      return
    }
    this.#arrived.push(packet)
    this.#keep()
    this.#deliver()
  }

  /** Acknowledges what there is room for. */
  #keep(): void {
    for (const packet of this.#arrived) {
      if (packet.isKept) continue
      if (this.#kept_bytes > buffer_bytes) return
      packet.isKept = true
      this.#kept_bytes += packet.bytes.length
      this.#carry(() => packet.acknowledged())
    }
  }

  #acknowledged(bytes: number): void {
    this.#unacknowledged -= bytes
    this.run(() => {
      while (this.#unacknowledged <= buffer_bytes && this.#blocked.length > 0) this.#blocked.shift()?.()
    })
  }

  #deliver(): void {
    while (this.#wants && this.#arrived.length > 0) {
      const { bytes } = this.#arrived.shift() as Packet
      this.#moved_ms = this.#clock.monotonic()
      this.#read_bytes += bytes.length
      this.#kept_bytes -= bytes.length
      this.#keep()
      this.#wants = this.push(bytes.length === 0 ? null : bytes) && bytes.length > 0
    }
  }

  #waitForIdle(wait_ms: number, timeout_ms: number): void {
    this.#idle = this.#clock.timer(wait_ms, () => {
      const still_ms = this.#clock.monotonic() - this.#moved_ms
      if (still_ms < timeout_ms) this.#waitForIdle(timeout_ms - still_ms, timeout_ms)
      else this.run(() => void this.emit('timeout'))
    })
  }
}
