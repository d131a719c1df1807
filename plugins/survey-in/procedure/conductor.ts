/** The procedure as others see it: the service, what people ask for, and what outlives a receiver and a restart. */
import type { PhaseReport } from 'rtk-base/gnss'
import type { EventSource, PluginContext, Event as PluginEvent } from 'rtk-base/plugin'
import type { Ecef, ProcedureStatus, Receiver, RtcmGate } from 'rtk-base/services'
import { Memory } from '../memory.js'
import type { SurveyInOptions } from '../options.js'
import type { Parameters } from '../parameters.js'
import { ReferenceChoice } from '../reference/choice.js'
import { differs, isUndeclared, surveyDatum } from '../reference/datum.js'
import { Ledger } from '../reference/ledger.js'
import type { Comparison, Reference } from '../reference/reference.js'
import { Surroundings } from '../surroundings.js'
import type { SurveyRequest } from '../survey/survey-request.js'
import { Surveyor, type SurveyRecord } from '../survey/surveyor.js'
import { AntennaPhases } from '../watch/antenna-phases.js'
import { ListenedReceiver } from '../watch/listened-receiver.js'
import { StartCheck } from '../watch/start-check.js'
import { Suspicion } from '../watch/suspicion.js'
import { doubtText, frameText, Reports, stoppedReason, stoppedText } from './reports.js'
import { Run, type Snapshot } from './run.js'
import { type State, states } from './table.js'

export class Conductor implements ProcedureStatus {
  readonly trustedSources: readonly string[]
  readonly surveyor: Surveyor
  readonly references: ReferenceChoice
  readonly ledger: Ledger
  readonly #ctx: PluginContext
  readonly #parameters: Parameters
  readonly #memory: Memory
  readonly #surroundings: Surroundings
  readonly #reports: Reports
  readonly #suspicion: Suspicion
  readonly #check: StartCheck
  readonly #phases: AntennaPhases
  readonly #request: SurveyRequest = { by: undefined }
  readonly #state: EventSource<void>
  #run: Run | undefined
  #listened: ListenedReceiver | undefined

  constructor(ctx: PluginContext, options: SurveyInOptions, parameters: Parameters) {
    this.#ctx = ctx
    this.#parameters = parameters
    this.#state = ctx.event()
    this.#memory = new Memory(ctx)
    this.trustedSources = options.trustedSources
    this.#surroundings = new Surroundings(ctx, options.trustedSources)
    this.#reports = new Reports(ctx.errors)
    this.#suspicion = new Suspicion(this.#memory)
    this.ledger = new Ledger(options.history)
    const now_ms = () => this.#surroundings.now_ms()
    this.surveyor = new Surveyor({
      models: { plain: options.plain, corrected: options.corrected },
      limits: () => parameters.limits(),
      corrections: () => this.#surroundings.corrections(),
      now_ms,
      utc_s: () => this.#surroundings.utc_s(),
      datum: (corrected) => surveyDatum(corrected, parameters.datum.ofCorrections(), this.#surroundings.utc_s()),
      save: (record) => this.#keep(record),
    })
    this.references = new ReferenceChoice(parameters, this.surveyor, this.#memory)
    this.#phases = new AntennaPhases(options.phases)
    this.#check = new StartCheck(
      {
        choice: this.references,
        suspicion: this.#suspicion,
        limits: () => parameters.start(),
        now_ms,
        doubts: (comparison) => this.#doubts(comparison),
      },
      options.initial_s,
    )
  }

  // ── the service, and what the document shows ──────────────────────────────────────────────────────────────────────

  get status(): string {
    return this.#listened?.status ?? states[this.state].status
  }

  get onState(): PluginEvent<void> {
    return this.#state.on
  }

  /** Someone else set the receiver up: nothing here applies. */
  get listening(): boolean {
    return this.#listened !== undefined
  }

  get pausesCorrections(): boolean {
    const survey = this.#run?.survey
    return this.state === 'survey' ? survey?.pausesCorrections === true : survey?.distrustsCorrections === true
  }

  get wantsCorrections(): boolean {
    if (this.listening) return false
    const state = this.state
    return state === 'acquire' || state === 'initial' || (state === 'survey' && this.surveyor.run?.corrected === true)
  }

  get reference(): Ecef | undefined {
    return this.references.chosen?.arp
  }

  get chosen(): ProcedureStatus['chosen'] {
    const { chosen } = this.references
    if (this.listening || !chosen) return undefined
    const { method, acc_m } = chosen
    return { method, acc_m: acc_m || undefined, isComplete: method === 'manual' || !this.surveyor.record.allowUse }
  }

  /** Distance to the reference by evidence other than the echo of a base, metres; undefined without any. */
  get delta_m(): number | undefined {
    return this.#run?.delta_m
  }

  /** What the carrier phases say now; undefined while there are none. */
  get motion(): PhaseReport | undefined {
    return this.#phases.at(this.#surroundings.now_ms())
  }

  get state(): State {
    return this.#run?.state ?? 'offline'
  }

  /** Whole seconds in this state; 0 before there is a receiver. */
  get since_s(): number {
    return Math.floor((this.#run?.since_ms ?? 0) / 1000)
  }

  // ── start and stop ────────────────────────────────────────────────────────────────────────────────────────────────

  async start(receiver: Receiver, gate: RtcmGate, before: Snapshot | undefined): Promise<void> {
    const changed = () => this.#state.emit()
    if (receiver.mode === 'listening') {
      this.#listened = new ListenedReceiver(this.#ctx, receiver, changed)
      this.#listened.start()
      return
    }
    await this.#recall(before)
    // Not sooner: from here on the verdict of the instance before this one has no time limit.
    const judge = gate.judge()
    this.#run = new Run(
      {
        ctx: this.#ctx,
        memory: this.#memory,
        surroundings: this.#surroundings,
        reports: this.#reports,
        surveyor: this.surveyor,
        choice: this.references,
        ledger: this.ledger,
        check: this.#check,
        suspicion: this.#suspicion,
        phases: this.#phases,
        request: this.#request,
        limits: () => this.#parameters.start(),
        changed,
      },
      receiver,
      judge,
    )
    this.#run.start(before)
  }

  async stop(reason: 'reload' | 'remove' | 'shutdown'): Promise<Snapshot | undefined> {
    return this.#run?.stop(reason)
  }

  /** What outlived the service, and what the previous instance knew. */
  async #recall(before: Snapshot | undefined): Promise<void> {
    const memory = this.#memory
    await memory.load()
    const survey = memory.get('survey')
    if (survey)
      this.surveyor.restore(before?.progress ? { ...survey, state: 'running', progress: before.progress } : survey)
    this.ledger.restore(memory.get('ledger'))
    const moved = memory.get('moved')
    if (moved) this.#reports.raise('gnss-reference-moved', moved)
    await this.references.noteManual('plugin', this.#surroundings.utc_s())
    this.references.noteChosen()
    this.compareFrames()
    this.#request.by = before?.asked
  }

  #keep(record: SurveyRecord): void {
    void this.#memory.set('survey', record)
    const { state, corrected, datum } = record
    if (state === 'complete' && corrected && datum && isUndeclared(datum) && this.#parameters.datum.wanted().frame)
      this.#ctx.log.warn(
        'nobody said which frame the corrections are in (gnss-recvrtcm-frame): the surveyed reference takes it, whether it is gnss-ref-frame or not',
      )
    this.compareFrames()
  }

  /** Reports where a corrected survey-in takes another frame than the one that the reference is meant to be in. */
  compareFrames(): void {
    const { state, corrected, datum } = this.surveyor.record
    const runs = state === 'running'
    const { chosen } = this.references
    const used = runs ? corrected && datum : chosen?.method === 'survey' && chosen.corr && chosen.datum
    const wanted = this.#parameters.datum.wanted()
    if (used && differs(used, wanted)) this.#reports.raise('gnss-reference-frame', frameText(used, wanted, runs))
    else this.#reports.clear('gnss-reference-frame')
  }

  #doubts(comparison: Comparison | undefined): void {
    if (comparison)
      this.#reports.raise(
        'gnss-initial',
        doubtText(comparison, this.references.chosenMethod, this.#run?.geoidSeparation_m),
      )
    else this.#reports.clear('gnss-initial')
  }

  // ── what people ask for ───────────────────────────────────────────────────────────────────────────────────────────

  /** @param by who asks @returns what will happen */
  askForSurvey(by: string): string {
    this.#request.by = by
    // Shown and kept from now on, whatever becomes of the receiver and of the service.
    this.surveyor.begin(false, by)
    const state = this.state
    this.#run?.dispatch('survey asked for')
    if (state === 'offline' || state === 'stalled') return 'a survey-in starts as soon as the receiver is there'
    return this.state === 'survey' ? 'a survey-in has started' : 'a survey-in starts with the next fix'
  }

  /** @returns what follows, or why that is not possible */
  stopSurvey(): { problem?: string; answer?: string } {
    if (!this.surveyor.run) return { problem: 'no survey-in runs' }
    this.#request.by = undefined
    const isAsked = this.state !== 'survey'
    // One that has not begun is no step of the procedure yet: the start-up check goes on without it.
    if (isAsked) this.surveyor.abort(stoppedReason)
    else this.#run?.survey.stop()
    this.references.noteChosen()
    return { answer: stoppedText(this.references.chosen !== undefined, isAsked) }
  }

  /** @returns '' or why that is not possible */
  useIncomplete(): string {
    const problem = this.surveyor.allow()
    if (problem) return problem
    if (this.state === 'survey' || this.state === 'idle') this.#run?.survey.done()
    else {
      this.#reports.clear('gnss-survey')
      if (this.references.noteChosen()) this.#run?.dispatch('reference changed')
    }
    return ''
  }

  /** Parameters of the reference were changed. @param by who changed them */
  async changed(by: string): Promise<void> {
    if (this.listening) return
    await this.references.noteManual(by, this.#surroundings.utc_s())
    this.#reports.clear('gnss-reference-moved')
    await this.#memory.set('moved', undefined)
    this.compareFrames()
    this.#referenceMayHaveChanged()
  }

  /** Uses an earlier survey-in as the surveyed reference. */
  reuse(reference: Reference): void {
    this.surveyor.reuse(reference)
    this.#referenceMayHaveChanged()
  }

  #referenceMayHaveChanged(): void {
    // Whoever sends the reference again while the antenna is said to have moved answers for it.
    if (!this.references.noteChosen() && !this.#suspicion.stands) return
    void this.#suspicion.settle()
    this.#reports.clear('gnss-survey')
    if (this.references.chosenMethod === 'manual') this.surveyor.abort('another reference was chosen')
    this.#run?.dispatch('reference changed')
  }
}
