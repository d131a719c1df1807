/** The UBX frame: `B5 62 | class | id | length u16 LE | payload | CK_A CK_B` (u-blox F9 interface description, §3.2). */

/**
 * The 8-bit Fletcher sum of `bytes[start..end)`, in its wire order read as little-endian: `CK_A | CK_B << 8`.
 *
 * A and B are sums modulo 256; int32 overflow wraps modulo 2^32 and does not disturb that, so they are reduced once.
 */
export function fletcher8(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let a = 0
  let b = 0
  let i = start
  for (const last = end - 3; i < last; i += 4) {
    const b0 = bytes[i]
    const b1 = bytes[i + 1]
    const b2 = bytes[i + 2]
    const b3 = bytes[i + 3]
    b = (b + ((a + b0) << 2) + (b1 << 1) + b1 + (b2 << 1) + b3) | 0
    a = (a + b0 + b1 + b2 + b3) | 0
  }
  for (; i < end; i++) {
    a = (a + bytes[i]) | 0
    b = (b + a) | 0
  }
  return (a & 255) | ((b & 255) << 8)
}

/** A whole UBX frame. */
export function encodeUbx(cls: number, id: number, payload: Uint8Array = new Uint8Array(0)): Uint8Array {
  const size = payload.length
  const frame = new Uint8Array(size + 8)
  frame.set([0xb5, 0x62, cls, id, size & 255, size >> 8])
  frame.set(payload, 6)
  const sum = fletcher8(frame, 2, size + 6)
  frame[size + 6] = sum & 255
  frame[size + 7] = sum >> 8
  return frame
}
