/** Turns receiver and integrity events into events of the procedure. */
import { isPosition } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { Integrity, MoveEvidence, Receiver, ReceiverFix, RtcmFrame } from 'rtk-base/services'
import { placeOf } from '../reference/override.js'
import type { References } from '../reference/references.js'
import type { Surveyor } from '../survey/surveyor.js'
import type { Actions, Course } from './actions.js'
import type { BaseWatch } from './base-watch.js'
import type { SurveyStep } from './survey-step.js'
import { type Event, isPlaced, type State } from './table.js'

export interface ObserverDeps {
  ctx: PluginContext
  receiver: Receiver
  integrity: Integrity
  base: BaseWatch
  references: References
  survey: SurveyStep
  surveyor: Surveyor
}

/** The receiver is asked what it holds when an epoch came on this link, or after this long. */
const firstEpoch_ms = 4000
const lost_ms = 10_000
const again_ms = 60_000
/** The longest time the carrier phases need for a first result. */
const blind_ms = 22_000

export class Observer {
  readonly #deps: ObserverDeps
  readonly #course: Course
  readonly #actions: Actions
  #entered_ms = 0
  #wasConfigured: boolean = false
  /** In `identify`: the receiver was asked what it holds. */
  #questioned: boolean = false
  /** In `verify`: the right 1005 came. */
  #announced: boolean = false
  #epochAt_ms = Number.NEGATIVE_INFINITY
  #positionAt_ms = Number.NEGATIVE_INFINITY
  /** Observations paused while the receiver was a base: a move that the phases show since then is one from the reference. */
  #paused = false

  constructor(deps: ObserverDeps, course: Course, actions: Actions) {
    this.#deps = deps
    this.#course = course
    this.#actions = actions
    const { base, receiver } = deps
    const { stationId, intervals_s = base.expected.intervals_s } = receiver
    base.expected = { stationId, intervals_s }
  }

  start(): void {
    const { integrity, receiver } = this.#deps
    const { on } = this.#deps.ctx
    on(receiver.onRtcm, (frame) => this.#heardRtcm(frame))
    on(receiver.onFix, (fix) => this.#heardFix(fix))
    on(receiver.onState, () => this.look())
    on(integrity.onEvidence, (evidence) => this.heardEvidence(evidence))
    if (receiver.onSecondFix) on(receiver.onSecondFix, (fix) => this.#heardSecondFix(fix))
  }

  /**
   * A new step begins.
   * @param goesOn continues the step of the previous instance: the receiver holds its configuration
   * @param why the event that led to it
   */
  begin(goesOn: boolean, why?: Event): void {
    const isOnTheWay = why === 'configured' || why === '3D fix' || why === 'fix lost'
    this.#paused = why === 'observations stopped' || (this.#paused && isOnTheWay)
    this.#entered_ms = this.#now_ms()
    this.#questioned = false
    this.#announced = false
    if (goesOn) this.#wasConfigured = true
  }

  /** Time in this step. */
  get since_ms(): number {
    return this.#now_ms() - this.#entered_ms
  }

  // ── the receiver ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** Link, mode or configuration may have changed. */
  look(): void {
    const event = this.#ofReceiver(this.#course.state)
    if (event) this.#course.dispatch(event)
    const { base, receiver } = this.#deps
    const { stationId, intervals_s = base.expected.intervals_s } = receiver
    const isOther = stationId !== base.expected.stationId
    base.expected = { stationId, intervals_s }
    if (isOther) this.#course.dispatch('station ID changed')
    this.#question()
  }

  #ofReceiver(state: State): Event | undefined {
    const { configured, link } = this.#deps.receiver
    const was = this.#wasConfigured
    this.#wasConfigured = configured
    // What becomes of a configuration comes as an event of its own.
    if (link !== 'up' && this.#actions.mayRestart) return undefined
    if (link === 'offline') return state === 'offline' ? undefined : 'port gone'
    if (link === 'stalled') return state === 'stalled' ? undefined : 'receiver silent'
    if (state === 'offline' || state === 'stalled') return 'receiver heard'
    const isBusy = state === 'configure' || state === 'base'
    return was && !configured && !isBusy ? 'receiver restarted' : undefined
  }

  #heardRtcm(frame: RtcmFrame): void {
    const { state } = this.#course
    const step = state === 'verify' ? 'accept' : state
    const event = this.#deps.base.heard(frame, step === 'accept' || step === 'fixed' ? step : undefined)
    if (!event) return
    if (event !== 'right 1005') this.#course.dispatch(state === 'verify' ? 'cannot be verified' : event)
    else if (state === 'verify') {
      this.#announced = true
      this.second()
    } else if (!this.#isBlind) this.#course.dispatch(event)
  }

  /** Whether a move would go unnoticed yet: the carrier phases need some seconds, but not longer than that. */
  get #isBlind(): boolean {
    return this.since_ms < blind_ms && this.#deps.integrity.seesMoves === undefined
  }

  #heardFix(fix: ReceiverFix): void {
    const { survey, surveyor } = this.#deps
    this.#epochAt_ms = this.#now_ms()
    if (isPosition(fix)) this.#positionAt_ms = this.#epochAt_ms
    surveyor.plain.add(fix)
    this.#question()
    if (this.#course.state === 'survey') survey.epoch(fix)
    if (!isPosition(fix)) return
    if (this.#course.state === 'acquire') this.#course.dispatch('3D fix')
    if (this.#course.state === 'initial') this.#locate()
  }

  #heardSecondFix(fix: ReceiverFix): void {
    this.#deps.surveyor.plain.add(fix)
    if (this.#course.state === 'survey') this.#deps.survey.secondFix(fix)
  }

  /** Asks what the receiver holds, once in each step: when it is known, and its clock was heard on this link if that will be compared. */
  #question(): void {
    const { integrity, receiver, references } = this.#deps
    if (this.#course.state !== 'identify' || this.#questioned) return
    const { module, serial } = receiver.identity
    // A receiver may have no serial number. Those that have one report it soon after their model.
    if (serial === '' && (module === '' || this.since_ms < firstEpoch_ms)) return
    const isHeard = this.#epochAt_ms >= this.#entered_ms || this.since_ms >= firstEpoch_ms
    if (!isHeard && integrity.beginVerification(references.chosen, 'not asked').answer !== false) return
    this.#questioned = true
    this.#course.dispatch('identified')
  }

  // ── the antenna ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** The start-up check. Where a survey-in was asked for, or interrupted, nothing is compared. */
  #locate(): void {
    const { integrity, references, surveyor } = this.#deps
    const chosen = surveyor.isWanted ? undefined : references.chosen
    const place = references.override?.place
    // Where a person confirmed the antenna, it is not compared with the reference again.
    if (chosen && place && !integrity.suspicion && integrity.isAt(place, 'window')) {
      if (integrity.locate(undefined)) this.#course.dispatch('agrees')
      return
    }
    const found = integrity.locate(chosen)
    if (!found) return
    this.#actions.reportCorrections(chosen && found.agrees ? integrity.comparison?.contradicted : undefined)
    if (!chosen) this.#course.dispatch('nothing to compare')
    else if (integrity.suspicion) this.#course.dispatch('move suspected')
    else if (found.agrees) this.#course.dispatch('agrees')
    else this.#course.dispatch(chosen.method === 'survey' ? 'survey elsewhere' : 'manual elsewhere')
  }

  /** The meaning of evidence depends on the state. */
  heardEvidence(evidence: MoveEvidence): void {
    const { integrity, survey } = this.#deps
    const { state } = this.#course
    const { by, moved, text } = evidence
    if (by === 'phases' && !moved) this.#paused = false
    if (isPlaced(state)) {
      if (moved && this.#actions.isSuspecting) return
      // For code evidence against an untrusted base, and for moves of an already suspected antenna, the start-up check decides.
      const isSure = moved && (state === 'fixed' || (by === 'phases' && !integrity.suspicion))
      if (isSure) this.#actions.suspect(evidence)
      else this.#actions.lost(evidence)
    } else if (by === 'code') return
    else if (state === 'moved' && moved) this.#actions.movesOn(evidence)
    else if (state === 'survey' && moved) survey.restart(text)
    else if (state === 'survey') survey.interrupted()
    else if (this.#paused && moved) this.#suspectOnce(evidence)
    // Positions from before and after do not belong together.
    else if (state === 'initial' || state === 'moved') integrity.forgetPositions()
  }

  /** The result of the start-up check no longer counts. */
  #suspectOnce(evidence: MoveEvidence): void {
    if (!this.#deps.integrity.suspicion && !this.#actions.isSuspecting) this.#actions.suspect(evidence)
  }

  // ── what a second brings ──────────────────────────────────────────────────────────────────────────────────────────

  second(): void {
    this.look()
    const event = this.#ofSecond(this.#course.state, this.#now_ms())
    if (event) this.#course.dispatch(event)
  }

  #ofSecond(state: State, now_ms: number): Event | undefined {
    const { base, integrity, references, survey } = this.#deps
    switch (state) {
      case 'identify':
        this.#question()
        return
      case 'initial':
        if (now_ms - this.#positionAt_ms > lost_ms) return 'fix lost'
        this.#locate()
        return
      case 'survey':
        survey.second()
        return
      case 'accept':
        return base.waits(this.#entered_ms, now_ms)
      case 'verify':
        return this.#verified()
      case 'fixed':
        return base.stopped(now_ms)
      case 'moved':
        if (!references.chosen || !integrity.isBack(placeOf(references.chosen, references.override))) return
        integrity.settle()
        return 'agreed for 10 min'
      case 'fault':
        return this.since_ms >= again_ms ? 'try again' : undefined
      default:
        return
    }
  }

  #verified(): Event | undefined {
    const { ctx, integrity } = this.#deps
    const { answer, why } = integrity.verify(this.#announced)
    if (answer === false) ctx.log.info(`the start-up check comes first: ${why}`)
    if (answer === undefined) return undefined
    return answer ? 'nothing changed' : 'cannot be verified'
  }

  #now_ms(): number {
    return this.#deps.ctx.clock.monotonic()
  }
}
