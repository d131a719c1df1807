/**
 * Runs the procedure with a receiver: holds the state, looks up each event in the table, and carries out the actions of its row. The
 * receiver, the antenna and the survey-in tell the events.
 */
import { isPosition, sameEcef } from 'rtk-base/gnss'
import {
  type HeldTarget,
  type MoveEvidence,
  type ProcedureWish,
  type ReceiverFix,
  type RtcmFrame,
  receiverSettings,
} from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { Reference } from '../reference/reference.js'
import { AntennaCheck } from './antenna-check.js'
import { faultValues } from './base-watch.js'
import { Confirmation } from './confirmation.js'
import type { ProcedureDeps } from './deps.js'
import { ReceiverAdapter } from './receiver-adapter.js'
import { ReportsSnapshot } from './reports.js'
import { SurveyStep } from './survey-step.js'
import {
  type Action,
  type Event,
  isAbsent,
  isConfirmed,
  isPlaced,
  isSettled,
  rowOf,
  type State,
  states,
  wishes,
} from './table.js'
import { anotherAdvice, gateReason, holdReason, isStillWrong, isWrongBase } from './texts.js'

/** State handed over to the next instance on a reload. */
export const ProcedureSnapshot = Type.Object({
  state: Type.Unsafe<State>(Type.Enum(Object.keys(states))),
  uid: Type.String(),
  target: Type.Optional(Reference),
  reports: ReportsSnapshot,
})
type ProcedureSnapshot = Static<typeof ProcedureSnapshot>

const tick_ms = 1000
/** The receiver is asked what it holds when an epoch came on this link, or after this long. */
const firstEpoch_ms = 4000
const lost_ms = 10_000
const again_ms = 60_000
/** The longest time the carrier phases need for a first result. */
const blind_ms = 22_000

export class Procedure {
  readonly survey: SurveyStep
  readonly confirmation: Confirmation
  readonly #deps: ProcedureDeps
  readonly #receiver: ReceiverAdapter
  readonly #antenna: AntennaCheck
  /** Called when the status changed. */
  readonly #changed: () => void
  #state: State = 'offline'
  #entered_ms = 0
  #asked: ProcedureWish | undefined
  #epochAt_ms = Number.NEGATIVE_INFINITY
  #positionAt_ms = Number.NEGATIVE_INFINITY
  /** In `identify`: the receiver was asked what it holds. */
  #isIdentified: boolean = false
  /** In `verify`: the right 1005 came. */
  #isAnnounced: boolean = false

  constructor(deps: ProcedureDeps, changed: () => void) {
    const dispatch = (event: Event) => this.dispatch(event)
    this.#deps = deps
    this.#changed = changed
    this.#receiver = new ReceiverAdapter(deps.ctx, deps.receiver, dispatch)
    this.#antenna = new AntennaCheck(deps, () => isPlaced(this.#state) && this.dispatch('move suspected'))
    this.survey = new SurveyStep(deps, dispatch)
    this.confirmation = new Confirmation(
      deps,
      () => this.#state,
      () => dispatch('position confirmed'),
    )
  }

  get state(): State {
    return this.#state
  }

  /** Wish of a person, until it is done or the receiver is lost. */
  get asked(): ProcedureWish | undefined {
    return this.#asked
  }

  /** Whole seconds in this state. */
  get since_s(): number {
    return Math.floor(this.#since_ms / 1000)
  }

  get #since_ms(): number {
    return this.#now_ms() - this.#entered_ms
  }

  #now_ms(): number {
    return this.#deps.ctx.clock.monotonic()
  }

  // ── start and stop ────────────────────────────────────────────────────────────────────────────────────────────────

  start(before: ProcedureSnapshot | undefined): void {
    const { ctx, integrity, judge, receiver, surveyor } = this.#deps
    const { on } = ctx
    if (before) this.#resume(before)
    // The gate kept the verdict of the previous instance, which is not valid when the receiver was lost meanwhile.
    if (this.#state === 'offline') judge.hold(gateReason(ctx.text, 'checked-first'))
    if (this.#state !== 'fixed') integrity.leave()
    on(receiver.onRtcm, (frame) => this.#heardRtcm(frame))
    on(receiver.onFix, (fix) => this.#heardFix(fix))
    if (receiver.onSecondFix)
      on(receiver.onSecondFix, (fix) => {
        surveyor.plain.add(fix)
        if (this.#state === 'survey') this.survey.secondFix(fix)
      })
    on(receiver.onState, () => this.#compare())
    on(integrity.onEvidence, (evidence) => this.#heardEvidence(evidence))
    ctx.services.watch(receiverSettings, (settings) => {
      this.#compare()
      return settings && on(settings.onChange, () => this.#compare())
    })
    ctx.timers.every(tick_ms, () => this.#second())
    this.#compare()
    this.#showStatus()
  }

  async stop(reason: 'reload' | 'remove' | 'shutdown'): Promise<ProcedureSnapshot> {
    const { integrity, judge, receiver, reports } = this.#deps
    const { target } = this.#receiver.base
    await integrity.remember()
    if (reason !== 'reload') integrity.leave()
    this.#receiver.cancel()
    judge.leave(reason)
    return {
      state: this.#state,
      uid: receiver.identity.serial,
      reports: reports.snapshot(),
      ...(target && { target }),
    }
  }

  /** Continues the state of the previous instance if the receiver was not affected. */
  #resume({ state, uid, target, reports }: ProcedureSnapshot): void {
    const { integrity, receiver, references } = this.#deps
    if (receiver.link !== 'up' || !receiver.configured || uid !== receiver.identity.serial) return
    const { chosen } = references
    const isOurs = target !== undefined && chosen !== undefined && sameEcef(target.arp, chosen.arp)
    if (state === 'fixed' ? !isOurs || integrity.suspicion : state !== 'survey' && state !== 'moved') return
    const { base } = this.#receiver
    this.#state = state
    this.#entered_ms = this.#now_ms()
    this.#receiver.resume()
    base.begin(this.#now_ms())
    this.#deps.reports.restore(reports)
    this.#changed()
    if (state !== 'fixed') return
    base.target = target
    const { stayed } = integrity
    if (stayed === true) this.#trust()
    else this.#heardEvidence(stayed ?? unwatched)
  }

  // ── events ────────────────────────────────────────────────────────────────────────────────────────────────────────

  dispatch(event: Event): void {
    const row = rowOf(this.#state, event)
    if (!row) return
    const from = this.#state
    const { to, actions } = row
    // It is not trusted again before a suspicion that is being written was settled.
    if (event !== 'move suspected' && this.#antenna.isSuspected && isPlaced(from) && isPlaced(to)) {
      this.dispatch('move suspected')
      return
    }
    this.#asked = wishes[event] ?? this.#asked
    if (from === to && actions.length === 0) return
    if (isSettled(to) || isAbsent(to)) this.#asked = undefined
    this.#state = to
    this.#receiver.cancel()
    if (from !== to) {
      this.#deps.ctx.log.info({ from, to, event }, `${from}: ${event} → ${to}`)
      this.#enter(from, to, event)
      this.#changed()
    }
    for (const action of actions) this.#act(action, event)
    this.#showStatus()
  }

  #dispatchIf(event: Event | undefined): void {
    if (event) this.dispatch(event)
  }

  #enter(from: State, to: State, why: Event): void {
    const { integrity, reports, surveyor } = this.#deps
    const { base } = this.#receiver
    this.#entered_ms = this.#now_ms()
    this.#isIdentified = false
    this.#isAnnounced = false
    base.begin()
    this.#antenna.begin(why)
    if (from === 'survey') surveyor.pause()
    if (isAbsent(to)) surveyor.plain.clear()
    if (to !== 'verify' && to !== 'fixed') integrity.leave()
    if (from === 'moved') reports.while('gnss-moved', undefined)
    if (isSettled(to) || isAbsent(to)) reports.while('gnss-initial', undefined)
    if (to === 'fixed' || (to === 'acquire' && !base.difference)) reports.while('gnss-fault', undefined)
  }

  /** Link, mode, configuration or settings of the receiver may have changed. */
  #compare(): void {
    this.#dispatchIf(this.#receiver.linkEvent(this.#state))
    this.#dispatchIf(this.#receiver.outputEvent())
    this.#identify()
  }

  #heardRtcm(frame: RtcmFrame): void {
    const event = this.#receiver.heard(frame, this.#state)
    if (!event) return
    if (event !== 'right 1005') this.dispatch(this.#state === 'verify' ? 'cannot be verified' : event)
    else if (this.#state === 'verify') {
      this.#isAnnounced = true
      this.#dispatchIf(this.#antenna.verified(true))
    } else if (!this.#isBlind) this.dispatch(event)
  }

  /** Whether a move would go unnoticed yet: the carrier phases need some seconds, but not longer than that. */
  get #isBlind(): boolean {
    return this.#since_ms < blind_ms && this.#deps.integrity.seesMoves === undefined
  }

  #heardFix(fix: ReceiverFix): void {
    this.#epochAt_ms = this.#now_ms()
    if (isPosition(fix)) this.#positionAt_ms = this.#epochAt_ms
    this.#deps.surveyor.plain.add(fix)
    this.#identify()
    if (this.#state === 'survey') this.survey.epoch(fix)
    if (!isPosition(fix)) return
    if (this.#state === 'acquire') this.dispatch('3D fix')
    if (this.#state === 'initial') this.#dispatchIf(this.#antenna.locate())
  }

  #heardEvidence(evidence: MoveEvidence): void {
    this.confirmation.heardEvidence(evidence)
    if (this.#state === 'survey') this.survey.heardEvidence(evidence)
    this.#dispatchIf(this.#antenna.heard(evidence, this.#state))
  }

  /** Once in each step: when the receiver is known, and its clock was heard on this link if that will be compared. */
  #identify(): void {
    const { integrity, receiver, references } = this.#deps
    if (this.#state !== 'identify' || this.#isIdentified) return
    const { module, serial } = receiver.identity
    // A receiver may have no serial number. Those that have one report it soon after their model.
    if (serial === '' && (module === '' || this.#since_ms < firstEpoch_ms)) return
    const isHeard = this.#epochAt_ms >= this.#entered_ms || this.#since_ms >= firstEpoch_ms
    if (!isHeard && integrity.beginVerification(references.chosen, 'not asked').answer !== false) return
    this.#isIdentified = true
    this.dispatch('identified')
  }

  #second(): void {
    const { integrity, reports } = this.#deps
    this.#compare()
    this.#dispatchIf(this.#eventOfSecond(this.#now_ms()))
    reports.second(this.#state, integrity.needed_m, integrity.position?.acc_m)
    void this.confirmation.check()
    this.#showStatus()
  }

  #eventOfSecond(now_ms: number): Event | undefined {
    const { base } = this.#receiver
    switch (this.#state) {
      case 'initial':
        return now_ms - this.#positionAt_ms > lost_ms ? 'fix lost' : this.#antenna.locate()
      case 'survey':
        this.survey.second()
        return undefined
      case 'accept':
        return base.waits(this.#entered_ms, now_ms)
      case 'verify':
        return this.#antenna.verified(this.#isAnnounced)
      case 'fixed':
        return base.stopped(now_ms)
      case 'moved':
        return this.#antenna.back()
      case 'fault':
        return this.#since_ms >= again_ms ? 'try again' : undefined
      default:
        return undefined
    }
  }

  // ── actions ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Slow actions report their result as an event. */
  #act(action: Action, event: Event): void {
    const { integrity, receiver, references, reports } = this.#deps
    const { base } = this.#receiver
    switch (action) {
      case 'hold':
        this.#hold(event)
        break
      case 'trust':
        integrity.settle()
        this.#trust()
        break
      case 'read mode':
        if (!this.#verifyOrCheck('not asked')) void this.#receiver.readMode((held) => this.#verifyOrCheck(held))
        break
      case 'set rover':
        integrity.forgetPositions()
        this.#receiver.setRover()
        break
      case 'set base':
        base.target = references.chosen
        if (base.target) this.#receiver.setBase()
        else this.dispatch('reference changed')
        break
      case 'confirm base':
        void this.#receiver.confirmBase(() => isConfirmed(this.#state))
        break
      case 'gather positions':
        // Of this epoch on: it has the fix.
        integrity.forgetPositions(receiver.fix?.arrival_ms)
        break
      case 'survey':
        this.survey.begin()
        break
      case 'report move':
        this.#antenna.reportMove(event)
        break
      case 'report fault':
        reports.while('gnss-fault', { ...faultValues(base.fault), again: false })
        break
    }
  }

  #hold(event: Event): void {
    const { ctx, judge, reports } = this.#deps
    const { base } = this.#receiver
    if (!isStillWrong(event)) base.difference = undefined
    const { difference, fault } = base
    judge.hold(holdReason(ctx.text, event, { evidence: this.#antenna.evidenceOf(event), difference, fault }))
    // A fault that was reported stands until the base is trusted, or a rover.
    if (isWrongBase(event) && !reports.stands('gnss-fault'))
      reports.while('gnss-fault', { ...faultValues(fault), again: true })
  }

  /** Opens the gate for the base. */
  #trust(): void {
    const { integrity, judge, receiver, references, store } = this.#deps
    const { base } = this.#receiver
    const { target } = base
    if (!target) return
    base.trusted()
    void store.set('confirmation', undefined)
    const point = target.method === 'survey' ? 'phase-centre' : 'arp'
    judge.trust({ arp: target.arp, stationId: receiver.stationId, point })
    references.used(target, receiver.stationId)
    integrity.trust(target, anotherAdvice[target.method])
  }

  /** @returns whether it is decided; false: what the receiver holds has to be read */
  #verifyOrCheck(held: HeldTarget | 'not asked'): boolean {
    const { ctx, references } = this.#deps
    const { chosen } = references
    const { answer, why } = this.#antenna.keptRunning(held)
    if (answer && chosen) {
      this.#receiver.base.target = chosen
      this.dispatch('still our base')
    } else if (answer !== undefined) {
      ctx.log.info(`the start-up check comes first: ${why}`)
      this.dispatch('not our base')
    }
    return answer !== undefined
  }

  #showStatus(): void {
    const { elapsed_s, count, acc_m, relative_m = acc_m } = this.#deps.surveyor.record
    const progress = `survey-in: ${Math.floor(elapsed_s)} s, ${count} epochs, ${relative_m.toFixed(3)} m`
    const { status } = states[this.#state]
    this.#deps.ctx.status(this.#state === 'survey' ? progress : this.#state === 'fixed' ? '' : status)
  }
}

/** The integrity monitor was replaced by one that did not watch the base. */
const unwatched: MoveEvidence = {
  moved: undefined,
  by: 'phases',
  text: 'the antenna was not monitored for some time',
  size_m: undefined,
}
