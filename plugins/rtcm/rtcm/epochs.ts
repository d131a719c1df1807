import { decodeMsmHeader, isMsm, moreFollows } from 'rtk-base/gnss'
import type { RtcmEpoch, RtcmFrame } from 'rtk-base/services'

/** More messages than any receiver sends for one epoch. */
const mostFrames = 32
/** An epoch without its last MSM is closed this long after the newest MSM. */
const close_ms = 250

/**
 * Groups MSM frames into epochs. An epoch closes at multiple-message bit 0, when a message number that it already holds
 * comes again with another time, or 250 ms after its last MSM; no time is converted between constellations. A receiver may split
 * a constellation, as the UM980 does BeiDou: the same number and time twice. Other frames belong to none.
 */
export class EpochGrouper {
  readonly #closed: (epoch: RtcmEpoch) => void
  readonly #after: (ms: number, fn: () => void) => () => void | Promise<void>
  #frames: RtcmFrame[] = []
  #timer: (() => void | Promise<void>) | undefined
  /** Counts epochs: the number of the open or next epoch. */
  sequence = 0

  constructor(after: (ms: number, fn: () => void) => () => void | Promise<void>, closed: (epoch: RtcmEpoch) => void) {
    this.#after = after
    this.#closed = closed
  }

  push(frame: RtcmFrame): void {
    if (!isMsm(frame.type)) return
    const alike = this.#frames.find(({ type }) => type === frame.type)
    if ((alike && timeOf(alike) !== timeOf(frame)) || this.#frames.length >= mostFrames) this.#close(false)
    this.#frames.push(frame)
    void this.#timer?.()
    this.#timer = undefined
    if (moreFollows(frame.bytes)) this.#timer = this.#after(close_ms, () => this.#close(false))
    else this.#close(true)
  }

  /** Discards the open epoch: its frames may not be sent. */
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
    this.#closed(new Epoch(frames, complete))
  }
}

const timeOf = ({ bytes }: RtcmFrame) => decodeMsmHeader(bytes)?.epochTime

/** Decoded on demand: most subscribers only want the bytes, with minimum delay. */
class Epoch implements RtcmEpoch {
  readonly frames: readonly RtcmFrame[]
  readonly complete: boolean

  constructor(frames: readonly RtcmFrame[], complete: boolean) {
    this.frames = frames
    this.complete = complete
  }

  get time(): number {
    const [first] = this.frames
    return (first && timeOf(first)) ?? 0
  }

  get satellites(): number {
    return this.frames.reduce((sum, { bytes }) => sum + (decodeMsmHeader(bytes)?.satellites.length ?? 0), 0)
  }
}
