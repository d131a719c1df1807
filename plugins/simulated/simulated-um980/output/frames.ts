/** How a UM980 wraps what it says: lines with an XOR, logs as text or binary with a CRC (recorded). */

/** GPS time as the headers have it. */
export interface LogTime {
  /** Undefined: not known yet; then the time since power-up stands for it. */
  readonly week: number | undefined
  readonly tow_ms: number
}

/** XOR of every character, the leading `$` or `#` too: unlike NMEA. */
function xorLine(body: string): string {
  let xor = 0
  for (let i = 0; i < body.length; i++) xor ^= body.charCodeAt(i)
  return `${body}*${xor.toString(16).toUpperCase().padStart(2, '0')}\r\n`
}

export const answerLine = (command: string, response: string): string =>
  xorLine(`$command,${command},response: ${response}`)
export const configLine = (key: string, text: string): string => xorLine(`$CONFIG,${key},${text}`)
export const nameLine = (com: number): string => xorLine(`$devicename,COM${com}`)

/** Reflected CRC-32 that begins with 0 and is not inverted at the end. */
function crc32(bytes: Uint8Array): number {
  let crc = 0
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ crcs[(crc ^ bytes[i]) & 255]
  return crc >>> 0
}

/** The CRC of each byte. */
const crcs = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  return crc
})

const idle_percent = 97
const build = 17_548
const leap_s = 18

function header(name: string, { week, tow_ms }: LogTime, delay_ms: number): string {
  const [status, known] = week === undefined ? ['UNKNOWN', 1] : ['FINE', week]
  return `#${name},${idle_percent},GPS,${status},${known},${tow_ms},${build},0,${leap_s},${delay_ms};`
}

/** The answer to MODE: a log with the checksum of a line. */
export const modeLine = (time: LogTime, mode: string): string => xorLine(`${header('MODE', time, 710)}${mode},`)

/** A log as text. The CRC leaves out the `#`. */
export function asciiLog(name: string, time: LogTime, delay_ms: number, body: string): string {
  const text = header(name, time, delay_ms) + body
  const crc = crc32(Buffer.from(text.slice(1), 'latin1'))
    .toString(16)
    .padStart(8, '0')
  return `${text}*${crc}\r\n`
}

/** The list of outputs: the only answer without a checksum. */
export const listText = (time: LogTime, lines: readonly string[]): string =>
  [header('UNILOGLIST', time, 296), String(lines.length), ...lines, '', ''].join('\r\n')

/** A log as binary: 24 bytes of header, the body, the CRC of both. */
export function binaryLog(id: number, { week, tow_ms }: LogTime, delay_ms: number, body: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(24 + body.length + 4)
  frame.set([0xaa, 0x44, 0xb5, idle_percent])
  frame.writeUInt16LE(id, 4)
  frame.writeUInt16LE(body.length, 6)
  // 0xa0 FINE, 0xc9 before the time is known.
  frame.writeUInt8(week === undefined ? 0xc9 : 0xa0, 9)
  frame.writeUInt16LE(week ?? 1, 10)
  frame.writeUInt32LE(tow_ms, 12)
  frame.writeUInt32LE(build, 16)
  frame.writeUInt8(leap_s, 21)
  frame.writeUInt16LE(delay_ms, 22)
  frame.set(body, 24)
  frame.writeUInt32LE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}
