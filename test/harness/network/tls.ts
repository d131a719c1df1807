/** TLS over sockets in memory: Node's own knows neither the addresses nor the clock of a socket without a handle. */
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { unacknowledged } from '../../../runtime/platform/ports/tcp-queues.js'
import { MemorySocket } from './socket.js'

const ofConnection = [
  ...['localAddress', 'localPort', 'localFamily', 'remoteAddress', 'remotePort', 'remoteFamily'],
  unacknowledged,
] as const
const isFollowed = Symbol('time limit')

interface Secured extends Socket {
  /** Node's name of the socket below. */
  readonly _parent?: unknown
  [isFollowed]?: true
}

/** The socket in memory that carries a TLS connection. */
const below = ({ _parent: socket }: Secured) => (socket instanceof MemorySocket ? socket : undefined)

/** From now on, TLS sockets have addresses and time limits of the memory sockets that carry them; all others are as before. */
export function carryTls(): void {
  const { prototype } = TLSSocket
  if (Object.hasOwn(prototype, 'remoteAddress')) return
  for (const name of ofConnection)
    Object.defineProperty(prototype, name, {
      get(this: Secured) {
        const carrier = below(this)
        return carrier ? Reflect.get(carrier, name) : Reflect.get(Socket.prototype, name, this)
      },
      configurable: true,
    })
  prototype.setTimeout = function (this: Secured & TLSSocket, timeout_ms: number, callback?: () => void) {
    const carrier = below(this)
    if (!carrier) return Socket.prototype.setTimeout.call(this, timeout_ms, callback) as typeof this
    if (callback) timeout_ms > 0 ? this.once('timeout', callback) : this.off('timeout', callback)
    if (!this[isFollowed]) carrier.on('timeout', () => this.emit('timeout'))
    this[isFollowed] = true
    carrier.setTimeout(timeout_ms)
    Object.assign(this, { timeout: timeout_ms })
    return this
  }
}
