import type { RtcmEpoch, RtcmFrame, RtcmStream } from 'rtk-base/services'

/** After this many epochs in a row that were not closed by their own last frame, every epoch counts as complete. */
const incompleteLimit = 10

/** Keeps the newest whole epoch and makes payloads of it. No I/O. */
export class Epochs {
  readonly #stream: Pick<RtcmStream, 'open' | 'reference'>
  #newest: RtcmEpoch | undefined
  #fresh = false
  #incompleteInRow = 0

  /** Counts how often the gate closed. */
  closings = 0

  constructor(stream: Pick<RtcmStream, 'open' | 'reference'>) {
    this.#stream = stream
  }

  onEpoch(epoch: RtcmEpoch): void {
    if (!this.#stream.open) return
    this.#incompleteInRow = epoch.complete ? 0 : this.#incompleteInRow + 1
    // Without this, nothing of a receiver that never marks the last frame of an epoch would be published.
    if (!epoch.complete && this.#incompleteInRow < incompleteLimit) return
    this.#newest = epoch
    this.#fresh = true
  }

  /** An epoch waits that is not published yet. */
  get fresh(): boolean {
    return this.#fresh
  }

  /** The newest reference messages and the newest epoch; undefined while there is none or the gate is closed. */
  payload(): Buffer | undefined {
    if (this.#newest === undefined) return undefined
    const frames: readonly RtcmFrame[] = [...this.#stream.reference(), ...this.#newest.frames]
    return Buffer.concat(frames.map(({ bytes }) => bytes))
  }

  published(): void {
    this.#fresh = false
  }

  /** The gate closed. An epoch from before must not be published after it opened again, which may be at once. */
  forget(): void {
    this.closings++
    this.#newest = undefined
    this.#fresh = false
  }
}
