/** One survey-in: which epochs count, when it is good enough, when it has to end. Pure; the time is always passed in. */
import { distance, enu, followsBase, isPosition, offsetText, roundTo } from 'rtk-base/gnss'
import { EcefShape } from 'rtk-base/schemas'
import type { Ecef, ErrorValues, ReceiverFix } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { type AccuracyModel, EstimatorSnapshot, PositionEstimator } from './estimator.js'
import { InitialisationSnapshot, Initialisations } from './initialisations.js'
import type { Seen } from './plain-position.js'
import { StepWatch } from './step-watch.js'

/** The change parameters of a survey-in; read again each time. */
export interface SurveyLimits {
  mintime_s: number
  maxtime_s: number
  accuracy_m: number
  accuracyCorr_m: number
}

/** The corrections at an epoch; undefined where no plugin reports them. */
export interface CorrectionsNow {
  age_s: number
  count: number
  remote: string
  distance_m: number | undefined
  /** Older ones do not count, seconds; 10 where it is left out. */
  oldest_s?: number
  /** Whether the position that their base announces is known to be right; `rejected`: they are not to be used. */
  trust: 'trusted' | 'unknown' | 'rejected'
}

const count = Type.Number({ minimum: 0 })

/** Progress, for the store and for the next instance on a reload. */
export const SurveySnapshot = Type.Object({
  corrected: Type.Boolean(),
  by: Type.String(),
  elapsed_s: count,
  total_s: count,
  rtcm: Type.Object({ age_s: Type.Number(), count: Type.Number(), remote: Type.String(), dist_m: count }),
  estimator: Type.Optional(EstimatorSnapshot),
  /** Reference for detecting a step. */
  level: Type.Optional(EcefShape),
  initialisations: Type.Optional(InitialisationSnapshot),
  /** Where the receiver found itself without corrections. */
  plain: Type.Optional(Type.Object({ position: EcefShape, acc_m: count })),
  /** The announced position of the source is known to be right. */
  trusted: Type.Optional(Type.Literal(true)),
})
export type SurveySnapshot = Static<typeof SurveySnapshot>

export interface SurveyEnd {
  state: 'complete' | 'incomplete' | 'aborted'
  /** Of one without success: the values of the error `gnss-survey`. */
  why?: ErrorValues & { readonly cause: SurveyCause }
}

/** The cases of the error `gnss-survey` (texts/en.json). */
export type SurveyCause =
  | 'inaccurate'
  | 'unverified'
  | 'undetermined'
  | 'no-corrections'
  | 'untrusted'
  | 'far'
  | 'no-rtk-fix'
  | 'unsteady-fix'
  | 'contradicted'
  | 'stopped'

/** Rules of a corrected survey-in. */
const held_s = 30
const oldest_s = 10
const abort_s = 600
/** The age of corrections that never came: the store cannot hold infinity. */
export const never_s = 1e9
/** A base farther away than this is not used: its atmosphere is not ours. */
const farthest_m = 100_000
/** Allowed distance of the mean to the position without corrections, in sigmas, with a minimum in metres. */
const plainSigmas = 4
const plainLeast_m = 3
/** Minimum assumed accuracy of the position without corrections, whatever the receiver states. */
const untrusted_m = 1
/** A position without corrections is waited for so long. */
const awaited_s = 180
/** Epochs of the mean before it is compared. */
const comparedAfter = 10

export interface SurveyOptions {
  model: AccuracyModel
  corrected: boolean
  /** The requester. */
  by: string
}

export class SurveyRun {
  readonly corrected: boolean
  readonly by: string
  readonly #model: AccuracyModel
  #estimator: PositionEstimator
  /** Seconds of this averaging since its first epoch, and of the whole survey-in. */
  #elapsed_s = 0
  #total_s = 0
  #last_ms: number | undefined
  #unusable_s = 0
  #fixedSince_ms: number | undefined
  #steps = new StepWatch()
  #lastFix = 'none'
  #rtcm = { age_s: 0, count: 0, remote: '', dist_m: 0 }
  #countAtStart: number | undefined
  #initialisations = new Initialisations()
  #plain: Seen | undefined
  #oldest_s = oldest_s
  #trust: CorrectionsNow['trust'] = 'unknown'
  #limits: SurveyLimits | undefined
  #isDisturbed: boolean = false
  /** How often a step restarted the averaging. */
  restarts = 0

  constructor({ model, corrected, by }: SurveyOptions) {
    this.#model = model
    this.corrected = corrected
    this.by = by
    this.#estimator = new PositionEstimator(model)
  }

  get elapsed_s(): number {
    return this.#elapsed_s
  }

  get count(): number {
    return this.#estimator.count
  }

  get mean(): Ecef | undefined {
    return this.#estimator.mean
  }

  /** The accuracy; of a corrected run relative to the position that the source of the corrections announces. */
  get acc_m(): number {
    return this.#estimator.accuracy_m(this.#rtcm.dist_m)
  }

  /**
   * The stated accuracy. The announced position of an untrusted base may be wrong: three times the stated accuracy covers the difference
   * to the position without corrections, plus three times that position's own accuracy.
   */
  get stated_m(): number {
    const { acc_m, mean } = this
    if (!this.corrected || this.#trust === 'trusted') return acc_m
    const plain = this.#plain
    const shown_m = plain && mean ? distance(mean, plain.position) / 3 : 0
    return Math.hypot(acc_m, shown_m + Math.max(untrusted_m, plain?.acc_m ?? 0))
  }

  /** Messages since it began, and the newest of the rest. */
  get rtcm(): Readonly<SurveySnapshot['rtcm']> {
    return this.#rtcm
  }

  /** Since the last epoch that counted. */
  get unusable_s(): number {
    return this.#unusable_s
  }

  /** The accuracy that it needs: 1 ppm of the distance more when it is corrected. */
  needed_m({ accuracy_m, accuracyCorr_m }: SurveyLimits): number {
    return this.corrected ? accuracyCorr_m + this.#rtcm.dist_m * 1e-6 : accuracy_m
  }

  /** A position without corrections: the mean of a corrected survey-in must not contradict it. The newest one counts. */
  withoutCorrections(plain: Seen): void {
    this.#plain = plain
  }

  /**
   * Corrections should pause: a plain survey-in uses none. A corrected one first needs a position without them, but does not wait for it
   * for ever, as some come by a port of the receiver's own.
   */
  get wantsPlain(): boolean {
    return !this.corrected || (!this.#plain && this.#total_s < awaited_s)
  }

  /** A plain one: the newest epoch did not count, because the position follows another base. */
  get isDisturbed(): boolean {
    return this.#isDisturbed
  }

  /** Nothing but another determination of the ambiguities is missing: the receiver should lose its fix and find it again. */
  get wantsInitialisation(): boolean {
    return (
      this.#limits !== undefined && this.#isGood(this.#limits) && this.#initialisations.needsAnother(this.#agreements)
    )
  }

  /** Time went by without an observation of it: a link that was down, a restart of the service. */
  pause(): void {
    this.#last_ms = undefined
    this.#fixedSince_ms = undefined
    this.#initialisations.pause()
  }

  /** Called at every epoch and every second. @returns how it ended, if it did */
  tick(now_ms: number, corrections: CorrectionsNow | undefined, limits: SurveyLimits): SurveyEnd | undefined {
    const dt_s = this.#last_ms === undefined ? 0 : Math.max(0, now_ms - this.#last_ms) / 1000
    this.#last_ms = now_ms
    if (this.count > 0) this.#elapsed_s += dt_s
    this.#total_s += dt_s
    this.#unusable_s += dt_s
    this.#note(corrections)
    this.#limits = limits
    const { count } = this
    const contradiction = this.#contradiction()
    if (contradiction) return { state: 'aborted', why: contradiction }
    const missing = this.#missing(limits)
    if (!missing) return { state: 'complete' }
    if (this.corrected && this.#unusable_s >= abort_s) return { state: 'aborted', why: this.#unusable() }
    if (this.#total_s < limits.maxtime_s) return undefined
    const _reached = count > 0 ? `${this.acc_m.toFixed(3)} m` : 'no epoch'
    return { state: 'incomplete', why: { ...missing, elapsed_s: Math.round(this.#total_s), _reached } }
  }

  /** One navigation epoch. @returns whether the averaging started again because of a step */
  epoch(fix: ReceiverFix, corrections: CorrectionsNow | undefined): boolean {
    this.#lastFix = fix.fix
    this.#note(corrections)
    if (!isPosition(fix)) {
      this.#loseFix()
      return false
    }
    if (!this.corrected) {
      // It would carry the error of that base, and no plain survey-in verifies a base.
      this.#isDisturbed = followsBase(fix)
      if (!this.#isDisturbed) this.#use(fix)
      return false
    }
    return this.#correctedEpoch(fix)
  }

  snapshot(): SurveySnapshot {
    const estimator = this.#estimator.snapshot()
    return {
      corrected: this.corrected,
      by: this.by,
      elapsed_s: this.#elapsed_s,
      total_s: this.#total_s,
      rtcm: { ...this.#rtcm },
      ...(estimator && { estimator }),
      ...(this.#steps.level && { level: { ...this.#steps.level } }),
      ...(this.corrected && { initialisations: this.#initialisations.snapshot() }),
      ...(this.#plain && { plain: this.#plain }),
      ...(this.#trust === 'trusted' && { trusted: true as const }),
    }
  }

  static restored(snapshot: SurveySnapshot, model: AccuracyModel): SurveyRun {
    const run = new SurveyRun({ model, corrected: snapshot.corrected, by: snapshot.by })
    run.#elapsed_s = snapshot.elapsed_s
    run.#total_s = snapshot.total_s
    run.#rtcm = { ...snapshot.rtcm }
    if (snapshot.estimator) run.#estimator.restore(snapshot.estimator)
    run.#steps = new StepWatch(snapshot.level)
    if (snapshot.initialisations) run.#initialisations.restore(snapshot.initialisations)
    run.#plain = snapshot.plain
    if (snapshot.trusted) run.#trust = 'trusted'
    return run
  }

  #isGood(limits: SurveyLimits): boolean {
    return this.count > 0 && this.#estimator.observed_s >= limits.mintime_s && this.acc_m <= this.needed_m(limits)
  }

  /** What a complete one would have; a corrected one is verified, too. */
  #missing(limits: SurveyLimits): SurveyEnd['why'] {
    const needed_m = this.needed_m(limits)
    if (!this.#isGood(limits))
      return { cause: 'inaccurate', needed_m: roundTo(needed_m, 3), _needed: needed_m.toFixed(3) }
    if (!this.corrected) return undefined
    if (!this.#plain) return { cause: 'unverified' }
    if (this.#initialisations.suffice(this.#agreements)) return undefined
    return { cause: 'undetermined', results: this.#agreements + 1 }
  }

  /** Stating centimetres requires one more: a wrong ambiguity found twice would be stated as correct. */
  get #agreements(): number {
    return this.#trust === 'trusted' ? 2 : 1
  }

  /** How the mean contradicts the position without corrections. */
  #contradiction(): SurveyEnd['why'] {
    const { mean } = this
    const plain = this.#plain
    if (!this.corrected || !plain || !mean || this.count < comparedAfter) return undefined
    const away_m = distance(mean, plain.position)
    const limit_m = Math.max(plainLeast_m, plainSigmas * Math.hypot(plain.acc_m, this.acc_m))
    if (away_m <= limit_m) return undefined
    const source = this.#rtcm.remote
    return {
      ...{ cause: 'contradicted', source, distance_m: roundTo(away_m, 1), limit_m: roundTo(limit_m, 1) },
      ...{ _source: source || 'an unknown source', _away: away_m.toFixed(1), _limit: limit_m.toFixed(1) },
      _offset: offsetText(enu(plain.position, mean)),
    }
  }

  #note(corrections: CorrectionsNow | undefined): void {
    if (!corrections) return
    this.#oldest_s = corrections.oldest_s ?? oldest_s
    this.#countAtStart ??= corrections.count - this.#rtcm.count
    const { age_s, remote, distance_m } = corrections
    if (remote) this.#trust = corrections.trust
    this.#rtcm = {
      age_s: Math.min(age_s, never_s),
      count: Math.max(0, corrections.count - this.#countAtStart),
      remote: remote || this.#rtcm.remote,
      dist_m: distance_m ?? this.#rtcm.dist_m,
    }
  }

  /** Only RTK-fixed epochs that have held for a while and rest on fresh corrections. */
  #correctedEpoch(fix: ReceiverFix): boolean {
    if (fix.fix !== 'rtk-fixed') {
      this.#loseFix()
      return false
    }
    this.#fixedSince_ms ??= fix.arrival_ms
    if (fix.arrival_ms - this.#fixedSince_ms < held_s * 1000) return false
    if (this.#trust === 'rejected') return false
    if (this.#rtcm.age_s > this.#oldest_s || this.#rtcm.dist_m > farthest_m) return false
    const seen = this.#steps.see(fix.position)
    if (seen === 'wild') return false
    if (seen === 'near') {
      this.#useFixed(fix)
      if (this.#initialisations.settle(this.acc_m)) return false
    }
    this.#startAgain(fix)
    return true
  }

  #loseFix(): void {
    this.#fixedSince_ms = undefined
    this.#initialisations.lost()
  }

  #startAgain(fix: ReceiverFix): void {
    this.#estimator = new PositionEstimator(this.#model)
    this.#initialisations = new Initialisations()
    this.#elapsed_s = 0
    this.#steps = new StepWatch()
    this.restarts++
    this.#useFixed(fix)
  }

  #useFixed(fix: ReceiverFix): void {
    this.#use(fix)
    this.#initialisations.add(fix.position)
    this.#steps.follow(fix.position)
  }

  #use(fix: ReceiverFix): void {
    this.#unusable_s = 0
    this.#estimator.add(fix.position, fix.acc_m, fix.arrival_ms / 1000)
  }

  #unusable(): SurveyEnd['why'] {
    const minutes = abort_s / 60
    const { age_s, dist_m, remote: source } = this.#rtcm
    if (age_s > this.#oldest_s) return { cause: 'no-corrections', minutes }
    if (this.#trust === 'rejected') return { cause: 'untrusted', minutes, source }
    if (dist_m > farthest_m)
      return { cause: 'far', minutes, source, away_km: Math.round(dist_m / 1000), limit_km: farthest_m / 1000 }
    if (this.#lastFix !== 'rtk-fixed') return { cause: 'no-rtk-fix', minutes, fix: this.#lastFix }
    return { cause: 'unsteady-fix', minutes, held_s }
  }
}
