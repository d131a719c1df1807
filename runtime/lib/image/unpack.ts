import { createHash, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { createGunzip, type Gunzip } from 'node:zlib'
import { updateErrors } from '../../../schemas/services/update.js'
import { messageOf, RtkError } from '../../errors.js'
import { type Disk, disk } from '../../platform/files/disk.js'
import { blockSize, paddingOf, readUstarHeader } from '../../platform/files/ustar.js'
import { type ImageManifest, largestManifest, readHead, signatureLength } from './manifest.js'

const wrong = (text: string) => new RtkError(updateErrors.RTK_ERR_IMAGE, `the image is not valid: ${text}`)

/** The calls of the file system that unpacking makes, in their order: a test can end the process at any of them. */
export type UnpackFs = Pick<Disk, 'open' | 'mkdir'>

export interface UnpackOptions {
  /** Public keys by id. */
  keys: ReadonlyMap<string, KeyObject>
  /** Largest payload. */
  largest_bytes: number
  /**
   * Checks the signed manifest. Throws to refuse the image, otherwise resolves with the path of an empty folder for the
   * files. Nothing is written before that.
   */
  accept(manifest: ImageManifest): Promise<string>
  progress?(received: number, total: number): void
  /** For tests. */
  fs?: UnpackFs
}

/**
 * Verifies an image and writes its files, each of them synced. Then sync the folders with `syncFolder`: before that, a
 * power cut may lose files. After an error, delete the folder.
 * @throws RTK_ERR_IMAGE, RTK_ERR_IMAGE_LARGE, an error of `accept`, an error of the file system
 */
export async function unpackImage(source: AsyncIterable<Uint8Array>, options: UnpackOptions): Promise<ImageManifest> {
  const bytes = source[Symbol.asyncIterator]()
  try {
    const { manifest, rest } = await readManifest(bytes, options.keys)
    const { size, sha256 } = manifest.payload
    if (size > options.largest_bytes) {
      const text = `the image unpacks ${size} bytes, more than the ${options.largest_bytes} that are allowed`
      throw new RtkError(updateErrors.RTK_ERR_IMAGE_LARGE, text)
    }
    const folder = await options.accept(manifest)
    const gunzip = createGunzip()
    const fed = feed(gunzip, rest, bytes, { size, sha256, progress: options.progress })
    const read = extract(gunzip, manifest, folder, options.fs ?? disk)
    // The first failure ends the other side; only its error counts.
    const [first] = await Promise.all([
      Promise.allSettled([fed, read]),
      fed.catch((error) => gunzip.destroy(error as Error)),
      read.catch((error) => gunzip.destroy(error as Error)),
    ])
    for (const outcome of [first[1], first[0]]) if (outcome.status === 'rejected') throw translated(outcome.reason)
    return manifest
  } finally {
    await bytes.return?.()
  }
}

/**
 * Verifies the signed head of an image and reads no further.
 * @param keys public keys by id
 * @throws RTK_ERR_IMAGE
 */
export async function readImageHead(
  source: AsyncIterable<Uint8Array>,
  keys: ReadonlyMap<string, KeyObject>,
): Promise<ImageManifest> {
  const bytes = source[Symbol.asyncIterator]()
  try {
    return (await readManifest(bytes, keys)).manifest
  } finally {
    await bytes.return?.()
  }
}

/** Translates zlib's errors about the payload. */
function translated(error: unknown): unknown {
  const { code = '' } = error as { code?: string }
  return /^Z_|^ERR_STREAM_PREMATURE_CLOSE/.test(code)
    ? wrong(`its payload cannot be unpacked: ${messageOf(error)}`)
    : error
}

async function readManifest(
  bytes: AsyncIterator<Uint8Array>,
  keys: UnpackOptions['keys'],
): Promise<{ manifest: ImageManifest; rest: Buffer }> {
  let head = Buffer.alloc(0)
  const most = largestManifest + signatureLength + 2
  for (;;) {
    const first = head.indexOf(10)
    const second = first < 0 ? -1 : head.indexOf(10, first + 1)
    if (second >= 0) {
      const signature = head.toString('latin1', first + 1, second)
      return { manifest: readHead(head.subarray(0, first), signature, keys), rest: head.subarray(second + 1) }
    }
    if (head.length > most || (first < 0 && head.length > largestManifest))
      throw wrong('it does not begin with a manifest')
    if (first >= 0 && head.length - first > signatureLength + 2)
      throw wrong(
        'its second line is not a signature; send the file itself, with curl --data-binary and not as a form (-F)',
      )
    const { value, done } = await bytes.next()
    if (done) throw wrong('it ends before its payload')
    head = Buffer.concat([head, value])
  }
}

async function feed(
  gunzip: Gunzip,
  rest: Buffer,
  bytes: AsyncIterator<Uint8Array>,
  { size, sha256, progress }: { size: number; sha256: string; progress: UnpackOptions['progress'] },
): Promise<void> {
  const digest = createHash('sha256')
  let received = 0
  const take = async (chunk: Uint8Array) => {
    received += chunk.length
    if (received > size) throw wrong(`it is longer than the ${size} bytes that were signed`)
    digest.update(chunk)
    progress?.(received, size)
    if (!gunzip.write(chunk) && !gunzip.destroyed) await once(gunzip, 'drain')
  }
  if (rest.length > 0) await take(rest)
  for (;;) {
    const { value, done } = await bytes.next()
    if (done) break
    await take(value)
  }
  if (received < size) throw wrong(`it ends after ${received} of ${size} bytes`)
  if (digest.digest('hex') !== sha256) throw wrong('its payload differs from the signed one')
  gunzip.end()
}

/** @throws RTK_ERR_IMAGE */
function entryOf(block: Buffer): ReturnType<typeof readUstarHeader> {
  try {
    return readUstarHeader(block)
  } catch (error) {
    throw wrong(messageOf(error))
  }
}

/** The files in the order of the manifest, nothing else, and zeros at the end. */
async function extract(gunzip: Gunzip, { files }: ImageManifest, folder: string, fs: UnpackFs): Promise<void> {
  const input = new ByteQueue(gunzip[Symbol.asyncIterator]() as AsyncIterator<Buffer>)
  for (const { path, size, sha256 } of files) {
    const header = entryOf(await input.exactly(blockSize))
    if (header?.path !== path || header.size !== size) throw wrong(`${path} is not where its manifest has it`)
    const target = join(folder, path)
    await fs.mkdir(dirname(target), { recursive: true })
    const digest = createHash('sha256')
    const file = await fs.open(target, 'wx', 0o644)
    try {
      for (let left = size; left > 0; ) {
        const chunk = await input.atMost(left)
        digest.update(chunk)
        await file.writeFile(chunk)
        left -= chunk.length
      }
      if (digest.digest('hex') !== sha256) throw wrong(`${path} is not the file that was signed`)
      await file.sync()
    } finally {
      await file.close()
    }
    await input.exactly(paddingOf(size))
  }
  for await (const chunk of input.rest())
    if (chunk.some((byte) => byte !== 0)) throw wrong('its archive continues after its files')
}

class ByteQueue {
  readonly #source: AsyncIterator<Buffer>
  #held: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterator<Buffer>) {
    this.#source = source
  }

  /** @throws RTK_ERR_IMAGE at the end */
  async atMost(length: number): Promise<Buffer> {
    while (this.#held.length === 0) await this.#fill()
    const taken = this.#held.subarray(0, length)
    this.#held = this.#held.subarray(taken.length)
    return taken
  }

  async exactly(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let left = length; left > 0; ) {
      const part = await this.atMost(left)
      parts.push(part)
      left -= part.length
    }
    return Buffer.concat(parts)
  }

  async *rest(): AsyncGenerator<Buffer> {
    yield this.#held
    for (;;) {
      const { value, done } = await this.#source.next()
      if (done) return
      yield value
    }
  }

  async #fill(): Promise<void> {
    const { value, done } = await this.#source.next()
    if (done) throw wrong('its archive ends in the middle of a file')
    this.#held = value
  }
}
