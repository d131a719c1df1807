import { encodeUbx } from 'rtk-base/gnss'

/** Class and id as one number, for tables. */
export function messageKey(cls: number, id: number): number {
  return (cls << 8) | id
}

/** The payload inside a whole, verified UBX frame. */
export function payloadOf(frame: Uint8Array): Uint8Array {
  return frame.subarray(6, Math.max(6, frame.length - 2))
}

/** A whole frame. */
export const ubxFrame = encodeUbx
