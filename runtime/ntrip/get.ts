/** Requests a stream or a source table from a caster, and reads its answer. */
import { isIPv6 } from 'node:net'
import { ChunkReader } from './chunked.js'
import { HeadReader, parseHeaders, shownLine } from './head.js'

/** A table of a large network has hundreds of kilobytes. */
const mostChunk_bytes = 4_194_304
const mostHead_bytes = 4_096

export interface GetOptions {
  host: string
  /** Default: 2101. */
  port?: number | undefined
  /** `''` asks for the source table. */
  mount: string
  version: 1 | 2
  user?: string | undefined
  password?: string | undefined
  /** Name and version of the program, sent after `NTRIP ` in `User-Agent`, e.g. `rtk-base/1.0`. */
  agent: string
}

/**
 * The header `Host` of a request (RFC 9112, section 3.2): the host (an IPv6 address in brackets), and the port unless
 * it is 80.
 */
export const hostHeader = (host: string, port: number): string =>
  `${isIPv6(host) ? `[${host}]` : host}${port === 80 ? '' : `:${port}`}`

/** The request, in one piece. */
export function getRequest({ host, port = 2101, mount, version, user = '', password = '', agent }: GetOptions): string {
  const login =
    user || password ? `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n` : ''
  const name = `User-Agent: NTRIP ${agent}\r\n`
  if (version === 1) return `GET /${mount} HTTP/1.0\r\n${name}${login}\r\n`
  return `GET /${mount} HTTP/1.1\r\nHost: ${hostHeader(host, port)}\r\nNtrip-Version: Ntrip/2.0\r\n${name}${login}Connection: close\r\n\r\n`
}

/** Why a caster refuses a request, as a code. `portal`: the login page of a network answers instead of a caster. */
export type RefusalCode = 'portal' | 'login' | 'forbidden' | 'mount' | 'other'

/** The answer of a caster to a request. */
export type Answer =
  | { kind: 'stream'; chunked: boolean }
  | { kind: 'table'; chunked: boolean }
  /** `final`: repeating the request does not help. */
  | { kind: 'refused'; final: boolean; code: RefusalCode; text: string }

/** Reads the head of an answer. Only the status after the first space counts. */
export function readAnswer(lines: readonly string[]): Answer {
  const first = (lines[0] ?? '').trim()
  const headers = parseHeaders(lines.slice(1))
  const type = headers.get('content-type') ?? ''
  const chunked = /chunked/i.test(headers.get('transfer-encoding') ?? '')
  if (/^SOURCETABLE 200/.test(first) || /gnss\/sourcetable/i.test(type)) return { kind: 'table', chunked }
  const status = Number(/^(?:ICY|HTTP\/1\.[01]) (\d{3})/.exec(first)?.[1] ?? 0)
  const refused = (code: RefusalCode, text: string): Answer => {
    const final = code === 'login' || code === 'forbidden' || code === 'mount'
    return { kind: 'refused', final, code, text }
  }
  if (/text\/html/i.test(type) || (status >= 300 && status < 400))
    return refused('portal', 'a network login page answers, not a caster')
  if (status === 200) return { kind: 'stream', chunked }
  if (status === 401) return refused('login', 'the caster does not accept user and password')
  if (status === 403) return refused('forbidden', 'the caster does not allow this user')
  if (status === 404) return refused('mount', 'the caster does not know the mountpoint')
  return refused('other', `the caster refused: ${shownLine(first)}`)
}

/** Reads an answer and its content from pieces of any size. */
export class AnswerReader {
  readonly #head = new HeadReader(mostHead_bytes, /^ICY 200 OK$/)
  #chunks: ChunkReader | undefined
  /** Undefined until the head is complete. */
  answer: Answer | undefined

  /** The content has ended with its last chunk. */
  get over(): boolean {
    return this.#chunks?.over === true
  }

  /** The connection has ended. A refusal counts even without a blank line after it. */
  end(): void {
    const head = this.answer ? undefined : this.#head.end()
    const answer = head && readAnswer(head.lines)
    if (answer?.kind === 'refused') this.answer = answer
  }

  /**
   * @returns the content in these bytes. @throws RangeError if the peer is not a caster
   */
  push(bytes: Buffer): Buffer[] {
    if (this.answer) return this.#chunks?.push(bytes) ?? [bytes]
    const head = this.#head.push(bytes)
    if (head === undefined) return []
    if (head === 'too-large') throw new RangeError('the answer is not from an NTRIP caster: check host and port')
    this.answer = readAnswer(head.lines)
    if (this.answer.kind !== 'refused' && this.answer.chunked) this.#chunks = new ChunkReader(mostChunk_bytes)
    return head.rest.length > 0 ? this.push(head.rest) : []
  }
}
