/**
 * The RTCM 3 frame (RTCM 10403.3 §4) and the fields in its first bytes. Every function with a parameter `frame` needs a
 * whole verified frame, from the 0xD3 to the last CRC byte.
 */
import { crc24q } from '../crc24q.js'

/** `D3 | 6 zero bits, 10 bits of length | payload | CRC-24Q`. @throws RangeError when the payload is above 1023 bytes */
export function encodeFrame(payload: Uint8Array): Uint8Array {
  const size = payload.length
  if (size > 1023) throw new RangeError(`an RTCM payload has at most 1023 bytes, not ${size}`)
  const frame = new Uint8Array(size + 6)
  frame.set([0xd3, size >> 8, size & 255])
  frame.set(payload, 3)
  const crc = crc24q(frame, 0, size + 3)
  frame.set([crc >> 16, (crc >> 8) & 255, crc & 255], size + 3)
  return frame
}

/** The CRC-24Q of a frame, to tell different frames apart. */
export function checksumOf(frame: Uint8Array): number {
  return ((frame.at(-3) ?? 0) << 16) | ((frame.at(-2) ?? 0) << 8) | (frame.at(-1) ?? 0)
}

/** 0-4095; 0 when the payload is too short to hold a number. */
export function messageNumber(frame: Uint8Array): number {
  return frame.length < 8 ? 0 : (frame[3] << 4) | (frame[4] >> 4)
}

/** Numbers without a station ID: ephemerides, state space corrections, and makers' own messages (4072 is u-blox). */
function hasStation(type: number): boolean {
  if (type === 1019 || type === 1020) return false
  return !((type >= 1041 && type <= 1046) || (type >= 1057 && type <= 1068) || type >= 4000)
}

/** The reference station ID, 0-4095; undefined for messages that have none. */
export function stationId(frame: Uint8Array): number | undefined {
  if (frame.length < 9 || !hasStation(messageNumber(frame))) return undefined
  return ((frame[4] & 15) << 8) | frame[5]
}
