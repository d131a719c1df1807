/**
 * The answers of casters, as one table: what was asked × status → what the station does. A status counts by its code, whatever dialect
 * (ICY, HTTP, SOURCETABLE, the single lines of NTRIP 1) it is written in and whatever version was asked.
 */
import type { Dispose, PluginContext } from '../../plugin.js'
import { HeadReader, parseHeaders, shownLine } from './head.js'

const mostHead_bytes = 4_096
/** A status line without an end counts when nothing follows it for so long. */
const pause_ms = 1_000

/** `get`: a stream or the source table, as a rover; `push`: to send a stream, as a base. */
export type Asked = 'get' | 'push'

/** Why a caster refuses a rover, as a code. `web`: a web server answers instead of a caster. */
export type RefusalCode = 'web' | 'login' | 'forbidden' | 'mount' | 'other'
/** Why a caster refuses a base. `password`: in the words of NTRIP 1, which has no user. */
export type PushRefusalCode = RefusalCode | 'password' | 'taken' | 'banned'

/** The answer of a caster to a request. */
export type Answer<Code extends string = RefusalCode> =
  /** The stream of a rover follows, or that of a base may. */
  | { kind: 'stream'; chunked: boolean }
  | { kind: 'table'; chunked: boolean }
  /** `final`: repeating the request does not help. */
  | { kind: 'refused'; final: boolean; code: Code; text: string }

type Refusal<Code> = readonly [code: Code, text: string]
interface Row {
  /** First and last code of the status line. */
  readonly codes?: readonly [number, number]
  /** The words of a line without a status. */
  readonly words?: RegExp
  /** Content that the head announces. */
  readonly content?: 'page' | 'table'
  readonly get: 'stream' | 'table' | Refusal<RefusalCode>
  readonly push: 'stream' | Refusal<PushRefusalCode>
}

/** A captive portal looks like any web server. */
export const webServer =
  'a web server answers, not a caster: check host and port, or log in to the network if this is its login page'
const web = { get: ['web', webServer], push: ['web', webServer] } as const
const refused = 'the caster refused: …'
const unknownMount = 'the caster does not know the mountpoint'
const inUse = 'another base uses this mountpoint'

/** The first row counts of which everything fits. `…` is the line of the caster. */
const table: readonly Row[] = [
  { codes: [300, 399], ...web },
  // RFC 6585, section 6.
  { codes: [511, 511], ...web },
  // Casters put their refusals into pages, too: only a yes in a page is none.
  { codes: [0, 299], content: 'page', ...web },
  { content: 'table', get: 'table', push: ['other', refused] },
  { codes: [200, 299], get: 'stream', push: 'stream' },
  {
    codes: [401, 401],
    get: ['login', 'the caster does not accept user and password'],
    push: ['login', 'the caster rejects user and password'],
  },
  {
    codes: [403, 403],
    get: ['forbidden', 'the caster does not allow this user'],
    push: ['forbidden', 'the caster does not allow this user to push'],
  },
  { codes: [404, 404], get: ['mount', unknownMount], push: ['mount', unknownMount] },
  { codes: [409, 409], get: ['other', refused], push: ['taken', inUse] },
  { codes: [100, 999], get: ['other', refused], push: ['other', refused] },
  {
    words: /bad password|not authorized/i,
    get: ['login', 'the caster does not accept user and password'],
    push: ['password', 'the caster rejects the password'],
  },
  {
    words: /mount ?point taken or invalid/i,
    get: ['mount', unknownMount],
    push: ['taken', 'the mountpoint is in use, or not known to the caster'],
  },
  { words: /taken(?!.*invalid)/i, get: ['other', refused], push: ['taken', inUse] },
  {
    words: /mount ?point|missing/i,
    get: ['mount', `${unknownMount}: …`],
    push: ['mount', `${unknownMount}: …`],
  },
  { words: /^$/, get: ['other', 'the caster did not answer'], push: ['other', 'the caster did not answer'] },
  { words: /^/, get: ['other', refused], push: ['other', refused] },
]

const final: ReadonlySet<string> = new Set(['login', 'password', 'forbidden', 'mount', 'banned'])

/** The code of a status line in any dialect; 0: the line has none. */
function codeOf(first: string): number {
  if (first === 'OK') return 200
  return Number(/^(?:ICY|SOURCETABLE|HTTP\/\d(?:\.\d)?|RTSP\/1\.0) +(\d{3})(?!\d)/i.exec(first)?.[1] ?? 0)
}

/** @param lines of the head */
export function readAnswer(lines: readonly string[]): Answer
export function readAnswer(lines: readonly string[], asked: 'push'): Answer<PushRefusalCode>
export function readAnswer(lines: readonly string[], asked: Asked = 'get'): Answer<PushRefusalCode> {
  const first = (lines[0] ?? '').trim()
  const headers = parseHeaders(lines.slice(1))
  const type = headers.get('content-type') ?? ''
  // The example of NTRIP 1 for a wrong password has no status line, and there are casters that follow it.
  const code = codeOf(first) || (headers.has('www-authenticate') ? 401 : 0)
  const isTable = (/^SOURCETABLE/i.test(first) && code === 200) || /gnss\/sourcetable/i.test(type)
  const content = isTable ? 'table' : /text\/html|application\/(xhtml|json|xml)/i.test(type) ? 'page' : undefined
  const row = table.find(
    ({ codes: [from, to] = [0, 999], words, content: wanted = content }) =>
      code >= from && code <= to && (!words || (code === 0 && words.test(first))) && wanted === content,
  )
  const found = row?.[asked] ?? (['other', refused] as const)
  const chunked = /chunked/i.test(headers.get('transfer-encoding') ?? '')
  if (found === 'stream' || found === 'table') return { kind: found, chunked }
  const [reason, text] = found
  return { kind: 'refused', final: final.has(reason), code: reason, text: text.replace('…', shownLine(first)) }
}

/** A line that is a whole answer: those of NTRIP 1 often have no blank line after them. */
const oneLine = /^(ICY +2\d\d\b.*|OK|ERROR\b.*)$/i
/** Some casters send the source table without a blank line before it. */
const tableRow = /^(STR;|CAS;|NET;|ENDSOURCETABLE)/
const isInterim = (head: { lines: readonly string[] }) => {
  const code = codeOf((head.lines[0] ?? '').trim())
  return code >= 100 && code < 200
}

/** Reads the head of an answer from pieces of any size. Interim answers (`100 Continue`) are skipped. */
export class AnswerHead {
  #head = new HeadReader(mostHead_bytes, oneLine, tableRow)

  /** As that of `HeadReader`. */
  push(bytes: Uint8Array): ReturnType<HeadReader['push']> {
    const head = this.#head.push(bytes)
    if (typeof head !== 'object' || !isInterim(head)) return head
    this.#head = new HeadReader(mostHead_bytes, oneLine, tableRow)
    return this.push(head.rest)
  }

  /** The peer is silent (see `AnswerPause`): a single line that says everything counts without its end. */
  silent(): { lines: string[]; rest: Buffer } | undefined {
    const { lines } = this.#head.end() ?? {}
    if (lines?.length !== 1 || !oneLine.test(lines[0]?.trim() ?? '')) return undefined
    return { lines, rest: Buffer.alloc(0) }
  }

  /** The connection has ended. */
  end(): { lines: string[] } | undefined {
    const head = this.#head.end()
    return head && isInterim(head) ? undefined : head
  }
}

/** Notices that a peer that has begun its answer says nothing more for 1 s. */
export class AnswerPause {
  readonly #timers: PluginContext['timers']
  readonly #silent: () => void
  #cancel: Dispose = () => {}

  constructor(timers: PluginContext['timers'], silent: () => void) {
    this.#timers = timers
    this.#silent = silent
  }

  heard(): void {
    void this.#cancel()
    this.#cancel = this.#timers.after(pause_ms, this.#silent)
  }

  end(): void {
    void this.#cancel()
  }
}
