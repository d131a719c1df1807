/** The record as bands: when RTCM went out, and one cause for each time when it did not. Pure. */
import type { RecordEntry, RecordMinute, RecordValue } from 'rtk-base/schemas'
import { applied, CountBegins, type Situation } from './history.js'
import { type Cause, causeOf, endCause, faultOf } from './why/cause.js'

export interface Span extends Cause {
  /** UTC milliseconds. */
  from: number
  to: number
  values: RecordValue
}

export const mostSpans = 500
/** Compressed now and then on the way, so that a record that flaps costs no memory. */
const mostGathered = 4 * mostSpans
const minute_ms = 60_000
/** Minutes are written as long as the plugin runs: nothing for longer means that it did not, or could not write. */
const silence_ms = 90_000

/** Spans from `from_ms` to `to_ms`, contiguous, the oldest first, at most 500. @param now_ms the end of what can be known */
export async function timeline(
  entries: AsyncIterable<RecordEntry> | Iterable<RecordEntry>,
  { from_ms, to_ms }: { from_ms: number; to_ms: number },
  now_ms: number,
): Promise<Span[]> {
  const bands = new Bands(from_ms, to_ms)
  const countBegins = new CountBegins()
  let situation: Situation = {}
  let last_ms: number | undefined
  let stopped: { t: number; why: string } | undefined
  for await (const entry of entries) {
    const { t, min, run, stop } = entry
    const from = last_ms ?? t
    if (last_ms === undefined) bands.add({ from: from_ms, to: t, cause: 'unknown', values: {} })
    else if (run) {
      const values = { text: run.text, at: run.at_ms, started: t }
      bands.add({ from, to: t, cause: stopped ? 'service-stopped' : endCause(run.how), values })
    } else if (t - from > silence_ms) bands.add({ from, to: t, cause: 'unknown', values: {} })
    else bands.add({ from, to: t, ...causeOf(situation) })
    last_ms = Math.max(from, t)
    situation = applied(situation, entry)
    stopped = stop === undefined ? (run ? undefined : stopped) : { t, why: stop }
    const count_ms = countBegins.of(entry)
    if (min && count_ms !== undefined) bands.count(min, count_ms, situation)
    // The next start says how a run ended, and the count of the last minute comes after it.
    if (t >= to_ms + minute_ms) return bands.spans
  }
  bands.end(situation, { last_ms, stopped, now_ms })
  return bands.spans
}

/** For viewers: plugins and the ends of runs say there what they like, as in the log. */
export function withoutSentences(span: Span): Span {
  const { reason: _reason, text: _text, ...values } = span.values
  return { ...span, values }
}

class Bands {
  readonly #from_ms: number
  readonly #to_ms: number
  #spans: Span[] = []

  constructor(from_ms: number, to_ms: number) {
    this.#from_ms = from_ms
    this.#to_ms = to_ms
  }

  get spans(): Span[] {
    return compressed(merged(this.#spans), mostSpans)
  }

  add(span: Span): void {
    const from = Math.max(span.from, this.#from_ms)
    const to = Math.min(span.to, this.#to_ms)
    if (to <= from) return
    const before = this.#spans.at(-1)
    if (before && isSame(before, span)) before.to = to
    else this.#spans.push({ ...span, from, to })
    if (this.#spans.length > mostGathered) this.#spans = compressed(merged(this.#spans), mostSpans)
  }

  /** The statistics of the time from then until now: the gate may be open, and nothing goes out all the same. */
  count(minute: RecordMinute, count_ms: number, situation: Situation): void {
    const begin_ms = Math.max(count_ms, this.#from_ms)
    const first = this.#spans.findIndex(({ to }) => to > begin_ms)
    if (first < 0) return
    const tail = this.#spans.splice(first).flatMap((span) => splitAt(span, begin_ms))
    const isWhole = tail.filter(({ to }) => to > begin_ms).every(({ cause }) => cause === 'sent')
    for (const span of tail) {
      if (span.to > begin_ms && span.cause === 'sent') Object.assign(span, counted(minute, isWhole, situation))
      this.#spans.push(span)
    }
  }

  end(
    situation: Situation,
    { last_ms, stopped, now_ms }: { last_ms: number | undefined; stopped: { t: number } | undefined; now_ms: number },
  ): void {
    const from = last_ms ?? this.#from_ms
    const to = now_ms
    if (stopped) this.add({ from, to, cause: 'service-stopped', values: {} })
    else if (last_ms === undefined || now_ms - from > silence_ms) this.add({ from, to, cause: 'unknown', values: {} })
    else this.add({ from, to, ...causeOf(situation) })
  }
}

/** Cause for a time in a minute when the gate was open, from the minute's counts. */
function counted(
  { epochs, gap, interrupted, rovers, links }: RecordMinute,
  isWhole: boolean,
  situation: Situation,
): Cause {
  if (epochs === 0 && interrupted !== false) return faultOf(situation, '') ?? { cause: 'no-observations', values: {} }
  const values = { epochs, rovers, links, gap_s: gap }
  if (isWhole && interrupted) return { cause: 'interrupted', values }
  const wanted = Object.entries(situation).filter(([key, { state }]) => key.startsWith('link ') && state !== 'idle')
  if (rovers === 0 && wanted.length > 0 && wanted.every(([, { state }]) => state !== 'up'))
    return { cause: 'no-client', values }
  return { cause: 'sent', values }
}

function splitAt(span: Span, at_ms: number): Span[] {
  if (span.from >= at_ms || span.to <= at_ms) return [span]
  return [
    { ...span, to: at_ms },
    { ...span, from: at_ms },
  ]
}

const plain = (value: unknown) => (typeof value === 'string' ? value.replace(/\d+/g, '0') : value)
/** Counts do not distinguish times when RTCM went out; reasons in which only a number differs are one. */
const isSame = (one: Span, other: Span): boolean =>
  one.cause === other.cause &&
  ('epochs' in one.values || one.cause === 'sent' || plain(one.values.reason) === plain(other.values.reason))

/** Neighbours with one cause become one; of counts the sum, the largest gap, the newest rest. */
function merged(spans: readonly Span[]): Span[] {
  const all: Span[] = []
  for (const span of spans) {
    const before = all.at(-1)
    if (!before || !isSame(before, span)) {
      all.push({ ...span })
      continue
    }
    before.to = span.to
    before.values = sum(before.values, span.values)
  }
  return all
}

function sum(one: RecordValue, other: RecordValue): RecordValue {
  if (typeof one.epochs !== 'number' || typeof other.epochs !== 'number') return { ...one, ...other }
  const gap_s = Math.max(Number(one.gap_s), Number(other.gap_s))
  return { ...other, epochs: one.epochs + other.epochs, gap_s }
}

/** The shortest spans become a part of the one before, until there are few enough. */
function compressed(spans: Span[], most: number): Span[] {
  let all = spans
  while (all.length > most) {
    const lengths = all.map(({ from, to }) => to - from).sort((a, b) => a - b)
    const least_ms = lengths[all.length - most] as number
    let surplus = all.length - most
    const kept: Span[] = []
    for (const span of all) {
      const before = kept.at(-1)
      if (before && surplus > 0 && span.to - span.from <= least_ms) {
        before.to = span.to
        surplus -= 1
      } else kept.push(span)
    }
    all = merged(kept)
  }
  return all
}
