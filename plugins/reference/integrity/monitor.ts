/** The integrity monitor collects evidence from the receiver and answers whether the antenna is at a reference position. */
import { followsBase, isPosition, type MsmEpoch, moveText, sameEcef } from 'rtk-base/gnss'
import type { EventSource, PluginContext, Event as PluginEvent } from 'rtk-base/plugin'
import {
  type AntennaMotion,
  type AntennaMove,
  correctionStatus,
  device,
  type EvidenceMemory,
  type HeldTarget,
  type Integrity,
  type Judgement,
  type LivePosition,
  type MoveEvidence,
  type MoveSuspicion,
  type PositionComparison,
  procedureStatus,
  type Receiver,
  type ReceiverFix,
  type ReferencePosition,
  type RtcmFrame,
  rtcmGate,
} from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { AntennaPhases, evidenceOf, type HeardEpoch, PhaseSnapshot, unknown } from './antenna-phases.js'
import type { Suspect } from './code/evidence.js'
import { Baselines, MovementWatch, Seen } from './code/movement.js'
import type { StartLimits } from './comparison.js'
import { longestReload_ms, moved_m, stale_ms } from './limits.js'
import type { IntegrityOptions } from './options.js'
import { OrbitSky } from './orbit-sky.js'
import { longest_s } from './outage/carry.js'
import { OutageFile } from './outage/outage-file.js'
import { type Bridged, Outages } from './outage/outages.js'
import type { PhaseReport } from './phase/report.js'
import { PositionCheck } from './position-check.js'
import { ShownMove, ShownSnapshot } from './shown-move.js'
import { HeardBase, LastTrust, whoIs } from './warm/last-trust.js'
import { Measured, Remembered } from './warm/remembered.js'
import { Verification } from './warm/verification.js'
import { holdsOther } from './warm/warm-start.js'
import { ReportsSnapshot, WatchReports } from './watch-reports.js'

/** State handed over to the next instance on a reload. */
export const Snapshot = Type.Object({
  at_ms: Type.Number(),
  uid: Type.String(),
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
  baselines: Baselines,
  seen: Type.Optional(Seen),
  heard: Type.Optional(HeardBase),
  reports: ReportsSnapshot,
  shown: Type.Optional(ShownSnapshot),
})
type Snapshot = Static<typeof Snapshot>

const tick_ms = 1000
/** Residuals of our own are computed once a second, as receivers do. */
const rangeSpacing_ms = 950

export class IntegrityMonitor implements Integrity {
  readonly #ctx: PluginContext
  readonly #limits: () => StartLimits
  readonly #phases: AntennaPhases
  readonly #remembered: Remembered
  readonly #last: LastTrust
  readonly #outages: Outages
  readonly #check: PositionCheck
  readonly #reports: WatchReports
  readonly #found: EventSource<MoveEvidence>
  readonly #doubt: EventSource<PositionComparison | undefined>
  readonly #orbits = new OrbitSky(() => {
    const fix = this.#receiver?.fix
    return fix?.ok && fix.t > 0 ? { position: fix.position, utc_s: fix.t } : undefined
  })
  #receiver: Receiver | undefined
  #positionAt_ms = Number.NEGATIVE_INFINITY
  #distrustsCorrections: boolean = false
  /** The trusted base, or the previously trusted base under verification. */
  #base: ReferencePosition | undefined
  /** The base is trusted: RTCM is sent. */
  #inUse: boolean = false
  #movement: MovementWatch | undefined
  /** Only after `resume`. */
  #verification: Verification | undefined
  #evidence: MoveEvidence | undefined
  /** The move that stands, or came last; undefined in a new instance. */
  #shown: ShownMove | undefined
  /** Handed over by the previous instance for the base in use. */
  #handed: { uid: string; baselines: Baselines } | undefined

  constructor(ctx: PluginContext, options: IntegrityOptions, limits: () => StartLimits) {
    this.#ctx = ctx
    this.#limits = limits
    this.#found = ctx.event()
    this.#doubt = ctx.event()
    this.#phases = new AntennaPhases(options.phases, this.#orbits)
    this.#remembered = new Remembered(ctx.log)
    const clocks = { now_ms: () => this.#now_ms(), utc_s: () => this.#utc_s() }
    this.#last = new LastTrust(this.#remembered, clocks, (...where) => ctx.dataDir(...where))
    this.#outages = new Outages(this.#orbits, new OutageFile(() => ctx.dataDir('outage', { volatile: true })))
    const geoidSeparation_m = () => this.#receiver?.fix?.geoidSeparation_m
    this.#reports = new WatchReports(ctx.errors, geoidSeparation_m)
    this.#check = new PositionCheck(
      {
        suspicion: () => this.suspicion,
        doubts: (comparison) => this.#doubt.emit(comparison),
        limits,
        correctionSource: () => this.#correctionSource,
        isVouchedFor: () => this.#isVouchedFor,
        geoidSeparation_m,
        now_ms: clocks.now_ms,
      },
      options.initial_s,
    )
  }

  // ── start and stop ────────────────────────────────────────────────────────────────────────────────────────────────

  start(receiver: Receiver, before: Snapshot | undefined): void {
    // Somebody else configured this receiver: it is trusted without checks.
    if (receiver.mode === 'listening') return
    const { on, services, timers } = this.#ctx
    this.#receiver = receiver
    this.#outages.start()
    if (before) this.#resumeFrom(before)
    // Subscribed after the gate, also when the gate is reloaded: computing here delays no frame.
    services.watch(rtcmGate, () => on(receiver.onRtcm, (frame) => this.#heardRtcm(frame)))
    on(receiver.onFix, (fix) => this.#heardFix(fix))
    const { onEphemeris, onResiduals, onSatellites, onSecondFix, onWarning } = receiver
    if (onEphemeris) on(onEphemeris, (frame) => this.#orbits.hear(frame))
    if (onSatellites) on(onSatellites, ({ satellites }) => this.#phases.look(satellites, this.#now_ms()))
    if (onResiduals)
      on(onResiduals, (residuals) => {
        if (!onSatellites) this.#phases.look(residuals, this.#now_ms())
        this.#heardCode(this.#movement?.residuals(residuals, this.#now_ms()))
      })
    if (onSecondFix)
      on(onSecondFix, (fix) => {
        this.#check.addSecond(fix)
        this.#heardCode(this.#movement?.secondFix(fix, this.#now_ms()))
      })
    if (onWarning) on(onWarning, (text) => this.#heardCode(this.#movement?.warning(text)))
    timers.every(tick_ms, () => this.#second())
  }

  snapshot(): Snapshot | undefined {
    if (!this.#receiver) return undefined
    const { heard } = this.#last
    const seen = this.#seen
    return {
      at_ms: this.#now_ms(),
      uid: this.#receiver.identity.serial,
      inUse: this.#inUse,
      phases: this.#phases.snapshot(),
      baselines: this.#movement?.baselines ?? {},
      reports: this.#reports.snapshot(),
      ...(this.#shown && { shown: this.#shown.snapshot() }),
      ...(this.#evidence && { evidence: this.#evidence }),
      ...(seen && { seen }),
      ...(heard && { heard }),
    }
  }

  #resumeFrom({ at_ms, uid, inUse, evidence, phases, baselines, seen, heard, reports, shown }: Snapshot): void {
    const away_ms = this.#now_ms() - at_ms
    this.#phases.restore(phases)
    this.#last.heard = heard
    this.#check.live = seen && { ...seen, corrected: false }
    this.#shown = shown && new ShownMove(shown)
    if (!inUse) return
    this.#inUse = true
    this.#handed = { uid, baselines }
    this.#evidence = evidence
    this.#reports.restore(reports)
    if (away_ms > longestReload_ms)
      this.#keep(unknown(`nobody watched the antenna for ${Math.round(away_ms / 1000)} s`))
  }

  open(memory: EvidenceMemory): void {
    this.#remembered.open(memory)
  }

  // ── receiver events ───────────────────────────────────────────────────────────────────────────────────────────────

  #heardRtcm(frame: RtcmFrame): void {
    this.#orbits.hear(frame.bytes)
    for (const heard of this.#phases.hear(frame, this.#receiver?.stationId ?? 0)) {
      this.#verification?.heard(heard, this.#last.age_ms)
      if (!this.#receiver?.onResiduals) this.#heardRanges(heard.epoch)
      const { report } = heard
      // While no base is trusted, a pause loses no knowledge.
      if (report?.moved) this.#heardMove(report)
      else if (report && (this.#inUse || !report.interrupted)) this.#heardUnknown(evidenceOf(report))
      this.#heardOutage(heard)
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
    const { isLeast, moves, ...vector } = this.#shownMove(before).take(move, this.#now_ms())
    const size_m = Math.hypot(vector.east_m, vector.north_m, vector.up_m)
    const t = before?.t ?? Math.max(0, Math.round(this.#utc_s() - move.age_s))
    const found: AntennaMove = { by: before?.by ?? 'phases', t, size_m, isLeast, moves, vector }
    const text = `the carrier phases show a move of ${moveText(found)}`
    this.#tell({ moved: true, by: 'phases', text, size_m, move: found })
  }

  #shownMove(before: AntennaMove | undefined): ShownMove {
    const { isLeast = false, moves = 1, vector } = before ?? {}
    this.#shown ??= new ShownMove({
      ...(vector && { earlier: { ...vector, isLeast, moves } }),
      isBlind: true,
    })
    return this.#shown
  }

  #heardUnknown(evidence: MoveEvidence | undefined): void {
    if (!evidence) return
    this.#shown?.blind()
    this.#tell(evidence)
  }

  #heardOutage({ epoch, report }: HeardEpoch): void {
    const receiver = this.#receiver
    if (!receiver) return
    const base = this.#inUse && !this.#evidence ? this.#base : undefined
    const isStill = report?.net !== undefined && report.net.distance_m < moved_m && !report.moved
    this.#heardCode(this.#outages.hear({ epoch, now_ms: this.#now_ms(), who: whoIs(receiver), base, isStill }))
  }

  /** Of a receiver without residuals. */
  #heardRanges(epoch: MsmEpoch): void {
    const now_ms = this.#now_ms()
    if (!this.#base || !this.#movement || now_ms - this.#rangesAt_ms < rangeSpacing_ms) return
    this.#rangesAt_ms = now_ms
    this.#heardCode(this.#movement.residuals(this.#orbits.residuals(epoch, this.#base.arp), now_ms))
  }
  #rangesAt_ms = Number.NEGATIVE_INFINITY

  #heardFix(fix: ReceiverFix): void {
    if (!isPosition(fix)) return
    this.#positionAt_ms = this.#now_ms()
    this.#check.add(fix, !followsBase(fix) || !this.#distrustsCorrections)
  }

  /** '' unknown. */
  get #correctionSource(): string {
    return this.#ctx.services.find(correctionStatus)?.remote ?? ''
  }

  get #isVouchedFor(): boolean {
    const source = this.#correctionSource
    const trusted = this.#ctx.services.find(procedureStatus)?.trustedSources ?? []
    return source !== '' && (trusted.includes(source) || trusted.includes(source.replace(/:\d+$/, '')))
  }

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
    if (this.#inUse && !this.#evidence?.moved) this.#evidence = evidence
  }

  #second(): void {
    const [base, movement, receiver] = [this.#base, this.#movement, this.#receiver]
    if (!this.#inUse || !base || !movement || !receiver) return
    this.#last.tick(receiver, base, this.#seen, movement.baselines)
    this.#reports.second(movement, this.#now_ms())
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
    return this.#doubt.on
  }

  distrustCorrections(distrusted: boolean): void {
    this.#distrustsCorrections = distrusted
  }

  forgetPositions(since_ms?: number): void {
    this.#check.forget(since_ms)
  }

  notePosition(): void {
    this.#check.live = this.#check.newest
  }

  locate(reference: ReferencePosition | undefined): Pick<PositionComparison, 'agrees'> | undefined {
    if (reference && this.#bridged(reference) === true) return { agrees: true }
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
    const now_ms = this.#now_ms()
    if (this.#inUse) return this.#movement?.delta_m(now_ms)
    if (!reference || now_ms - this.#positionAt_ms > stale_ms) return undefined
    return this.#check.distance_m(reference)
  }

  // ── antenna moves ─────────────────────────────────────────────────────────────────────────────────────────────────

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

  get stayed(): boolean | undefined {
    if (!this.#inUse) return undefined
    if (!this.#evidence) return true
    return this.#evidence.moved ? false : undefined
  }

  get evidence(): MoveEvidence | undefined {
    return this.#evidence
  }

  // ── base in use ───────────────────────────────────────────────────────────────────────────────────────────────────

  startsWarm(reference: ReferencePosition | undefined, held: HeldTarget | 'not asked'): Judgement {
    if (!this.#receiver) return { answer: false, why: 'there is no receiver' }
    const bridged = reference && this.#bridged(reference)
    const judged = this.#last.judge(this.#receiver, reference, held)
    if (judged.answer !== false || !reference || bridged === undefined) return judged
    const why = held === 'not asked' ? 'the configured position was not read yet' : holdsOther(reference, held)
    return { answer: held === 'not asked' ? undefined : why === '', why }
  }

  /** Whether the antenna stayed at this reference over an outage. A move is a suspicion, which the user of this service asks for. */
  #bridged(reference: ReferencePosition): Exclude<Bridged['answer'], false> {
    if (!this.#receiver || this.suspicion) return undefined
    const bridged = this.#outages.answer(reference, whoIs(this.#receiver), this.#now_ms())
    if (bridged.answer !== false) return bridged.answer
    this.#ctx.log.warn(bridged.found.text)
    const { text, move } = bridged.found
    void this.suspect({ text, size_m: move.size_m, move: { ...move, t: this.#utc_s() } })
    return undefined
  }

  resume(reference: ReferencePosition): void {
    if (!this.#receiver) return
    const { seen } = this.#last
    this.#check.live = seen && { ...seen, corrected: false }
    this.leave()
    const evidence = this.#last.continuity(this.#receiver, reference)
    this.#verification = new Verification(this.#watch(reference), this.#now_ms(), evidence)
  }

  wentOn(announced: boolean): Judgement {
    const isSuspected = this.suspicion !== undefined
    const bridged = this.#base && this.#bridged(this.#base)
    const found = this.suspicion
    if (found && !isSuspected) return { answer: false, why: found.text }
    const judged = this.#verification?.second(this.#now_ms(), announced, bridged)
    return judged ?? { answer: false, why: 'it is not watched' }
  }

  trust(reference: ReferencePosition, advice: string): void {
    const isSame = this.#base && sameEcef(this.#base.arp, reference.arp)
    if (this.#receiver) {
      const who = whoIs(this.#receiver)
      // Whatever it shows now, a person or the positions were trusted.
      const isBridged = this.#outages.answer(reference, who, this.#now_ms()).answer === true
      const otherwise = isBridged ? 'bridged' : this.#verification ? 'resumed' : 'checked'
      this.#outages.trusted(reference, who, this.#inUse && isSame !== false ? 'in use' : otherwise)
    }
    if (!isSame || !this.#movement) this.#watch(reference)
    this.#base = reference
    this.#inUse = true
    this.#verification = undefined
    this.#evidence = undefined
    this.#shown = undefined
    this.#reports.begin(this.#now_ms(), advice)
    void this.remember()
  }

  #watch(reference: ReferencePosition): MovementWatch {
    const handed = this.#handed?.uid === this.#receiver?.identity.serial ? this.#handed?.baselines : undefined
    const known = this.#receiver && this.#last.baselines(this.#receiver, reference, this.#seen)
    this.#base = reference
    this.#movement = new MovementWatch(reference, this.#seen, { ...known, ...handed })
    this.#handed = undefined
    return this.#movement
  }

  leave(): void {
    this.#outages.pause()
    this.#base = undefined
    this.#inUse = false
    this.#movement = undefined
    this.#verification = undefined
    this.#evidence = undefined
    this.#handed = undefined
    this.#reports.end()
  }

  async remember(): Promise<void> {
    const [base, receiver] = [this.#base, this.#receiver]
    if (!this.#inUse || !base || !receiver) return
    await this.#last.remember(receiver, base, this.#seen, this.#movement?.baselines ?? {})
  }

  get #seen(): Seen | undefined {
    const { live } = this.#check
    return live && { position: live.position, acc_m: live.acc_m }
  }

  // ── suspicion ─────────────────────────────────────────────────────────────────────────────────────────────────────

  get suspicion(): MoveSuspicion | undefined {
    return this.#remembered.suspicion
  }

  suspect(evidence: MoveSuspicion): Promise<void> {
    this.#outages.forget()
    return this.#remembered.suspect(evidence)
  }

  settle(): void {
    this.#shown = undefined
    void this.#remembered.settle()
  }

  #now_ms(): number {
    return this.#ctx.clock.monotonic()
  }

  /** 0 while the time is unknown. */
  #utc_s(): number {
    return Math.floor((this.#ctx.services.find(device)?.utc_ms() ?? 0) / 1000)
  }
}
