import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'

/** A TCP connection that a test can break as networks do. */
export interface TcpProxy {
  readonly port: number
  /** Nothing goes through any more, in neither direction, and nobody is told; new connections hang as well. */
  blackhole(on: boolean): void
  /** Every connection is reset. */
  cut(): void
  /** Connections that were made so far. */
  readonly connections: number
}

/** Passes connections on to a port of loopback, or to the path of a socket. */
export async function startTcpProxy(t: Test, target: number | string): Promise<TcpProxy> {
  const pairs = new Set<[Socket, Socket]>()
  let dark = false
  let connections = 0
  const server = createServer((near) => {
    connections++
    const far = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target)
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      // Read and thrown away: a window that fills up would be noticed by whoever writes.
      from.on('data', (chunk) => {
        if (!dark) to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        if (!dark) to.destroy()
        pairs.delete(pair)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
  }
  t.teardown(() => {
    cut()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    blackhole: (on) => {
      dark = on
    },
    cut,
    get connections() {
      return connections
    },
  }
}
