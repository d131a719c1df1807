import { join } from 'node:path'
import { disk, type FileSystem, StateFile } from 'rtk-base/files'
import { deliver, type Fetch, RtkError, Undelivered } from 'rtk-base/plugin'
import { updateErrors } from 'rtk-base/services'
import { Type } from 'typebox'

const redirects = 5
/** Until the head of the answer, and between two pieces. */
const silence_ms = 60_000

/** A person waits for the update. */
const mostAsked_ms = 300_000

/** The image to which the partial file belongs. */
const Meta = Type.Object({ url: Type.String(), etag: Type.String() })

export interface DownloadDeps {
  fetch: Fetch
  /** Kept over restarts. */
  folder: string
  /** Authorities that are trusted beside the public ones, PEM. */
  ca: string
  fs?: FileSystem
}

interface Options {
  largest_bytes: number
  signal: AbortSignal
  /** Ends what comes too slowly. */
  paced?(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  progress(received: number, total: number): void
}

/** The disk or the user's quota is full. */
const isFull = /^(ENOSPC|EDQUOT)$/

/** No next attempt makes it smaller. */
const isTooLarge = /^RTK_ERR_(IMAGE_LARGE|FETCH_TOO_LARGE)$/

/** An image is trusted for its signature, whichever way it came, so plain http will do. @throws RTK_ERR_FETCH_URL */
export function checkUrl(text: string): URL {
  // Hides a login or token.
  const shown = text.replace(/\/\/[^/]*@/, '//…@').replace(/\?.*$/s, '?…')
  const wrong = (why: string) => new RtkError('RTK_ERR_FETCH_URL', `"${shown.slice(0, 200)}" ${why}`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
  if (!URL.canParse(text) || /[\s\u0000-\u001f]/.test(text)) throw wrong('is not a URL')
  const url = new URL(text)
  if (url.protocol === 'https:' || url.protocol === 'http:') return url
  throw wrong('is not an https or http URL')
}

/**
 * Fetches an image into a file, and resumes an earlier attempt, also after a restart of the service, if the server still
 * has the same content (a strong ETag sent with If-Range).
 */
export class Download {
  readonly #deps: DownloadDeps
  readonly #fs: FileSystem
  readonly #meta: StateFile<typeof Meta>
  /** The image, while and after it is fetched. */
  readonly file: string

  constructor(deps: DownloadDeps) {
    this.#deps = deps
    this.#fs = deps.fs ?? disk
    this.file = join(deps.folder, 'image')
    this.#meta = new StateFile(Meta, `${this.file}.meta`, { fs: this.#fs })
  }

  /**
   * One attempt.
   * @returns when the file is complete
   * @throws RTK_ERR_FETCH_…; the partial file is kept for the next attempt
   * @throws RTK_ERR_IMAGE_LARGE, RTK_ERR_FETCH_TOO_LARGE: the partial file is deleted
   * @throws RTK_ERR_STORE_WRITE the disk is full: the partial file is deleted, because the station needs the space
   */
  async attempt(url: URL, options: Options): Promise<void> {
    try {
      await this.#attempt(url, options)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (isTooLarge.test(code)) await this.discard()
      if (!isFull.test(code)) throw error
      await this.discard()
      const text =
        'the image does not fit on the disk, and the partial file was removed; free space, then send the command again'
      throw new RtkError('RTK_ERR_STORE_WRITE', text, { cause: error })
    }
  }

  async #attempt(url: URL, { largest_bytes, signal, paced = (pieces) => pieces, progress }: Options): Promise<void> {
    const fs = this.#fs
    await fs.mkdir(this.#deps.folder, { recursive: true })
    const { have, etag } = await this.#part(url)
    const response = await this.#request(url, have, etag, largest_bytes - have, signal)
    if (response.status === 416 && have > 0) {
      await response.body?.cancel()
      await this.discard()
      return this.#attempt(url, { largest_bytes, signal, paced, progress })
    }
    const goesOn = have > 0 && response.status === 206 && rangeOf(response)?.start === have
    if (!goesOn && response.status === 206) {
      await response.body?.cancel()
      await this.discard()
      throw new Undelivered('later', `${url.host} answered 206 with another range than was asked for`)
    }
    // Requested uncompressed: a compressed transfer has another length than its content.
    const isPlain = (response.headers.get('content-encoding') ?? 'identity') === 'identity'
    if (!goesOn) await this.#begin(url, isPlain ? (response.headers.get('etag') ?? '') : '')
    const start = goesOn ? have : 0
    const length = isPlain ? Number(response.headers.get('content-length') ?? 0) : 0
    const total = goesOn ? (rangeOf(response)?.total ?? 0) : length
    if (total > largest_bytes) throw tooLarge(url, largest_bytes)
    const received = await this.#store(paced((response.body ?? []) as AsyncIterable<Uint8Array>), start, (bytes) => {
      if (bytes > largest_bytes) throw tooLarge(url, largest_bytes)
      progress(bytes, total)
    })
    if (total > 0 && received < total) {
      throw new RtkError('RTK_ERR_FETCH_ANSWER', `${url.host} ended the answer after ${received} of ${total} bytes`)
    }
  }

  async discard(): Promise<void> {
    await this.#meta.remove()
    await this.#fs.rm(this.file, { recursive: true, force: true })
  }

  /** How much of this content there is; nothing where that is not certain. */
  async #part(url: URL): Promise<{ have: number; etag: string }> {
    const { value: meta } = await this.#meta.read()
    const size = await this.#fs.stat(this.file).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0,
    )
    if (meta?.url === url.href && meta.etag !== '' && size > 0) return { have: size, etag: meta.etag }
    return { have: 0, etag: '' }
  }

  #request(url: URL, have: number, etag: string, left: number, signal: AbortSignal): Promise<Response> {
    const { fetch, ca } = this.#deps
    return deliver(fetch, url, {
      headers: { 'accept-encoding': 'identity', ...(have > 0 && { range: `bytes=${have}-`, 'if-range': etag }) },
      timeout_ms: silence_ms,
      // The limit counts all of it; one answer may begin again.
      maxBytes: left + have + 1,
      signal,
      // https never leads to http; http is for this machine alone.
      ...(url.protocol === 'https:' && { redirects }),
      ...(ca !== '' && { extraCa: ca }),
      means: (status) => (status === 206 || (status === 416 && have > 0) ? 'taken' : undefined),
      explain: ({ status }) => `${url.host} answered ${status}`,
      mostAsked_ms,
    })
  }

  /** The mark goes before the content: a part is never taken for another content's. */
  async #begin(url: URL, etag: string): Promise<void> {
    await this.discard()
    // A weak ETag does not guarantee equal bytes.
    await this.#meta.write({ url: url.href, etag: /^"[^"]*"$/.test(etag) ? etag : '' })
  }

  async #store(pieces: AsyncIterable<Uint8Array>, start: number, received: (bytes: number) => void): Promise<number> {
    const file = await this.#fs.open(this.file, start > 0 ? 'a' : 'w', 0o600)
    let bytes = start
    try {
      for await (const piece of pieces) {
        bytes += piece.length
        received(bytes)
        await file.writeFile(piece)
      }
      await file.sync()
    } finally {
      await file.close()
    }
    return bytes
  }
}

const tooLarge = (url: URL, limit: number) =>
  new RtkError(
    updateErrors.RTK_ERR_IMAGE_LARGE,
    `${url.host} sends more than the ${limit} bytes that an image may have`,
  )

function rangeOf(response: Response): { start: number; total: number } | undefined {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? []
  return start === undefined ? undefined : { start: Number(start), total: Number(total) }
}
