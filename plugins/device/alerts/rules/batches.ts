import { Type } from 'typebox'
import type { Change, Entry, Ledger } from './ledger.js'

export interface BatchOptions {
  readonly group_ms: number
  /** Notices an hour. */
  readonly hourly: number
}

const hour_ms = 3_600_000
/** Notices beyond the limit go out as one, so long after the first of them. */
const overflow_ms = 600_000
/** Alerts that a notice describes; the rest is counted. */
export const mostListed = 10
/** Alerts that can be withdrawn from a notice before it is told. */
const mostKept = 1_000
const mostSubjects = 20
const mostBatches = 500

const text = Type.String({ maxLength: 1_000 })
const Listed = Type.Object({
  serial: text,
  name: text,
  text,
  advice: text,
  since_s: Type.Number(),
  flaps: Type.Number(),
})
const What = Type.Enum(['begin', 'worse', 'repeat', 'end'])

/** Alerts that began (or ended) together: they go into one notice. */
export const Batch = Type.Object({
  what: What,
  kind: text,
  severity: Type.Enum(['warning', 'critical']),
  group: text,
  begun_ms: Type.Number(),
  count: Type.Number(),
  listed: Type.Array(Listed, { maxItems: mostKept }),
})
export type Batch = Type.Static<typeof Batch>

/** Notices beyond the limit. */
export const Overflow = Type.Object({
  begun_ms: Type.Number(),
  count: Type.Number(),
  isCritical: Type.Boolean(),
  subjects: Type.Array(text, { maxItems: mostSubjects }),
})
export type Overflow = Type.Static<typeof Overflow>

/** The times of the notices of the last hour. */
export const SentTimes = Type.Object({ sent_ms: Type.Array(Type.Number(), { maxItems: 1_000 }) })

export const StoredBatches = Type.Object({
  batches: Type.Array(Batch, { maxItems: mostBatches }),
  overflow: Type.Optional(Overflow),
  ...SentTimes.properties,
})
export type StoredBatches = Type.Static<typeof StoredBatches>

/** Collects changes into notices: by kind, severity and group, outside quiet hours, at most a given number an hour. */
export class Batches {
  readonly #options: BatchOptions
  #batches: Batch[] = []
  #overflow: Overflow | undefined
  #sent_ms: number[] = []

  constructor(options: BatchOptions) {
    this.#options = options
  }

  add({ what, alert, flaps }: Change, now_ms: number): void {
    const { kind, severity, group } = alert
    const own = { what, kind, severity, group }
    const { serial, name, text, advice, since_s } = alert
    const listed = { serial, name, text: text.slice(0, 500), advice: advice.slice(0, 500), since_s, flaps }
    const found = this.#batches.findIndex(
      (batch) => batch.what === what && batch.kind === kind && batch.severity === severity && batch.group === group,
    )
    const batch = this.#batches[found]
    if (batch)
      this.#batches[found] = {
        ...batch,
        count: batch.count + 1,
        listed: batch.listed.length < mostKept ? [...batch.listed, listed] : batch.listed,
      }
    else if (this.#batches.length < mostBatches)
      this.#batches.push({ ...own, begun_ms: now_ms, count: 1, listed: [listed] })
    else this.#exceed(kind, severity === 'critical', now_ms)
  }

  /** Waiting batches follow the alerts: they get their newest texts, and alerts that no longer hold are left out. */
  revise(ledger: Ledger, now_ms: number): void {
    if (this.#batches.length === 0) return
    const byAlert = new Map(ledger.entries.map((entry) => [nameOf(entry.alert), entry]))
    this.#batches = this.#batches.flatMap((batch) => {
      const { what, kind, severity } = batch
      const kept = batch.listed.flatMap((one) => {
        const entry = byAlert.get(nameOf({ serial: one.serial, kind }))
        if (!entry) return [one]
        if (!isPassed(what, severity, entry)) return [what === 'end' ? one : rewritten(one, entry)]
        if (what === 'begin') ledger.withdrawBegin(entry.alert.key, now_ms)
        if (what === 'end') ledger.withdrawEnd(entry.alert.key, severity, now_ms)
        return []
      })
      const count = batch.count - (batch.listed.length - kept.length)
      if (count === 0) return []
      return kept.every((one, at) => one === batch.listed[at]) && count === batch.count
        ? [batch]
        : [{ ...batch, count, listed: kept }]
    })
  }

  /**
   * @param isQuiet warnings wait
   * @param subjectOf of the notice that a batch would be
   * @returns what to tell now, the oldest first
   */
  due(now_ms: number, isQuiet: boolean, subjectOf: (batch: Batch) => string): (Batch | Overflow)[] {
    const isDue = ({ begun_ms, severity }: Batch) =>
      now_ms - begun_ms >= this.#options.group_ms && !(isQuiet && severity === 'warning')
    const ready = this.#batches.filter(isDue)
    this.#batches = this.#batches.filter((batch) => !isDue(batch))
    if (this.#sent_ms.some((sent_ms) => now_ms - sent_ms >= hour_ms))
      this.#sent_ms = this.#sent_ms.filter((sent_ms) => now_ms - sent_ms < hour_ms)
    const told: (Batch | Overflow)[] = []
    for (const batch of ready) {
      if (this.#sent_ms.length >= this.#options.hourly)
        this.#exceed(subjectOf(batch), batch.severity === 'critical', now_ms)
      else {
        this.#sent_ms = [...this.#sent_ms, now_ms]
        told.push(batch)
      }
    }
    if (this.#overflow && now_ms - this.#overflow.begun_ms >= overflow_ms) {
      told.push(this.#overflow)
      this.#overflow = undefined
    }
    return told
  }

  #exceed(subject: string, isCritical: boolean, now_ms: number): void {
    const {
      begun_ms,
      count,
      isCritical: wasCritical,
      subjects,
    } = this.#overflow ?? {
      ...{ begun_ms: now_ms, count: 0, isCritical: false, subjects: [] },
    }
    this.#overflow = {
      ...{ begun_ms, count: count + 1, isCritical: wasCritical || isCritical },
      subjects: subjects.length < mostSubjects ? [...subjects, subject] : subjects,
    }
  }

  stored(): StoredBatches {
    return {
      ...{ batches: this.#batches, sent_ms: this.#sent_ms },
      ...(this.#overflow && { overflow: this.#overflow }),
    }
  }

  restore({ batches, overflow, sent_ms }: StoredBatches): void {
    this.#batches = [...batches]
    this.#overflow = overflow
    this.#sent_ms = [...sent_ms]
  }
}

/** A source has one alert of a kind about a station. */
const nameOf = ({ serial, kind }: { serial: string; kind: string }) => `${serial} ${kind}`

/** Whether what waits to be told is not so any more. */
function isPassed(what: Batch['what'], severity: Batch['severity'], { alert, state }: Entry): boolean {
  if (what === 'end') return state === 'pending'
  return state === 'ending' || (what !== 'begin' && severity === 'critical' && alert.severity === 'warning')
}

function rewritten(one: Batch['listed'][number], { alert, flaps }: Entry): Batch['listed'][number] {
  const { name, text, advice } = alert
  const newest = { ...one, name, text: text.slice(0, 500), advice: advice.slice(0, 500), flaps }
  const isSame = one.name === name && one.text === newest.text && one.advice === newest.advice && one.flaps === flaps
  return isSame ? one : newest
}
