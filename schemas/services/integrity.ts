/**
 * Provided by integrity: whether the antenna of a base is where its reference says. It says what it sees; what follows is decided by the
 * plugin that runs the procedure. Every answer has three values: `true`, `false`, and `undefined` for unknown.
 */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { Ecef, Enu, Receiver } from './receiver.js'

/** Where an antenna is said to be. Members beside these are kept with it, see `EvidenceMemory`. */
export interface ReferencePosition {
  /** ECEF, metres, to 0.1 mm. */
  readonly arp: Ecef
  /** 3D, 1 sigma, metres; 0 unknown. */
  readonly acc_m: number
  /** Determined with RTK corrections. */
  readonly corr: boolean
}

/** Where the antenna is, by positions of the receiver. */
export interface LivePosition {
  readonly position: Ecef
  /** 3D, 1 sigma, metres. */
  readonly acc_m: number
  /** Nearly every epoch was RTK-fixed. */
  readonly corrected: boolean
}

/** A live position beside a reference position. */
export interface PositionComparison {
  /** true: the accuracies explain the distance. false: it is larger than is allowed at most. undefined: in between. */
  readonly agrees: boolean | undefined
  readonly distance_m: number
  /** What the accuracies explain, horizontally and vertically. */
  readonly limits_m: readonly [number, number]
  /** From the reference to the antenna, metres. */
  readonly offset: Enu
  /** The offset for people: `E +30.0 / N -0.2 / U +1.4 m`. */
  readonly text: string
  /** What its size suggests, for people, as the end of a sentence (`; the difference in height equals …`); '' nothing. */
  readonly hint: string
}

/** An answer with its reason. */
export interface Judgement {
  readonly answer: boolean | undefined
  /** For people, why it is not `true`; '' when it is. */
  readonly why: string
}

/** Something that shows that the antenna is not, or perhaps not, where it was. */
export interface MoveEvidence {
  /** true: it moved. undefined: nothing is known of the time before, e.g. most signals were lost at once. */
  readonly moved: true | undefined
  /** `phases` see centimetres at once; `code` (ranges, a second position, the receiver's own warning) sees metres, and is only looked at while a base is watched. */
  readonly by: 'phases' | 'code'
  /** For people. */
  readonly text: string
  /** How far, metres; the least where only that is known. Undefined: not measured. */
  readonly size_m: number | undefined
}

/** Why the antenna is suspected to have moved. */
export interface MoveSuspicion {
  /** For people. */
  readonly text: string
  /** How far, metres; undefined where that was not measured. */
  readonly size_m: number | undefined
}

/** The antenna by the carrier phases. */
export interface AntennaMotion {
  /** Displacement within 10 s, metres; undefined in the first 20 s after a start or a gap, and with fewer than 6 satellites. */
  readonly net_m: number | undefined
  /** Rms of the distance from its mean position over 10 s, metres. */
  readonly sway_m: number | undefined
  /** That agree on the displacement; 0 while that is unknown. */
  readonly satellites: number
  /** Share of the satellites that lost their lock within 3 s, 0 to 1. */
  readonly lostShare: number
}

/** Names of what integrity remembers over a restart of the service. */
export type EvidenceName = 'trusted' | 'suspicion'

/**
 * Where evidence is remembered: in the settings of the plugin that uses it, beside the reference that it is about, so that both are of
 * one time. Values are plain; what a disk damaged is sorted out by integrity.
 */
export interface EvidenceMemory {
  get(name: EvidenceName): unknown
  /** Resolves when it is durable, or was reported not to be. `undefined` deletes. */
  set(name: EvidenceName, value: unknown): Promise<void>
}

/** What a receiver holds; undefined: it does not answer. */
export type HeldTarget = Awaited<ReturnType<Receiver['readTarget']>>

/** One plugin asks, the one that judges the RTCM gate. Nothing here rejects or throws. */
export interface Integrity {
  /** Begins: takes over what was remembered. Called again by the next instance of the plugin that uses it. */
  open(memory: EvidenceMemory): void

  // ── where the antenna is, by positions of a rover ─────────────────────────────────────────────────────────────────

  /** How accurate a position has to be that is compared, 3D, 1 sigma, metres (`gnss-initial-accuracy`). */
  readonly needed_m: number
  /** The median of the positions so far, good enough or not; undefined: there is none. */
  readonly position: LivePosition | undefined
  /** The last comparison that was made. */
  readonly comparison: PositionComparison | undefined
  /** `locate` found a position in doubt, and averages longer: a comparison; undefined: that is over. */
  readonly onDoubt: Event<PositionComparison | undefined>
  /** Positions with corrections are left out: the source of the corrections is known to be wrong. */
  distrustCorrections(distrusted: boolean): void
  /** Positions that arrived before are of another place. @param since_ms monotonic; left out: all so far */
  forgetPositions(since_ms?: number): void
  /** What watches a base from here on expects the antenna where positions see it now. */
  notePosition(): void
  /**
   * The start-up check. Asked at each position until it answers.
   * @param reference left out: only a good position is waited for
   * @returns undefined: not known yet, the positions are too few, too poor, or in doubt. `agrees`: whether the antenna is there; undefined
   *   without a reference, and in doubt about one that is suspected anyway
   */
  locate(reference: ReferencePosition | undefined): Pick<PositionComparison, 'agrees'> | undefined
  /**
   * Whether the antenna is there now. false: the accuracies do not explain the distance; undefined: there are too few positions.
   * @param by the median of a full window, or of what there is
   */
  isAt(place: ReferencePosition, by: 'window' | 'newest'): boolean | undefined
  /** Whether an antenna that was moved is back, asked every second: true once positions agree for 10 min; false: it is elsewhere; undefined: positions cannot tell, or not yet. */
  isBack(reference: ReferencePosition): boolean | undefined
  /** Whether positions can tell that the antenna is back: not after a move that is small beside their errors. */
  readonly canSeeReturn: boolean
  /** Compares a position of its own, e.g. the result of a survey-in. */
  compare(live: LivePosition, reference: ReferencePosition): PositionComparison
  /** Distance to the reference by evidence other than the position that a base repeats, metres; undefined: there is none of the last 10 s. */
  distance_m(reference: ReferencePosition | undefined): number | undefined

  // ── whether it has moved ──────────────────────────────────────────────────────────────────────────────────────────

  /** What the carrier phases say now; undefined: nothing. */
  readonly motion: AntennaMotion | undefined
  /** Whether a move of centimetres would be noticed: undefined: not yet; false: the carrier phases are not looked at. */
  readonly seesMoves: boolean | undefined
  /** Evidence, each time that it shows: a move again with each epoch for up to 10 s. */
  readonly onEvidence: Event<MoveEvidence>
  /**
   * Whether the antenna stayed where it was since the base is trusted, also while its user was away: true: it was watched and showed
   * nothing; false: it moved; undefined: not known, or no base is trusted.
   */
  readonly stayed: boolean | undefined
  /** The strongest evidence since the base is trusted; undefined: there is none. */
  readonly evidence: MoveEvidence | undefined

  // ── a base in use ─────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Whether the receiver may have gone on as the base that was trusted last, so that `wentOn` takes the place of the start-up check.
   * @param held what was read from the receiver; undefined: it did not answer
   * @returns undefined: the receiver has to be asked
   */
  startsWarm(reference: ReferencePosition | undefined, held: HeldTarget | 'not asked'): Judgement
  /** Watches the base that was trusted last, which is not trusted yet. */
  resume(reference: ReferencePosition): void
  /**
   * Whether nothing changed since the base was trusted last: asked every second after `resume`, until it answers, 24 s at most.
   * @param announced the receiver sends the reference in its 1005
   */
  wentOn(announced: boolean): Judgement
  /**
   * The base is trusted, and RTCM goes out: its antenna is watched, and the moment remembered twice a minute.
   * @param advice what a person does about a reference that is wrong, as the end of a sentence
   */
  trust(reference: ReferencePosition, advice: string): void
  /** No base is in use any more. */
  leave(): void
  /** Remembers the base that is trusted now, if there is one. Resolves when that is durable. */
  remember(): Promise<void>

  // ── suspicion: outlives a restart until it is settled ─────────────────────────────────────────────────────────────

  /** undefined: the antenna is not suspected to have moved. */
  readonly suspicion: MoveSuspicion | undefined
  /** Stands at once. Resolves when it is durable. */
  suspect(evidence: Pick<MoveEvidence, 'text' | 'size_m'>): Promise<void>
  /** The antenna is where the reference says after all, or a person answers for it. */
  settle(): void
}
export const integrity = defineService<Integrity>('integrity', {
  shape: {
    open: 'function',
    needed_m: 'value',
    position: 'value',
    comparison: 'value',
    onDoubt: 'function',
    distrustCorrections: 'function',
    forgetPositions: 'function',
    notePosition: 'function',
    locate: 'function',
    isAt: 'function',
    isBack: 'function',
    canSeeReturn: 'value',
    compare: 'function',
    distance_m: 'function',
    motion: 'value',
    seesMoves: 'value',
    onEvidence: 'function',
    stayed: 'value',
    evidence: 'value',
    startsWarm: 'function',
    resume: 'function',
    wentOn: 'function',
    trust: 'function',
    leave: 'function',
    remember: 'function',
    suspicion: 'value',
    suspect: 'function',
    settle: 'function',
  },
})
