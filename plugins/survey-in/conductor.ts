/** Runs the procedure: turns what the receiver and people do into events, and has the actions carried out. */
import { sameEcef } from 'rtk-base/gnss'
import type { EventSource, PluginContext, Event as PluginEvent } from 'rtk-base/plugin'
import type { Ecef, ProcedureStatus, Receiver, ReceiverFix, RtcmFrame, RtcmGate } from 'rtk-base/services'
import { Actions } from './actions.js'
import type { Ledger } from './ledger.js'
import type { Baselines } from './movement.js'
import type { SurveyInOptions } from './options.js'
import type { Parameters } from './parameters.js'
import { Parts } from './parts.js'
import { Procedure } from './procedure.js'
import { ReceiverEvents } from './receiver-events.js'
import type { Reference } from './reference.js'
import type { References } from './references.js'
import { checkedFirst, lateText, noPositionText, type Report, surveyText } from './reports.js'
import type { SurveySnapshot } from './survey-run.js'
import type { Surveyor } from './surveyor.js'
import type { Event, State } from './table.js'

/** What goes over to the next instance on a reload. */
export interface Snapshot {
  state: State
  uid: string
  target?: Reference
  live?: Ecef
  baselines: Baselines
  progress?: SurveySnapshot
  asked?: string
  reports: [Report, string][]
}

const tick_ms = 1000
/** What takes longer than this is told. */
const late_s = 900
/** What is said of it follows the cause so often: fix and accuracy may come and go every second. */
const retold_s = 300
/** States that people are told of otherwise; in all others the station is on its way. */
const settled: readonly State[] = ['survey', 'fixed', 'moved']
const absent: readonly State[] = ['offline', 'stalled', 'fault']
const again_ms = 60_000

export class Conductor implements ProcedureStatus {
  readonly #ctx: PluginContext
  readonly #parts: Parts
  readonly #actions: Actions
  readonly #procedure = new Procedure()
  readonly #events = new ReceiverEvents()
  readonly #state: EventSource<void>
  #receiver: Receiver | undefined
  #listening: boolean = false
  #entered_ms = 0
  /** On the way since it was settled last, whatever states it went through; the time without a receiver is not counted. */
  #onTheWay_s = 0

  constructor(ctx: PluginContext, options: SurveyInOptions, parameters: Parameters) {
    this.#ctx = ctx
    this.#state = ctx.event()
    this.#parts = new Parts(ctx, options, parameters)
    this.#actions = new Actions(
      this.#parts,
      () => this.#procedure.state,
      (event) => this.#dispatch(event),
    )
  }

  // ── the service, and what the document shows ──────────────────────────────────────────────────────────────────────

  get surveyor(): Surveyor {
    return this.#parts.surveyor
  }

  get references(): References {
    return this.#parts.references
  }

  get ledger(): Ledger {
    return this.#parts.ledger
  }

  get status(): string {
    if (!this.#listening) return this.#procedure.status
    const link = this.#receiver?.link ?? 'offline'
    if (link !== 'up') return link
    return this.#parts.base.flows(this.#now_ms()) ? 'fixed' : 'acquire'
  }

  get onState(): PluginEvent<void> {
    return this.#state.on
  }

  /** Someone else set the receiver up: nothing here applies. */
  get listening(): boolean {
    return this.#listening
  }

  get wantsCorrections(): boolean {
    const { state } = this.#procedure
    if (this.#listening) return false
    return state === 'acquire' || state === 'initial' || (state === 'survey' && this.surveyor.run?.corrected === true)
  }

  get reference(): Ecef | undefined {
    return this.references.chosen?.arp
  }

  /** Distance to the reference by evidence other than the echo of a base, metres; undefined without any. */
  get delta_m(): number | undefined {
    const { base, check } = this.#parts
    if (this.#procedure.state === 'fixed') return base.movement?.delta_m(this.#now_ms())
    return this.#events.hasPosition(this.#now_ms()) ? check.delta_m() : undefined
  }

  // ── start and stop ────────────────────────────────────────────────────────────────────────────────────────────────

  async start(receiver: Receiver, gate: RtcmGate, before: Snapshot | undefined): Promise<void> {
    const { on, timers } = this.#ctx
    this.#receiver = receiver
    this.#listening = receiver.mode === 'listening'
    on(receiver.onRtcm, (frame) => this.#heardRtcm(frame))
    if (this.#listening) return
    const judge = gate.judge()
    this.#parts.meet(receiver, judge)
    await this.#recall(before)
    if (before) this.#resume(before)
    // The gate kept the verdict of the instance before, which is worth nothing when the receiver was lost meanwhile.
    if (this.#procedure.state === 'offline') judge.hold(checkedFirst)
    const { base } = this.#parts
    on(receiver.onFix, (fix) => this.#heardFix(fix))
    on(receiver.onState, () => this.#look())
    on(receiver.onResiduals, (residuals) => this.#suspect(base.movement?.residuals(residuals, this.#now_ms())))
    on(receiver.onSecondFix, (fix) => this.#suspect(base.movement?.secondFix(fix, this.#now_ms())))
    on(receiver.onWarning, (text) => this.#suspect(base.movement?.warning(text)))
    timers.every(tick_ms, () => this.#tick())
    this.#look()
    this.#tell()
  }

  async stop(reason: 'reload' | 'remove' | 'shutdown'): Promise<Snapshot | undefined> {
    const { asked, base, check, hardware, memory, reports } = this.#parts
    if (!hardware) return undefined
    if (this.#procedure.state === 'fixed') await this.#parts.remember(true)
    this.surveyor.pause()
    hardware.setup.cancel()
    hardware.judge.leave(reason)
    await memory.flush()
    const progress = this.surveyor.run?.snapshot()
    const live = check.live?.position
    return {
      state: this.#procedure.state,
      uid: this.#parts.uid,
      baselines: base.movement?.baselines ?? {},
      ...(base.target && { target: base.target }),
      ...(live && { live }),
      ...(progress && { progress }),
      ...(asked !== undefined && { asked }),
      reports: reports.snapshot(),
    }
  }

  /** What outlived the service, and what the instance before this one knew. */
  async #recall(before: Snapshot | undefined): Promise<void> {
    const { memory, reports, surroundings } = this.#parts
    await memory.load()
    const survey = memory.get('survey')
    if (survey)
      this.surveyor.restore(before?.progress ? { ...survey, state: 'running', progress: before.progress } : survey)
    this.ledger.restore(memory.get('ledger'))
    const moved = memory.get('moved')
    if (moved) reports.raise('gnss-reference-moved', moved)
    await this.references.noteManual('plugin', surroundings.utc_s())
    this.#parts.noteReference()
    this.#parts.asked = before?.asked
  }

  /** Goes on where the instance before this one was, when the receiver did not notice anything. */
  #resume({ state, uid, target, live, baselines, reports }: Snapshot): void {
    const receiver = this.#receiver
    if (receiver?.link !== 'up' || !receiver.configured || uid !== this.#parts.uid) return
    const { base } = this.#parts
    const { chosen } = this.references
    if (state === 'fixed' && target && chosen && sameEcef(target.arp, chosen.arp)) {
      base.target = target
      this.#actions.place(live)
      this.#procedure.resume('fixed')
      this.#actions.trust(baselines)
    } else if (state === 'survey' || state === 'moved') this.#procedure.resume(state)
    else return
    this.#events.begin(true)
    this.#entered_ms = this.#now_ms()
    base.begin(this.#now_ms())
    this.#parts.reports.restore(reports)
  }

  // ── what people ask for ───────────────────────────────────────────────────────────────────────────────────────────

  /** @param by who asks @returns what will happen */
  askForSurvey(by: string): string {
    this.#parts.asked = by
    const { state } = this.#procedure
    this.#dispatch('survey asked for')
    if (state === 'offline' || state === 'stalled') return 'a survey-in starts as soon as the receiver is there'
    return this.#procedure.state === 'survey' ? 'a survey-in has started' : 'a survey-in starts with the next fix'
  }

  /** @returns '' or why it can't be done */
  useIncomplete(): string {
    const problem = this.surveyor.allow()
    if (problem) return problem
    if (this.#procedure.state === 'survey') this.#surveyDone()
    else {
      this.#parts.reports.clear('gnss-survey')
      if (this.#parts.noteReference()) this.#dispatch('reference changed')
    }
    return ''
  }

  /** A change was applied, whatever it was. */
  async changed(by: string): Promise<void> {
    if (this.#listening) return
    const { memory, reports, surroundings } = this.#parts
    await this.references.noteManual(by, surroundings.utc_s())
    reports.clear('gnss-reference-moved')
    await memory.set('moved', undefined)
    this.#referenceMayHaveChanged()
  }

  /** Takes an earlier survey-in as the surveyed reference. */
  reuse(reference: Reference): void {
    this.surveyor.reuse(reference)
    this.#referenceMayHaveChanged()
  }

  #referenceMayHaveChanged(): void {
    if (!this.#parts.noteReference()) return
    void this.#parts.settle()
    if (this.references.chosenMethod === 'manual') this.surveyor.abort('another reference was chosen')
    this.#dispatch('reference changed')
  }

  // ── what the receiver does ────────────────────────────────────────────────────────────────────────────────────────

  #look(): void {
    const event = this.#receiver && this.#events.look(this.#receiver, this.#procedure.state)
    if (event) this.#dispatch(event)
    this.#question()
  }

  #heardRtcm(frame: RtcmFrame): void {
    const { state } = this.#procedure
    const step = state === 'accept' || state === 'fixed' ? state : undefined
    const event = this.#parts.base.heard(frame, step)
    if (event) this.#dispatch(event)
  }

  #heardFix(fix: ReceiverFix): void {
    const hasPosition = this.#events.epoch(fix, this.#now_ms())
    this.#question()
    const { state } = this.#procedure
    if (state === 'survey' && this.surveyor.epoch(fix)) {
      this.#ctx.log.warn('the corrected position jumped: the averaging of the survey-in begins anew')
    }
    if (!hasPosition) return
    if (state === 'acquire') this.#dispatch('3D fix')
    this.#parts.check.add(fix)
    if (state === 'initial') this.#judgeInitial()
  }

  /** Asks what the receiver holds, once it is known and its clock was heard on this link. */
  #question(): void {
    if (this.#procedure.state !== 'identify' || !this.#receiver) return
    const { isThere } = this.#parts.trusted
    if (this.#events.isIdentified(this.#receiver, this.#entered_ms, this.#now_ms(), isThere))
      this.#dispatch('identified')
  }

  #judgeInitial(): void {
    const { asked, check, memory } = this.#parts
    const event = check.initial(asked !== undefined || this.surveyor.run !== undefined)
    if (event) {
      this.#parts.evidence = memory.get('suspicion') ?? ''
      this.#dispatch(event)
    }
  }

  #suspect(evidence: string | undefined): void {
    if (evidence === undefined || this.#procedure.state !== 'fixed') return
    this.#parts.evidence = evidence
    void this.#parts.memory.set('suspicion', evidence)
    this.#dispatch('move suspected')
  }

  // ── what a second brings ──────────────────────────────────────────────────────────────────────────────────────────

  #tick(): void {
    const { base, check } = this.#parts
    const now_ms = this.#now_ms()
    switch (this.#procedure.state) {
      case 'identify':
        this.#question()
        break
      case 'initial':
        if (!this.#events.hasPosition(now_ms)) this.#dispatch('fix lost')
        else this.#judgeInitial()
        break
      case 'survey':
        this.#tickSurvey()
        break
      case 'accept':
        this.#tickAccept(now_ms)
        break
      case 'fixed':
        if (base.hasStopped(now_ms)) this.#dispatch('RTCM stopped')
        else void this.#parts.remember(false)
        break
      case 'moved':
        if (check.agreed()) {
          void this.#parts.settle()
          this.#dispatch('agreed for 10 min')
        }
        break
      case 'fault':
        if (now_ms - this.#entered_ms >= again_ms) this.#dispatch('try again')
        break
      default:
    }
    this.#tickLate()
    this.#tell()
  }

  #tickLate(): void {
    const { check, reports, surroundings } = this.#parts
    const { state } = this.#procedure
    if (settled.includes(state)) this.#onTheWay_s = 0
    if (settled.includes(state) || absent.includes(state)) return
    this.#onTheWay_s += tick_ms / 1000
    if (this.#onTheWay_s < late_s || (reports.stands('gnss-initial') && this.#onTheWay_s % retold_s !== 0)) return
    reports.raise('gnss-initial', lateText(state, surroundings.limits().accuracy_m, check.newest()?.acc_m))
  }

  #tickAccept(now_ms: number): void {
    const event = this.#parts.base.waits(this.#entered_ms, now_ms)
    if (event) this.#dispatch(event)
  }

  #tickSurvey(): void {
    const { check, reports } = this.#parts
    const { run } = this.surveyor
    if (run?.mean && check.isElsewhere({ arp: run.mean, corr: run.corrected })) {
      this.#ctx.log.warn('the antenna is not where the survey-in found it so far: the survey-in begins anew')
      this.surveyor.begin(run.corrected, run.by)
      return
    }
    const end = this.surveyor.tick()
    if (run && !end) {
      if (run.unusable_s >= late_s) reports.raise('gnss-survey', noPositionText)
      else reports.clear('gnss-survey')
    }
    if (!end) return
    check.live = check.newest()
    this.#ctx.log.info({ ...end }, `the survey-in ended: ${end.state}`)
    if (end.state === 'complete') this.#surveyDone()
    else reports.raise('gnss-survey', surveyText(end, this.surveyor.record.count))
  }

  #surveyDone(): void {
    const { check, reports } = this.#parts
    const { reference } = this.surveyor
    const { manual, chosenMethod } = this.references
    reports.clear('gnss-survey')
    this.#parts.noteReference()
    const usable = chosenMethod === 'survey' || !manual || !reference
    this.#dispatch(usable ? 'survey usable' : check.surveyed(reference, manual))
  }

  // ── steps ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #dispatch(event: Event): void {
    const step = this.#procedure.take(event)
    if (!step) return
    const { from, to, actions } = step
    if (from === to && actions.length === 0) return
    this.#parts.hardware?.setup.cancel()
    if (from !== to) {
      this.#ctx.log.info({ from, to, event }, `${from}: ${event} → ${to}`)
      this.#entered_ms = this.#now_ms()
      this.#enter(from, to)
      this.#state.emit()
    }
    for (const action of actions) this.#actions.act(action, event)
    this.#tell()
  }

  #enter(from: State, to: State): void {
    const { base, reports } = this.#parts
    base.begin()
    this.#events.begin()
    if (from === 'survey') this.surveyor.pause()
    if (from === 'fixed') base.movement = undefined
    if (from === 'moved') reports.clear('gnss-moved')
    if (settled.includes(to) || absent.includes(to)) reports.clear('gnss-initial')
    if (to === 'acquire' || to === 'fixed') reports.clear('gnss-fault')
    if (to === 'base') reports.clear('gnss-survey')
  }

  #tell(): void {
    const { state } = this.#procedure
    const survey = this.surveyor.record
    const progress = `survey-in: ${Math.floor(survey.elapsed_s)} s, ${survey.count} epochs, ${survey.acc_m.toFixed(3)} m`
    this.#ctx.status(state === 'survey' ? progress : state === 'fixed' ? '' : this.status)
  }

  #now_ms(): number {
    return this.#parts.surroundings.now_ms()
  }
}
