/** Runs the procedure with a receiver: turns what the receiver does into events, and has the actions carried out. */
import { type PhaseReport, sameEcef } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { Receiver, ReceiverFix, RtcmFrame, RtcmJudge, SatelliteResidual } from 'rtk-base/services'
import type { Memory } from '../memory.js'
import type { ReferenceChoice } from '../reference/choice.js'
import type { Ledger } from '../reference/ledger.js'
import type { Reference } from '../reference/reference.js'
import type { Surroundings } from '../surroundings.js'
import type { SurveyRequest } from '../survey/survey-request.js'
import type { SurveySnapshot } from '../survey/survey-run.js'
import type { Surveyor } from '../survey/surveyor.js'
import { BaseTrust } from '../trust/base-trust.js'
import { LastTrust } from '../trust/last-trust.js'
import { type AntennaPhases, type PhaseSnapshot, phaseText } from '../watch/antenna-phases.js'
import { BaseWatch } from '../watch/base-watch.js'
import type { Suspect } from '../watch/evidence/index.js'
import type { Seen } from '../watch/live-position.js'
import type { Baselines } from '../watch/movement.js'
import type { StartCheck, StartLimits } from '../watch/start-check.js'
import type { Suspicion } from '../watch/suspicion.js'
import { Verification } from '../watch/verification.js'
import { Actions } from './actions.js'
import { BaseSetup } from './base-setup.js'
import { Lateness } from './lateness.js'
import { retellMove } from './move-report.js'
import { Procedure, rowOf } from './procedure.js'
import { ReceiverEvents } from './receiver-events.js'
import { ReceiverSetup } from './receiver-setup.js'
import { checkedFirst, holdReason, type Reports } from './reports.js'
import { SurveyStep } from './survey-step.js'
import { type Event, isAbsent, isPlaced, isSettled, type State } from './table.js'
import { WatchReports } from './watch-reports.js'

/** What is handed over to the next instance on a reload. */
export interface Snapshot {
  state: State
  uid: string
  target?: Reference
  seen?: Seen
  heardAt_ms?: number
  phases: PhaseSnapshot
  baselines: Baselines
  progress?: SurveySnapshot
  asked?: string
  reports: ReturnType<Reports['snapshot']>
}

export interface RunDeps {
  ctx: PluginContext
  memory: Memory
  surroundings: Surroundings
  reports: Reports
  surveyor: Surveyor
  choice: ReferenceChoice
  ledger: Ledger
  check: StartCheck
  suspicion: Suspicion
  phases: AntennaPhases
  request: SurveyRequest
  limits(): StartLimits
  /** The status changed. */
  changed(): void
}

const tick_ms = 1000
const again_ms = 60_000
/** What the carrier phases need at most, where they say anything. */
const blind_ms = 22_000

export class Run {
  readonly survey: SurveyStep
  readonly #deps: RunDeps
  readonly #receiver: Receiver
  readonly #judge: RtcmJudge
  readonly #base = new BaseWatch()
  readonly #procedure = new Procedure()
  readonly #events = new ReceiverEvents()
  readonly #setup: ReceiverSetup
  readonly #last: LastTrust
  readonly #trust: BaseTrust
  readonly #actions: Actions
  readonly #lateness: Lateness
  readonly #watchReports: WatchReports
  readonly #phases: AntennaPhases
  /** In `verify` only. */
  #verification: Verification | undefined
  #entered_ms = 0
  /** A suspicion was raised and is being written. */
  #suspects: boolean = false

  constructor(deps: RunDeps, receiver: Receiver, judge: RtcmJudge) {
    const { check, ctx, limits, memory, reports, suspicion, surroundings } = deps
    const base = this.#base
    const state = () => this.state
    const dispatch = (event: Event) => this.dispatch(event)
    this.#deps = deps
    this.#receiver = receiver
    this.#judge = judge
    this.#phases = deps.phases
    const { stationId, intervals_s = base.expected.intervals_s } = receiver
    base.expected = { stationId, intervals_s }
    this.#setup = new ReceiverSetup(ctx, receiver)
    this.#last = new LastTrust(memory, surroundings, suspicion, (...where) => ctx.dataDir(...where))
    this.#trust = new BaseTrust({ ...deps, receiver, judge, base, last: this.#last })
    const held = { log: ctx.log, receiver, base, state, dispatch }
    const setup = new BaseSetup({ ...deps, ...held, setup: this.#setup, trust: this.#trust, last: this.#last })
    this.survey = new SurveyStep({ ...deps, log: ctx.log, receiver, dispatch })
    this.#actions = new Actions({ ...deps, receiver, judge, base, setup, trust: this.#trust, survey: this.survey })
    this.#watchReports = new WatchReports(reports, receiver, () => deps.choice.chosenMethod)
    this.#lateness = new Lateness(reports, check, () => limits().accuracy_m)
  }

  get state(): State {
    return this.#procedure.state
  }

  /** Time in this state. */
  get since_ms(): number {
    return this.#now_ms() - this.#entered_ms
  }

  /** As `gnss.state.status` shows it. */
  get status(): string {
    return this.#procedure.status
  }

  /** Of the newest fix, metres; undefined where the receiver does not say it. */
  get geoidSeparation_m(): number | undefined {
    return this.#receiver.fix?.geoidSeparation_m
  }

  /** Distance to the reference by evidence other than the echo of a base, metres; undefined without any. */
  get delta_m(): number | undefined {
    if (this.state === 'fixed') return this.#base.movement?.delta_m(this.#now_ms())
    return this.#events.hasPosition(this.#now_ms()) ? this.#deps.check.delta_m() : undefined
  }

  // ── start and stop ────────────────────────────────────────────────────────────────────────────────────────────────

  start(before: Snapshot | undefined): void {
    const { on, timers } = this.#deps.ctx
    const receiver = this.#receiver
    if (before) this.#resume(before)
    // The gate kept the verdict of the previous instance, which is not valid when the receiver was lost meanwhile.
    if (this.state === 'offline') this.#judge.hold(checkedFirst)
    const base = this.#base
    on(receiver.onRtcm, (frame) => this.#heardRtcm(frame))
    on(receiver.onFix, (fix) => this.#heardFix(fix))
    on(receiver.onState, () => this.#look())
    const { onResiduals, onSatellites, onSecondFix, onWarning } = receiver
    if (onSatellites) on(onSatellites, ({ satellites }) => this.#phases.look(satellites, this.#now_ms()))
    if (onResiduals) on(onResiduals, (residuals) => this.#heardResiduals(residuals))
    if (onSecondFix)
      on(onSecondFix, (fix) => {
        this.#deps.surveyor.plain.add(fix)
        this.#suspect(base.movement?.secondFix(fix, this.#now_ms()))
      })
    if (onWarning) on(onWarning, (text) => this.#suspect(base.movement?.warning(text, this.#now_ms())))
    timers.every(tick_ms, () => this.#second())
    this.#look()
    this.#showStatus()
  }

  async stop(reason: 'reload' | 'remove' | 'shutdown'): Promise<Snapshot> {
    const { check, memory, reports, request, surveyor } = this.#deps
    if (this.state === 'fixed') await this.#trust.remember(true)
    surveyor.pause()
    this.#setup.cancel()
    this.#judge.leave(reason)
    await memory.flush()
    const progress = surveyor.run?.snapshot()
    const seen = check.live && { position: check.live.position, acc_m: check.live.acc_m }
    const { target, movement } = this.#base
    const { heardAt_ms } = this.#last
    return {
      state: this.state,
      uid: this.#receiver.identity.serial,
      baselines: movement?.baselines ?? {},
      phases: this.#phases.snapshot(),
      ...(target && { target }),
      ...(seen && { seen }),
      ...(heardAt_ms !== undefined && { heardAt_ms }),
      ...(progress && { progress }),
      ...(request.by !== undefined && { asked: request.by }),
      reports: reports.snapshot(),
    }
  }

  /** Goes on where the previous instance was, when the receiver did not notice anything. */
  #resume({ state, uid, target, seen, heardAt_ms, phases, baselines, reports }: Snapshot): void {
    this.#last.heardAt_ms = heardAt_ms
    this.#phases.restore(phases)
    const { link, configured, identity } = this.#receiver
    if (link !== 'up' || !configured || uid !== identity.serial) return
    const { choice, suspicion } = this.#deps
    const { chosen } = choice
    if (state === 'fixed' && !suspicion.stands && target && chosen && sameEcef(target.arp, chosen.arp)) {
      this.#base.target = target
      this.#trust.place(seen)
      this.#procedure.resume('fixed')
      this.#trust.trust(baselines)
    } else if (state === 'survey' || state === 'moved') this.#procedure.resume(state)
    else return
    this.#events.begin(true)
    this.#entered_ms = this.#now_ms()
    this.#base.begin(this.#now_ms())
    this.#watchReports.begin(this.#now_ms())
    this.#deps.reports.restore(reports)
    this.#deps.changed()
  }

  // ── what the receiver does ────────────────────────────────────────────────────────────────────────────────────────

  #look(): void {
    const event = this.#events.look(this.#receiver, this.state)
    if (event) this.dispatch(event)
    this.#compareStationId()
    this.#question()
  }

  #compareStationId(): void {
    const { stationId } = this.#receiver
    if (stationId === this.#base.expected.stationId) return
    this.#base.expected = { ...this.#base.expected, stationId }
    this.dispatch('station ID changed')
  }

  #heardRtcm(frame: RtcmFrame): void {
    const { state } = this
    const step = state === 'verify' ? 'accept' : state
    const event = this.#base.heard(frame, step === 'accept' || step === 'fixed' ? step : undefined)
    if (event && state === 'verify') this.#heardVerified(event)
    else if (event && !(event === 'right 1005' && this.#isBlind())) this.dispatch(event)
    for (const heard of this.#phases.hear(frame, this.#base.expected.stationId)) {
      this.#verification?.heard(heard, this.#last.age_ms)
      if (heard.report) this.#heardPhases(heard.report)
    }
  }

  /** What the carrier phases say is believed at once. */
  #heardPhases(report: PhaseReport): void {
    const { state } = this
    const changed = report.lossOfLock || report.contradiction || report.moved
    if (!changed) return
    const suspect = report.moved ? { text: phaseText(report), size_m: report.move?.distance_m ?? 0 } : undefined
    if (suspect && isPlaced(state)) this.#suspect(suspect, true)
    else if (suspect && state === 'moved') this.#movesOn(suspect)
    else if (state === 'verify') this.dispatch('cannot be verified')
    else if (report.moved && state === 'survey') this.survey.restart(phaseText(report))
    else if (state === 'survey') this.survey.interrupted()
    // Positions from before and after do not belong together.
    else if (state === 'initial' || state === 'moved') this.#deps.check.clear()
    else this.dispatch('signals lost')
  }

  /** Whether a move would go unnoticed yet: the carrier phases need some seconds, but not longer than that. */
  #isBlind(): boolean {
    const now_ms = this.#now_ms()
    return this.#phases.enabled && now_ms - this.#entered_ms < blind_ms && this.#phases.at(now_ms)?.net === undefined
  }

  #heardVerified(event: Event): void {
    if (event === 'right 1005') this.#verification?.announced()
    else this.dispatch('cannot be verified')
  }

  #heardFix(fix: ReceiverFix): void {
    const hasPosition = this.#events.epoch(fix, this.#now_ms())
    this.#deps.surveyor.plain.add(fix)
    this.#question()
    const { state } = this
    if (state === 'survey') this.survey.epoch(fix)
    if (!hasPosition) return
    if (state === 'acquire') this.dispatch('3D fix')
    if (!fix.corrected || !this.survey.distrustsCorrections) this.#deps.check.add(fix)
    if (state === 'initial') this.#judgeInitial()
  }

  /** Asks what the receiver holds, once it is known and its clock was heard on this link. */
  #question(): void {
    if (this.state !== 'identify') return
    const { isThere } = this.#last
    if (this.#events.isIdentified(this.#receiver, this.#entered_ms, this.#now_ms(), isThere))
      this.dispatch('identified')
  }

  #judgeInitial(): void {
    const { check, request, surveyor, suspicion } = this.#deps
    const event = check.initial(request.by !== undefined || surveyor.run !== undefined)
    if (!event) return
    suspicion.recall()
    this.dispatch(event)
  }

  #heardResiduals(residuals: readonly SatelliteResidual[]): void {
    const now_ms = this.#now_ms()
    if (!this.#receiver.onSatellites) this.#phases.look(residuals, now_ms)
    this.#suspect(this.#base.movement?.residuals(residuals, now_ms))
  }

  /** @param isSeen the carrier phases show it */
  #suspect(suspect: Suspect | undefined, isSeen: boolean = false): void {
    const { state } = this
    if (!suspect || !isPlaced(state) || this.#suspects) return
    const { suspicion } = this.#deps
    // What code says of a base that is not trusted yet, and moves of an antenna that is suspected to have moved anyway: the start-up check decides.
    if (state !== 'fixed' && (!isSeen || suspicion.stands)) {
      this.dispatch(state === 'verify' ? 'cannot be verified' : 'signals lost')
      return
    }
    // Held at once; announced when it is durable: a restart in between must not forget it.
    this.#judge.hold(holdReason('move suspected', suspect.text, this.#base))
    this.#suspects = true
    void suspicion.raise(suspect).then(() => {
      this.#suspects = false
      if (suspicion.stands && isPlaced(this.state)) this.dispatch('move suspected')
    })
  }

  /** A walk is held at its first centimetres: how far it goes shows afterwards. */
  #movesOn(suspect: Suspect): void {
    const { check, suspicion } = this.#deps
    check.clear()
    if (!suspicion.stands || suspect.size_m < 1.5 * (suspicion.size_m ?? Number.POSITIVE_INFINITY)) return
    void suspicion.raise(suspect)
    retellMove({ ...this.#deps, receiver: this.#receiver })
  }

  // ── what a second brings ──────────────────────────────────────────────────────────────────────────────────────────

  #second(): void {
    this.#secondOf(this.state, this.#now_ms())
    this.#lateness.second(this.state)
    this.#showStatus()
  }

  #secondOf(state: State, now_ms: number): void {
    const base = this.#base
    if (state === 'identify') this.#question()
    else if (state === 'initial' && !this.#events.hasPosition(now_ms)) this.dispatch('fix lost')
    else if (state === 'initial') this.#judgeInitial()
    else if (state === 'survey') this.survey.second()
    else if (state === 'accept') {
      const event = base.waits(this.#entered_ms, now_ms)
      if (event) this.dispatch(event)
    } else if (state === 'verify') this.#verify(now_ms)
    else if (state === 'fixed') this.#watch(now_ms)
    else if (state === 'moved' && this.#deps.check.agreed()) {
      void this.#deps.suspicion.settle()
      this.dispatch('agreed for 10 min')
    } else if (state === 'fault' && now_ms - this.#entered_ms >= again_ms) this.dispatch('try again')
  }

  #verify(now_ms: number): void {
    const verification = this.#verification
    const event = verification?.second(now_ms)
    if (event === 'cannot be verified')
      this.#deps.ctx.log.info(`the start-up check comes first: ${verification?.missing}`)
    if (event) this.dispatch(event)
  }

  #watch(now_ms: number): void {
    const event = this.#base.stopped(now_ms)
    if (event) {
      this.dispatch(event)
      return
    }
    void this.#trust.remember(false)
    if (this.#base.movement) this.#watchReports.second(this.#base.movement, now_ms)
  }

  // ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  dispatch(what: Event): void {
    const event = this.#isOverruled(what) ? 'move suspected' : what
    const step = this.#procedure.step(event)
    if (!step) return
    const { from, to, actions } = step
    if (from === to && actions.length === 0) return
    this.#setup.cancel()
    if (from !== to) {
      this.#deps.ctx.log.info({ from, to, event }, `${from}: ${event} → ${to}`)
      this.#entered_ms = this.#now_ms()
      this.#enter(from, to)
      this.#deps.changed()
    }
    for (const action of actions) this.#actions.act(action, event)
    this.#showStatus()
  }

  /** Whether the base would go on although a suspicion is being written: it is not trusted again before that was settled. */
  #isOverruled(event: Event): boolean {
    const to = rowOf(this.state, event)?.[2]
    return this.#suspects && this.#deps.suspicion.stands && to !== undefined && isPlaced(this.state) && isPlaced(to)
  }

  #enter(from: State, to: State): void {
    const { reports, surveyor } = this.#deps
    const base = this.#base
    base.begin()
    this.#events.begin()
    if (from === 'survey') surveyor.pause()
    if (isAbsent(to)) surveyor.plain.clear()
    if (from === 'fixed') this.#watchReports.end()
    if (to === 'fixed') this.#watchReports.begin(this.#now_ms())
    const isWatched = to === 'verify' || to === 'fixed'
    if (!isWatched) base.movement = undefined
    this.#verification =
      to === 'verify' && base.movement
        ? new Verification(base.movement, this.#entered_ms, this.#last.isBrief)
        : undefined
    if (from === 'moved') reports.clear('gnss-moved')
    if (isSettled(to) || isAbsent(to)) reports.clear('gnss-initial')
    if (to === 'fixed' || (to === 'acquire' && base.difference === '')) reports.clear('gnss-fault')
  }

  #showStatus(): void {
    const { elapsed_s, count, acc_m, relative_m = acc_m } = this.#deps.surveyor.record
    const progress = `survey-in: ${Math.floor(elapsed_s)} s, ${count} epochs, ${relative_m.toFixed(3)} m`
    this.#deps.ctx.status(this.state === 'survey' ? progress : this.state === 'fixed' ? '' : this.status)
  }

  #now_ms(): number {
    return this.#deps.surroundings.now_ms()
  }
}
