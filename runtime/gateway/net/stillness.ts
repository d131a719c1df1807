import type { Socket } from 'node:net'

/**
 * For how long no byte moved over a connection, in either direction. It is asked now and then: a timer for each
 * connection, reset with every byte, would cost a tenth of a request by HTTP.
 */
export class Stillness {
  readonly #socket: Socket
  #moved = -1
  #since_ms = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Since the last call that saw a movement; the first one begins. */
  for_ms(now_ms: number): number {
    const { bytesRead, bytesWritten, writableLength } = this.#socket
    const moved = bytesRead + bytesWritten - writableLength
    if (moved !== this.#moved) [this.#moved, this.#since_ms] = [moved, now_ms]
    return now_ms - this.#since_ms
  }
}
