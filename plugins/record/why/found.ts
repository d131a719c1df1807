/** What the record says about one minute: gathered in one pass, so that no more than that is held. */
import type { RecordEntry, RecordMinute } from 'rtk-base/schemas'
import { applied, type Situation } from '../history.js'

export const minute_ms = 60_000

export interface Found {
  readonly at_ms: number
  /** How everything was at the beginning of the minute, and at its end. */
  begin: Situation
  end: Situation
  /** Since when a thing was as it was at the end, by key; what was so before the record begins is missing. */
  readonly since: Map<string, number>
  /** Since when a thing was as a value says: it may have changed again in the minute. */
  readonly sinceValue: WeakMap<object, number>
  /** Everything that any thing was in that minute, by key. */
  readonly during: Map<string, Situation[string][]>
  /** What was counted; undefined when no count of that minute was written. */
  minute: RecordMinute | undefined
  /** Notes of the minute and of the ten before it. */
  readonly notes: { t: number; what: string; text: string }[]
  /** The first and the last entry of all. */
  first_ms: number | undefined
  last_ms: number | undefined
  /** The last sign of the run before the minute, and how it ended by itself. */
  before: { t: number; stopped: string | undefined } | undefined
  /** The start that followed the minute, or was in it. */
  nextRun: { t: number; how: string; text: string; at_ms: number } | undefined
  /** When the run began that the minute is in. */
  started_ms: number | undefined
  /** The clock was set within an hour after it, by so much. */
  clock_ms: number
  lost: number
  /** Lines of that minute. */
  signs: number
}

const stateOf = (value: Situation[string] | undefined) =>
  value && String(value.state ?? value.open ?? value.status ?? value.link ?? value.up ?? JSON.stringify(value))

const notesBefore_ms = 10 * minute_ms

/** @param at_ms any time of the minute */
export async function find(entries: AsyncIterable<RecordEntry> | Iterable<RecordEntry>, at_ms: number): Promise<Found> {
  const begin_ms = Math.floor(at_ms / minute_ms) * minute_ms
  const end_ms = begin_ms + minute_ms
  const found: Found = {
    ...{ at_ms: begin_ms, begin: {}, end: {}, since: new Map(), during: new Map(), minute: undefined, notes: [] },
    sinceValue: new WeakMap(),
    ...{ first_ms: undefined, last_ms: undefined, before: undefined, nextRun: undefined, started_ms: undefined },
    ...{ clock_ms: 0, lost: 0, signs: 0 },
  }
  let situation: Situation = {}
  let nearest_ms = Number.POSITIVE_INFINITY
  let isIn = false
  for await (const entry of entries) {
    const { t, min, run, note, stop, clock, lost } = entry
    found.first_ms ??= t
    found.last_ms = t
    if (t >= begin_ms && !isIn) {
      isIn = true
      found.begin = situation
    }
    if (run) {
      if (t < end_ms) found.started_ms = t
      if (t >= begin_ms) found.nextRun ??= { t, ...run }
    }
    if (t < begin_ms) found.before = { t, stopped: stop }
    if (clock && t >= begin_ms && t < begin_ms + 60 * minute_ms) found.clock_ms += clock.by_ms
    if (lost && t >= begin_ms && t < end_ms + minute_ms) found.lost += lost
    if (note && t >= begin_ms - notesBefore_ms && t < end_ms) found.notes.push({ t, ...note })
    // A count is of the minute that ends with it: the one that overlaps most.
    const away_ms = Math.abs(t - end_ms)
    if (min && away_ms <= minute_ms / 2 && away_ms < nearest_ms) {
      nearest_ms = away_ms
      found.minute = min
    }
    if (t >= end_ms) continue
    if (t >= begin_ms && !run) found.signs += 1
    const now = applied(situation, entry)
    if (now !== situation) {
      for (const key of new Set([...Object.keys(now), ...Object.keys(situation)])) {
        const value = now[key]
        // What is said again at the start of a file is no change; nor is another reason for the same.
        if (stateOf(value) !== stateOf(situation[key])) found.since.set(key, t)
        const since_ms = found.since.get(key)
        if (value && value !== situation[key] && since_ms !== undefined) found.sinceValue.set(value, since_ms)
        if (value && t >= begin_ms) found.during.set(key, [...(found.during.get(key) ?? []), value])
      }
    }
    situation = now
  }
  if (!isIn) found.begin = situation
  found.end = situation
  return found
}
