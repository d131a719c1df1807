/**
 * The framings of a Unicore receiver (Nebulas IV: UM980, UM981, UM982): lines of text and binary logs.
 * @see Unicore N4 Reference Commands Manual, "Message formats"; held against recordings of a UM980
 */
import { crc32 } from 'node:zlib'
import type { Framing } from '../framer.js'

const [lineFeed, star] = [0x0a, 0x2a]
/** The longest line recorded has 250 bytes. */
const longest_bytes = 1024
const headerSize = 24

/** CRC-32 of binary logs and of ASCII logs: it begins at 0 and is not inverted, unlike that of zlib. */
const crcOf = (bytes: Uint8Array) => (crc32(bytes, 0xffffffff) ^ 0xffffffff) >>> 0

/** XOR of a line up to its `*`. It includes the first character, unlike that of NMEA. */
const xorOf = (bytes: Uint8Array) => bytes.reduce((sum, byte) => sum ^ byte, 0)

/** `$command,MODE,response: OK*5D`, `$CONFIG,…*hh`, `#MODE,…*hh`, `#VERSIONA,…*hhhhhhhh`, each with CR LF. */
export const unicoreLine: Framing = {
  kind: 'unicore-line',
  starts: [0x23, 0x24],
  size(bytes, at, end) {
    const last = bytes.subarray(at, Math.min(end, at + longest_bytes)).indexOf(lineFeed)
    if (last >= 0) return last + 1
    return end - at < longest_bytes ? 'unknown yet' : 'none'
  },
  check(bytes, at, size) {
    const text = bytes.subarray(at, at + size)
    const end = text.lastIndexOf(star)
    const given = new TextDecoder('latin1').decode(text.subarray(end + 1)).trimEnd()
    if (end < 0 || !/^([0-9a-f]{2}|[0-9a-f]{8})$/i.test(given)) return false
    const value = Number.parseInt(given, 16)
    // The CRC of a log leaves its # out.
    return given.length === 2 ? value === xorOf(text.subarray(0, end)) : value === crcOf(text.subarray(1, end))
  },
}

/** AA 44 B5, a header of 24 bytes (message number at byte 4, length of the body at byte 6), the body, a CRC-32. */
export const unicoreLog: Framing = {
  kind: 'unicore-log',
  starts: [0xaa],
  // OBSVM has 40 bytes for each signal; a UM980 tracks more than 200.
  largest_bytes: 16_384,
  size(bytes, at, end) {
    if (end - at > 2 && (bytes[at + 1] !== 0x44 || bytes[at + 2] !== 0xb5)) return 'none'
    return end - at < 8 ? 'unknown yet' : headerSize + (bytes[at + 6] | (bytes[at + 7] << 8)) + 4
  },
  check(bytes, at, size) {
    const given = new DataView(bytes.buffer, bytes.byteOffset + at + size - 4, 4).getUint32(0, true)
    return given === crcOf(bytes.subarray(at, at + size - 4))
  },
}
