/** The ustar format (POSIX.1-1988), the strict part of it that images use: regular files only. */
export const blockSize = 512

/** Name 100 bytes, prefix 155: cut at a slash. */
function splitPath(path: string): [name: string, prefix: string] {
  if (path.length <= 100) return [path, '']
  const slash = path.indexOf('/', path.length - 101)
  if (slash < 0 || slash > 155) throw new Error(`the path ${path} is too long`)
  return [path.slice(slash + 1), path.slice(0, slash)]
}

function checksum(block: Buffer): number {
  let sum = 8 * 32
  for (const [index, byte] of block.entries()) if (index < 148 || index >= 156) sum += byte
  return sum
}

const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`

/** Reproducible: no times, no owners. */
export function ustarHeader(path: string, size: number): Buffer {
  const block = Buffer.alloc(blockSize)
  const [name, prefix] = splitPath(path)
  block.write(name, 0, 'latin1')
  block.write(octal(0o644, 8), 100, 'latin1')
  block.write(octal(0, 8), 108, 'latin1')
  block.write(octal(0, 8), 116, 'latin1')
  block.write(octal(size, 12), 124, 'latin1')
  block.write(octal(0, 12), 136, 'latin1')
  block.write('0', 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  block.write(prefix, 345, 'latin1')
  block.write(`${checksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

const text = (block: Buffer, from: number, length: number) => {
  const end = block.indexOf(0, from)
  return block.toString('latin1', from, end < 0 || end > from + length ? from + length : end)
}

/** @returns undefined for a block of zeros. @throws for anything but a regular file */
export function readUstarHeader(block: Buffer): { path: string; size: number } | undefined {
  if (block.every((byte) => byte === 0)) return undefined
  if (text(block, 257, 6) !== 'ustar') throw new Error('its payload is not a ustar archive')
  if (!/^[0-7]{6}$/.test(text(block, 148, 6)) || Number.parseInt(text(block, 148, 6), 8) !== checksum(block)) {
    throw new Error('an entry of its archive is damaged')
  }
  if (block[156] !== 0x30) throw new Error('its archive has something else than files')
  const size = text(block, 124, 12)
  if (!/^[0-7]{11}$/.test(size)) throw new Error('an entry of its archive has no size')
  const prefix = text(block, 345, 155)
  const name = text(block, 0, 100)
  return { path: prefix === '' ? name : `${prefix}/${name}`, size: Number.parseInt(size, 8) }
}

export const paddingOf = (size: number): number => (blockSize - (size % blockSize)) % blockSize
