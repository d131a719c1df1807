/**
 * CRC-24Q of RTCM 3 (RTCM 10403.3 §4.2): polynomial 0x1864CFB, initial value 0, neither reflected nor inverted.
 *
 * The register is in the upper 24 bits of an int32, so that eight bytes are processed at a time. Row n of the table is
 * the effect of a byte followed by n more bytes.
 */
const rows = 8
const table = makeTable()

function makeTable(): Int32Array {
  const made = new Int32Array(rows * 256)
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte << 24
    for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ (0x864cfb << 8) : crc << 1
    made[byte] = crc
  }
  for (let i = 256; i < made.length; i++) {
    const previous = made[i - 256]
    made[i] = (previous << 8) ^ made[previous >>> 24]
  }
  return made
}

/** The CRC of `bytes[start..end)`, 0…0xFFFFFF. Over a whole frame, its own three CRC bytes included, it is 0. */
export function crc24q(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const t = table
  let crc = 0
  let i = start
  for (const last = end - 7; i < last; i += 8) {
    crc =
      t[1792 + (bytes[i] ^ (crc >>> 24))] ^
      t[1536 + (bytes[i + 1] ^ ((crc >>> 16) & 255))] ^
      t[1280 + (bytes[i + 2] ^ ((crc >>> 8) & 255))] ^
      t[1024 + bytes[i + 3]] ^
      t[768 + bytes[i + 4]] ^
      t[512 + bytes[i + 5]] ^
      t[256 + bytes[i + 6]] ^
      t[bytes[i + 7]]
  }
  for (; i < end; i++) crc = (crc << 8) ^ t[(crc >>> 24) ^ bytes[i]]
  return crc >>> 8
}
