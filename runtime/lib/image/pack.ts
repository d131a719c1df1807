import { createHash, type KeyObject } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { RtkError } from '../../errors.js'
import { blockSize, paddingOf, ustarHeader } from '../../platform/files/ustar.js'
import { type ImageManifest, imageFormat, isSafePath, signedHead } from './manifest.js'

export type ImageFacts = Omit<ImageManifest, 'format' | 'key' | 'payload' | 'files'>

/** Every regular file below a folder, sorted, with `/` between the parts. @throws RTK_ERR_USAGE for a path that an image cannot hold */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .split('\\')
        .join('/'),
    )
    .sort()
  const bad = paths.find((path) => !isSafePath(path))
  if (bad !== undefined) throw new RtkError('RTK_ERR_USAGE', `an image cannot hold the path ${JSON.stringify(bad)}`)
  return paths
}

/**
 * Makes a signed image of a folder. The same folder gives the same payload, byte for byte.
 * @param file the output file
 */
export async function packImage(
  folder: string,
  facts: ImageFacts,
  privateKey: KeyObject,
  file: string,
): Promise<ImageManifest> {
  const paths = await filesOf(folder)
  const files = await Promise.all(
    paths.map(async (path) => {
      const bytes = await readFile(join(folder, path))
      return { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
    }),
  )
  const payload = `${file}.payload`
  const digest = createHash('sha256')
  const hashed = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      digest.update(chunk)
      yield chunk
    }
  }
  try {
    await pipeline(Readable.from(archive(folder, files)), createGzip({ level: 9 }), hashed, createWriteStream(payload))
    const { size } = await stat(payload)
    const manifest = { ...facts, format: imageFormat, payload: { size, sha256: digest.digest('hex') }, files } as const
    const head = signedHead(manifest, privateKey)
    await writeFile(file, head)
    await pipeline(createReadStream(payload), createWriteStream(file, { flags: 'a' }))
    return JSON.parse(head.toString('utf8', 0, head.indexOf(10))) as ImageManifest
  } finally {
    await rm(payload, { force: true })
  }
}

async function* archive(folder: string, files: ImageManifest['files']): AsyncGenerator<Buffer> {
  for (const { path, size } of files) {
    yield ustarHeader(path, size)
    yield await readFile(join(folder, path))
    const padding = paddingOf(size)
    if (padding > 0) yield Buffer.alloc(padding)
  }
  yield Buffer.alloc(2 * blockSize)
}
