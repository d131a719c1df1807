import { inflateRawSync } from 'node:zlib'

const mostEntries = 100
const most_bytes = 4_194_304

/**
 * The first entry whose name matches, from the central directory (PKWARE APPNOTE 6.3.10, 4.3.12 and 4.3.16), stored or deflated.
 * @returns undefined if there is none, or if the archive is cut off, damaged, or its entry larger than 4 MiB
 */
export function findInZip(zip: Buffer, name: RegExp): Buffer | undefined {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end < 0 || end + 22 > zip.length) return undefined
  let at = zip.readUInt32LE(end + 16)
  const count = Math.min(zip.readUInt16LE(end + 10), mostEntries)
  for (let entry = 0; entry < count; entry++) {
    if (at + 46 > zip.length || zip.readUInt32LE(at) !== 0x02014b50) return undefined
    const lengths = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset))
    const [nameLength = 0, extra = 0, comment = 0] = lengths
    if (name.test(zip.toString('latin1', at + 46, at + 46 + nameLength))) return entryAt(zip, at)
    at += 46 + nameLength + extra + comment
  }
  return undefined
}

function entryAt(zip: Buffer, directory: number): Buffer | undefined {
  const [method, size, header] = [
    zip.readUInt16LE(directory + 10),
    zip.readUInt32LE(directory + 20),
    zip.readUInt32LE(directory + 42),
  ]
  if (header + 30 > zip.length) return undefined
  const start = header + 30 + zip.readUInt16LE(header + 26) + zip.readUInt16LE(header + 28)
  const packed = zip.subarray(start, start + size)
  if (packed.length !== size) return undefined
  if (method === 0) return size <= most_bytes ? packed : undefined
  if (method !== 8) return undefined
  try {
    return inflateRawSync(packed, { maxOutputLength: most_bytes })
  } catch {
    return undefined
  }
}
