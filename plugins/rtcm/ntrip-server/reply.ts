/** Interprets a caster's answer to a push. */
import { type PushRefusalCode, readAnswer, shownLine } from 'rtk-base/ntrip'

/** How long to stay away, see `retry.ts`. */
export type RefusalKind = 'taken' | 'final' | 'web' | 'other'
export type Reply = { accepted: true } | { accepted: false; kind: RefusalKind; code: PushRefusalCode; text: string }

/** Whether a caster's text announces a ban. */
export const saysBanned = (text: string): boolean => /\b(ban|banned|blocked)\b/i.test(text)

/**
 * @param lines of the head
 * @param body data received with the head: some casters give the reason there
 */
export function readReply(lines: readonly string[], body = ''): Reply {
  const answer = readAnswer(lines, 'push')
  if (answer.kind !== 'refused') return { accepted: true }
  const first = (lines[0] ?? '').trim()
  // Headers of HTTP are not searched: names of servers and cookies contain any word.
  const rest = first.startsWith('HTTP/') ? body : [...lines.slice(1), body].join(' ')
  const banned = answer.code === 'web' ? undefined : [first, rest].find(saysBanned)
  if (banned === undefined) return refused(answer.code, answer.text)
  return refused('banned', `the caster has banned this address: ${shownLine(banned)}`)
}

function refused(code: PushRefusalCode, text: string): Reply {
  const kind = code === 'taken' || code === 'web' || code === 'other' ? code : 'final'
  return { accepted: false, kind, code, text }
}
