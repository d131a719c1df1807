/** Hands frames to the receiver in batches: many small writes starve it on a slow line. */
const batch_ms = 50
const batch_bytes = 4096

export interface ForwarderDeps {
  after(ms: number, fn: () => void): () => void | Promise<void>
  /** False when the receiver cannot accept them now. */
  send(frames: Uint8Array): boolean
  /** The receiver began to reject them, or accepts them again. */
  changed(taken: boolean): void
}

export class Forwarder {
  readonly #deps: ForwarderDeps
  #waiting: Uint8Array[] = []
  #bytes = 0
  #timer: (() => void | Promise<void>) | undefined
  #taken: boolean = true

  constructor(deps: ForwarderDeps) {
    this.#deps = deps
  }

  /** @param frame copied: it may be a view into a packet that is used again */
  push(frame: Uint8Array): void {
    this.#waiting.push(Uint8Array.from(frame))
    this.#bytes += frame.length
    if (this.#bytes >= batch_bytes) this.flush()
    else this.#timer ??= this.#deps.after(batch_ms, () => this.flush())
  }

  /** Whole frames leave together. What the receiver does not accept is lost: old corrections are worth nothing. */
  flush(): void {
    void this.#timer?.()
    this.#timer = undefined
    if (this.#bytes === 0) return
    const batch = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#bytes = 0
    const taken = this.#deps.send(batch)
    if (taken === this.#taken) return
    this.#taken = taken
    this.#deps.changed(taken)
  }
}
