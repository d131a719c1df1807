import { epochUtc_ms, Framer, isObservation, referencePoint } from 'rtk-base/gnss'
import type { Ecef, RtcmFrame } from 'rtk-base/services'

/** An epoch of all constellations and signals has 8 kB. */
export const largest_bytes = 65_536
/** Messages of one publication: reference messages, and an epoch whose constellations are split. */
const mostFrames = 128

/** The frames of one publication. */
export interface Publication {
  readonly frames: readonly RtcmFrame[]
  /** When its newest and its oldest observations were made, UTC ms; undefined: it has none. */
  readonly newest_ms: number | undefined
  readonly oldest_ms: number | undefined
  /** Of each 1005 and 1006; undefined: it cannot be read. */
  readonly positions: readonly (Ecef | undefined)[]
  /** Bytes that belong to no RTCM frame, and observations without a time. */
  readonly garbage_bytes: number
}

/**
 * Reads a payload of `base/{SN}/drtk`. Nothing of it is kept from one publication to the next.
 * @param utc_ms times in the messages are those nearest to it
 */
export function readPublication(payload: Uint8Array, now_ms: number, utc_ms: number, leap_s: number): Publication {
  const frames: RtcmFrame[] = []
  const positions: (Ecef | undefined)[] = []
  let newest_ms: number | undefined
  let oldest_ms: number | undefined
  let kept_bytes = 0
  const framer = new Framer({
    onFrame(frame) {
      if (frame.kind !== 'rtcm' || frame.type === 0 || frames.length >= mostFrames) return
      const { type, bytes } = frame
      if (isObservation(type)) {
        const at_ms = epochUtc_ms(bytes, utc_ms, leap_s)
        if (at_ms === undefined) return
        newest_ms = Math.max(at_ms, newest_ms ?? at_ms)
        oldest_ms = Math.min(at_ms, oldest_ms ?? at_ms)
      }
      if (type === 1005 || type === 1006) positions.push(referencePoint(bytes)?.arp)
      kept_bytes += bytes.length
      frames.push({ type, bytes, arrival_ms: now_ms })
    },
  })
  framer.push(payload, now_ms)
  framer.flush()
  return { frames, newest_ms, oldest_ms, positions, garbage_bytes: payload.length - kept_bytes }
}
