/**
 * Data that the other end of a connection has not acknowledged, from the kernel's send queue: `tx_queue` of /proc/net/tcp and tcp6,
 * the only place where Linux shows it without privileges.
 */
import { readFile } from 'node:fs/promises'
import type { Socket } from './network.js'

/** A socket that is not of the system tells its own unacknowledged bytes by this member. */
export const unacknowledged = Symbol('unacknowledged bytes')
type Queued = Pick<Socket, 'localPort' | 'remotePort'> & { readonly [unacknowledged]?: number }

/** Bytes of a connection that the system holds and the other end has not acknowledged; undefined: unknown. */
export type TcpQueues = (socket: Queued) => number | undefined

/** @param tables texts of /proc/net/tcp. Both ports name a connection; if two connections have the same ports, the longer queue counts */
export function queuesIn(tables: readonly string[]): TcpQueues {
  const queues = new Map<string, number>()
  for (const table of tables) {
    for (const line of table.split('\n')) {
      const [, own = '', other = '', , both = ''] = line.trim().split(/\s+/)
      const queue = Number.parseInt(both.split(':')[0] ?? '', 16)
      if (Number.isNaN(queue)) continue
      const key = `${Number.parseInt(own.slice(-4), 16)} ${Number.parseInt(other.slice(-4), 16)}`
      queues.set(key, Math.max(queue, queues.get(key) ?? 0))
    }
  }
  return ({ localPort, remotePort, [unacknowledged]: own }) => own ?? queues.get(`${localPort} ${remotePort}`)
}

let next: Promise<TcpQueues> | undefined

/** The queues of all connections. Whoever asks in the same turn shares one read: the kernel needs milliseconds for the table. */
export function tcpQueues(): Promise<TcpQueues> {
  next ??= Promise.resolve().then(async () => {
    next = undefined
    const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'latin1').catch(() => ''))
    return queuesIn(await Promise.all(tables))
  })
  return next
}

/** As `TcpQueues`, for one connection. */
export async function queueOf(socket: Queued): Promise<number | undefined> {
  return socket[unacknowledged] ?? (await tcpQueues())(socket)
}
