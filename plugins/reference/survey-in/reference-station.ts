/** The reference and its procedure for other plugins: the service, the commands, and the state that survives a receiver and a restart. */
import { type Drift, receiverStatus } from 'rtk-base/gnss'
import {
  type ActionReturn,
  type EventSource,
  type PluginContext,
  type Event as PluginEvent,
  unavailable,
} from 'rtk-base/plugin'
import {
  type ChosenReference,
  device,
  type Ecef,
  type Integrity,
  type PositionComparison,
  type ProcedureStatus,
  type ProcedureWish,
  type Receiver,
  type RtcmGate,
  rtcmStream,
} from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { SurveyInOptions } from './options.js'
import type { Parameters } from './parameters.js'
import { Procedure, ProcedureSnapshot } from './procedure/procedure.js'
import { Reports } from './procedure/reports.js'
import { type State, states } from './procedure/table.js'
import { doubtValues, sameReferenceText, stoppedText } from './procedure/texts.js'
import { surveyDatum } from './reference/datum.js'
import { driftOfReference, driftTrouble, frameTrouble } from './reference/frame-reports.js'
import type { Override } from './reference/override.js'
import type { Reference } from './reference/reference.js'
import { References } from './reference/references.js'
import { ReferenceStore } from './reference-store.js'
import { CorrectionInput } from './survey/correction-input.js'
import { SurveySnapshot } from './survey/survey-run.js'
import { recordOf, Surveyor, type SurveyRecord } from './survey/surveyor.js'

const driftEvery_ms = 3_600_000

/** State handed over to the next instance on a reload. */
export const Snapshot = Type.Object({
  ...ProcedureSnapshot.properties,
  progress: Type.Optional(SurveySnapshot),
  /** Requester of a survey-in that has not begun yet. */
  asked: Type.Optional(Type.String()),
})
type Snapshot = Static<typeof Snapshot>

export class ReferenceStation implements ProcedureStatus {
  readonly trustedSources: readonly string[]
  readonly surveyor: Surveyor
  readonly references: References
  readonly #ctx: PluginContext
  readonly #parameters: Parameters
  readonly #store: ReferenceStore
  readonly #corrections: CorrectionInput
  readonly #reports: Reports
  readonly #changed: EventSource<void>
  #integrity: Integrity | undefined
  #procedure: Procedure | undefined
  /** The receiver, if someone else set it up. */
  #listened: Receiver | undefined
  /** An earlier survey-in that the change under way chooses. */
  #reused: Reference | undefined
  #shownStatus = ''
  /** The start-up check waits for a position without corrections. */
  #awaitsPlain: boolean = false

  constructor(ctx: PluginContext, options: SurveyInOptions, parameters: Parameters) {
    this.#ctx = ctx
    this.#parameters = parameters
    this.#changed = ctx.event()
    this.#store = new ReferenceStore(ctx)
    this.trustedSources = options.trustedSources
    this.#corrections = new CorrectionInput(ctx, options.trustedSources)
    this.#reports = new Reports(ctx.errors)
    const utc_s = () => this.#utc_s()
    this.surveyor = new Surveyor({
      models: { plain: options.plain, corrected: options.corrected },
      limits: () => parameters.limits(),
      corrections: () => this.#corrections.now(),
      now_ms: () => ctx.clock.monotonic(),
      utc_s,
      datum: (corrected) => surveyDatum(corrected, parameters.correctionDatum(), utc_s()),
      save: (record) => this.#keep(record),
    })
    this.references = new References(parameters, this.surveyor, this.#store, options.history, utc_s)
  }

  // ── the service and the document ──────────────────────────────────────────────────────────────────────────────────

  get status(): string {
    if (!this.#listened) return states[this.state].status
    return receiverStatus(this.#listened, this.#ctx.services.use(rtcmStream).input.flows === true)
  }

  get onState(): PluginEvent<void> {
    return this.#changed.on
  }

  /** Someone else set the receiver up: nothing here applies. */
  get listening(): boolean {
    return this.#listened !== undefined
  }

  get pausesCorrections(): boolean {
    const { survey } = this.#procedure ?? {}
    if (this.state === 'survey') return survey?.pausesCorrections === true
    return survey?.distrustsCorrections === true || this.#awaitsPlain
  }

  get wantsCorrections(): boolean {
    if (this.listening) return false
    const { state } = this
    return state === 'acquire' || state === 'initial' || (state === 'survey' && this.surveyor.run?.corrected === true)
  }

  get reference(): Ecef | undefined {
    return this.references.chosen?.arp
  }

  /** Distance to the reference by evidence other than the echo of a base, metres; undefined without any. */
  get delta_m(): number | undefined {
    return this.#procedure && this.#integrity?.distance_m(this.references.chosen)
  }

  get asked(): ProcedureWish | undefined {
    return this.#procedure?.asked
  }

  get chosen(): ChosenReference | undefined {
    const { chosen, override } = this.references
    if (!chosen) return undefined
    const { method, acc_m, datum } = chosen
    const { state, allowUse } = this.surveyor.record
    return {
      method,
      acc_m: acc_m > 0 ? acc_m : undefined,
      ...(datum && { frame: datum.frame }),
      isComplete: method === 'manual' || state !== 'incomplete' || !allowUse,
      ...(override && { override: { t: override.t, by: override.by, distance_m: override.distance_m } }),
    }
  }

  #utc_s(): number {
    return Math.floor((this.#ctx.services.find(device)?.utc_ms() ?? 0) / 1000)
  }

  get state(): State {
    return this.#procedure?.state ?? 'offline'
  }

  /** Whole seconds in this state; 0 before there is a receiver. */
  get since_s(): number {
    return this.#procedure?.since_s ?? 0
  }

  // ── start and stop ────────────────────────────────────────────────────────────────────────────────────────────────

  async start(receiver: Receiver, integrity: Integrity, gate: RtcmGate, before: Snapshot | undefined): Promise<void> {
    if (receiver.mode === 'listening') {
      this.#listened = receiver
      for (const event of [receiver.onState, this.#ctx.services.use(rtcmStream).onFlow])
        this.#ctx.on(event, () => this.#compareStatus())
      this.#compareStatus()
      await this.#load()
      return
    }
    await this.#load()
    await this.#recall(before)
    integrity.open(this.#store)
    this.#integrity = integrity
    this.#ctx.on(integrity.onDoubt, (comparison) => this.#doubts(comparison))
    const { surveyor, references } = this
    // Not sooner: from here on the verdict of the previous instance has no time limit.
    const judge = gate.judge()
    this.#procedure = new Procedure(
      {
        ...{ ctx: this.#ctx, receiver, integrity, judge, surveyor, references },
        ...{ corrections: this.#corrections, reports: this.#reports, store: this.#store },
      },
      () => this.#changed.emit(),
    )
    this.#procedure.start(before)
    this.#ctx.timers.every(driftEvery_ms, () => this.compareDrift())
  }

  async stop(reason: 'reload' | 'remove' | 'shutdown'): Promise<Snapshot | undefined> {
    this.surveyor.pause()
    const snapshot = await this.#procedure?.stop(reason)
    await this.#store.flush()
    const progress = this.surveyor.run?.snapshot()
    const { asked } = this.surveyor
    return snapshot && { ...snapshot, ...(progress && { progress }), ...(asked !== undefined && { asked }) }
  }

  /** Also where nothing else applies, positions are saved, and must not replace the stored ones. */
  async #load(): Promise<void> {
    await this.#store.load()
    this.references.positions.restore(this.#store.get('positions'))
  }

  /** Restores the stored state and that of the previous instance. */
  async #recall(before: Snapshot | undefined): Promise<void> {
    const store = this.#store
    const survey = store.get('survey')
    if (survey)
      this.surveyor.restore(before?.progress ? { ...survey, state: 'running', progress: before.progress } : survey)
    this.#reports.while('gnss-reference-moved', store.get('elsewhere'))
    await this.references.recall()
    this.compareFrames()
    this.surveyor.asked = before?.asked
  }

  /** Of a receiver that is only listened to. */
  #compareStatus(): void {
    if (this.status === this.#shownStatus) return
    this.#shownStatus = this.status
    this.#changed.emit()
  }

  #keep(record: SurveyRecord): void {
    void this.#store.set('survey', record)
    const { state, corrected, datum } = record
    if (state === 'complete' && corrected && datum?.frame === '' && this.#parameters.wantedDatum().frame)
      this.#ctx.log.warn(
        'the frame of the corrections is not declared (gnss-recvrtcm-frame): the surveyed reference is in that frame, which may differ from gnss-ref-frame',
      )
    this.compareFrames()
  }

  compareFrames(): void {
    const { announced, wantedDatum } = this.#parameters
    const wish = { announced: announced(), wanted: wantedDatum() }
    this.#reports.while('gnss-reference-frame', frameTrouble(this.surveyor.record, this.references.chosen, wish))
    this.compareDrift()
  }

  get drift(): Drift | undefined {
    return driftOfReference(this.references.chosen, this.#parameters.announced(), this.#utc_s())
  }

  compareDrift(): void {
    const trouble = driftTrouble(this.references.chosen, this.#parameters.announced(), this.drift)
    this.#reports.while('gnss-reference-drift', trouble)
  }

  #doubts(comparison: PositionComparison | undefined): void {
    // Until the doubt has ended: the positions that decide it must not follow that base again.
    this.#awaitsPlain = comparison !== undefined && (this.#awaitsPlain || comparison.unverified === true)
    this.#reports.while('gnss-initial', comparison && doubtValues(comparison, this.references.chosenMethod))
  }

  // ── what people ask for ───────────────────────────────────────────────────────────────────────────────────────────

  /** @throws RTK_ERR_UNAVAILABLE where the receiver is only listened to */
  #mustApply(): void {
    if (this.listening) throw unavailable('the receiver is only listened to: someone else set its reference')
  }

  /** @param by the requester @returns the effect, as text */
  askForSurvey(by: string): string {
    this.#mustApply()
    void this.#store.set('confirmation', undefined)
    this.surveyor.asked = by
    // Shown and stored from now on, even if the receiver or the service restarts.
    this.surveyor.begin(false, by)
    const { state } = this
    this.#procedure?.dispatch('survey asked for')
    if (state === 'offline' || state === 'stalled') return 'a survey-in starts as soon as the receiver is there'
    return this.state === 'survey' ? 'a survey-in has started' : 'a survey-in starts with the next fix'
  }

  /** @returns what follows @throws RTK_ERR_UNAVAILABLE where none runs */
  stopSurvey(): string {
    this.#mustApply()
    if (!this.surveyor.run) throw unavailable('no survey-in runs')
    const isAsked = this.state !== 'survey'
    // A survey-in that has not begun is not a step of the procedure yet: the start-up check continues without it.
    if (isAsked) this.surveyor.abort()
    else this.#procedure?.survey.stop()
    this.references.noteChosen()
    return stoppedText(this.references.chosen !== undefined, isAsked)
  }

  /** @throws RTK_ERR_UNAVAILABLE where there is none */
  useIncomplete(): string {
    this.#mustApply()
    const problem = this.surveyor.allow()
    if (problem) throw unavailable(problem)
    if (this.state === 'survey' || this.state === 'idle') this.#procedure?.survey.done()
    else {
      this.#reports.while('gnss-survey', undefined)
      if (this.references.noteChosen() !== 'none') this.#procedure?.dispatch('reference changed')
    }
    return 'the incomplete survey-in is the surveyed reference'
  }

  /** @param by surface of the command @returns what follows @throws RTK_ERR_UNAVAILABLE where no move is reported */
  async confirmPosition(by: string): Promise<ActionReturn> {
    this.#mustApply()
    const answer = await this.#procedure?.confirmation.request(by)
    if (!answer) throw unavailable('there is nothing to confirm: the station does not report a move')
    return answer
  }

  /**
   * Reference parameters were changed.
   * @param by the requester @param isChoice the choice was sent, maybe the same again: this takes a confirmation back
   */
  async changed(by: string, isChoice = false): Promise<void> {
    if (this.listening) return
    const reused = isChoice && this.references.chosenMethod === 'survey' ? this.#reused : undefined
    if (reused) this.surveyor.reuse(reused)
    const takenBack = isChoice ? this.references.override : undefined
    if (takenBack) await this.references.takeBack()
    await this.references.noteManual(by)
    this.#reports.while('gnss-reference-moved', undefined)
    await this.#store.set('elsewhere', undefined)
    const isUnconfirmed = this.#store.get('confirmation') !== undefined
    await this.#store.set('confirmation', undefined)
    this.compareFrames()
    if (takenBack?.evidence && !this.#integrity?.suspicion) await this.#suspectAgain(takenBack)
    else this.#referenceMayHaveChanged(takenBack !== undefined)
    // A survey-in that ran is gone; where the reference is the same one, nothing else ends the step.
    if (reused) this.#procedure?.dispatch('survey over')
    // The report said that it was confirmed.
    if (isUnconfirmed && this.#integrity?.suspicion) this.#procedure?.dispatch('move suspected')
  }

  /** The suspicion that a person had answered is open again: positions alone do not see a move below some metres. */
  async #suspectAgain({
    evidence: text,
    distance_m: size_m = Number.POSITIVE_INFINITY,
    move,
  }: Pick<Override, 'evidence' | 'move'> & { distance_m?: number }): Promise<void> {
    await this.#integrity?.suspect({ text, size_m, ...(move && { move }) })
    this.#procedure?.dispatch('move suspected')
  }

  /** Uses an earlier survey-in as the surveyed reference, with the change that chooses it. @param choose makes the change */
  async reuse<T>(reference: Reference, choose: () => Promise<T>): Promise<T> {
    this.#reused = reference
    try {
      return await choose()
    } finally {
      if (this.#reused === reference) this.#reused = undefined
    }
  }

  /** Entries that a change of the choice stores in the same batch: a power cut must not leave another survey-in chosen. */
  writes(method: Reference['method']): { survey?: SurveyRecord } {
    return this.#reused && method === 'survey' ? { survey: recordOf(this.#reused) } : {}
  }

  /** @param isDoubted the same reference is checked again */
  #referenceMayHaveChanged(isDoubted = false): void {
    const { lastChosen } = this.references
    const change = this.references.noteChosen()
    // To state the same position again is no evidence that the antenna is at it, and no confirmation of a person.
    if (change !== 'another' && this.#integrity?.suspicion) {
      this.#ctx.log.warn(sameReferenceText)
      return
    }
    if (change === 'none' && !isDoubted) return
    const abandoned = this.#store.get('abandoned')
    this.#abandon(lastChosen)
    this.#integrity?.settle()
    this.#reports.while('gnss-survey', undefined)
    if (this.references.chosenMethod === 'manual') this.surveyor.abort()
    this.#procedure?.dispatch('reference changed')
    if (!abandoned || !this.references.isAt(abandoned.arp, abandoned.t)) return
    if (this.#store.get('abandoned') === abandoned) void this.#store.set('abandoned', undefined)
    void this.#suspectAgain(abandoned)
  }

  /** A new reference ends a suspicion, not the move away from the previous one. */
  #abandon(reference: Reference | undefined): void {
    const { move, size_m, text } = this.#integrity?.suspicion ?? {}
    if (!reference || text === undefined) return
    const size = size_m !== undefined && Number.isFinite(size_m) ? { distance_m: size_m } : {}
    void this.#store.set('abandoned', {
      arp: reference.arp,
      t: this.#utc_s(),
      evidence: text,
      ...size,
      ...(move && { move }),
    })
  }
}
