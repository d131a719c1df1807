/**
 * Reads the record format that LevelDB uses for its write-ahead logs and for MANIFEST files (leveldb doc/log_format.md):
 * blocks of 32 KiB of records with a header `crc32c(4) length(2) type(1)`, all little-endian. LevelDB itself drops
 * everything up to the end of a block in which one byte is damaged, and says nothing; the store uses this reader to
 * notice that, and to save the records behind the damage.
 */

const blockSize = 32_768
const headerSize = 7

const castagnoli = Int32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  return value
})

/** CRC-32C (RFC 3720, appendix B.4). */
export function crc32c(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) crc = (castagnoli[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8)
  return ~crc >>> 0
}

/** LevelDB masks its checksums, so that a checksum of data that contains checksums stays useful. */
function unmask(masked: number): number {
  const rotated = (masked - 0xa282ead8) >>> 0
  return ((rotated >>> 17) | (rotated << 15)) >>> 0
}

export interface LogScan {
  /** Every whole record, in order. */
  records: { data: Uint8Array; afterDamage: boolean }[]
  /** Bytes that are no valid record and have valid records behind them: never the result of a power cut. */
  damagedBytes: number
  /** Bytes at the end that are no whole record. */
  tailBytes: number
  /** The tail looks like a write that was cut off (too short, or zeros), not like damage. */
  tailIsTorn: boolean
}

/** Reads every record that can be read, also behind damage. */
export function scanLog(file: Uint8Array): LogScan {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const scan: LogScan = { records: [], damagedBytes: 0, tailBytes: 0, tailIsTorn: true }
  let parts: Uint8Array[] = []
  let partBytes = 0
  let bad = 0 // bytes since the last whole record that are no record
  let damaged = false
  let torn = true
  const accept = (data: Uint8Array) => {
    if (bad > 0) damaged = true
    scan.damagedBytes += bad
    bad = 0
    torn = true
    scan.records.push({ data, afterDamage: damaged })
  }
  const dropParts = () => {
    bad += partBytes
    parts = []
    partBytes = 0
  }
  let at = 0
  while (at < file.length) {
    const blockEnd = Math.min(file.length, (Math.floor(at / blockSize) + 1) * blockSize)
    if (blockEnd - at < headerSize) {
      // A block's last bytes are zero filling; in the last, short block they are a header that was cut off.
      if (blockEnd === file.length && blockEnd % blockSize !== 0) bad += blockEnd - at
      at = blockEnd
      continue
    }
    const length = view.getUint16(at + 4, true)
    const type = view.getUint8(at + 6)
    const end = at + headerSize + length
    const fits = end <= blockEnd
    const known = type >= 1 && type <= 4
    const valid = fits && known && unmask(view.getUint32(at, true)) === crc32c(file.subarray(at + 6, end))
    if (!valid) {
      dropParts()
      const fullBlock = (Math.floor(at / blockSize) + 1) * blockSize
      const cutOff = known && !fits && blockEnd === file.length && end <= fullBlock
      const zeros = file.subarray(at, blockEnd).every((byte) => byte === 0)
      if (!cutOff && !zeros) torn = false
      // The length may be intact when the payload is not: go on behind it, so that one bad byte costs one record.
      const next = fits && known && length > 0 ? end : blockEnd
      bad += next - at
      at = next
      continue
    }
    const payload = file.subarray(at + headerSize, end)
    at = end
    if (type === 1) {
      dropParts()
      accept(payload)
    } else if (type === 2) {
      dropParts()
      parts = [payload]
      partBytes = payload.length
    } else if (parts.length === 0) {
      bad += payload.length // the middle of a record whose beginning is lost
      torn = false
    } else {
      parts.push(payload)
      partBytes += payload.length
      if (type === 4) {
        const whole = Buffer.concat(parts)
        parts = []
        partBytes = 0
        accept(whole)
      }
    }
  }
  dropParts()
  scan.tailBytes = bad
  scan.tailIsTorn = torn
  return scan
}

/**
 * The operations of one write batch (leveldb db/write_batch.cc): `sequence(8) count(4)`, then per entry a tag (1 value,
 * 0 deletion) and length-prefixed strings. Undefined when it is no batch.
 */
export function decodeBatch(record: Uint8Array): { key: string; value: string | undefined }[] | undefined {
  if (record.length < 12) return undefined
  let at = 12
  const text = new TextDecoder('utf-8', { fatal: true })
  const string = () => {
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = record[at++]
      if (byte === undefined || shift > 28) throw new RangeError('not a varint')
      length += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    if (at + length > record.length) throw new RangeError('string beyond the record')
    at += length
    return text.decode(record.subarray(at - length, at))
  }
  try {
    const operations: { key: string; value: string | undefined }[] = []
    while (at < record.length) {
      const tag = record[at++]
      if (tag !== 0 && tag !== 1) return undefined
      const key = string()
      operations.push({ key, value: tag === 1 ? string() : undefined })
    }
    return operations
  } catch {
    return undefined
  }
}
