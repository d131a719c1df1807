/** The survey-in as a step of the procedure: how it begins, what each second and each epoch brings, what its end means. */
import type { PluginContext } from 'rtk-base/plugin'
import type { Receiver, ReceiverFix } from 'rtk-base/services'
import type { ReferenceChoice } from '../reference/choice.js'
import type { Surroundings } from '../surroundings.js'
import type { SurveyRequest } from '../survey/survey-request.js'
import type { SurveyEnd } from '../survey/survey-run.js'
import type { Surveyor } from '../survey/surveyor.js'
import { isPosition } from '../watch/live-position.js'
import type { StartCheck } from '../watch/start-check.js'
import { late_s } from './lateness.js'
import { noPositionText, type Reports, stoppedReason, surveyText } from './reports.js'
import type { Event } from './table.js'

/** Without positions for longer than this nobody knows what happened to the antenna. */
const gap_ms = 5_000

export interface SurveyStepDeps {
  log: PluginContext['log']
  receiver: Receiver
  surveyor: Surveyor
  check: StartCheck
  choice: ReferenceChoice
  request: SurveyRequest
  reports: Reports
  surroundings: Surroundings
  dispatch(event: Event): void
}

/** A receiver that was asked to determine its ambiguities again has so long for it. */
const initialises_ms = 120_000

export class SurveyStep {
  readonly #deps: SurveyStepDeps
  #askedAt_ms = Number.NEGATIVE_INFINITY

  #isInterrupted: boolean = false
  #positionAt_ms = 0
  /** The last survey-in found the corrections wrong: the station must not come back to its reference by them. Until the next one. */
  distrustsCorrections: boolean = false

  constructor(deps: SurveyStepDeps) {
    this.#deps = deps
  }

  /** Begins a new survey-in, or goes on with the one that was interrupted. */
  begin(): void {
    const { check, choice, log, receiver, reports, request, surroundings, surveyor } = this.#deps
    const { run } = surveyor
    this.#isInterrupted = false
    this.distrustsCorrections = false
    this.#positionAt_ms = surroundings.now_ms()
    const goesOn =
      request.by === undefined && run?.mean && check.isNear({ arp: run.mean, corr: run.corrected, acc_m: run.acc_m })
    if (goesOn) log.info('the survey-in continues where it was interrupted')
    else {
      const askedBy = run && !run.mean ? run.by : undefined
      // One that was aborted for want of corrections stays a corrected one when it starts again.
      const { state, corrected } = surveyor.record
      const wasCorrected = request.by === undefined && state === 'aborted' && corrected
      surveyor.begin(wasCorrected || surroundings.isCorrected(receiver), request.by ?? askedBy ?? 'survey')
    }
    request.by = undefined
    choice.noteChosen()
    reports.clear('gnss-survey')
  }

  /** What was averaged so far belongs to another place. */
  restart(why: string): void {
    const { check, log, surveyor } = this.#deps
    const { run } = surveyor
    check.clear()
    surveyor.plain.clear()
    this.#isInterrupted = false
    if (!run) return
    log.warn(`${why}: the survey-in starts again`)
    surveyor.begin(run.corrected, run.by)
  }

  /** The antenna may have been carried away meanwhile: nothing counts until positions show that it was not. */
  interrupted(): void {
    if (this.#isInterrupted || !this.#deps.surveyor.run?.mean) return
    this.#deps.check.clear()
    this.#isInterrupted = true
  }

  epoch(fix: ReceiverFix): void {
    if (isPosition(fix)) this.#positionAt_ms = this.#deps.surroundings.now_ms()
    if (this.#isInterrupted) return
    if (this.#deps.surveyor.epoch(fix)) {
      this.#deps.log.warn('the corrected position jumped: the averaging of the survey-in starts again')
    }
  }

  second(): void {
    const { check, reports, surveyor } = this.#deps
    const { run } = surveyor
    if (run?.mean) {
      if (this.#deps.surroundings.now_ms() - this.#positionAt_ms > gap_ms) this.interrupted()
      const isThere = check.isWhere({ arp: run.mean, corr: run.corrected, acc_m: run.acc_m })
      if (isThere === false) {
        this.restart('the antenna is not where the survey-in found it so far')
        return
      }
      if (isThere) this.#isInterrupted = false
    }
    const end = surveyor.tick()
    if (run && !end) {
      if (run.wantsInitialisation) this.#initialise()
      if (run.unusable_s >= late_s) reports.raise('gnss-survey', noPositionText)
      else reports.clear('gnss-survey')
    }
    if (end) this.#over(end)
  }

  /** A person wants no survey-in any more. */
  stop(): void {
    const end: SurveyEnd = { state: 'aborted', reason: stoppedReason }
    this.#deps.surveyor.abort(end.reason)
    this.#over(end, true)
  }

  /** @param wanted a person ended it: where the station returns to its reference, that is no error */
  #over(end: SurveyEnd, wanted = false): void {
    const { check, choice, dispatch, log, reports, surveyor } = this.#deps
    check.live = check.newest()
    this.distrustsCorrections = end.wrongCorrections === true
    log.info({ ...end }, `the survey-in ended: ${end.state}`)
    if (end.state === 'complete') {
      this.done()
      return
    }
    const returns = choice.chosen !== undefined
    if (wanted && returns) reports.clear('gnss-survey')
    else reports.raise('gnss-survey', surveyText(end, surveyor.record.count, returns))
    dispatch(returns ? 'survey over' : 'survey failed')
  }

  /** One determination of the ambiguities may be wrong: the receiver makes another one. */
  #initialise(): void {
    const { log, receiver, surroundings } = this.#deps
    const now_ms = surroundings.now_ms()
    if (!receiver.resetAmbiguities || now_ms - this.#askedAt_ms < initialises_ms) return
    this.#askedAt_ms = now_ms
    log.info('the survey-in is good enough; the receiver determines its ambiguities again to check it')
    receiver.resetAmbiguities().catch((error: unknown) => {
      log.warn(
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

  /** Its result can be used. */
  done(): void {
    const { check, choice, dispatch, reports, surveyor } = this.#deps
    const { result: reference } = surveyor
    const { manual, chosenMethod } = choice
    reports.clear('gnss-survey')
    choice.noteChosen()
    const usable = chosenMethod === 'survey' || !manual || !reference
    dispatch(usable ? 'survey usable' : check.surveyed(reference, manual))
  }
}
