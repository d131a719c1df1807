/** A server that takes files by HTTP PUT, and that shows by HEAD that it has them. */
import { createHash } from 'node:crypto'
import { type HostReach, hostTrouble, urlHost } from 'rtk-base/link'
import { deliver, type PluginContext, RtkError, Undelivered } from 'rtk-base/plugin'
import { anySignal } from 'rtk-base/time'
import { storedPieces } from './hour-files.js'

/** The limit of every request; each has a shorter one of its own. */
const longest_ms = 6 * 3_600_000
const answer_ms = 60_000
const shortestPause_ms = 10
const mostAsked_ms = 6 * 3_600_000
/** The slowest uplink that is waited for. */
const least_bytes_s = 2_000

export interface PushTarget {
  /** Without the name of the file. */
  readonly url: string
  /** `user:password`, or a bearer token; empty: none. */
  readonly login: string
  /** PEM of an authority that is trusted beside the public ones; empty: none. */
  readonly ca: () => string
  readonly reach: HostReach
  readonly rate_bytes_s: number
}

/** The digest of a file's bytes. */
export interface Digest {
  readonly bytes: number
  /** Base 64. */
  readonly sha256: string
  /** Hexadecimal. */
  readonly md5: string
}

/** Evidence of an answer to HEAD: the file by its digest, a file of its length, another file, one of unknown length. */
export type Evidence = 'same' | 'length' | 'other' | 'unknown'

/**
 * Digests: RFC 9530. Many servers use the MD5 of a file as its ETag, others a random number of that form, so an ETag can only
 * confirm.
 */
export function evidenceOf(headers: Headers, digest: Digest): Evidence {
  const shown = ['repr-digest', 'content-digest'].flatMap((name) => {
    const [, value] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/i.exec(headers.get(name) ?? '') ?? []
    return value === undefined ? [] : [value]
  })
  if (shown.some((value) => value !== digest.sha256)) return 'other'
  const length = headers.get('content-length')
  if (length === null || !/^\d{1,15}$/.test(length)) return 'unknown'
  if (Number(length) !== digest.bytes) return 'other'
  return shown.length > 0 || headers.get('etag')?.toLowerCase() === `"${digest.md5}"` ? 'same' : 'length'
}

async function digestOf(file: string): Promise<Digest> {
  const [sha256, md5] = [createHash('sha256'), createHash('md5')]
  let bytes = 0
  for await (const piece of storedPieces(file)) {
    sha256.update(piece)
    md5.update(piece)
    bytes += piece.length
  }
  return { bytes, sha256: sha256.digest('base64'), md5: md5.digest('hex') }
}

/** One request at a time. */
export class PushServer {
  readonly #ctx: PluginContext
  readonly #target: PushTarget

  readonly #refuses = (address: string) => hostTrouble(address, this.#target.reach)

  constructor(ctx: PluginContext, target: PushTarget) {
    this.#ctx = ctx
    this.#target = target
  }

  /**
   * Sends a file, unless the server has it. Resolves when the server has proved that it has all of it.
   * @param name of the file on the server
   * @throws Undelivered, or an error of the file system
   */
  async send(name: string, file: string, signal: AbortSignal): Promise<void> {
    const digest = await digestOf(file)
    // A wrong login is found out before megabytes are sent.
    if ((await this.#look(name, digest, signal)) === 'same') return
    const headers = {
      'content-type': 'application/gzip',
      'content-length': String(digest.bytes),
      'content-digest': `sha-256=:${digest.sha256}:`,
    }
    const ended = anySignal([signal])
    try {
      const limit_ms = answer_ms + (digest.bytes / Math.min(least_bytes_s, this.#target.rate_bytes_s)) * 1_000
      const body = ReadableStream.from(this.#pieces(file, ended.signal)) as unknown as ReadableStream
      await this.#request(name, { method: 'PUT', headers, body, duplex: 'half' }, limit_ms, signal)
    } finally {
      // Nobody reads the rest.
      ended.abort(undefined)
    }
    const found = await this.#look(name, digest, signal)
    if (found === 'same' || found === 'length') return
    const texts = {
      missing: 'it took the file and does not have it',
      other: 'it took the file and has another one under its name',
      unknown: 'it does not show the length of files (HEAD), which is needed to know that they arrived',
    }
    throw new Undelivered(found === 'unknown' ? 'refused' : 'item', `${this.#place}: ${texts[found]}`)
  }

  get #place(): string {
    return new URL(this.#target.url).host
  }

  async #look(name: string, digest: Digest, signal: AbortSignal): Promise<Evidence | 'missing'> {
    const { headers, ok } = await this.#request(name, { method: 'HEAD' }, answer_ms, signal)
    return ok ? evidenceOf(headers, digest) : 'missing'
  }

  /** Redirects are not followed: the login is for this server. @throws Undelivered */
  async #request(
    name: string,
    init: RequestInit & { method: 'HEAD' | 'PUT'; headers?: Readonly<Record<string, string>>; duplex?: 'half' },
    limit_ms: number,
    signal: AbortSignal,
  ): Promise<Response> {
    const { login, url } = this.#target
    const basic = login.includes(':') ? `Basic ${Buffer.from(login).toString('base64')}` : `Bearer ${login}`
    const headers = { ...init.headers, 'accept-encoding': 'identity', ...(login !== '' && { authorization: basic }) }
    const ended = anySignal([signal])
    const text = `no answer within ${Math.round(limit_ms / 1_000)} s`
    const late = () => ended.abort(new RtkError('RTK_ERR_FETCH_TIMEOUT', text))
    const cancel = this.#ctx.timers.after(Math.min(limit_ms, longest_ms), late)
    try {
      const ca = this.#target.ca()
      const limits = { signal: ended.signal, timeout_ms: longest_ms, maxBytes: Number.MAX_SAFE_INTEGER }
      const { method } = init
      const response = await deliver(this.#ctx.fetch, `${url.replace(/\/+$/, '')}/${name}`, {
        ...{ ...init, headers, ...limits, refuses: this.#refuses, ...(ca && { extraCa: ca }) },
        means: (status) =>
          method === 'HEAD' && missing.has(status) ? 'taken' : ofFile.has(status) ? 'item' : undefined,
        explain: (answer) => refusal(method, answer),
        forbidden: (trouble) => `raw-push-url ${trouble}`,
        mostAsked_ms,
      })
      // The text of an answer is for nobody.
      await response.body?.cancel()
      return response
    } finally {
      void cancel()
      ended.release()
    }
  }

  /** No faster than the limit. */
  async *#pieces(file: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { clock } = this.#ctx
    const begin_ms = clock.monotonic()
    let sent_bytes = 0
    for await (const piece of storedPieces(file)) {
      yield piece
      sent_bytes += piece.length
      await this.#pause(begin_ms + (sent_bytes / this.#target.rate_bytes_s) * 1_000 - clock.monotonic(), signal)
      if (signal.aborted) return
    }
  }

  #pause(wait_ms: number, signal: AbortSignal): Promise<void> {
    if (wait_ms < shortestPause_ms || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        void cancel()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const cancel = this.#ctx.timers.after(wait_ms, end)
      signal.addEventListener('abort', end)
    })
  }
}

const texts: Readonly<Record<number, string>> = {
  401: 'check raw-push-login',
  403: 'check raw-push-login, and its rights there',
  404: 'check the folder in raw-push-url, which must exist',
  409: 'check the folder in raw-push-url, which must exist',
  413: 'raise its limit for the size of a request',
  507: 'its disk is full',
}
/** Statuses that are about the file itself. */
const ofFile = new Set([400, 411, 413, 415, 422])
const missing = new Set([404, 410])

function refusal(method: 'HEAD' | 'PUT', { status, url }: Response): string {
  const text = `${new URL(url).host} answered ${status} to ${method}`
  if (status < 400) return `${text}: set raw-push-url to the address to which it redirects`
  const advice = texts[status] ?? (status === 405 || status === 501 ? `it must allow ${method} there` : undefined)
  return advice ? `${text}: ${advice}` : text
}

/** The server's address is no secret, and its login does not travel in plain text. @returns what is wrong with it */
export function urlTrouble(text: string, isLocal: HostReach['isLocal']): string | undefined {
  if (text === '') return undefined
  if (!URL.canParse(text)) return 'is not a URL'
  const { password, protocol, username } = new URL(text)
  if (username !== '' || password !== '') return 'has a login: put it in raw-push-login'
  // An empty one counts too: all files would have the same address.
  if (/[?#]/.test(text)) return 'has a query: names of files are appended to it'
  if (protocol !== 'https:' && !(protocol === 'http:' && isLocal(urlHost(text))))
    return 'must begin with https://. Plain http:// is for an address of the local network'
  return undefined
}
