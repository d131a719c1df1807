/** Requests a stream or a source table from a caster, and reads its answer. */
import { isIPv6 } from '../../platform/address/address.js'
import { asciiHost } from '../../platform/address/host-name.js'
import { type Answer, AnswerHead, readAnswer } from './answer.js'
import { ChunkReader } from './chunked.js'
import { basicAuthorization } from './head.js'

/** A table of a large network has hundreds of kilobytes. */
const mostChunk_bytes = 4_194_304

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
  `${isIPv6(host) ? `[${host}]` : asciiHost(host)}${port === 80 ? '' : `:${port}`}`

/** The request, in one piece. */
export function getRequest({ host, port = 2101, mount, version, user = '', password = '', agent }: GetOptions): string {
  const login = user || password ? `Authorization: ${basicAuthorization(user, password)}\r\n` : ''
  const name = `User-Agent: NTRIP ${agent}\r\n`
  if (version === 1) return `GET /${mount} HTTP/1.0\r\n${name}${login}\r\n`
  return `GET /${mount} HTTP/1.1\r\nHost: ${hostHeader(host, port)}\r\nNtrip-Version: Ntrip/2.0\r\n${name}${login}Connection: close\r\n\r\n`
}

/** Reads an answer and its content from pieces of any size. */
export class AnswerReader {
  readonly #head = new AnswerHead()
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

  /** The peer has been silent, see `AnswerPause`. @returns whether there is an answer now */
  silent(): boolean {
    const head = this.answer ? undefined : this.#head.silent()
    if (head) this.answer = readAnswer(head.lines)
    return head !== undefined
  }

  /**
   * @returns the content in these bytes. @throws RangeError if the peer is not a caster
   */
  push(bytes: Buffer): Buffer[] {
    if (this.answer) return this.#content(bytes)
    const head = this.#head.push(bytes)
    if (head === undefined) return []
    if (head === 'too-large') throw new RangeError('the answer is not from an NTRIP caster: check host and port')
    this.answer = readAnswer(head.lines)
    if (this.answer.kind !== 'refused' && this.answer.chunked) this.#chunks = new ChunkReader(mostChunk_bytes)
    return head.rest.length > 0 ? this.push(head.rest) : []
  }

  #content(bytes: Buffer): Buffer[] {
    try {
      return this.#chunks?.push(bytes) ?? [bytes]
    } catch (error) {
      const what = `the caster announces chunks and sends something else (${(error as Error).message})`
      throw new RangeError(`${what}: try NTRIP version 1`)
    }
  }
}
