/**
 * Heads of NTRIP requests and replies (RTCM 10410.0 and 10410.1). Node's HTTP parser accepts neither `ICY 200 OK` nor
 * `SOURCE password mount`, refuses HTTP/1.1 without Host, and disconnects clients that keep writing after their
 * request.
 */

import { isUtf8 } from 'node:buffer'

/** A line of a peer as a text for people. Some answer with the request: its login is left out. */
export const shownLine = (line: string): string =>
  line
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/(\S*(auth|password)\S*:|basic\s+[a-z0-9+/=]{6,}|source\s+\S+\s+\/).*/i, '…')
    .trim()
    .slice(0, 120)

export type HeadHeaders = ReadonlyMap<string, string>

/** Collects the bytes of a head, up to its blank line. The size is limited. */
export class HeadReader {
  readonly #limit: number
  readonly #oneLine: RegExp | undefined
  readonly #content: RegExp | undefined
  #held: Buffer = Buffer.alloc(0)

  /**
   * @param oneLine a line that is a complete head, because answers of NTRIP 1 often have no blank line after them
   * @param content a line that belongs to the content already, where the blank line is missing
   */
  constructor(limit_bytes = 4_096, oneLine?: RegExp, content?: RegExp) {
    this.#limit = limit_bytes
    this.#oneLine = oneLine
    this.#content = content
  }

  /** @returns undefined while the head is incomplete; `too-large` if it exceeds the limit */
  push(bytes: Uint8Array): { lines: string[]; rest: Buffer } | 'too-large' | undefined {
    this.#held = Buffer.concat([this.#held, bytes])
    const end = endOfHead(this.#held)
    const short = this.#shortHead(end?.text)
    if (short) return short
    const early = this.#untilContent(end?.text ?? this.#held.length)
    if (early) return early
    if (end === undefined) return this.#held.length > this.#limit ? 'too-large' : undefined
    if (end.text > this.#limit) return 'too-large'
    const lines = this.#held.toString('latin1', 0, end.text).split(/\r?\n/)
    return { lines, rest: this.#held.subarray(end.next) }
  }

  /** @param before where the head ends at the latest */
  #untilContent(before: number): { lines: string[]; rest: Buffer } | undefined {
    if (!this.#content) return undefined
    const lines = this.#held.toString('latin1', 0, Math.min(before, this.#limit)).split('\n')
    const first = lines.findIndex((line) => this.#content?.test(line))
    if (first < 1) return undefined
    const head = lines.slice(0, first)
    const length = head.reduce((sum, line) => sum + line.length + 1, 0)
    return { lines: head.map((line) => line.trimEnd()), rest: this.#held.subarray(length) }
  }

  /** The input has ended: returns the lines even if no blank line follows; undefined if there are none. */
  end(): { lines: string[] } | undefined {
    return this.#held.length === 0 ? undefined : { lines: this.#held.toString('latin1').split(/\r?\n/) }
  }

  /**
   * Nothing, or the stream itself, follows the line. The stream may begin in the middle of a frame.
   * @param blank where the text before a blank line ends
   */
  #shortHead(blank: number | undefined): { lines: string[]; rest: Buffer } | undefined {
    const end = this.#oneLine ? this.#held.indexOf(10) : -1
    if (end < 0 || end > this.#limit) return undefined
    const line = this.#held.toString('latin1', 0, end).trim()
    const rest = this.#held.subarray(end + 1)
    if (!this.#oneLine?.test(line)) return undefined
    return rest.length === 0 || isBinary(this.#held.subarray(end + 1, blank)) ? { lines: [line], rest } : undefined
  }
}

/** Whether one of these bytes is none of a header. */
function isBinary(bytes: Buffer): boolean {
  return bytes.some((byte) => byte > 126 || (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13))
}

function endOfHead(bytes: Buffer): { text: number; next: number } | undefined {
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) {
    if (bytes[at + 1] === 10) return { text: at, next: at + 2 }
    if (bytes[at + 1] === 13 && bytes[at + 2] === 10) return { text: at, next: at + 3 }
  }
  return undefined
}

export interface NtripRequest {
  /** `GET`, `POST`, `SOURCE`, or any other word. */
  method: string
  /** Path without the leading slash and without the query; `''` asks for the source table. */
  mount: string
  /** The text after `?`, as sent. */
  query: string
  /** From the header `Ntrip-Version` alone: clients that send HTTP/1.1 without it expect `ICY`. */
  version: 1 | 2
  /** For `SOURCE`: the password in the request line. */
  password: string | undefined
  headers: HeadHeaders
}

/**
 * @returns undefined if it is not a request
 */
export function parseRequest(lines: readonly string[]): NtripRequest | undefined {
  const [first = '', ...rest] = lines
  const words = first.trim().split(/ +/)
  const headers = parseHeaders(rest)
  const version = /^ntrip\/2/i.test(headers.get('ntrip-version') ?? '') ? 2 : 1
  if (words[0] === 'SOURCE') {
    // `SOURCE password mount`, the mount with or without a slash; an empty password leaves two words.
    const [, password = '', mount] = words.length > 2 ? words : [words[0], '', words[1]]
    if (mount === undefined) return undefined
    const decodedPassword = decodedLogin(Buffer.from(password, 'latin1'))
    return {
      method: 'SOURCE',
      mount: mount.replace(/^\//, ''),
      query: '',
      version: 1,
      password: decodedPassword,
      headers,
    }
  }
  const [method = '', given = '', protocol = ''] = words
  // Rovers exist that write the mountpoint alone, or the whole address.
  const target = given.replace(/^https?:\/\/[^/]*/i, '').replace(/^(?!\/)/, '/')
  if (!/^[A-Z]{3,8}$/.test(method) || given === '' || !/^(HTTP\/1\.[01]|RTSP\/1\.0)?$/.test(protocol)) return undefined
  const mark = target.indexOf('?')
  const path = mark < 0 ? target : target.slice(0, mark)
  return {
    method,
    mount: decoded(path.slice(1)).replace(/\/+$/, ''),
    query: mark < 0 ? '' : target.slice(mark + 1),
    version,
    password: undefined,
    headers,
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Names are in lower case. If a name appears twice, the first one counts. */
export function parseHeaders(lines: readonly string[]): HeadHeaders {
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim())
  }
  return headers
}

/** A user or a password in the one form in which it is sent, stored and compared (RFC 8265): a Mac types `ü` as two characters. */
export const loginForm = (typed: string): string => typed.normalize('NFC')

/** UTF-8 (RFC 7617); of old clients, ISO 8859-1. */
const decodedLogin = (bytes: Buffer): string => loginForm(bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1'))

/** The value of `Authorization` (RFC 7617). */
export const basicAuthorization = (user: string, password: string): string =>
  `Basic ${Buffer.from(loginForm(`${user}:${password}`)).toString('base64')}`

/** User and password of `Authorization: Basic`; undefined without one. */
export function basicLogin(headers: HeadHeaders): { user: string; password: string } | undefined {
  const [, base64] = /^basic +([A-Za-z0-9+/=]+)$/i.exec(headers.get('authorization') ?? '') ?? []
  if (base64 === undefined) return undefined
  const text = decodedLogin(Buffer.from(base64, 'base64'))
  const colon = text.indexOf(':')
  return colon < 0 ? { user: text, password: '' } : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}
