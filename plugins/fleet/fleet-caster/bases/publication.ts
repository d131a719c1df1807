import { epochUtc_ms, type Frame, Framer, isObservation, isReferencePoint, referencePoint } from 'rtk-base/gnss'
import type { Ecef, RtcmFrame } from 'rtk-base/services'

/** Messages of one publication: reference messages, and an epoch whose constellations are split. */
const mostFrames = 128

/** The frames of one publication. */
export interface Publication {
  readonly frames: readonly RtcmFrame[]
  /** When its newest and its oldest observations were made, UTC ms; undefined: it has none. */
  readonly newest_ms: number | undefined
  readonly oldest_ms: number | undefined
  /** The positions in each 1005 and 1006; undefined: it cannot be read. */
  readonly positions: readonly (Ecef | undefined)[]
  /** Bytes that belong to no RTCM frame, and observations without a time. */
  readonly garbage_bytes: number
}

/** Reads payloads of `base/{SN}/drtk`, of all bases: nothing is kept from one to the next but the buffers, of 160 kB. */
export class PublicationReader {
  readonly #leap_s: number
  readonly #framer = new Framer({ onFrame: (frame) => this.#take(frame) })
  #utc_ms = 0
  #frames: RtcmFrame[] = []
  #positions: (Ecef | undefined)[] = []
  #newest_ms: number | undefined
  #oldest_ms: number | undefined

  /** @param leap_s GPS − UTC */
  constructor(leap_s: number) {
    this.#leap_s = leap_s
  }

  /** @param utc_ms times in the messages are those nearest to it */
  read(payload: Uint8Array, now_ms: number, utc_ms: number): Publication {
    this.#utc_ms = utc_ms
    this.#frames = []
    this.#positions = []
    this.#newest_ms = undefined
    this.#oldest_ms = undefined
    this.#framer.push(payload, now_ms)
    this.#framer.flush()
    const frames = this.#frames
    const garbage_bytes = frames.reduce((left, { bytes }) => left - bytes.length, payload.length)
    const [newest_ms, oldest_ms] = [this.#newest_ms, this.#oldest_ms]
    return { frames, newest_ms, oldest_ms, positions: this.#positions, garbage_bytes }
  }

  #take(frame: Frame): void {
    if (frame.kind !== 'rtcm' || frame.type === 0 || this.#frames.length >= mostFrames) return
    const { type, bytes } = frame
    if (isObservation(type)) {
      const at_ms = epochUtc_ms(bytes, this.#utc_ms, this.#leap_s)
      if (at_ms === undefined) return
      this.#newest_ms = Math.max(at_ms, this.#newest_ms ?? at_ms)
      this.#oldest_ms = Math.min(at_ms, this.#oldest_ms ?? at_ms)
    }
    if (isReferencePoint(type)) this.#positions.push(referencePoint(bytes)?.arp)
    this.#frames.push(frame)
  }
}
