/** Logs and lines of a Unicore receiver, without their frames. @see the framings `unicoreLine` and `unicoreLog` of rtk-base/gnss */

const star = 0x2a
const headerSize = 24

/** A binary log without its frame. */
export interface Log {
  readonly id: number
  /** GPS week and milliseconds of the week; undefined while the receiver has no time. */
  readonly time: { readonly week: number; readonly tow_ms: number } | undefined
  /** GPS − UTC; 0 unknown. */
  readonly leap_s: number
  readonly body: DataView
}

/** Time status of a header from which on the time is right: FINE, as recorded. */
const fine = 160

export function readLog(frame: Uint8Array): Log {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength)
  const isTimed = view.getUint8(9) >= fine
  return {
    id: view.getUint16(4, true),
    time: isTimed ? { week: view.getUint16(10, true), tow_ms: view.getUint32(12, true) } : undefined,
    leap_s: view.getUint8(21),
    body: new DataView(frame.buffer, frame.byteOffset + headerSize, frame.byteLength - headerSize - 4),
  }
}

/** A line without its checksum. */
export const readLine = (frame: Uint8Array): string =>
  new TextDecoder('latin1').decode(frame.subarray(0, frame.lastIndexOf(star)))

/** A command as the receiver takes it: without CR it ignores it. */
export const command = (text: string): Uint8Array => new TextEncoder().encode(`${text}\r\n`)
