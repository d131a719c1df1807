/** The network of this machine. */
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { connect as connectTcp, createServer, isIP, isIPv6, type LookupFunction } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Bound, HostAddress, NetworkPort, Resolve } from './network.js'

/** Time limit of an address before the next one of the same name is tried: Node's 250 ms are too short for cellular. */
const eachAddress_ms = 2_000
const keepAliveDelay_ms = 30_000

/** `resolve` as Node's sockets call it. */
const lookupBy =
  (resolve: Resolve): LookupFunction =>
  (host, { all }, done) => {
    resolve(host).then(
      (found) => {
        const [first] = found
        // Node's sockets throw at an empty answer.
        if (!first) done(Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' }), [])
        else if (all) done(null, [...found])
        else done(null, first.address, first.family)
      },
      (error) => done(error, []),
    )
  }

export const systemNetwork: NetworkPort = {
  dial({ host, port, tls, resolve }) {
    const address = {
      ...{ host, port, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: eachAddress_ms },
      ...(resolve && { lookup: lookupBy(resolve) }),
    }
    if (tls === undefined) return connectTcp(address)
    const servername = isIP(host) === 0 ? { servername: host } : {}
    return connectTls({ rejectUnauthorized: true, ...servername, ...address, ...tls })
  },

  bind({ host, port, halfOpen = false }, connected) {
    const server = createServer({
      ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveDelay_ms },
      allowHalfOpen: halfOpen,
    })
    server.on('connection', (socket) => {
      socket.on('error', () => {})
      connected(socket)
    })
    return new Promise<Bound>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, () => {
        server.off('error', reject)
        // Errors of accept(), e.g. too many open files: clients wait in the system's queue meanwhile.
        server.on('error', () => {})
        const own = server.address() as { address: string; port: number }
        resolve({
          address: { host: own.address, port: own.port },
          close() {
            // Connections stay open, so its `close` event may be hours away; the address is free at once.
            server.close()
            return new Promise((closed) => setImmediate(closed))
          },
        })
      })
    })
  },

  async datagram({ host, port, shared = false }) {
    const family = isIPv6(host) ? 6 : 4
    // Peers are addresses: a look-up for every datagram would cost more than the datagram.
    const socket = createSocket({
      ...{ type: `udp${family}`, reuseAddr: shared },
      lookup: (address, _options, done) => done(null, address, family),
    })
    await new Promise<void>((resolve, reject) => {
      socket.once('error', (error) => {
        socket.close()
        reject(error)
      })
      socket.bind(port, host, () => {
        socket.removeAllListeners('error')
        resolve()
      })
    })
    return socket
  },

  resolve: async (host) => (await lookup(host, { all: true, verbatim: true })) as HostAddress[],
}
