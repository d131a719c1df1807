/** The newest survey-in, running or ended. Stored, so that a restart of the service loses no progress. */
import { EcefShape } from 'rtk-base/schemas'
import type { ReceiverFix } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Datum } from '../reference/datum.js'
import { Reference } from '../reference/reference.js'
import type { AccuracyModel } from './estimator.js'
import { PlainPosition } from './plain-position.js'
import { type CorrectionsNow, type SurveyEnd, type SurveyLimits, SurveyRun, SurveySnapshot } from './survey-run.js'

const number = Type.Number()
const count = Type.Number({ minimum: 0 })

/** Stored state of a survey-in. */
export const SurveyRecord = Type.Object({
  state: Type.Enum(['none', 'running', 'complete', 'incomplete', 'aborted']),
  corrected: Type.Boolean(),
  by: Type.String(),
  /** Undefined before the first epoch. */
  mean: Type.Optional(EcefShape),
  acc_m: count,
  /** The accuracy of a corrected run, relative to the source of its corrections. */
  relative_m: Type.Optional(count),
  needed_m: count,
  elapsed_s: count,
  count,
  /** When it ended, UTC seconds. */
  t: number,
  allowUse: Type.Boolean(),
  rtcm: SurveySnapshot.properties.rtcm,
  /** Frame and epoch of its result; undefined if unknown. */
  datum: Type.Optional(Datum),
  /** Progress of a running survey-in. */
  progress: Type.Optional(SurveySnapshot),
  /** The previous surveyed reference: valid until this one can be used. */
  previous: Type.Optional(Reference),
})
export type SurveyRecord = Static<typeof SurveyRecord>

export const noSurvey: SurveyRecord = {
  state: 'none',
  corrected: false,
  by: '',
  acc_m: 0,
  needed_m: 0,
  elapsed_s: 0,
  count: 0,
  t: 0,
  allowUse: false,
  rtcm: { age_s: 0, count: 0, remote: '', dist_m: 0 },
}

export interface SurveyorDeps {
  models: { plain: AccuracyModel; corrected: AccuracyModel }
  limits(): SurveyLimits
  corrections(): CorrectionsNow | undefined
  now_ms(): number
  utc_s(): number
  /** Frame and epoch of a survey-in that ends now. */
  datum(corrected: boolean): Datum
  /** Keeps the record. */
  save(record: SurveyRecord): void
}

/** Progress is stored every minute at first, then less often: a power cut costs a twentieth of it at most. */
const soonest_ms = 60_000
const latest_ms = 600_000
const share = 1 / 20

export class Surveyor {
  /** Requester of a survey-in that has not begun yet; undefined: none. */
  asked: string | undefined
  /** Where the receiver finds itself without corrections: fed all the time, not only while a survey-in runs. */
  readonly plain = new PlainPosition()
  readonly #deps: SurveyorDeps
  #ended: SurveyRecord = noSurvey
  #run: SurveyRun | undefined
  /** The reference when the newest survey-in began; one that it found comes before it. */
  #previous: Reference | undefined
  #savedAt_ms = 0

  constructor(deps: SurveyorDeps) {
    this.#deps = deps
  }

  /** Current state. */
  get record(): SurveyRecord {
    const run = this.#run
    if (!run) return this.#ended
    const { mean } = run
    return {
      state: 'running',
      corrected: run.corrected,
      by: run.by,
      ...(mean && { mean }),
      acc_m: run.count > 0 ? run.stated_m : 0,
      ...(run.corrected && run.count > 0 && { relative_m: run.acc_m }),
      needed_m: run.needed_m(this.#deps.limits()),
      elapsed_s: run.elapsed_s,
      count: run.count,
      t: this.#deps.utc_s(),
      allowUse: false,
      rtcm: { ...run.rtcm },
      datum: this.#deps.datum(run.corrected),
      ...(this.#previous && { previous: this.#previous }),
    }
  }

  /** The running or interrupted survey-in. */
  get run(): SurveyRun | undefined {
    return this.#run
  }

  /** A survey-in runs, was interrupted, or was asked for. */
  get isWanted(): boolean {
    return this.asked !== undefined || this.#run !== undefined
  }

  /** Result of the newest survey-in when it may be used; else the reference before it. */
  get reference(): Reference | undefined {
    return this.result ?? this.#previous
  }

  /** Result of the newest survey-in, when it may be used. */
  get result(): Reference | undefined {
    const { state, allowUse } = this.#ended
    const usable = state === 'complete' || (state === 'incomplete' && allowUse)
    return this.#run || !usable ? undefined : positionOf(this.#ended)
  }

  restore(record: SurveyRecord): void {
    this.#ended = record
    this.#previous = record.previous
    if (record.state !== 'running') return
    if (record.progress) this.#run = SurveyRun.restored(record.progress, this.#model(record.progress.corrected))
    else this.#ended = { ...record, state: 'aborted' }
  }

  /** Puts an earlier result back. */
  reuse(reference: Reference): void {
    this.asked = undefined
    this.#run = undefined
    this.#end(recordOf(reference))
  }

  begin(corrected: boolean, by: string): void {
    this.#previous = this.reference
    this.#run = new SurveyRun({ model: this.#model(corrected), corrected, by })
    this.save()
  }

  pause(): void {
    if (!this.#run) return
    this.#run.pause()
    this.save()
  }

  /** @returns whether the averaging started again because of a step */
  epoch(fix: ReceiverFix): boolean {
    return this.#run?.epoch(fix, this.#deps.corrections()) === true
  }

  /** Called every second while it runs. @returns how it ended, if it did */
  tick(): SurveyEnd | undefined {
    const now_ms = this.#deps.now_ms()
    const plain = this.plain.newest(now_ms)
    if (plain) this.#run?.withoutCorrections(plain)
    const end = this.#run?.tick(now_ms, this.#deps.corrections(), this.#deps.limits())
    if (end) this.#finish(end.state)
    else if (this.#run && now_ms - this.#savedAt_ms >= saveEvery_ms(this.#run)) this.save()
    return end
  }

  /** Ends it, also one that has not begun yet: another reference is wanted. */
  abort(): void {
    this.asked = undefined
    if (this.#run) this.#finish('aborted')
  }

  /** Accepts the result so far. @returns '' or why not */
  allow(): string {
    if (this.#run) {
      if (this.#run.count === 0) return 'the survey-in has no epoch yet'
      this.#finish('incomplete')
    }
    const { state, mean } = this.#ended
    if (state === 'complete') return 'the survey-in is complete and already in use'
    if (state !== 'incomplete' || !mean) return 'there is no incomplete survey-in'
    const { previous, ...ended } = this.#ended
    this.#end({ ...ended, allowUse: true })
    return ''
  }

  save(): void {
    this.#savedAt_ms = this.#deps.now_ms()
    const record = this.record
    this.#deps.save(this.#run ? { ...record, progress: this.#run.snapshot() } : record)
  }

  #finish(state: SurveyEnd['state']): void {
    const record = this.record
    this.#run = undefined
    const { previous, ...ended } = record
    this.#end({ ...ended, ...(state !== 'complete' && previous && { previous }), state })
  }

  #end(record: SurveyRecord): void {
    this.#ended = record
    this.save()
  }

  #model(corrected: boolean): AccuracyModel {
    return this.#deps.models[corrected ? 'corrected' : 'plain']
  }
}

/** The survey-in that found a surveyed reference. */
export function recordOf(reference: Reference): SurveyRecord {
  const { arp: mean, acc_m, corr: corrected, t, by, samples: count, elapsed_s, datum } = reference
  const kept = { corrected, by, mean, acc_m, t, count, elapsed_s, ...(datum && { datum }) }
  return { ...noSurvey, state: 'complete', ...kept }
}

/** What a survey-in has found, or has found so far. */
export function positionOf(record: SurveyRecord): Reference | undefined {
  const { mean, acc_m, corrected, t, by, count, elapsed_s, datum, rtcm } = record
  if (!mean) return undefined
  const reference = { method: 'survey' as const, arp: mean, acc_m, corr: corrected, t, by, samples: count, elapsed_s }
  const source = corrected ? rtcm.remote : ''
  return { ...reference, ...(datum && { datum }), ...(source && { source }) }
}

function saveEvery_ms({ elapsed_s }: SurveyRun): number {
  return Math.min(latest_ms, Math.max(soonest_ms, elapsed_s * 1000 * share))
}
