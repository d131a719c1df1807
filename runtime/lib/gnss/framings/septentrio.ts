/**
 * The framings of a Septentrio receiver: SBF blocks and the replies to commands.
 * @see Septentrio mosaic reference guide, "SBF outline" and "Command line interface"; held against recordings of a mosaic-G5
 */
import type { Framing } from '../framer.js'

const dollar = 0x24
const blockHead = 8

/** Effect of a byte on a CRC-16 CCITT. */
const crcTable = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  return crc
})

/** CRC-16 CCITT, which begins at 0. */
function crc16(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0
  for (let at = from; at < to; at++) crc = ((crc << 8) & 0xffff) ^ (crcTable[(crc >> 8) ^ (bytes[at] ?? 0)] ?? 0)
  return crc
}

const u16 = (bytes: Uint8Array, at: number) => (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8)

/** `$@`, CRC, block number with revision, total length (a multiple of 4), body. */
export const sbf: Framing = {
  kind: 'sbf',
  starts: [dollar],
  size(bytes, at, end) {
    if (end - at > 1 && bytes[at + 1] !== 0x40) return 'none'
    if (end - at < blockHead) return 'unknown yet'
    const size = u16(bytes, at + 6)
    return size >= blockHead + 6 && size % 4 === 0 ? size : 'none'
  },
  check: (bytes, at, size) => u16(bytes, at + 2) === crc16(bytes, at + 4, at + size),
}

/** Longer than any that this driver asks for. */
const longest_bytes = 4096
/** `$R:` done, `$R?` refused, `$R!` done and said, `$R;` a listing follows; `$-- BLOCK` is a part of one. */
const beginning = /^\$(?:R[:;!?]|--)/
/** `USB1>` ends a reply, `---->` one of which more comes, `STOP>` that of a restart. */
const prompt = /\r\n(?:[A-Z]{2,4}\d{0,2}|----)>/
/** A block or a frame of RTCM began: the rest of the reply is lost. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const notText = /[\x00-\x08\x0e-\x1f]/
const latin1 = new TextDecoder('latin1')

/** The reply to a command. It has no checksum, so it is recognised by the echo of the command. */
export const septentrioReply: Framing = {
  kind: 'septentrio-reply',
  starts: [dollar],
  size(bytes, at, end) {
    // Before any text is decoded: on a noisy line most dollars begin something else.
    if (end - at > 1 && bytes[at + 1] !== 0x52 && bytes[at + 1] !== 0x2d) return 'none'
    const text = latin1.decode(bytes.subarray(at, Math.min(end, at + longest_bytes)))
    if (text.length > 2 && !beginning.test(text)) return 'none'
    const found = prompt.exec(text)
    if (found) return found.index + found[0].length
    if (notText.test(text)) return 'none'
    return end - at < longest_bytes ? 'unknown yet' : 'none'
  },
  check: () => true,
}
