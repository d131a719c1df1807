/**
 * Whether the same antenna is at the same place after a break: of the process, of the plugin, of the receiver's line or of its signals.
 * The methods, the best one first: the hand-over within a process, carrier phases that stayed in lock, ranges of a receiver that kept
 * running, and later the code of the same satellites.
 */
import { type MsmEpoch, observedIn, sameEcef } from 'rtk-base/gnss'
import type { DataDir, PluginContext } from 'rtk-base/plugin'
import type { EvidenceMemory, HeldTarget, Judgement, Receiver, ReferencePosition } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { Suspect } from '../code/evidence.js'
import type { Baselines, MovementWatch, Seen } from '../code/movement.js'
import { brief_ms, longestAway_s, stale_ms } from '../limits.js'
import type { OrbitSky } from '../orbit-sky.js'
import { storedValue } from '../suspicion.js'
import { type Carried, carry, type Unchecked } from './carry.js'
import {
  elapsed,
  holdsOther,
  keptRunning,
  Moment,
  sameButForTime,
  sameSeen,
  type TrustedMoment,
  whoIs,
} from './moment.js'
import { MomentFile } from './moment-file.js'
import { bridging, type EphemerisOf } from './observed.js'
import { freshOf, type Observations, ObservedBase, suspectOf } from './observed-base.js'
import { Verification } from './verification.js'

/** How often the file is written: u-blox receivers count lock times to 64 s. */
const write_ms = 15_000
/** Epochs closer together than this are left out. */
const spacing_ms = 950
/** One epoch may be damaged: this number in a row must have the same result. */
const inRow = 3
/** Observations of a receiver that kept running come within this: one that was off is silent until it is configured. */
const wait_ms = 5_000
/** Error of a time in whole seconds, plus an epoch. */
const second_ms = 1000

export interface Clocks {
  now_ms(): number
  /** 0 while no time is known. */
  utc_s(): number
}

/** The last trusted moment for the next instance of the plugin, in the same process. */
export const HandedMoment = Type.Object({ moment: Type.Unsafe<TrustedMoment>(Moment), at_ms: Type.Number() })
export type HandedMoment = Static<typeof HandedMoment>

/**
 * Evidence of carrier phases on an antenna over an outage. true: it stayed. A suspect: it moved. undefined: unknown. `pending`: unknown,
 * but an answer may come with the next epochs.
 */
export type Carriage = true | Suspect | 'pending' | undefined

/**
 * A base is in use, or none is; `trusted` and `pause` switch. In use, `tick` keeps the last trusted moment and `hear` the observations of the
 * base. Otherwise `hear` compares each epoch with them, `judge` tells whether a verification can replace the start-up check, and
 * `verification` begins it.
 */
export class Continuity {
  readonly #orbits: OrbitSky
  readonly #clocks: Clocks
  readonly #log: Pick<PluginContext['log'], 'error'>
  readonly #file: MomentFile
  #memory: EvidenceMemory | undefined
  /** The last trusted moment, and when this process had it, monotonic; undefined: an earlier process had it. */
  #last: TrustedMoment | undefined
  #lastAt_ms: number | undefined
  /** The last trusted moment in the settings. */
  #stored: TrustedMoment | undefined
  #wroteAt_ms = Number.NEGATIVE_INFINITY
  readonly #base: ObservedBase
  #heardAt_ms = Number.NEGATIVE_INFINITY
  /** Results of the last epochs without a base, the newest last. */
  #results: Carried[] = []
  #resultAt_ms = Number.NEGATIVE_INFINITY
  /** Since when an answer is asked for without an epoch. */
  #waitsSince_ms: number | undefined
  /** With the last outage, since it was answered that the antenna stayed. */
  #bridged: Unchecked | undefined

  /** @param dir a volatile data folder */
  constructor(orbits: OrbitSky, clocks: Clocks, log: Pick<PluginContext['log'], 'error'>, dir: () => DataDir) {
    this.#orbits = orbits
    this.#clocks = clocks
    this.#log = log
    this.#file = new MomentFile(dir)
    this.#base = new ObservedBase(orbits)
  }

  // ── the last trusted moment ───────────────────────────────────────────────────────────────────────────────────────

  /** @param handed by the previous instance of the plugin; undefined: a new process */
  start(handed: HandedMoment | undefined): void {
    const filed = this.#file.read()
    this.#base.observations = filed?.observed
    this.#last = handed?.moment ?? filed?.moment
    this.#lastAt_ms = handed?.at_ms
  }

  /** The settings have the reference, and decide which receiver was trusted. The file has the newer moment of it after a kill. */
  open(memory: EvidenceMemory): void {
    this.#memory = memory
    const stored = storedValue(memory, 'trusted', Moment, this.#log).value as TrustedMoment | undefined
    this.#stored = stored
    if (this.#lastAt_ms !== undefined) return
    const isNewer = stored !== undefined && this.#last?.uid === stored.uid && this.#last.t > stored.t
    if (!isNewer) this.#last = stored
  }

  handOver(): HandedMoment | undefined {
    const [moment, at_ms] = [this.#last, this.#lastAt_ms]
    if (!moment || at_ms === undefined) return undefined
    const { arp, acc_m, corr } = moment.reference
    return { moment: { ...moment, reference: { arp, acc_m, corr } }, at_ms }
  }

  /** Called every second while the base is trusted. */
  tick(...now: Parameters<Continuity['remember']>): void {
    const last = this.#mark(...now)
    if (this.#clocks.now_ms() - this.#wroteAt_ms < write_ms) return
    if (!this.#stored || !sameButForTime(this.#stored, last)) void this.#store(last)
    void this.#write()
  }

  /** Resolves when the moment is durable, in the settings. */
  async remember(
    receiver: Receiver,
    reference: ReferencePosition,
    seen: Seen | undefined,
    baselines: Baselines,
  ): Promise<void> {
    await this.#store(this.#mark(receiver, reference, seen, baselines))
  }

  #mark(receiver: Receiver, reference: ReferencePosition, seen: Seen | undefined, baselines: Baselines): TrustedMoment {
    const who = whoIs(receiver)
    const now = { msss_ms: receiver.sinceReset_ms, t: this.#clocks.utc_s() }
    // Both clocks are of one moment: of the last at which the receiver reported its own.
    const { msss_ms, t } = now.msss_ms === undefined && this.#last?.who === who ? this.#last : now
    const moment = { reference, uid: receiver.identity.serial, who, t, baselines }
    this.#last = { ...moment, ...(msss_ms !== undefined && { msss_ms }), ...(seen && { seen }) }
    this.#lastAt_ms = this.#clocks.now_ms()
    return this.#last
  }

  async #store(moment: TrustedMoment): Promise<void> {
    this.#stored = moment
    await this.#memory?.set('trusted', moment)
  }

  async #write(): Promise<void> {
    const moment = this.#last
    if (!moment) return
    this.#wroteAt_ms = this.#clocks.now_ms()
    const observed = this.#observationsOf(moment.reference, moment.who)
    const frames = observed ? freshOf(this.#orbits, observed.anchor.at_s).map(({ frame }) => frame) : []
    await this.#file.write({ moment, observed }, frames)
  }

  /** The last antenna position that was not an echo of the reference. */
  get seen(): Seen | undefined {
    return this.#last?.seen
  }

  /**
   * Milliseconds since the last trusted moment: of this process, or of the one before it. There the longer time by the receiver's clock and
   * by UTC, which may be set at any moment; NaN: unknown.
   */
  age_ms({ sinceReset_ms }: Pick<Receiver, 'sinceReset_ms'>): number {
    if (this.#lastAt_ms !== undefined) return this.#away_ms + second_ms
    if (!this.#last) return Number.NaN
    const { byReceiver_s, byUtc_s } = elapsed(this.#last, { msss_ms: sinceReset_ms, t: this.#clocks.utc_s() })
    return Math.max(byReceiver_s, byUtc_s) * 1000 + second_ms
  }

  /** -Infinity before this process has trusted a base. */
  get #away_ms(): number {
    return this.#clocks.now_ms() - (this.#lastAt_ms ?? Number.POSITIVE_INFINITY)
  }

  /** Baselines of the previous watch of this base from its first 10 min, unless it was checked again since. */
  baselines(receiver: Receiver, { arp }: ReferencePosition, seen: Seen | undefined): Baselines {
    const last = this.#last
    const isSame = last?.uid === receiver.identity.serial && sameEcef(last.reference.arp, arp)
    return isSame && sameSeen(seen, last.seen) ? last.baselines : {}
  }

  // ── before the base is trusted again ──────────────────────────────────────────────────────────────────────────────

  /**
   * Whether a verification can replace the start-up check, and why not, before and after reading the receiver's configured position.
   * @param carried see `carried`
   */
  judge(
    receiver: Receiver,
    reference: ReferencePosition | undefined,
    held: HeldTarget | 'not asked',
    carried: Exclude<Carriage, Suspect>,
  ): Judgement {
    const isRead = held !== 'not asked'
    const isShownByPhases = reference && (carried || this.#isBrief(receiver, reference))
    const why = isShownByPhases
      ? isRead && holdsOther(reference, held)
      : this.#againstAsking || (isRead && this.#againstRanges(receiver, reference, held))
    if (why) return { answer: false, why }
    return isRead
      ? { answer: true, why: '' }
      : { answer: undefined, why: 'the configured position was not read from the receiver yet' }
  }

  /** The verification of a receiver that holds the reference. */
  verification(receiver: Receiver, reference: ReferencePosition, movement: MovementWatch): Verification {
    const { arp, acc_m } = reference
    const against = this.#againstAsking || this.#againstRanges(receiver, reference, { mode: 'fixed', arp, acc_m })
    const evidence = { byPhases: this.#isBrief(receiver, reference), againstRanges: against }
    return new Verification(movement, this.#clocks.now_ms(), evidence)
  }

  /** Why reading the receiver is pointless; '' otherwise. */
  get #againstAsking(): string {
    if (this.#last?.msss_ms === undefined) return 'nothing was trusted before'
    const away_s = this.#away_ms / 1000
    return away_s > longestAway_s ? `the receiver was away for ${Math.round(away_s)} s` : ''
  }

  #againstRanges(receiver: Receiver, reference: ReferencePosition | undefined, held: HeldTarget): string {
    if (!this.#last || !reference) return 'there is no reference'
    const now = { uid: receiver.identity.serial, msss_ms: receiver.sinceReset_ms, t: this.#clocks.utc_s() }
    return keptRunning(this.#last, reference, now, held)
  }

  /** This process trusted the same receiver with the same reference a moment ago. */
  #isBrief(receiver: Receiver, { arp }: ReferencePosition): boolean {
    const last = this.#lastAt_ms === undefined ? undefined : this.#last
    return last?.who === whoIs(receiver) && sameEcef(last.reference.arp, arp) && this.#away_ms <= brief_ms
  }

  // ── observations ──────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Takes an epoch.
   * @param who the receiver, see `whoIs`
   * @param base the trusted base, as long as nothing speaks against it
   * @param isStill the carrier phases show that the antenna stands still
   * @returns a move that the code of the same satellites shows
   */
  hear(epoch: MsmEpoch, who: string, base: ReferencePosition | undefined, isStill: boolean): Suspect | undefined {
    const now_ms = this.#clocks.now_ms()
    const at_s = this.#orbits.timeOf(epoch.time_ms)
    if (at_s === undefined || now_ms - this.#heardAt_ms < spacing_ms) return undefined
    this.#heardAt_ms = now_ms
    const newest: EphemerisOf = (constellation, satellite) => this.#orbits.ephemeris(constellation, satellite, at_s)
    const observe = () => observedIn(epoch, at_s, bridging)
    const before = this.#base.observations
    if (base) {
      const suspect = this.#base.take({ at_s, who, base, isStill, observe, newest })
      // The first observations are written at once.
      if (!before && this.#base.observations) this.#wroteAt_ms = Number.NEGATIVE_INFINITY
      return suspect
    }
    this.#base.pause()
    if (!before) return undefined
    this.#results = [...this.#results, carry(before.anchor, observe(), newest)].slice(-inRow)
    this.#resultAt_ms = now_ms
    this.#waitsSince_ms = undefined
    return undefined
  }

  /** Whether the antenna stayed at this reference over an outage, as the newest epochs show. */
  carried(reference: ReferencePosition, who: string): Carriage {
    const now_ms = this.#clocks.now_ms()
    if (!this.#observationsOf(reference, who)) return undefined
    if (now_ms - this.#resultAt_ms > stale_ms || this.#results.length < inRow) {
      this.#waitsSince_ms ??= now_ms
      return now_ms - this.#waitsSince_ms <= wait_ms ? 'pending' : undefined
    }
    const all = (stayed: boolean) => this.#results.every((one) => one.stayed === stayed)
    const { fitted, unchecked } = this.#results.at(-1) ?? {}
    if (all(true)) {
      this.#bridged = unchecked
      return true
    }
    if (!all(false) || !fitted) return this.#results.some(({ stayed }) => stayed === undefined) ? undefined : 'pending'
    return suspectOf('phases', 'over an outage, carrier phases that stayed in lock show', fitted)
  }

  #observationsOf({ arp }: ReferencePosition, who: string | undefined): Observations | undefined {
    const { observations } = this.#base
    return observations && observations.who === who && sameEcef(observations.anchor.arp, arp) ? observations : undefined
  }

  /** The base is no longer in use: its last observations count. */
  pause(): void {
    this.#base.pause()
    this.#results = []
    this.#resultAt_ms = Number.NEGATIVE_INFINITY
  }

  /**
   * A base is trusted from now on.
   * @param by how it is known where the antenna is, unless carrier phases show it: the base was in use all the time, it was verified, or
   *   positions were compared
   */
  trusted(reference: ReferencePosition, who: string, by: 'in use' | 'verified' | 'checked'): void {
    const base = this.#base
    const before = this.#observationsOf(reference, who)
    const isCarried = by !== 'in use' && this.carried(reference, who) === true
    // Only positions settle the displacement over earlier outages. In use without it: a new instance of the plugin.
    if (by === 'in use') base.unchecked ??= before?.anchor.unchecked
    else if (by === 'verified' && !isCarried)
      base.unchecked = this.#bridged ?? this.#results.at(-1)?.unchecked ?? before?.anchor.unchecked
    else base.unchecked = before && this.#bridged
    if (by !== 'in use' && !isCarried) base.compareWith(before?.levels ?? [])
    this.#drop()
  }

  /** The antenna may be elsewhere, or is to be: nothing is carried on. */
  forget(): void {
    this.#base.unchecked = undefined
    this.#base.compareWith([])
    this.#drop()
  }

  #drop(): void {
    this.pause()
    this.#bridged = undefined
    this.#base.observations = undefined
    this.#waitsSince_ms = undefined
    void this.#write()
  }
}
