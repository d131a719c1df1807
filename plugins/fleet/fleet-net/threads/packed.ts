/** What was recorded of a station, in the form in which it goes to another thread: moved as a whole, not copied frame by frame. */
import type { Baseline, RecordedFrame, Station } from 'rtk-base/baseline'

export interface PackedStation extends Omit<Station, 'frames'> {
  /** Of all frames, one after the other. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly lengths: Uint32Array<ArrayBuffer>
  readonly times_s: Float64Array<ArrayBuffer>
}

export interface ToThread {
  readonly from: PackedStation
  readonly to: PackedStation
}

/** `failed`: the message of an error of the computation. */
export type FromThread = { readonly took_s: number } & ({ readonly found: Baseline } | { readonly failed: string })

export function packed({ frames, ...station }: Station): PackedStation {
  const bytes = new Uint8Array(frames.reduce((sum, { frame }) => sum + frame.length, 0))
  let at = 0
  for (const { frame } of frames) {
    bytes.set(frame, at)
    at += frame.length
  }
  return {
    ...{ ...station, bytes, lengths: Uint32Array.from(frames, ({ frame }) => frame.length) },
    times_s: Float64Array.from(frames, ({ now_s }) => now_s),
  }
}

export const buffersOf = ({ bytes, lengths, times_s }: PackedStation): ArrayBuffer[] => [
  ...[bytes.buffer, lengths.buffer, times_s.buffer],
]

export function unpacked({ bytes, lengths, times_s, ...station }: PackedStation): Station {
  const frames: RecordedFrame[] = []
  let at = 0
  for (const [n, length] of lengths.entries()) {
    frames.push({ frame: bytes.subarray(at, at + length), now_s: times_s[n] ?? 0 })
    at += length
  }
  return { ...station, frames }
}
