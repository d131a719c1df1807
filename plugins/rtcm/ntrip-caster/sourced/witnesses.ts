/** Which epochs a rover has acknowledged, by TCP: the kernel has the bytes that wait for it. */
import type { TcpQueues } from 'rtk-base/link'
import type { Rover } from '../mount.js'

/** Rovers of a mountpoint that are followed: one that acknowledges is enough to know that the epoch got through. */
const mostFollowed = 4
/** Epochs that wait for an acknowledgement: two minutes at one a second. Older ones count as lost. */
const mostWaiting = 128

interface Witness {
  /** Bytes written to it by the end of each epoch, and the number of the epoch. */
  readonly marks: { readonly bytes: number; readonly epoch: number }[]
}

/** Follows a few rovers of one mountpoint. */
export class Witnesses {
  readonly #followed = new Map<Rover, Witness>()
  #epoch = 0
  /** Epochs that nobody has acknowledged yet. */
  readonly #waiting = new Set<number>()

  /** An epoch was written to the primed of these rovers. */
  wrote(rovers: Iterable<Rover>): void {
    const epoch = ++this.#epoch
    this.#waiting.add(epoch)
    if (this.#waiting.size > mostWaiting) this.#waiting.delete(this.#waiting.values().next().value as number)
    if (this.#followed.size < mostFollowed) {
      for (const rover of rovers) {
        if (this.#followed.size >= mostFollowed) break
        if (rover.primed && !this.#followed.has(rover)) this.#followed.set(rover, { marks: [] })
      }
    }
    for (const [rover, { marks }] of this.#followed) {
      if (!rover.primed) continue
      marks.push({ bytes: rover.connection.socket.bytesWritten, epoch })
      // It acknowledges nothing: another one is followed instead.
      if (marks.length > mostWaiting) this.#followed.delete(rover)
    }
  }

  delete(rover: Rover): void {
    this.#followed.delete(rover)
  }

  clear(): void {
    this.#followed.clear()
    this.#waiting.clear()
  }

  /** @returns how many epochs were acknowledged for the first time */
  acknowledged(queues: TcpQueues): number {
    let epochs = 0
    for (const [rover, { marks }] of this.#followed) {
      const { socket } = rover.connection
      const queue = queues(socket)
      // Without evidence nothing is acknowledged.
      if (queue === undefined) continue
      const isAll = queue === 0 && socket.writableLength === 0
      // Over TLS the written bytes are counted before encryption: only an empty queue says something there.
      const acknowledged = 'encrypted' in socket ? -1 : socket.bytesWritten - socket.writableLength - queue
      while (marks[0] && (isAll || marks[0].bytes <= acknowledged)) {
        if (this.#waiting.delete((marks.shift() as { epoch: number }).epoch)) epochs += 1
      }
    }
    return epochs
  }
}
