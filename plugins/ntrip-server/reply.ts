/** Interprets a caster's answer to a push. */
import { parseHeaders, shownLine } from 'rtk-base/ntrip'

/** How long to stay away, see `retry.ts`. */
export type RefusalKind = 'taken' | 'final' | 'portal' | 'other'
/** The reason, for a program. */
export type RefusalCode = 'password' | 'login' | 'forbidden' | 'mount' | 'taken' | 'banned' | 'portal' | 'other'
export type Reply = { accepted: true } | { accepted: false; kind: RefusalKind; code: RefusalCode; text: string }

const refused = (kind: RefusalKind, code: RefusalCode, text: string): Reply => ({ accepted: false, kind, code, text })
/** Whether a caster's text announces a ban. */
export const saysBanned = (text: string): boolean => /\b(ban|banned|blocked)\b/i.test(text)

/**
 * Parses an answer. Only an unambiguous acceptance counts: login portal pages contain "OK" too.
 * @param lines of the head
 * @param body data received with the head: some casters give the reason there
 */
export function readReply(lines: readonly string[], version: 1 | 2, body = ''): Reply {
  const first = (lines[0] ?? '').trim()
  const reply = readHead(first, lines, version)
  if (reply.accepted || reply.kind === 'portal') return reply
  // Headers of HTTP are not searched: names of servers and cookies contain any word.
  const rest = first.startsWith('HTTP/') ? body : [...lines.slice(1), body].join(' ')
  const banned = [first, rest].find(saysBanned)
  return banned === undefined
    ? reply
    : refused('final', 'banned', `the caster has banned this address: ${shownLine(banned)}`)
}

function readHead(first: string, lines: readonly string[], version: 1 | 2): Reply {
  if (version === 1 && (first === 'ICY 200 OK' || first === 'OK')) return { accepted: true }
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(first) ?? []
  if (status !== undefined) return readHttp(Number(status), first, lines, version)
  if (/bad password|not authorized/i.test(first)) return refused('final', 'password', 'the caster rejects the password')
  if (/taken/i.test(first) && !/invalid/i.test(first))
    return refused('taken', 'taken', 'another base uses this mountpoint')
  if (/mount ?point taken or invalid/i.test(first))
    return refused('taken', 'taken', 'the mountpoint is in use, or not known to the caster')
  if (/mount ?point|missing/i.test(first))
    return refused('final', 'mount', `the caster does not know the mountpoint: ${shownLine(first)}`)
  return refused(
    'other',
    'other',
    first === '' ? 'the caster did not answer' : `the caster refused: ${shownLine(first)}`,
  )
}

function readHttp(status: number, first: string, lines: readonly string[], version: 1 | 2): Reply {
  const type = parseHeaders(lines.slice(1)).get('content-type') ?? ''
  if (/text\/html/i.test(type) || (status >= 300 && status < 400)) {
    return refused('portal', 'portal', 'a network login page answers, not a caster: log in to that network')
  }
  if (version === 2 && status === 200) return { accepted: true }
  if (status === 401) return refused('final', 'login', 'the caster rejects user and password')
  if (status === 403) return refused('final', 'forbidden', 'the caster does not allow this user to push')
  if (status === 404) return refused('final', 'mount', 'the caster does not know the mountpoint')
  if (status === 409) return refused('taken', 'taken', 'another base uses this mountpoint')
  return refused('other', 'other', `the caster refused: ${shownLine(first)}`)
}
