/** The last days of a station from the record of the fleet: when it could serve rovers, and why not. Pure. */
import type { BandKind } from '../../../../../runtime/lib/page/ui/model/band-kinds.js'
import type { Entry, OnlineName, StationRow, VerdictName } from '../fleet/api.js'

export interface Span {
  /** UTC seconds. */
  readonly from: number
  readonly to: number
  readonly kind: BandKind
  /** `offline`, or the code of the cause; `ok` if nothing is wrong; `unknown`. */
  readonly cause: string
}

/** Causes that are part of normal work. */
const planned = new Set(['starting', 'stopping', 'surveying', 'updating'])
const kinds: Readonly<Record<VerdictName, BandKind>> = {
  fit: 'good',
  degraded: 'limited',
  unfit: 'broken',
  unknown: 'unknown',
}

interface State {
  readonly online: OnlineName
  readonly verdict: VerdictName
  readonly cause: string
}

function spanOf({ cause, online, verdict }: State, from: number, to: number): Span {
  if (online === 'offline') return { from, to, kind: 'broken', cause: 'offline' }
  if (verdict === 'unknown') return { from, to, kind: 'unknown', cause: 'unknown' }
  return { from, to, kind: planned.has(cause) ? 'planned' : kinds[verdict], cause: verdict === 'fit' ? 'ok' : cause }
}

const isVerdict = (text: string): text is VerdictName => Object.hasOwn(kinds, text)

/** The verdict and its cause of an entry such as `unfit: moved`; undefined of another text. */
export function verdictIn(text: string): Pick<State, 'verdict' | 'cause'> | undefined {
  const [verdict = '', ...rest] = text.split(': ')
  return isVerdict(verdict) ? { verdict, cause: rest.join(': ') || 'ok' } : undefined
}

/** The state after an entry: of `online` its word. */
function after(state: State, { kind, text }: Entry): State {
  if (kind === 'online')
    return text === 'online' || text === 'offline' ? { ...state, online: text } : { ...state, online: 'unknown' }
  if (kind !== 'verdict') return state
  return { ...state, ...verdictIn(text) }
}

/**
 * Contiguous spans, oldest first; nothing is known before the first entry of each kind.
 * @param entries of `verdict` and `online`, in any order, also of before `from` @param now the station as it is; it is believed for the last span
 */
export function spansOf(entries: readonly Entry[], from: number, to: number, now: State | undefined): Span[] {
  const ordered = [...entries].sort((one, other) => one.t - other.t)
  let state: State = { online: 'unknown', verdict: 'unknown', cause: '' }
  let at = from
  const spans: Span[] = []
  const until = (t: number) => {
    if (t <= at) return
    const next = spanOf(state, at, t)
    const last = spans.at(-1)
    if (last && last.kind === next.kind && last.cause === next.cause) spans[spans.length - 1] = { ...last, to: t }
    else spans.push(next)
    at = t
  }
  for (const entry of ordered) {
    if (entry.t > to) break
    until(entry.t)
    state = after(state, entry)
  }
  // Without any entry the state of now has held as long as the fleet says.
  if (ordered.length === 0 && now) {
    const since = Math.max(from, 'since' in now ? (now as StationRow).since : to)
    until(since)
    state = now
  }
  until(to)
  return spans
}

/** Times without corrections, the newest first; a planned one is one too. */
export const gapsOf = (spans: readonly Span[]): Span[] =>
  spans.filter(({ kind }) => kind === 'broken' || kind === 'planned').reverse()

/** Seconds of each kind. */
export function sumsOf(spans: readonly Span[]): Readonly<Record<BandKind, number>> {
  const sums = { good: 0, planned: 0, limited: 0, broken: 0, unknown: 0 }
  for (const { from, kind, to } of spans) sums[kind] += to - from
  return sums
}
