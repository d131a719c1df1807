/** Whether the other end of a connection still acknowledges: TCP itself reports a cut line only after a quarter of an hour. */
import type { Dispose } from '../../../../schemas/event.js'
import type { Socket } from '../../../platform/ports/network.js'
import { queueOf } from '../../../platform/ports/tcp-queues.js'
import type { Edges } from '../../../platform/time/edges.js'
import { AwakeClock } from '../../../platform/time/edges.js'

/** After this long without an acknowledgement of sent data, the line is cut or its other end has stopped reading. */
const unacknowledged_ms = 25_000

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
  /** What had been written when all of it was acknowledged. */
  #allAt: number | undefined

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
    const written = socket.bytesWritten
    // A read of the system's table costs milliseconds, and most connections only receive.
    const isNothingNew = written === this.#allAt && socket.writableLength === 0
    const queue = isNothingNew ? 0 : await queueOf(socket)
    if (queue === undefined) return undefined
    // Over TLS the bytes written are counted before encryption: an empty queue counts there.
    const bytes = socket.bytesWritten - socket.writableLength - queue
    const isAllAcknowledged = queue === 0 && socket.writableLength === 0
    this.#allAt = isAllAcknowledged ? written : undefined
    if (bytes <= this.#bytes && !isAllAcknowledged) return now_ms - this.#at_ms
    this.#bytes = bytes
    this.#at_ms = now_ms
    return 0
  }
}

/** The reason in words for closing a connection whose other end acknowledged nothing for this long. */
const cutText = (silent_ms: number): string =>
  `nothing acknowledged for ${Math.round(silent_ms / 1000)} s: the line is cut, or the other end takes nothing`

/**
 * Watches a connection and reports when its line is cut, until the returned function is called.
 * @param cut called once, with the reason
 * @param examined called at each look before that, with the time without an acknowledgement of waiting data
 */
export function whenCut(
  { clock, timers }: Edges,
  socket: Socket,
  cut: (reason: string) => void,
  examined?: (silent_ms: number) => void,
): Dispose {
  const acknowledgement = new Acknowledgement(socket, clock)
  let isOver = false
  const stop = timers.every(Acknowledgement.every_ms, async () => {
    const silent_ms = await acknowledgement.look()
    if (silent_ms === undefined || socket.destroyed || isOver) return
    if (silent_ms < unacknowledged_ms) return examined?.(silent_ms)
    end()
    cut(cutText(silent_ms))
  })
  const end = () => {
    isOver = true
    void stop()
  }
  return end
}
