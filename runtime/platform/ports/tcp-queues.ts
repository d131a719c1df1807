/**
 * Data that the other end of a connection has not acknowledged, from the kernel's send queue: `tx_queue` of /proc/net/tcp and tcp6,
 * the only place where Linux shows it without privileges.
 */
import { readFile } from 'node:fs/promises'
import type { Socket } from './network.js'

/** A socket that is not of the system tells its own unacknowledged bytes by this member. */
export const unacknowledged = Symbol('unacknowledged bytes')
type Queued = Pick<Socket, 'localPort' | 'remotePort'> & { readonly [unacknowledged]?: number }

/** @param remotePort both ports together name the connection; @returns undefined if it is not listed */
export function findQueue(table: string, localPort: number, remotePort: number): number | undefined {
  const port = (value: number) => value.toString(16).toUpperCase().padStart(4, '0')
  const local = `:${port(localPort)}`
  const remote = `:${port(remotePort)}`
  for (const line of table.split('\n')) {
    const [, own, other, , queues] = line.trim().split(/\s+/)
    if (own?.endsWith(local) && other?.endsWith(remote) && queues)
      return Number.parseInt(queues.split(':')[0] ?? '', 16)
  }
  return undefined
}

/** Bytes of a connection that the system holds and the other end has not acknowledged; undefined: unknown. */
export async function queueOf({ localPort, remotePort, [unacknowledged]: own }: Queued): Promise<number | undefined> {
  if (own !== undefined) return own
  if (!localPort || !remotePort) return undefined
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const found = findQueue(await readFile(file, 'latin1').catch(() => ''), localPort, remotePort)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Reads the send queues of all connections once. `queueOf` would read the table again for each connection. If two
 * connections have the same ports, the longer queue counts.
 * @returns a function that returns the bytes that the other end of a connection has not acknowledged; undefined:
 *   unknown
 */
export async function tcpQueues(): Promise<(socket: Queued) => number | undefined> {
  const queues = new Map<string, number>()
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await readFile(file, 'latin1').catch(() => '')).split('\n')) {
      const [, own = '', other = '', , both = ''] = line.trim().split(/\s+/)
      const queue = Number.parseInt(both.split(':')[0] ?? '', 16)
      if (Number.isNaN(queue)) continue
      const key = `${Number.parseInt(own.slice(-4), 16)} ${Number.parseInt(other.slice(-4), 16)}`
      queues.set(key, Math.max(queue, queues.get(key) ?? 0))
    }
  }
  return ({ localPort, remotePort, [unacknowledged]: own }) => own ?? queues.get(`${localPort} ${remotePort}`)
}
