/** HTTP for plugins: undici's fetch with limits of time, size and redirects, and with certificates that are pinned. */

import type { Dispose } from '../../../schemas/event.js'
import { RtkError } from '../../errors.js'
import type { Clock } from '../ports/clock.js'
import type { NetworkPort } from '../ports/network.js'
import { anySignal } from '../time/waits.js'
import { Agents, isPinned, loadUndici } from './agents.js'
import { failure } from './failure.js'
import type { Fetch, FetchOptions } from './types.js'

const defaults = { timeout_ms: 30_000, maxBytes: 1_048_576, redirects: 0 }
const mostRedirects = 5
const redirectStatus = new Set([301, 302, 303, 307, 308])
const withoutBody = new Set([204, 205, 304])

type Abort = ReturnType<typeof anySignal>

/** For messages: hides a query or a password in a URL. */
function placeOf(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`
}

/** The `fetch` of one plugin. `ended` aborts with it. */
export class Fetcher {
  readonly #clock: Clock
  readonly #ended: AbortSignal
  readonly #agents: Agents

  constructor(network: NetworkPort, clock: Clock, ended: AbortSignal) {
    this.#agents = new Agents(network, clock)
    this.#clock = clock
    this.#ended = ended
  }

  readonly fetch: Fetch = async (target, options = {}) => {
    const { timeout_ms = defaults.timeout_ms, whole_ms } = options
    let url = checked(target, options)
    const ended = anySignal([this.#ended, options.signal])
    let whole: Dispose = () => {}
    const release = () => {
      void whole()
      ended.release()
    }
    const abort = { ...ended, release }
    const limit = (limit_ms: number, text: string) =>
      this.#clock.timer(limit_ms, () => abort.abort(new RtkError('RTK_ERR_FETCH_TIMEOUT', text)))
    const cancel = limit(timeout_ms, `no answer within ${timeout_ms / 1000} s`)
    if (whole_ms !== undefined) whole = limit(whole_ms, `no whole answer within ${whole_ms / 1000} s`)
    try {
      let init: RequestInit = pick(options, url)
      for (let left = Math.min(options.redirects ?? defaults.redirects, mostRedirects); ; left--) {
        const response = await this.#once(url, init, options, abort)
        const location = redirectStatus.has(response.status) ? response.headers.get('location') : null
        if (location === null || options.redirects === undefined || options.redirects === 0) {
          const pieceLimit = () => limit(timeout_ms, 'the answer stopped in the middle')
          return await limited(response, url, { ...options, pieceLimit }, abort)
        }
        await response.body?.cancel()
        const next = followed(location, url, left, options)
        init = redirected(init, response.status, next.origin === url.origin)
        url = next
      }
    } catch (error) {
      abort.release()
      throw told(error, abort, placeOf(url))
    } finally {
      void cancel()
    }
  }

  async close(): Promise<void> {
    await this.#agents.close()
  }

  async #once(url: URL, init: RequestInit, options: FetchOptions, { signal }: Abort): Promise<Response> {
    const { fetch } = loadUndici()
    signal.throwIfAborted()
    const dispatcher = this.#agents.get(options)
    const request = { ...init, redirect: 'manual', signal, dispatcher } as Parameters<typeof fetch>[1]
    return (await fetch(url, request)) as unknown as Response
  }
}

/** Options for undici. A login in the URL becomes a header: fetch refuses URLs with a login. */
function pick(options: FetchOptions, url: URL): RequestInit {
  const { timeout_ms, whole_ms, maxBytes, redirects, ca, extraCa, fingerprint256, client, refuses, signal, ...init } =
    options
  if (url.username === '' && url.password === '') return init
  const headers = new Headers(init.headers)
  const login = [url.username, url.password].map(decodeURIComponent).join(':')
  if (!headers.has('authorization')) headers.set('authorization', `Basic ${Buffer.from(login).toString('base64')}`)
  url.username = ''
  url.password = ''
  return { ...init, headers }
}

/** @throws RTK_ERR_FETCH_URL */
function checked(target: string | URL, options: FetchOptions): URL {
  const url = URL.canParse(String(target)) ? new URL(target) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new RtkError('RTK_ERR_FETCH_URL', `"${url ? placeOf(url) : target}" is not an http or https URL`)
  }
  if (url.protocol === 'http:' && isPinned(options)) {
    throw new RtkError('RTK_ERR_FETCH_URL', `${placeOf(url)}: a certificate is pinned, so it has to be https`)
  }
  return url
}

/** @throws RTK_ERR_FETCH_REDIRECT */
function followed(location: string, from: URL, left: number, options: FetchOptions): URL {
  // It may hold a login.
  const place = URL.canParse(location, from.href) ? placeOf(new URL(location, from.href)) : 'an invalid location'
  const refused = (why: string) => new RtkError('RTK_ERR_FETCH_REDIRECT', `redirected to ${place}: ${why}`)
  if (!URL.canParse(location, from.href)) throw refused('it is not a URL')
  const next = new URL(location, from)
  if (left <= 0) throw refused(`more than ${options.redirects} redirects`)
  if (from.protocol === 'https:' && next.protocol !== 'https:') throw refused('it leads out of https, refused')
  if (next.protocol !== 'http:' && next.protocol !== 'https:') throw refused('it is not an http or https URL')
  return next
}

/** The request after a redirect (RFC 9110, 15.4): credentials for one server are not sent to another. */
function redirected(init: RequestInit, status: number, sameOrigin: boolean): RequestInit {
  const { body, method = 'GET' } = init
  const headers = new Headers(init.headers)
  if (!sameOrigin) for (const name of ['authorization', 'cookie', 'proxy-authorization']) headers.delete(name)
  const becomesGet = status === 303 ? method !== 'HEAD' : status < 303 && method === 'POST'
  if (becomesGet) {
    for (const name of ['content-type', 'content-length', 'content-encoding']) headers.delete(name)
    return { ...init, method: 'GET', body: undefined, headers }
  }
  if (body instanceof ReadableStream) {
    throw new RtkError('RTK_ERR_FETCH_REDIRECT', 'redirected, and a streamed body cannot be sent again')
  }
  return { ...init, headers }
}

/** The abort's error, if the abort caused the failure. */
function told(error: unknown, { signal }: Abort, place: string): RtkError {
  if (!signal.aborted) return failure(error, place)
  if (signal.reason instanceof RtkError) return failure(signal.reason, place)
  return new RtkError('RTK_ERR_ABORTED', `${place}: given up, as its caller no longer waits`, {
    cause: signal.reason,
  })
}

/** The answer with a body that fails when it is too large, stops or breaks off. */
async function limited(
  response: Response,
  url: URL,
  options: FetchOptions & { pieceLimit(): Dispose },
  abort: Abort,
): Promise<Response> {
  const { maxBytes = defaults.maxBytes } = options
  const place = placeOf(url)
  const tooLarge = () => new RtkError('RTK_ERR_FETCH_TOO_LARGE', `the answer has more than ${maxBytes} bytes`)
  if (Number(response.headers.get('content-length') ?? 0) > maxBytes && options.method !== 'HEAD') {
    await response.body?.cancel()
    throw tooLarge()
  }
  const { body, status, statusText, headers } = response
  // No Response can have it.
  if (status < 200 || status > 599) {
    await body?.cancel()
    throw new RtkError('RTK_ERR_FETCH_ANSWER', `status ${status} is not one of HTTP`)
  }
  let begun = false
  async function* pieces() {
    begun = true
    let got = 0
    let late = options.pieceLimit()
    try {
      for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
        void late()
        got += piece.byteLength
        if (got > maxBytes) throw tooLarge()
        yield piece
        late = options.pieceLimit()
      }
    } catch (error) {
      throw told(error, abort, place)
    } finally {
      void late()
      abort.release()
    }
  }
  const isEmpty = body === null || withoutBody.has(status)
  if (isEmpty) abort.release()
  // An iterator makes a stream that pulls: nothing is read before the consumer asks.
  const iterator = pieces()
  const source = {
    [Symbol.asyncIterator]: () => ({
      next: () => iterator.next(),
      // A generator that has not begun has no `finally`: a body cancelled unread is released here.
      async return() {
        if (!begun) {
          abort.release()
          await body?.cancel()
        }
        return iterator.return()
      },
    }),
  }
  const stream = isEmpty ? null : (ReadableStream.from(source) as unknown as ReadableStream<Uint8Array>)
  const answer = new Response(stream, { status, statusText, headers })
  Object.defineProperty(answer, 'url', { value: url.href })
  return answer
}
