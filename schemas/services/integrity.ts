/**
 * Provided by integrity: whether the antenna of a base is at its reference position. Integrity reports evidence; the plugin that runs the
 * procedure decides. Every answer has three values: `true`, `false`, and `undefined` for unknown.
 */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { Ecef, Enu, Receiver } from './receiver.js'

/** Reference position of an antenna. Further members are stored with it, see `EvidenceMemory`. */
export interface ReferencePosition {
  /** ECEF, metres, to 0.1 mm. */
  readonly arp: Ecef
  /** 3D, 1 sigma, metres; 0 unknown. */
  readonly acc_m: number
  /** Determined with RTK corrections. */
  readonly corr: boolean
  /** `arp` in ITRF2020 at the current epoch, for the comparison with positions without corrections. Omitted: `arp` itself. */
  readonly seenAt?: Ecef
  /** Source of the RTK corrections, named as in `CorrectionStatus.remote`. Omitted: the present source, or unknown. */
  readonly source?: string
}

/** Position of the antenna, computed from several positions of the receiver. */
export interface LivePosition {
  readonly position: Ecef
  /** 3D, 1 sigma, metres. */
  readonly acc_m: number
  /** Nearly every epoch was RTK-fixed. */
  readonly corrected: boolean
}

/** A live position compared with a reference position. */
export interface PositionComparison {
  /** true: the accuracies explain the distance. false: the distance exceeds the allowed maximum. undefined: in between. */
  readonly agrees: boolean | undefined
  readonly distance_m: number
  /** Distances that the accuracies explain, horizontal and vertical. */
  readonly limits_m: readonly [number, number]
  /** From the reference to the antenna, metres. */
  readonly offset: Enu
  /** The offset for people: `E +30.0 / N -0.2 / U +1.4 m`. */
  readonly text: string
  /** Likely cause, for people, as the end of a sentence (`; the difference in height equals …`); '' if none. */
  readonly hint: string
  /** The difference is that between heights above mean sea level and above the ellipsoid. */
  readonly mistakenHeight: boolean
  /** The position depends on corrections from a base whose position is not verified, and there is no position without corrections. */
  readonly unverified?: true
  /** The comparison for the position with corrections from an unverified base, if that position contradicts this one. */
  readonly contradicted?: Omit<PositionComparison, 'contradicted'>
}

/** An answer with its reason. */
export interface Judgement {
  readonly answer: boolean | undefined
  /** For people, why it is not `true`; '' when it is. */
  readonly why: string
}

/** From where the antenna was trusted to where it is. One value: the document, errors and histories show it. */
export interface AntennaMove {
  /** `phases`: to millimetres or centimetres. `code`: to metres. */
  readonly by: 'phases' | 'code'
  /** When it left, UTC seconds; 0 unknown. */
  readonly t: number
  /** Metres. */
  readonly size_m: number
  /** The antenna went at least so far: it is on the way, or only a bound is known. */
  readonly isLeast: boolean
  /** In how many moves. */
  readonly moves: number
  /** Undefined: the direction is unknown. */
  readonly vector?: MoveVector
}

/** East, north, up, metres. */
export interface MoveVector {
  readonly east_m: number
  readonly north_m: number
  readonly up_m: number
  /** Upper triangle of its covariance, square metres: ee, en, eu, nn, nu, uu. */
  readonly covariance: readonly [number, number, number, number, number, number]
}

/** Evidence that the antenna moved, or may have moved. */
export interface MoveEvidence {
  /** true: the antenna moved. undefined: unknown, e.g. most signals were lost at once. */
  readonly moved: true | undefined
  /** `phases` detect centimetres at once. `code` (ranges, the second fix, the receiver's own warning) detects metres, only while a base is monitored. */
  readonly by: 'phases' | 'code'
  /** For people. */
  readonly text: string
  /** Distance moved, metres, or its lower bound. Undefined: not measured. */
  readonly size_m: number | undefined
  /** While a move is suspected, all of it together. */
  readonly move?: AntennaMove
}

/** Why the antenna is suspected to have moved. */
export interface MoveSuspicion {
  /** For people. */
  readonly text: string
  /** The farthest that it was, metres; undefined: not measured. */
  readonly size_m: number | undefined
  /** Undefined: not measured. */
  readonly move?: AntennaMove
}

/** Keys of the evidence that integrity remembers across restarts of the service. */
export type EvidenceName = 'trusted' | 'suspicion'

/**
 * Storage for evidence: the settings of the plugin that uses integrity, beside the reference, so that both have the same age. Values
 * are plain; integrity discards damaged ones.
 */
export interface EvidenceMemory {
  get(name: EvidenceName): unknown
  /** Resolves when the value is durable, or the failure was reported. `undefined` deletes. */
  set(name: EvidenceName, value: unknown): Promise<void>
}

/** Mode that was read from the receiver. undefined: the receiver did not answer. */
export type HeldTarget = Awaited<ReturnType<Receiver['readTarget']>>

/** For a single user: the plugin that controls the RTCM gate. No member rejects or throws. */
export interface Integrity {
  /** Begins, with the remembered evidence. Called again by the next instance of the user. */
  open(memory: EvidenceMemory): void

  // ── location of the antenna, from positions of a rover ─────────────────────────────────────────────────────────────────

  /** Required accuracy of a compared position, 3D, 1 sigma, metres (`gnss-initial-accuracy`). */
  readonly needed_m: number
  /** Median of the positions so far, whatever their accuracy; undefined: none. */
  readonly position: LivePosition | undefined
  /** The last comparison. */
  readonly comparison: PositionComparison | undefined
  /** The comparison, when `locate` finds a doubtful position and averages longer. undefined, when the doubt has ended. */
  readonly onDoubt: Event<PositionComparison | undefined>
  /** Ignores corrected positions: the correction source is known to be wrong. */
  distrustCorrections(distrusted: boolean): void
  /** Discards earlier positions: the antenna was elsewhere. @param since_ms monotonic; omitted: discards all so far */
  forgetPositions(since_ms?: number): void
  /** Monitoring from now on expects the antenna at its current measured position. */
  notePosition(): void
  /**
   * The start-up check. Called at each position until it answers.
   * @param reference omitted: only waits for a good position
   * @returns undefined: unknown yet, the positions are too few, too poor, or doubtful. `agrees`: whether the antenna is at the reference.
   *   It is undefined without a reference, and for a doubtful position if a move is already suspected
   */
  locate(reference: ReferencePosition | undefined): Pick<PositionComparison, 'agrees'> | undefined
  /**
   * Whether the antenna is at `place` now. false: the accuracies do not explain the distance. undefined: too few
   * positions.
   * @param by `window`: the median of a full window. `newest`: the median of the newest positions
   */
  isAt(place: ReferencePosition, by: 'window' | 'newest'): boolean | undefined
  /**
   * Whether a moved antenna is back; call it every second. true: positions have agreed for 10 min. false: elsewhere.
   * undefined: unknown, or not yet.
   */
  isBack(reference: ReferencePosition): boolean | undefined
  /** Whether positions can show that the antenna is back; false after a move smaller than their errors. */
  readonly canSeeReturn: boolean
  /** Compares a given position, e.g. the result of a survey-in. */
  compare(live: LivePosition, reference: ReferencePosition): PositionComparison
  /** Distance of the antenna from the reference, metres, by evidence other than the position in fixed mode, which repeats the reference. undefined: no evidence in the last 10 s. */
  distance_m(reference: ReferencePosition | undefined): number | undefined

  // ── motion of the antenna ──────────────────────────────────────────────────────────────────────────────────────────

  /** Whether a move of centimetres would be detected. undefined: not yet. false: carrier phases are not evaluated. */
  readonly seesMoves: boolean | undefined
  /** The longest absence of the receiver, seconds, after which its observations can still show whether the antenna stayed. */
  readonly longestAbsence_s: number
  /** Each piece of evidence. A move is reported at each epoch for up to 10 s. */
  readonly onEvidence: Event<MoveEvidence>
  /**
   * Whether the antenna has stayed in place since the base was trusted, including while the user was away. true: monitored without
   * evidence of a move. Otherwise the strongest evidence: the antenna moved, or it is unknown. undefined: no base is trusted.
   */
  readonly stayed: true | MoveEvidence | undefined

  // ── a base in use ─────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Whether the receiver may have kept running as the last trusted base, so that `verify` can replace the start-up check. true: the base
   * is monitored from now on, before it is trusted again.
   * @param held mode read from the receiver; undefined: no answer
   * @returns undefined: the receiver must be queried
   */
  beginVerification(reference: ReferencePosition | undefined, held: HeldTarget | 'not asked'): Judgement
  /**
   * Whether nothing changed since the base was last trusted. Called every second after `beginVerification` until it answers, at most
   * 24 s.
   * @param announced the receiver sends the reference in 1005
   */
  verify(announced: boolean): Judgement
  /**
   * The base is trusted, and RTCM is sent: monitors its antenna and stores the time four times a minute.
   * @param advice remedy for a wrong reference, as the end of a sentence
   */
  trust(reference: ReferencePosition, advice: string): void
  /** No base is in use any more. */
  leave(): void
  /** Stores the trusted base, if any. Resolves when durable. */
  remember(): Promise<void>

  // ── suspicion: survives a restart until it is settled ─────────────────────────────────────────────────────────────

  /** undefined: the antenna is not suspected to have moved. */
  readonly suspicion: MoveSuspicion | undefined
  /** Suspects a move, effective immediately. Resolves when durable. */
  suspect(evidence: MoveSuspicion): Promise<void>
  /** Clears the suspicion: the antenna is at the reference after all, or a person confirmed it. */
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
    seesMoves: 'value',
    longestAbsence_s: 'value',
    onEvidence: 'function',
    stayed: 'value',
    beginVerification: 'function',
    verify: 'function',
    trust: 'function',
    leave: 'function',
    remember: 'function',
    suspicion: 'value',
    suspect: 'function',
    settle: 'function',
  },
})
