import { dirname } from 'node:path'
import { disk } from 'rtk-base/files'
import { RtkError } from 'rtk-base/plugin'
import { updateErrors } from 'rtk-base/services'

/** The first byte of a stream, and the stream with it. */
export async function beginning(
  source: AsyncIterable<Uint8Array>,
): Promise<{ first: number | undefined; whole: AsyncGenerator<Uint8Array>; drop(): Promise<void> }> {
  const pieces = source[Symbol.asyncIterator]()
  let piece = await pieces.next()
  while (!piece.done && piece.value.length === 0) piece = await pieces.next()
  async function* all() {
    try {
      for (let next = piece; !next.done; next = await pieces.next()) yield next.value
    } finally {
      await pieces.return?.()
    }
  }
  const first = piece.done ? undefined : piece.value[0]
  return { first, whole: all(), drop: async () => void (await pieces.return?.()) }
}

/** Writes a stream to a file, for another program to read. @throws RTK_ERR_IMAGE_LARGE, or the file system error */
export async function receive(source: AsyncIterable<Uint8Array>, path: string, largest_bytes: number): Promise<void> {
  await disk.mkdir(dirname(path), { recursive: true })
  await disk.rm(path, { recursive: true, force: true })
  const file = await disk.open(path, 'wx', 0o600)
  let bytes = 0
  try {
    for await (const piece of source) {
      bytes += piece.length
      if (bytes > largest_bytes) {
        throw new RtkError(
          updateErrors.RTK_ERR_IMAGE_LARGE,
          `the bundle is larger than the ${largest_bytes} bytes that are allowed`,
        )
      }
      await file.writeFile(piece)
    }
  } finally {
    await file.close()
  }
}
