const window_ms = 10_000

/** Counts what a peer sends: who sends more in 10 s than any of its kind does would cost the others their epochs. */
export class ByteLimit {
  readonly #most: number
  #from_ms: number
  #bytes = 0

  /** @param most_bytes in 10 s @param now_ms monotonic */
  constructor(most_bytes: number, now_ms: number) {
    this.#most = most_bytes
    this.#from_ms = now_ms
  }

  /** Counts these bytes. @returns true: too many */
  exceededBy(bytes: number, now_ms: number): boolean {
    if (now_ms - this.#from_ms >= window_ms) {
      this.#from_ms = now_ms
      this.#bytes = 0
    }
    this.#bytes += bytes
    return this.#bytes > this.#most
  }
}
