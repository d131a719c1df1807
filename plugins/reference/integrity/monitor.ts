/** The integrity monitor collects evidence from the receiver and answers whether the antenna is at a reference position. */
import { type MsmEpoch, sameEcef } from 'rtk-base/gnss'
import type { EventSource, PluginContext, Event as PluginEvent } from 'rtk-base/plugin'
import {
  device,
  type EvidenceMemory,
  type HeldTarget,
  type Integrity,
  type Judgement,
  type LivePosition,
  type MoveEvidence,
  type MoveSuspicion,
  type PositionComparison,
  type Receiver,
  type ReferencePosition,
  type RtcmFrame,
} from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { AntennaPhases, evidenceOf, type HeardEpoch, PhaseSnapshot, unknown } from './antenna-phases.js'
import type { Suspect } from './code/evidence.js'
import { MovementWatch, Seen } from './code/movement.js'
import type { StartLimits } from './comparison.js'
import { longest_s } from './continuity/carry.js'
import { type Carriage, Continuity, HandedMoment } from './continuity/continuity.js'
import { whoIs } from './continuity/moment.js'
import type { Verification } from './continuity/verification.js'
import { longestReload_ms, moved_m } from './limits.js'
import type { AntennaMotion } from './motion-status.js'
import type { IntegrityOptions } from './options.js'
import { OrbitSky } from './orbit-sky.js'
import type { PhaseReport } from './phase/report.js'
import { PositionCheck } from './position-check.js'
import { ShownMove, ShownSnapshot } from './shown-move.js'
import { Measured, Suspicion } from './suspicion.js'
import { ReportsSnapshot, WatchReports } from './watch-reports.js'

/** State handed over to the next instance on a reload. */
export const Snapshot = Type.Object({
  at_ms: Type.Number(),
  /** A base was trusted. */
  inUse: Type.Boolean(),
  evidence: Type.Optional(
    Type.Unsafe<MoveEvidence>(
      Type.Object({
        moved: Type.Optional(Type.Literal(true)),
        by: Measured.properties.by,
        text: Type.String(),
        size_m: Type.Optional(Type.Number()),
        move: Type.Optional(Measured),
      }),
    ),
  ),
  phases: PhaseSnapshot,
  seen: Type.Optional(Seen),
  last: Type.Optional(HandedMoment),
  reports: ReportsSnapshot,
  shown: Type.Optional(ShownSnapshot),
})
type Snapshot = Static<typeof Snapshot>

const tick_ms = 1000

/** The base that is watched. `evidence` is that of a move since the base was trusted, the strongest. */
type Base =
  | { readonly stage: 'none' }
  /** The previously trusted base, before it is trusted again. */
  | {
      readonly stage: 'verifying'
      readonly reference: ReferencePosition
      readonly movement: MovementWatch
      readonly verification: Verification
    }
  /** The previous instance of the plugin trusted a base, which is not named again yet. */
  | { readonly stage: 'handed over'; evidence: MoveEvidence | undefined }
  /** RTCM is sent. */
  | {
      readonly stage: 'in use'
      readonly reference: ReferencePosition
      readonly movement: MovementWatch
      evidence: MoveEvidence | undefined
    }

/** Residuals of our own are computed once a second, as receivers do. */
const rangeSpacing_ms = 950

export class IntegrityMonitor implements Integrity {
  readonly #ctx: PluginContext
  readonly #limits: () => StartLimits
  readonly #phases: AntennaPhases
  readonly #suspicion: Suspicion
  readonly #continuity: Continuity
  readonly #check: PositionCheck
  readonly #reports: WatchReports
  readonly #found: EventSource<MoveEvidence>
  readonly #orbits = new OrbitSky(() => {
    const fix = this.#receiver?.fix
    return fix?.ok && fix.t > 0 ? { position: fix.position, utc_s: fix.t } : undefined
  })
  #receiver: Receiver | undefined
  #base: Base = { stage: 'none' }
  /** The move that stands, or came last; undefined in a new instance. */
  #shown: ShownMove | undefined

  constructor(ctx: PluginContext, options: IntegrityOptions, limits: () => StartLimits) {
    this.#ctx = ctx
    this.#limits = limits
    this.#found = ctx.event()
    this.#phases = new AntennaPhases(options.phases, this.#orbits)
    this.#suspicion = new Suspicion(ctx.log)
    const clocks = { now_ms: () => this.#now_ms(), utc_s: () => this.#utc_s() }
    const folder = () => ctx.dataDir('continuity', { volatile: true })
    this.#continuity = new Continuity(this.#orbits, clocks, ctx.log, folder)
    const geoidSeparation_m = () => this.#receiver?.fix?.geoidSeparation_m
    this.#reports = new WatchReports(ctx.errors, geoidSeparation_m)
    const deps = { suspicion: () => this.suspicion, limits, geoidSeparation_m }
    this.#check = new PositionCheck(ctx, deps, options.initial_s)
  }

  // ── start and stop ────────────────────────────────────────────────────────────────────────────────────────────────

  start(receiver: Receiver, before: Snapshot | undefined): void {
    // Somebody else configured this receiver: it is trusted without checks.
    if (receiver.mode === 'listening') return
    const { on, timers } = this.#ctx
    this.#receiver = receiver
    this.#continuity.start(before?.last)
    if (before) this.#resumeFrom(before)
    on(receiver.onRtcm, (frame) => this.#heardRtcm(frame))
    on(receiver.onFix, (fix) => this.#check.add(fix))
    const { onEphemeris, onResiduals, onSatellites, onSecondFix, onWarning } = receiver
    if (onEphemeris) on(onEphemeris, (frame) => this.#orbits.hear(frame))
    if (onSatellites) on(onSatellites, ({ satellites }) => this.#phases.look(satellites, this.#now_ms()))
    if (onResiduals)
      on(onResiduals, (residuals) => {
        if (!onSatellites) this.#phases.look(residuals, this.#now_ms())
        this.#heardCode(this.#watched?.movement.residuals(residuals, this.#now_ms()))
      })
    if (onSecondFix)
      on(onSecondFix, (fix) => {
        this.#check.addSecond(fix)
        this.#heardCode(this.#watched?.movement.secondFix(fix, this.#now_ms()))
      })
    if (onWarning) on(onWarning, (text) => this.#heardCode(this.#watched?.movement.warning(text)))
    timers.every(tick_ms, () => this.#second())
  }

  snapshot(): Snapshot | undefined {
    if (!this.#receiver) return undefined
    const { evidence } = this.#trusted ?? {}
    const [seen, last] = [this.#seen, this.#continuity.handOver()]
    return {
      at_ms: this.#now_ms(),
      inUse: this.#trusted !== undefined,
      phases: this.#phases.snapshot(),
      reports: this.#reports.snapshot(),
      ...(this.#shown && { shown: this.#shown.snapshot() }),
      ...(evidence && { evidence }),
      ...(seen && { seen }),
      ...(last && { last }),
    }
  }

  #resumeFrom({ at_ms, inUse, evidence, phases, seen, reports, shown }: Snapshot): void {
    const away_ms = this.#now_ms() - at_ms
    this.#phases.restore(phases)
    this.#check.live = seen && { ...seen, corrected: false }
    this.#shown = shown && new ShownMove(shown)
    if (!inUse) return
    this.#base = { stage: 'handed over', evidence }
    this.#reports.restore(reports)
    if (away_ms > longestReload_ms)
      this.#keep(unknown(`nobody watched the antenna for ${Math.round(away_ms / 1000)} s`))
  }

  open(memory: EvidenceMemory): void {
    this.#suspicion.open(memory)
    this.#continuity.open(memory)
  }

  /** The base whose reference is compared with ranges and second fixes. */
  get #watched(): Extract<Base, { movement: MovementWatch }> | undefined {
    return 'movement' in this.#base ? this.#base : undefined
  }

  /** The base for which RTCM is sent. */
  get #trusted(): Extract<Base, { stage: 'handed over' | 'in use' }> | undefined {
    return 'evidence' in this.#base ? this.#base : undefined
  }

  // ── receiver events ───────────────────────────────────────────────────────────────────────────────────────────────

  #heardRtcm(frame: RtcmFrame): void {
    const receiver = this.#receiver
    this.#orbits.hear(frame.bytes)
    for (const heard of this.#phases.hear(frame, receiver?.stationId ?? 0)) {
      if (this.#base.stage === 'verifying' && receiver)
        this.#base.verification.heard(heard, this.#continuity.age_ms(receiver))
      if (!receiver?.onResiduals) this.#heardRanges(heard.epoch)
      const { report } = heard
      // While no base is trusted, a pause loses no knowledge.
      if (report?.moved) this.#heardMove(report)
      else if (report && (this.#trusted || !report.interrupted)) this.#heardUnknown(evidenceOf(report))
      this.#heardObservations(heard)
    }
  }

  #heardMove({ move }: PhaseReport): void {
    if (!move) return
    const { suspicion } = this
    const before = suspicion?.move
    // No centimetres are added to an unknown direction.
    if (before && !before.vector) {
      this.#tell({ moved: true, by: 'phases', ...suspicion })
      return
    }
    // What was settled is no part of what comes now.
    if (!suspicion) this.#shown = new ShownMove()
    this.#shown ??= ShownMove.after(before)
    this.#tell(this.#shown.evidence(move, before, this.#now_ms(), this.#utc_s()))
  }

  #heardUnknown(evidence: MoveEvidence | undefined): void {
    if (!evidence) return
    this.#shown?.blind()
    this.#tell(evidence)
  }

  #heardObservations({ epoch, report }: HeardEpoch): void {
    const [base, receiver] = [this.#base, this.#receiver]
    if (!receiver) return
    const reference = base.stage === 'in use' && !base.evidence ? base.reference : undefined
    const isStill = report?.net !== undefined && report.net.distance_m < moved_m && !report.moved
    this.#heardCode(this.#continuity.hear(epoch, whoIs(receiver), reference, isStill))
  }

  /** Computes residuals for a receiver that has none. */
  #heardRanges(epoch: MsmEpoch): void {
    const now_ms = this.#now_ms()
    const base = this.#watched
    if (!base || now_ms - this.#rangesAt_ms < rangeSpacing_ms) return
    this.#rangesAt_ms = now_ms
    this.#heardCode(base.movement.residuals(this.#orbits.residuals(epoch, base.reference.arp), now_ms))
  }
  #rangesAt_ms = Number.NEGATIVE_INFINITY

  #heardCode(suspect: Suspect | undefined): void {
    if (!suspect) return
    const { text, move } = suspect
    this.#tell({ moved: true, by: 'code', text, size_m: move.size_m, move: { ...move, t: this.#utc_s() } })
  }

  #tell(evidence: MoveEvidence): void {
    this.#keep(evidence)
    this.#found.emit(evidence)
  }

  /** The user plugin may be reloading at this moment. A move outweighs an unknown interval. */
  #keep(evidence: MoveEvidence): void {
    const base = this.#trusted
    if (base && !base.evidence?.moved) base.evidence = evidence
  }

  #second(): void {
    const [base, receiver] = [this.#base, this.#receiver]
    if (base.stage !== 'in use' || !receiver) return
    this.#continuity.tick(receiver, base.reference, this.#seen, base.movement.baselines)
    this.#reports.second(base.movement, this.#now_ms())
  }

  // ── antenna position ──────────────────────────────────────────────────────────────────────────────────────────────

  get needed_m(): number {
    return this.#limits().accuracy_m
  }

  get position(): LivePosition | undefined {
    return this.#check.newest
  }

  get comparison(): PositionComparison | undefined {
    return this.#check.comparison
  }

  get onDoubt(): PluginEvent<PositionComparison | undefined> {
    return this.#check.onDoubt
  }

  distrustCorrections(distrusted: boolean): void {
    this.#check.distrustCorrections(distrusted)
  }

  forgetPositions(since_ms?: number): void {
    this.#check.forget(since_ms)
  }

  notePosition(): void {
    this.#check.live = this.#check.newest
  }

  locate(reference: ReferencePosition | undefined): Pick<PositionComparison, 'agrees'> | undefined {
    if (reference && this.#carried(reference) === true) return { agrees: true }
    return this.#check.locate(reference)
  }

  isAt(place: ReferencePosition, by: 'window' | 'newest'): boolean | undefined {
    return this.#check.isAt(place, by)
  }

  isBack(reference: ReferencePosition): boolean | undefined {
    return this.#check.isBack(reference)
  }

  get canSeeReturn(): boolean {
    return this.#check.canSeeReturn
  }

  compare(live: LivePosition, reference: ReferencePosition): PositionComparison {
    return this.#check.judge(live, reference)
  }

  distance_m(reference: ReferencePosition | undefined): number | undefined {
    if (this.#trusted) return this.#watched?.movement.delta_m(this.#now_ms())
    return reference && this.#check.distance_m(reference)
  }

  // ── antenna moves ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Undefined: unknown. */
  get motion(): AntennaMotion | undefined {
    const report = this.#phases.at(this.#now_ms())
    if (!report) return undefined
    const { net, sway_m, lostShare } = report
    return { net_m: net?.distance_m, satellites: net?.satellites ?? 0, sway_m, lostShare }
  }

  get longestAbsence_s(): number {
    return longest_s
  }

  get seesMoves(): boolean | undefined {
    if (!this.#phases.enabled) return false
    return this.#phases.at(this.#now_ms())?.net !== undefined || undefined
  }

  get onEvidence(): PluginEvent<MoveEvidence> {
    return this.#found.on
  }

  get stayed(): true | MoveEvidence | undefined {
    return this.#trusted && (this.#trusted.evidence ?? true)
  }

  // ── base in use ───────────────────────────────────────────────────────────────────────────────────────────────────

  beginVerification(reference: ReferencePosition | undefined, held: HeldTarget | 'not asked'): Judgement {
    if (!this.#receiver) return { answer: false, why: 'there is no receiver' }
    const carried = reference && this.#carried(reference)
    if (this.suspicion) return { answer: false, why: 'the antenna may have moved' }
    const judged = this.#continuity.judge(this.#receiver, reference, held, carried)
    if (judged.answer && reference) this.#verifyFromNow(this.#receiver, reference)
    return judged
  }

  #verifyFromNow(receiver: Receiver, reference: ReferencePosition): void {
    const { seen } = this.#continuity
    this.#check.live = seen && { ...seen, corrected: false }
    this.leave()
    const movement = this.#watch(reference)
    const verification = this.#continuity.verification(receiver, reference, movement)
    this.#base = { stage: 'verifying', reference, movement, verification }
  }

  /** Whether carrier phases show that the antenna stayed at this reference over an outage. A move is a suspicion, which the user of this service asks for. */
  #carried(reference: ReferencePosition): Exclude<Carriage, Suspect> {
    if (!this.#receiver || this.suspicion) return undefined
    const carried = this.#continuity.carried(reference, whoIs(this.#receiver))
    if (typeof carried !== 'object') return carried
    const { text, move } = carried
    this.#ctx.log.warn(text)
    void this.suspect({ text, size_m: move.size_m, move: { ...move, t: this.#utc_s() } })
    return undefined
  }

  verify(announced: boolean): Judgement {
    const base = this.#base
    if (base.stage !== 'verifying') return { answer: false, why: 'it is not watched' }
    const isSuspected = this.suspicion !== undefined
    const carried = this.#carried(base.reference)
    const found = this.suspicion
    if (found && !isSuspected) return { answer: false, why: found.text }
    return base.verification.second(this.#now_ms(), announced, carried)
  }

  trust(reference: ReferencePosition, advice: string): void {
    const [before, watched] = [this.#base, this.#watched]
    const isSame = watched && sameEcef(watched.reference.arp, reference.arp)
    const isInUse = before.stage === 'handed over' || (before.stage === 'in use' && isSame)
    const by = isInUse ? 'in use' : before.stage === 'verifying' ? 'verified' : 'checked'
    if (this.#receiver) this.#continuity.trusted(reference, whoIs(this.#receiver), by)
    const movement = isSame ? watched.movement : this.#watch(reference)
    // Whatever it shows now, a person or the positions were trusted.
    this.#base = { stage: 'in use', reference, movement, evidence: undefined }
    this.#shown = undefined
    this.#reports.begin(this.#now_ms(), advice)
    void this.remember()
  }

  #watch(reference: ReferencePosition): MovementWatch {
    const baselines = this.#receiver && this.#continuity.baselines(this.#receiver, reference, this.#seen)
    return new MovementWatch(reference, this.#seen, baselines)
  }

  leave(): void {
    this.#continuity.pause()
    this.#base = { stage: 'none' }
    this.#reports.end()
  }

  async remember(): Promise<void> {
    const [base, receiver] = [this.#base, this.#receiver]
    if (base.stage !== 'in use' || !receiver) return
    await this.#continuity.remember(receiver, base.reference, this.#seen, base.movement.baselines)
  }

  get #seen(): Seen | undefined {
    const { live } = this.#check
    return live && { position: live.position, acc_m: live.acc_m }
  }

  // ── suspicion ─────────────────────────────────────────────────────────────────────────────────────────────────────

  get suspicion(): MoveSuspicion | undefined {
    return this.#suspicion.present
  }

  suspect(evidence: MoveSuspicion): Promise<void> {
    this.#continuity.forget()
    return this.#suspicion.raise(evidence)
  }

  settle(): void {
    this.#shown = undefined
    void this.#suspicion.settle()
  }

  #now_ms(): number {
    return this.#ctx.clock.monotonic()
  }

  /** 0 while the time is unknown. */
  #utc_s(): number {
    return Math.floor((this.#ctx.services.find(device)?.utc_ms() ?? 0) / 1000)
  }
}
