/**
 * Data that the other end of a connection has acknowledged, derived from the kernel's send queue: `tx_queue` of
 * /proc/net/tcp and tcp6, the only place where Linux shows it without privileges. TCP itself reports a cut line only
 * after a quarter of an hour.
 */
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Edges } from '../../../platform/time/edges.js'
import { AwakeClock } from '../../../platform/time/edges.js'
import type { Dispose } from '../../../plugin.js'

/** After this long without an acknowledgement of sent data, the line is cut or its other end has stopped reading. */
export const unacknowledged_ms = 25_000

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
export async function queueOf({
  localPort,
  remotePort,
}: Pick<Socket, 'localPort' | 'remotePort'>): Promise<number | undefined> {
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
export async function tcpQueues(): Promise<(socket: Pick<Socket, 'localPort' | 'remotePort'>) => number | undefined> {
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
  return ({ localPort, remotePort }) => queues.get(`${localPort} ${remotePort}`)
}

/**
 * Follows one connection. Time in which this process was blocked does not count, because the process could not write
 * then.
 */
export class Acknowledgement {
  /** Interval at which to call `look`. */
  static readonly every_ms = 5_000
  readonly #socket: Socket
  readonly #clock: AwakeClock
  #bytes: number
  #at_ms: number

  constructor(socket: Socket, clock: Edges['clock']) {
    this.#socket = socket
    this.#clock = new AwakeClock(clock, Acknowledgement.every_ms)
    this.#bytes = socket.bytesWritten
    this.#at_ms = this.#clock.monotonic()
  }

  /**
   * To be called every `every_ms`.
   * @returns time without an acknowledgement of waiting data, ms. 0: some data was acknowledged, or none waits.
   * Undefined: unknown
   */
  async look(): Promise<number | undefined> {
    const socket = this.#socket
    const now_ms = this.#clock.monotonic()
    const queue = await queueOf(socket)
    if (queue === undefined) return undefined
    // Over TLS the bytes written are counted before encryption: an empty queue counts there.
    const bytes = socket.bytesWritten - socket.writableLength - queue
    const isAllAcknowledged = queue === 0 && socket.writableLength === 0
    if (bytes <= this.#bytes && !isAllAcknowledged) return now_ms - this.#at_ms
    this.#bytes = bytes
    this.#at_ms = now_ms
    return 0
  }
}

/** The reason in words for closing a connection whose other end acknowledged nothing for this long. */
export const cutText = (silent_ms: number): string =>
  `nothing acknowledged for ${Math.round(silent_ms / 1000)} s: the line is cut, or the other end takes nothing`

/**
 * Watches a connection and reports when its line is cut, until the returned function is called.
 * @param cut called once, with the reason
 */
export function whenCut({ clock, timers }: Edges, socket: Socket, cut: (reason: string) => void): Dispose {
  const acknowledgement = new Acknowledgement(socket, clock)
  const stop = timers.every(Acknowledgement.every_ms, async () => {
    const silent_ms = await acknowledgement.look()
    if (silent_ms === undefined || silent_ms < unacknowledged_ms || socket.destroyed) return
    void stop()
    cut(cutText(silent_ms))
  })
  return stop
}
