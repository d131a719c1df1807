/** The survey-in as a step of the procedure: start, epochs, seconds and end. */
import { followsBase, isPosition } from 'rtk-base/gnss'
import type { MoveEvidence, ReceiverFix, ReferencePosition } from 'rtk-base/services'
import type { SurveyEnd, SurveyRun } from '../survey/survey-run.js'
import type { ProcedureDeps } from './deps.js'
import { late_s } from './reports.js'
import type { Event } from './table.js'
import { surveyValues } from './texts.js'

/** After a longer gap of positions the antenna may have moved unnoticed. */
const gap_ms = 5_000

/** Where a survey-in finds the antenna so far; undefined before its first epoch. */
const placeOf = ({ mean, corrected, acc_m }: SurveyRun): ReferencePosition | undefined =>
  mean && { arp: mean, corr: corrected, acc_m }

/** A receiver that was asked to determine its ambiguities again has so long for it. */
const initialises_ms = 120_000
/** Corrections that end show in the position for some time still: so long it is no error. */
const disturbed_s = 300

export class SurveyStep {
  readonly #deps: ProcedureDeps
  readonly #dispatch: (event: Event) => void
  #askedAt_ms = Number.NEGATIVE_INFINITY

  #isInterrupted: boolean = false
  #positionAt_ms = 0
  #followsBase: boolean = false
  #distrustsCorrections: boolean = false

  constructor(deps: ProcedureDeps, dispatch: (event: Event) => void) {
    this.#deps = deps
    this.#dispatch = dispatch
  }

  /** The last survey-in found the corrections wrong: the station must not come back to its reference by them. Until the next one. */
  get distrustsCorrections(): boolean {
    return this.#distrustsCorrections
  }

  #distrust(distrusted: boolean): void {
    this.#distrustsCorrections = distrusted
    this.#deps.integrity.distrustCorrections(distrusted)
  }

  /** Begins a new survey-in, or continues an interrupted one. */
  begin(): void {
    const { corrections, ctx, integrity, receiver, references, reports, surveyor } = this.#deps
    const { asked, run } = surveyor
    this.#isInterrupted = false
    this.#distrust(false)
    this.#positionAt_ms = this.#now_ms()
    const place = asked === undefined && run ? placeOf(run) : undefined
    if (place && integrity.isAt(place, 'newest') === true)
      ctx.log.info('the survey-in continues where it was interrupted')
    else {
      const askedBy = run && !run.mean ? run.by : undefined
      // A survey-in aborted for lack of corrections stays a corrected one when it restarts.
      const { state, corrected } = surveyor.record
      const wasCorrected = asked === undefined && state === 'aborted' && corrected
      surveyor.begin(wasCorrected || corrections.isCorrected(receiver), asked ?? askedBy ?? 'survey')
    }
    surveyor.asked = undefined
    references.noteChosen()
    reports.while('gnss-survey', undefined)
  }

  heardEvidence({ by, moved, text }: MoveEvidence): void {
    if (by === 'code') return
    if (moved) this.#restart(text)
    else this.#interrupted()
  }

  /** The average so far belongs to another position. */
  #restart(why: string): void {
    const { ctx, integrity, surveyor } = this.#deps
    const { run } = surveyor
    integrity.forgetPositions()
    surveyor.plain.clear()
    this.#isInterrupted = false
    if (!run) return
    ctx.log.warn(`${why}: the survey-in starts again`)
    surveyor.begin(run.corrected, run.by)
  }

  /** The antenna may have been carried away meanwhile: nothing counts until positions show that it was not. */
  #interrupted(): void {
    if (this.#isInterrupted || !this.#deps.surveyor.run?.mean) return
    this.#deps.integrity.forgetPositions()
    this.#isInterrupted = true
  }

  epoch(fix: ReceiverFix): void {
    if (isPosition(fix)) this.#positionAt_ms = this.#now_ms()
    this.#followsBase = followsBase(fix)
    this.#use(fix)
  }

  /** The second solution knows no corrections: a plain survey-in takes it while the first one follows another base. */
  secondFix(fix: ReceiverFix): void {
    if (this.#followsBase && isPosition(fix) && this.#deps.surveyor.run?.corrected === false) this.#use(fix)
  }

  #use(fix: ReceiverFix): void {
    if (this.#isInterrupted) return
    if (this.#deps.surveyor.epoch(fix)) {
      this.#deps.ctx.log.warn('the corrected position jumped: the averaging of the survey-in starts again')
    }
  }

  second(): void {
    const { integrity, reports, surveyor } = this.#deps
    const { run } = surveyor
    const place = run && placeOf(run)
    if (place) {
      if (this.#now_ms() - this.#positionAt_ms > gap_ms) this.#interrupted()
      const isThere = integrity.isAt(place, 'window')
      if (isThere === false) {
        this.#restart('the antenna is not where the survey-in found it so far')
        return
      }
      if (isThere) this.#isInterrupted = false
    }
    const end = surveyor.tick()
    if (run && !end) {
      if (run.wantsInitialisation) this.#initialise()
      const isDisturbed = run.isDisturbed && run.unusable_s >= disturbed_s
      const isLate = run.unusable_s >= late_s
      reports.while('gnss-survey', isDisturbed ? { disturbed: true } : isLate ? {} : undefined)
    }
    if (end) this.#end(end)
  }

  /** A person wants no survey-in any more. */
  stop(): void {
    this.#deps.surveyor.abort()
    this.#end({ state: 'aborted', why: { cause: 'stopped' } }, true)
  }

  /** @param isWanted ended by a person: not an error if the station returns to its reference */
  #end(end: SurveyEnd, isWanted = false): void {
    const { ctx, integrity, references, reports, surveyor } = this.#deps
    integrity.notePosition()
    this.#distrust(end.why?.cause === 'contradicted')
    ctx.log.info({ ...end }, `the survey-in ended: ${end.state}`)
    if (end.state === 'complete') {
      this.done()
      return
    }
    const returns = references.chosen !== undefined
    const isFault = !isWanted || !returns
    reports.while('gnss-survey', isFault ? surveyValues(end, surveyor.record.count, returns) : undefined)
    this.#dispatch(returns ? 'survey over' : 'survey failed')
  }

  /** One determination of the ambiguities may be wrong: the receiver makes another one. */
  #initialise(): void {
    const { ctx, receiver } = this.#deps
    const now_ms = this.#now_ms()
    if (!receiver.resetAmbiguities || now_ms - this.#askedAt_ms < initialises_ms) return
    this.#askedAt_ms = now_ms
    ctx.log.info('the survey-in is good enough; the receiver determines its ambiguities again to check it')
    receiver.resetAmbiguities().catch((error: unknown) => {
      ctx.log.warn(
        { err: error },
        'the receiver could not be made to determine its ambiguities again; it is asked again in 2 min',
      )
    })
  }

  /** Corrections pause: for a position without them, or so that a receiver that cannot be asked to loses its fix and finds it again. */
  get pausesCorrections(): boolean {
    const { receiver, surveyor } = this.#deps
    const { run } = surveyor
    return run?.wantsPlain === true || (receiver.resetAmbiguities === undefined && run?.wantsInitialisation === true)
  }

  /** The survey-in has a result that can be used. */
  done(): void {
    const { integrity, references, reports, surveyor } = this.#deps
    const { result } = surveyor
    const { manual, chosenMethod } = references
    reports.while('gnss-survey', undefined)
    references.noteChosen()
    if (chosenMethod === 'survey' || !manual || !result) {
      this.#dispatch('survey usable')
      return
    }
    const comparison = integrity.compare({ position: result.arp, acc_m: result.acc_m, corrected: result.corr }, manual)
    this.#dispatch(comparison.agrees ? 'agrees' : 'manual elsewhere')
  }

  #now_ms(): number {
    return this.#deps.ctx.clock.monotonic()
  }
}
