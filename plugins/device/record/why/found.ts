/** The record's data of one minute, gathered in one pass to limit memory. */
import type { RecordEntry, RecordMinute, RecordValue } from 'rtk-base/schemas'
import { applied, CountBegins, type Situation, sumOfCounts } from '../history.js'

export const minute_ms = 60_000

export interface Found {
  readonly at_ms: number
  /** How everything was at the beginning of the minute, and at its end. */
  begin: Situation
  end: Situation
  /** Start time of each value; missing if before the start of the record. */
  readonly since: WeakMap<RecordValue, number>
  /** The value with which the state of a value began: the gate is closed for another reason later, and is still closed. */
  readonly origin: WeakMap<RecordValue, RecordValue>
  /** Everything that any thing became in that minute, by key; undefined: it was gone. */
  readonly during: Map<string, { t: number; value: RecordValue | undefined }[]>
  /** The statistics; undefined if none were written for that minute. */
  minute: RecordMinute | undefined
  /** Notes of the minute and of the ten before it. */
  readonly notes: { t: number; what: string; text: string }[]
  /** The first and the last entry of all. */
  first_ms: number | undefined
  last_ms: number | undefined
  /** The last entry of the run before the minute, and how it ended. */
  before: { t: number; stopped: string | undefined } | undefined
  /** The start that followed the minute, or was in it. */
  nextRun: { t: number; how: string; text: string; at_ms: number } | undefined
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
    at_ms: begin_ms,
    begin: {},
    end: {},
    since: new WeakMap(),
    origin: new WeakMap(),
    during: new Map(),
    minute: undefined,
    notes: [],
    first_ms: undefined,
    last_ms: undefined,
    before: undefined,
    nextRun: undefined,
    clock_ms: 0,
    lost: 0,
    signs: 0,
  }
  let situation: Situation = {}
  const countBegins = new CountBegins()
  let isIn = false
  for await (const entry of entries) {
    const { t, min, run, note, stop, clock, lost } = entry
    found.first_ms ??= t
    found.last_ms = t
    if (t >= begin_ms && !isIn) {
      isIn = true
      found.begin = situation
    }
    if (run && t >= begin_ms) found.nextRun ??= { t, ...run }
    if (t < begin_ms) found.before = { t, stopped: stop }
    if (clock && t >= begin_ms && t < begin_ms + 60 * minute_ms) found.clock_ms += clock.by_ms
    if (lost && t >= begin_ms && t < end_ms + minute_ms) found.lost += lost
    if (note && t >= begin_ms - notesBefore_ms && t < end_ms) found.notes.push({ t, ...note })
    // Counts of before the clock was set may cover parts of two minutes: each belongs to that of its middle, so none is
    // lost or counted twice.
    const count_ms = countBegins.of(entry)
    const middle_ms = count_ms !== undefined && (count_ms + t) / 2
    if (min && middle_ms !== false && middle_ms >= begin_ms && middle_ms < end_ms)
      found.minute = found.minute ? sumOfCounts(found.minute, min) : min
    if (t >= end_ms) continue
    if (t >= begin_ms && !run) found.signs += 1
    const now = applied(situation, entry)
    if (now !== situation) {
      for (const key of new Set([...Object.keys(now), ...Object.keys(situation)])) {
        const value = now[key]
        const before = situation[key]
        if (value === before) continue
        // A repetition at the start of a file is not a change, nor is another reason for the same state.
        const isSame = before !== undefined && stateOf(value) === stateOf(before)
        const since_ms = isSame ? found.since.get(before) : t
        if (value && since_ms !== undefined) found.since.set(value, since_ms)
        if (value && isSame) found.origin.set(value, found.origin.get(before) ?? before)
        if (t >= begin_ms) found.during.set(key, [...(found.during.get(key) ?? []), { t, value }])
      }
    }
    situation = now
  }
  if (!isIn) found.begin = situation
  found.end = situation
  return found
}
