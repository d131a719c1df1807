/**
 * What the kernel has of a connection and the other end has not acknowledged: `tx_queue` of /proc/net/tcp and tcp6, the only place where
 * Linux shows it without privileges. A cut line shows no error for a quarter of an hour.
 */
import { readFile } from 'node:fs/promises'

/** @param remotePort both ports together name the connection; @returns undefined where it is not listed */
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

export async function unacknowledged(localPort: number, remotePort: number): Promise<number | undefined> {
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const found = findQueue(await readFile(file, 'latin1').catch(() => ''), localPort, remotePort)
    if (found !== undefined) return found
  }
  return undefined
}
