import { isMsm, messageNumber, moreFollows } from 'rtk-base/gnss'
import { Budget, type Rate } from 'rtk-base/link'

/** Many small writes starve the receiver on a slow line. */
const batch_ms = 50
/** Input limit of a receiver; a base that sends every constellation once a second needs at most 2 kB/s. */
export const receiverInputRate: Rate = { bytes_s: 4_096, burst_bytes: 8_192, packets_s: 100 }

export interface ForwarderDeps {
  now_ms(): number
  after(ms: number, fn: () => void): () => void | Promise<void>
  /** False when the receiver cannot accept them now. */
  send(frames: Uint8Array): boolean
  /** The receiver began to reject them, or accepts them again. */
  changed(taken: boolean): void
}

/** Frames up to the last MSM of an epoch. */
interface Batch {
  frames: Uint8Array[]
  bytes: number
  isWhole: boolean
}

/** Hands frames to the receiver, epoch by epoch. Where more comes than it is to be given, the older epochs are left out. */
export class Forwarder {
  readonly #deps: ForwarderDeps
  readonly #budget: Budget
  #waiting: Batch[] = []
  #bytes = 0
  #timer: (() => void | Promise<void>) | undefined
  #taken: boolean = true

  constructor(deps: ForwarderDeps) {
    this.#deps = deps
    this.#budget = new Budget(receiverInputRate, deps.now_ms())
  }

  /** @param frame copied: it may be a view into a packet that is used again */
  push(frame: Uint8Array): void {
    const type = messageNumber(frame)
    let batch = this.#waiting.at(-1)
    // A batch without an end is none that a receiver could use.
    if (batch === undefined || batch.isWhole || batch.bytes + frame.length > receiverInputRate.burst_bytes) {
      batch = { frames: [], bytes: 0, isWhole: false }
      this.#waiting.push(batch)
    }
    batch.frames.push(Uint8Array.from(frame))
    batch.bytes += frame.length
    this.#bytes += frame.length
    while (this.#bytes > receiverInputRate.burst_bytes && this.#waiting.length > 1) this.#next()
    batch.isWhole = isMsm(type) && !moreFollows(frame)
    this.#timer ??= this.#deps.after(batch_ms, () => this.flush())
  }

  /** Data rejected by the receiver is dropped: old corrections are useless. */
  flush(): void {
    void this.#timer?.()
    this.#timer = undefined
    while (this.#waiting.length > 0) {
      const { frames, bytes } = this.#waiting[0] as Batch
      if (!this.#budget.admits(bytes, this.#deps.now_ms(), frames.length)) {
        this.#timer = this.#deps.after(batch_ms, () => this.flush())
        return
      }
      this.#next()
      this.#hand(Buffer.concat(frames))
    }
  }

  #next(): void {
    this.#bytes -= this.#waiting.shift()?.bytes ?? 0
  }

  #hand(batch: Uint8Array): void {
    const taken = this.#deps.send(batch)
    if (taken === this.#taken) return
    this.#taken = taken
    this.#deps.changed(taken)
  }
}
