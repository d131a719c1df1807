import type { ErrorValues } from '../../../schemas/services.js'
import { RtkError } from '../../errors.js'
import type { ListenOptions } from '../../gateway/net/types.js'
import { Fetcher } from '../../platform/fetch/index.js'
import type { BindOptions, DatagramOptions, DialOptions, NetworkPort, Socket } from '../../platform/ports/network.js'
import type { PluginContext } from '../../plugin.js'
import type { Instance } from '../instance/instance.js'
import { argument, type ContextHost, members, opening } from './host.js'

/** A connection that was ended may take so long after the plugin until both sides are done. */
const endLimit_ms = 5_000

const listenMembers = {
  name: 'string',
  host: 'string',
  port: 'number',
  setting: 'string',
  maxConnections: 'number',
  maxPerAddress: 'number',
  maxBuffered_bytes: 'number',
  rate: 'object',
  idle_ms: 'number',
  inherits: 'boolean',
} as const

function checkListener({ tls, ...options }: ListenOptions): void {
  const what = `listener ${options.name}`
  members(what, options, listenMembers)
  checkAddress(what, options, 0)
  if (tls !== undefined && typeof tls !== 'function') argument(`${what}: its tls`, tls, 'object')
}

function checkAddress(what: string, { host, port }: { host: string; port: number }, least: number): void {
  argument(`${what}: its host`, host, 'string')
  if (!Number.isInteger(port) || port < least || port > 65_535)
    throw new Error(`${what}: its port is ${least} to 65535, not ${JSON.stringify(port)}`)
}

/** Closes a socket that opened while the plugin stopped. @throws RTK_ERR_ABORTED */
function notStopped({ name, scope }: Instance, what: string, close: () => void): void {
  if (!scope.signal.aborted) return
  close()
  throw new RtkError('RTK_ERR_ABORTED', `${name}: ${what} is not opened, as the plugin is stopping`)
}

/** Sockets of one instance. They close with it; one that was ended still sends what was written, for a while. */
function ownSockets(instance: Instance, { network, clock }: ContextHost): NetworkPort {
  const { scope } = instance
  const own = (socket: Socket) => {
    const close = scope.own('connection', () => {
      if (!socket.writableEnded) socket.destroy()
      if (socket.destroyed) return
      // A peer that does not end in its turn would keep the socket, and the code of the plugin with it.
      const late = clock.timer(endLimit_ms, () => socket.destroy())
      socket.once('close', () => void late())
    })
    socket.once('close', close)
    return socket
  }
  return {
    dial(options: DialOptions) {
      opening(instance, 'a connection')
      checkAddress('connection', options, 1)
      return own(network.dial(options))
    },
    async bind(options: BindOptions, connected) {
      opening(instance, 'a TCP server')
      checkAddress('TCP server', options, 0)
      const bound = await network.bind(options, (socket) => {
        if (scope.closed) socket.destroy()
        else connected(own(socket))
      })
      notStopped(instance, 'a TCP server', () => void bound.close())
      const close = scope.own('TCP server', bound.close)
      return { address: bound.address, close: async () => void (await close()) }
    },
    async datagram(options: DatagramOptions) {
      opening(instance, 'a UDP socket')
      checkAddress('UDP socket', options, 0)
      const socket = await network.datagram(options)
      const close = () => {
        try {
          socket.close()
        } catch {
          // It was closed already.
        }
      }
      notStopped(instance, 'a UDP socket', close)
      socket.once('close', scope.own('UDP socket', close))
      return socket
    },
    resolve: (host) => network.resolve(host),
  }
}

/** `ctx.net`: sockets that end with the plugin, and listeners with sockets owned by the runtime. */
export function netOf(instance: Instance, host: ContextHost, errors: PluginContext['errors']): PluginContext['net'] {
  const { listeners } = host
  return {
    ...ownSockets(instance, host),
    listen(options, onConnection) {
      argument('listener: its options', options, 'object')
      argument('listener: its name', options.name, 'string')
      opening(instance, `listener ${options.name}`)
      checkListener(options)
      argument(`listener ${options.name}: its function`, onConnection, 'function')
      const code = `listen-${options.name}`
      const report = (trouble: ErrorValues | undefined) => void errors.while(code, trouble)
      return listeners.listen(instance, options, onConnection, report, instance.live)
    },
  }
}

/** `ctx.fetch`: HTTP with limits; its connections go with the plugin. */
export function fetchOf({ scope }: Instance, { network, clock }: ContextHost): PluginContext['fetch'] {
  let fetcher: Fetcher | undefined
  return async (url, options) => {
    if (!fetcher) {
      const own = new Fetcher(network, clock, scope.signal)
      scope.own('connections of fetch', () => own.close())
      fetcher = own
    }
    return fetcher.fetch(url, options)
  }
}
