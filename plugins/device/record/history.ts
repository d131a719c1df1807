/** Reads the record: lines to dated entries. */

import { crc32 } from 'node:zlib'
import type { RecordEntry, RecordMinute, RecordValue } from 'rtk-base/schemas'

/** How everything was at a moment, by key. */
export type Situation = Record<string, RecordValue>

const isWhole = (minute: Partial<RecordMinute>) => minute.frames !== undefined && minute.pos !== undefined

/** Applies an entry to `situation`; returns the same object if nothing changes. */
export function applied(situation: Situation, { all, set, run }: RecordEntry): Situation {
  if (all) return all
  if (run) return {}
  if (!set) return situation
  const now = { ...situation }
  for (const [key, value] of Object.entries(set)) {
    if (value === null) delete now[key]
    else now[key] = value
  }
  return now
}

const minute_ms = 60_000

/**
 * When the count of each entry began: counts follow each other, and one that ended early (the clock was set, the
 * service started within the minute) is shorter than a minute.
 */
export class CountBegins {
  #last_ms = Number.NEGATIVE_INFINITY

  /** @param entry all of them, oldest first @returns undefined: the entry has no count */
  of({ t, min, run }: RecordEntry): number | undefined {
    const begin_ms = Math.min(t, Math.max(this.#last_ms, t - minute_ms))
    if (min || run) this.#last_ms = t
    return min && begin_ms
  }
}

/** The count of two successive times. */
export function sumOfCounts(one: RecordMinute, other: RecordMinute): RecordMinute {
  const frames = { ...one.frames }
  for (const [type, count] of Object.entries(other.frames)) frames[type] = (frames[type] ?? 0) + count
  return {
    ...other,
    epochs: one.epochs + other.epochs,
    gap: Math.max(one.gap, other.gap),
    ...((one.interrupted ?? other.interrupted) !== undefined && {
      interrupted: one.interrupted === true || other.interrupted === true,
    }),
    frames,
    fixes: one.fixes + other.fixes,
    corrections: one.corrections + other.corrections,
  }
}

type Texts = () => AsyncIterable<string>

/**
 * Every entry, oldest first, with its true time: a station often boots with a wrong clock that is set later, and
 * entries written before are shifted accordingly. Torn and damaged lines are omitted.
 */
export async function* entries(texts: Texts): AsyncGenerator<RecordEntry> {
  const steps = await clockSteps(texts)
  let step = 0
  let run = -1
  let offset_ms = 0
  let minute: RecordMinute | undefined
  for await (const text of texts()) {
    for (const stored of storedIn(text)) {
      if (stored.run) {
        run += 1
        minute = undefined
      }
      if (stored.run || step === 0) {
        while (step < steps.length && (steps[step] as ClockStep).run < run) step += 1
        offset_ms = sumOf(steps, step, run)
      }
      if (stored.clock) {
        offset_ms -= stored.clock.by_ms
        step += 1
      }
      const { min, ...rest } = stored
      if (min && (minute || isWhole(min))) minute = { ...minute, ...min } as RecordMinute
      // The values omitted in the first minute of the oldest file were in a deleted file.
      else if (min) continue
      yield { ...rest, t: stored.t + offset_ms, ...(min && minute && { min: minute }) }
    }
  }
}

interface ClockStep {
  readonly run: number
  readonly by_ms: number
}

/** The steps of the clock, by run; the first run that is still there may have lost its beginning and is -1. */
async function clockSteps(texts: Texts): Promise<ClockStep[]> {
  const steps: ClockStep[] = []
  let run = -1
  for await (const text of texts()) {
    for (const line of text.split('\n')) {
      // Few lines are either; reading the others as JSON would cost the most.
      if (!line.includes('"clock":{') && !line.includes('"run":{')) continue
      const entry = entryOf(line)
      if (entry?.run) run += 1
      if (entry?.clock) steps.push({ run, by_ms: entry.clock.by_ms })
    }
  }
  return steps
}

const sumOf = (steps: readonly ClockStep[], from: number, run: number) =>
  steps.slice(from).reduce((sum, one) => (one.run === run ? sum + one.by_ms : sum), 0)

function* storedIn(text: string): Generator<StoredEntry> {
  for (const line of text.split('\n')) {
    const entry = line === '' ? undefined : entryOf(line)
    if (entry) yield entry
  }
}

/** Entries from one time to another; the first holds the whole situation, so that it can be read without the ones before. */
export async function* between(
  all: AsyncIterable<RecordEntry>,
  from_ms: number,
  to_ms: number,
): AsyncGenerator<RecordEntry> {
  let situation: Situation = {}
  let before: RecordEntry | undefined
  let isIn = false
  for await (const entry of all) {
    if (entry.t > to_ms) {
      // A clock set back unnoticed: later lines may have earlier times.
      continue
    }
    if (entry.t < from_ms) {
      situation = applied(situation, entry)
      before = entry
      continue
    }
    if (!isIn && before) yield { t: from_ms, up: before.up + (from_ms - before.t), all: situation }
    isIn = true
    yield entry
  }
  if (!isIn && before && from_ms <= to_ms) yield { t: from_ms, up: before.up + (from_ms - before.t), all: situation }
}

/** An entry as stored: a minute omits values unchanged since the previous minute. */
export type StoredEntry = Omit<RecordEntry, 'min'> & { readonly min?: Partial<RecordMinute> }

const longest = 8_192

const checksumOf = (json: string): string => crc32(json).toString(16).padStart(8, '0')

/** `crc32 json`: one line. Values too long for a line are omitted. */
export function lineOf(entry: StoredEntry): string {
  const json = JSON.stringify(entry)
  return json.length > longest ? '' : `${checksumOf(json)} ${json}\n`
}

/** The entry of a line; undefined when it is torn or damaged. */
export function entryOf(line: string): StoredEntry | undefined {
  const json = line.slice(9)
  if (line[8] !== ' ' || line.slice(0, 8) !== checksumOf(json)) return undefined
  try {
    return JSON.parse(json) as StoredEntry
  } catch {
    return undefined
  }
}
