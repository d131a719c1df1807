/** The edge of the procedure: turns what the receiver does into events, and carries the actions out. */
import { sameEcef } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type {
  Ecef,
  ProcedureStatus,
  Receiver,
  ReceiverFix,
  ReceiverTarget,
  RtcmFrame,
  RtcmGate,
  RtcmJudge,
} from 'rtk-base/services'
import { BaseWatch } from './base-watch.js'
import { Ledger } from './ledger.js'
import { Memory } from './memory.js'
import type { Baselines } from './movement.js'
import type { SurveyInOptions } from './options.js'
import type { Parameters } from './parameters.js'
import { Procedure } from './procedure.js'
import { ReceiverEvents } from './receiver-events.js'
import { type HeldTarget, ReceiverSetup } from './receiver-setup.js'
import type { Reference } from './reference.js'
import { References, signature } from './references.js'
import { heldAdvice, holdReason, lateText, movedText, type Report, Reports, surveyText } from './reports.js'
import { StartCheck } from './start-check.js'
import { Surroundings } from './surroundings.js'
import type { SurveySnapshot } from './survey-run.js'
import { Surveyor } from './surveyor.js'
import type { Action, Event, State } from './table.js'
import { TrustKeeper } from './trust-keeper.js'

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
const late_ms = 900_000
const again_ms = 60_000

export class Conductor implements ProcedureStatus {
  readonly surveyor: Surveyor
  readonly references: References
  readonly ledger: Ledger
  readonly #ctx: PluginContext
  readonly #memory: Memory
  readonly #procedure = new Procedure()
  readonly #surroundings: Surroundings
  readonly #check: StartCheck
  readonly #base = new BaseWatch()
  readonly #events = new ReceiverEvents()
  readonly #trusted: TrustKeeper
  readonly #reports: Reports
  #setup: ReceiverSetup | undefined
  #receiver: Receiver | undefined
  #judge: RtcmJudge | undefined
  #listening: boolean = false
  #entered_ms = 0
  #evidence = ''
  /** A survey-in was asked for, and by whom. */
  #asked: string | undefined
  #signature = ''

  constructor(ctx: PluginContext, options: SurveyInOptions, parameters: Parameters) {
    this.#ctx = ctx
    this.#memory = new Memory(ctx)
    this.#reports = new Reports(ctx.errors)
    this.#surroundings = new Surroundings(ctx)
    this.#trusted = new TrustKeeper(this.#memory, this.#surroundings)
    this.ledger = new Ledger(options.history)
    this.surveyor = new Surveyor({
      models: { plain: options.plain, corrected: options.corrected },
      limits: () => parameters.limits(),
      corrections: () => this.#surroundings.corrections(),
      now_ms: () => this.#surroundings.now_ms(),
      utc_s: () => this.#surroundings.utc_s(),
      save: (record) => void this.#memory.set('survey', record),
    })
    this.references = new References(parameters, this.surveyor, this.#memory)
    this.#check = new StartCheck(this.references, this.#memory, this.#surroundings, options.initial_s)
  }

  // ── the service, and what the document shows ──────────────────────────────────────────────────────────────────────

  get status(): string {
    if (!this.#listening) return this.#procedure.status
    const link = this.#receiver?.link ?? 'offline'
    if (link !== 'up') return link
    return this.#base.flows(this.#now_ms()) ? 'fixed' : 'acquire'
  }

  get state(): State {
    return this.#procedure.state
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
    if (this.#procedure.state === 'fixed') return this.#base.movement?.delta_m(this.#now_ms())
    return this.#events.hasPosition(this.#now_ms()) ? this.#check.delta_m() : undefined
  }

  // ── start and stop ────────────────────────────────────────────────────────────────────────────────────────────────

  async start(receiver: Receiver, gate: RtcmGate, before: Snapshot | undefined): Promise<void> {
    const { defer, timers } = this.#ctx
    this.#receiver = receiver
    this.#setup = new ReceiverSetup(this.#ctx, receiver)
    this.#listening = receiver.mode === 'listening'
    defer(receiver.onRtcm((frame) => this.#heardRtcm(frame)))
    if (this.#listening) return
    this.#judge = gate.judge()
    await this.#memory.load()
    const survey = this.#memory.get('survey')
    if (survey)
      this.surveyor.restore(before?.progress ? { ...survey, state: 'running', progress: before.progress } : survey)
    this.ledger.restore(this.#memory.get('ledger'))
    const moved = this.#memory.get('moved')
    if (moved) this.#reports.raise('gnss-reference-moved', moved)
    await this.references.noteManual('plugin', this.#surroundings.utc_s())
    this.#signature = signature(this.references.chosen)
    this.#asked = before?.asked
    if (before) this.#resume(before)
    defer(receiver.onFix((fix) => this.#heardFix(fix)))
    defer(receiver.onState(() => this.#look()))
    defer(receiver.onResiduals((residuals) => this.#suspect(this.#base.movement?.residuals(residuals, this.#now_ms()))))
    defer(receiver.onSecondFix((fix) => this.#suspect(this.#base.movement?.secondFix(fix, this.#now_ms()))))
    defer(receiver.onWarning((text) => this.#suspect(this.#base.movement?.warning(text))))
    timers.every(tick_ms, () => this.#tick())
    this.#look()
    this.#tell()
  }

  async stop(reason: 'reload' | 'remove' | 'shutdown'): Promise<Snapshot | undefined> {
    if (this.#listening || !this.#judge) return undefined
    if (this.#procedure.state === 'fixed') await this.#remember(true)
    this.surveyor.pause()
    this.#setup?.cancel()
    this.#judge.leave(reason)
    await this.#memory.flush()
    const progress = this.surveyor.run?.snapshot()
    const live = this.#check.live?.position
    return {
      state: this.#procedure.state,
      uid: this.#uid,
      baselines: this.#base.movement?.baselines ?? {},
      ...(this.#base.target && { target: this.#base.target }),
      ...(live && { live }),
      ...(progress && { progress }),
      ...(this.#asked !== undefined && { asked: this.#asked }),
      reports: this.#reports.snapshot(),
    }
  }

  /** Goes on where the instance before this one was, when the receiver did not notice anything. */
  #resume({ state, uid, target, live, baselines, reports }: Snapshot): void {
    const receiver = this.#receiver
    if (receiver?.link !== 'up' || !receiver.configured || uid !== this.#uid) return
    const { chosen } = this.references
    if (state === 'fixed' && target && chosen && sameEcef(target.arp, chosen.arp)) {
      this.#base.target = target
      this.#place(live)
      this.#procedure.resume('fixed')
      this.#trust(baselines)
    } else if (state === 'survey' || state === 'moved') this.#procedure.resume(state)
    else return
    this.#events.begin(true)
    this.#entered_ms = this.#now_ms()
    this.#base.begin(this.#now_ms())
    this.#reports.restore(reports)
  }

  // ── what people ask for ───────────────────────────────────────────────────────────────────────────────────────────

  /** @param by who asks @returns what will happen */
  askForSurvey(by: string): string {
    this.#asked = by
    const { state } = this.#procedure
    this.#dispatch('survey asked for')
    if (state === 'offline' || state === 'stalled') return 'a survey-in starts as soon as the receiver is there'
    return this.#procedure.state === 'survey' ? 'a survey-in has started' : 'a survey-in starts with the next fix'
  }

  /** @returns '' or why it can't be done */
  useIncomplete(): string {
    const problem = this.surveyor.allow()
    if (problem) return problem
    this.#reports.clear('gnss-survey')
    if (this.references.chosenMethod !== 'survey') return ''
    this.#signature = signature(this.references.chosen)
    if (this.#procedure.state === 'survey') this.#dispatch('survey usable')
    else this.#dispatch('reference changed')
    return ''
  }

  /** A change was applied, whatever it was. */
  async changed(by: string): Promise<void> {
    if (this.#listening) return
    await this.references.noteManual(by, this.#surroundings.utc_s())
    this.#reports.clear('gnss-reference-moved')
    await this.#memory.set('moved', undefined)
    this.#referenceMayHaveChanged()
  }

  /** Takes an earlier survey-in as the surveyed reference. */
  reuse(reference: Reference): void {
    this.surveyor.reuse(reference)
    this.#referenceMayHaveChanged()
  }

  #referenceMayHaveChanged(): void {
    const now = signature(this.references.chosen)
    if (now === this.#signature) return
    this.#signature = now
    void this.#settle()
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
    const event = this.#base.heard(frame, step, this.#receiver?.stationId)
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
    this.#check.add(fix)
    if (state === 'initial') this.#judgeInitial()
  }

  #tick(): void {
    const now_ms = this.#now_ms()
    const inState_ms = now_ms - this.#entered_ms
    switch (this.#procedure.state) {
      case 'identify':
        this.#question()
        break
      case 'acquire':
        if (inState_ms >= late_ms) this.#reports.raise('gnss-initial', lateText('no 3D fix', undefined))
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
        if (this.#base.hasStopped(now_ms)) this.#dispatch('RTCM stopped')
        else void this.#remember(false)
        break
      case 'moved':
        if (this.#check.agreed()) {
          void this.#settle()
          this.#dispatch('agreed for 10 min')
        }
        break
      case 'fault':
        if (inState_ms >= again_ms) this.#dispatch('try again')
        break
      default:
    }
    this.#tell()
  }

  #tickAccept(now_ms: number): void {
    const event = this.#base.waits(this.#entered_ms, now_ms)
    if (event) this.#dispatch(event)
  }

  #tickSurvey(): void {
    const { run } = this.surveyor
    if (run?.mean && this.#check.isElsewhere({ arp: run.mean, corr: run.corrected })) {
      this.#ctx.log.warn('the antenna is not where the survey-in found it so far: the survey-in begins anew')
      this.surveyor.begin(run.corrected, run.by)
      return
    }
    const end = this.surveyor.tick()
    if (!end) return
    this.#check.live = this.#check.newest()
    this.#ctx.log.info({ ...end }, `the survey-in ended: ${end.state}`)
    if (end.state === 'complete') {
      this.#reports.clear('gnss-survey')
      this.#surveyDone()
      return
    }
    this.#reports.raise('gnss-survey', surveyText(end))
  }

  #surveyDone(): void {
    const { reference } = this.surveyor
    const { manual } = this.references
    this.#signature = signature(this.references.chosen)
    const usable = this.references.chosenMethod === 'survey' || !manual || !reference
    this.#dispatch(usable ? 'survey usable' : this.#check.surveyed(reference, manual))
  }

  /** Asks what the receiver holds, once it is known and its clock was heard on this link. */
  #question(): void {
    if (this.#procedure.state !== 'identify' || !this.#receiver) return
    const { isThere } = this.#trusted
    if (this.#events.isIdentified(this.#receiver, this.#entered_ms, this.#now_ms(), isThere))
      this.#dispatch('identified')
  }

  #judgeInitial(): void {
    const event = this.#check.initial(this.#asked !== undefined)
    if (event) {
      this.#evidence = this.#memory.get('suspicion') ?? ''
      this.#dispatch(event)
    } else if (this.#now_ms() - this.#entered_ms >= late_ms) {
      const { accuracy_m } = this.#surroundings.limits()
      const what = `no position as good as ${accuracy_m} m`
      this.#reports.raise('gnss-initial', lateText(what, this.#check.newest()?.acc_m))
    }
  }

  #suspect(evidence: string | undefined): void {
    if (evidence === undefined || this.#procedure.state !== 'fixed') return
    this.#evidence = evidence
    void this.#memory.set('suspicion', evidence)
    this.#dispatch('move suspected')
  }

  // ── steps and actions ─────────────────────────────────────────────────────────────────────────────────────────────

  #dispatch(event: Event): void {
    const step = this.#procedure.take(event)
    if (!step) return
    const { from, to, actions } = step
    if (from === to && actions.length === 0) return
    this.#setup?.cancel()
    if (from !== to) {
      this.#ctx.log.info({ from, to, event }, `${from}: ${event} → ${to}`)
      this.#entered_ms = this.#now_ms()
      this.#enter(from, to)
    }
    for (const action of actions) this.#act(action, event)
    this.#tell()
  }

  #enter(from: State, to: State): void {
    this.#base.begin()
    this.#events.begin()
    if (from === 'survey') this.surveyor.pause()
    if (from === 'fixed') this.#base.movement = undefined
    if (from === 'moved') this.#reports.clear('gnss-moved')
    if (from === 'initial' || from === 'acquire') this.#reports.clear('gnss-initial')
    if (to === 'acquire' || to === 'fixed') this.#reports.clear('gnss-fault')
    if (to === 'base') this.#reports.clear('gnss-survey')
  }

  #act(action: Action, event: Event): void {
    switch (action) {
      case 'hold':
        this.#judge?.hold(holdReason(event, this.#evidence))
        return
      case 'trust':
        void this.#settle()
        this.#trust({})
        return
      case 'read mode':
        this.#readMode()
        return
      case 'set rover':
        this.#check.clear()
        this.#configure({ mode: 'rover' })
        return
      case 'set base':
        this.#setBase()
        return
      case 'confirm base':
        this.#confirmBase()
        return
      case 'gather positions':
        this.#check.clear()
        return
      case 'survey':
        this.#beginSurvey()
        return
      case 'report move':
        this.#reportMove(event)
        return
      case 'report fault':
        this.#reports.raise('gnss-fault', `${this.#base.trouble}; everything is tried again every minute`)
        return
    }
  }

  #setBase(): void {
    this.#base.target = this.references.chosen
    if (!this.#base.target) {
      this.#dispatch('reference changed')
      return
    }
    const { arp, acc_m } = this.#base.target
    this.#configure({ mode: 'fixed', arp, acc_m })
  }

  #configure(target: ReceiverTarget): void {
    void this.#setup?.configure(target, (held) => {
      if (!held) this.#base.trouble = this.#setup?.trouble ?? ''
      this.#dispatch(held ? 'configured' : 'not taken')
    })
  }

  /** Everything but the position is verified while RTCM flows: a refusal counts as long as this base is in use. */
  #confirmBase(): void {
    const target = this.#base.target
    if (!target) return
    void this.#setup?.confirm({ mode: 'fixed', arp: target.arp, acc_m: target.acc_m }, () => {
      const { state } = this.#procedure
      if (target !== this.#base.target || (state !== 'accept' && state !== 'fixed')) return
      this.#base.trouble = this.#setup?.trouble ?? ''
      this.#dispatch('not taken')
    })
  }

  /** Reads what the receiver holds, where that can make a difference. */
  #readMode(): void {
    const against = this.#trusted.againstAsking(this.#asked !== undefined)
    if (against) this.#startCold(against)
    else void this.#setup?.read((held) => this.#judgeMode(held))
  }

  #judgeMode(held: HeldTarget): void {
    const { chosen } = this.references
    const against = this.#receiver ? this.#trusted.against(this.#receiver, chosen, held) : 'it is gone'
    if (against) {
      this.#startCold(against)
      return
    }
    this.#base.target = chosen
    this.#place(this.#trusted.live)
    this.#dispatch('still our base')
  }

  #startCold(why: string): void {
    this.#ctx.log.info(`the start-up check comes first: ${why}`)
    this.#dispatch('not our base')
  }

  /** Where the antenna was when that was last known otherwise. */
  #place(position: Ecef | undefined): void {
    this.#check.live = position && { position, acc_m: 0, corrected: false }
  }

  /** @param baselines of the watch before this one, on a reload */
  #trust(baselines: Baselines): void {
    const { target } = this.#base
    const receiver = this.#receiver
    if (!target || !receiver) return
    const live = this.#check.live?.position
    this.#base.trust(live, { ...this.#trusted.baselines(receiver, target, live), ...baselines })
    this.#judge?.trust({ arp: target.arp, stationId: receiver.stationId })
    if (this.ledger.used(target, this.#surroundings.utc_s())) void this.#memory.set('ledger', this.ledger.entries)
    void this.#remember(true)
  }

  #beginSurvey(): void {
    const { run } = this.surveyor
    const goesOn = this.#asked === undefined && run?.mean && this.#check.isNear({ arp: run.mean, corr: run.corrected })
    if (goesOn) this.#ctx.log.info('the survey-in goes on where it was interrupted')
    else {
      // One that was aborted for want of corrections does not become a plain one by being started again.
      const { state, corrected } = this.surveyor.record
      const wasCorrected = this.#asked === undefined && state === 'aborted' && corrected
      this.surveyor.begin(wasCorrected || this.#surroundings.isCorrected(this.#receiver), this.#asked ?? 'survey')
    }
    this.#asked = undefined
    this.#signature = signature(this.references.chosen)
    this.#reports.clear('gnss-survey')
  }

  #reportMove(event: Event): void {
    const { chosen } = this.references
    const suspected = event === 'move suspected'
    const offset = suspected ? undefined : this.#check.comparison?.offset
    const what = movedText(offset, this.#evidence)
    if (chosen) this.ledger.moved(chosen, this.#surroundings.utc_s(), suspected ? this.#evidence : event, offset)
    void this.#memory.set('ledger', this.ledger.entries)
    if (event === 'survey elsewhere') {
      const text = `${what}: a new survey-in was started`
      this.#reports.raise('gnss-reference-moved', text)
      void this.#memory.set('moved', text)
      return
    }
    this.#reports.raise('gnss-moved', `${what}: ${heldAdvice}`)
  }

  // ── small things ──────────────────────────────────────────────────────────────────────────────────────────────────

  /** The last trusted moment, for a warm start. @param atOnce else once a minute */
  async #remember(atOnce: boolean): Promise<void> {
    const { target, movement } = this.#base
    if (!target || !this.#receiver) return
    const now = [this.#receiver, target, this.#check.live?.position, movement?.baselines ?? {}] as const
    if (atOnce) await this.#trusted.remember(...now)
    else this.#trusted.tick(...now)
  }

  /** A suspicion is over. */
  #settle(): Promise<void> {
    return this.#memory.set('suspicion', undefined)
  }

  #tell(): void {
    const { state } = this.#procedure
    const survey = this.surveyor.record
    const progress = `survey-in: ${Math.floor(survey.elapsed_s)} s, ${survey.count} epochs, ${survey.acc_m.toFixed(3)} m`
    this.#ctx.status(state === 'survey' ? progress : state === 'fixed' ? '' : this.status)
  }

  get #uid(): string {
    return this.#receiver?.identity.serial ?? ''
  }

  #now_ms(): number {
    return this.#surroundings.now_ms()
  }
}
