import { decodeMsmHeader, isMsm, moreFollows } from 'rtk-base/gnss'
import type { RtcmEpoch, RtcmFrame } from 'rtk-base/services'

/** An epoch whose last MSM never came is closed this long after the newest one. */
const close_ms = 250

/**
 * Groups MSM frames into epochs. An epoch closes at multiple-message bit 0, when a message number that it already holds
 * comes again, or 250 ms after its last MSM; no time is converted between constellations. Other frames belong to none.
 */
export class EpochGrouper {
  readonly #closed: (epoch: RtcmEpoch) => void
  readonly #after: (ms: number, fn: () => void) => () => void | Promise<void>
  #frames: RtcmFrame[] = []
  #timer: (() => void | Promise<void>) | undefined
  /** Counts epochs: the number of the one that is open, or comes next. */
  sequence = 0

  constructor(after: (ms: number, fn: () => void) => () => void | Promise<void>, closed: (epoch: RtcmEpoch) => void) {
    this.#after = after
    this.#closed = closed
  }

  push(frame: RtcmFrame): void {
    if (!isMsm(frame.type)) return
    if (this.#frames.some(({ type }) => type === frame.type)) this.#close(false)
    this.#frames.push(frame)
    void this.#timer?.()
    this.#timer = undefined
    if (moreFollows(frame.bytes)) this.#timer = this.#after(close_ms, () => this.#close(false))
    else this.#close(true)
  }

  /** Forgets the open epoch: what was gathered may not go out. */
  reset(): void {
    void this.#timer?.()
    this.#timer = undefined
    this.#frames = []
    this.sequence += 1
  }

  #close(complete: boolean): void {
    const frames = this.#frames
    this.reset()
    if (frames.length === 0) return
    const headers = frames.map(({ bytes }) => decodeMsmHeader(bytes))
    this.#closed({
      frames,
      complete,
      time: headers[0]?.epochTime ?? 0,
      satellites: headers.reduce((sum, header) => sum + (header?.satellites.length ?? 0), 0),
    })
  }
}
