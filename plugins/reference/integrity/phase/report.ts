import type { Covariance, Displacement } from './displacement.js'
import type { LockReport } from './signal-tracks.js'

/** The displacement over the last 10 s, or since a start that is not as long ago. */
export interface NetDisplacement extends Displacement {
  readonly distance_m: number
}

/** From where the antenna was to where it is, metres. */
export interface Move {
  readonly east_m: number
  readonly north_m: number
  readonly up_m: number
  readonly covariance: Covariance
  /** In how many moves. */
  readonly moves: number
  /** The antenna is on the way, or was pushed so slowly that the phases have lost a part of the move. */
  readonly isLeast: boolean
  /** Since it left the place that this is measured from. */
  readonly age_s: number
}

/** Result of one epoch. Undefined is unknown: too short a history, too few satellites, or no directions. */
export interface PhaseReport extends LockReport {
  /** Since the last epoch; 0 for the first, infinite after a time that went back. */
  readonly interval_s: number
  /** The stream paused for so long that the watch starts afresh. Lock is still compared with the time before. */
  readonly interrupted: boolean
  /**
   * Most satellites lost lock within 3 s, or one after another until no position was left: nothing is known about the antenna before and
   * after. Reported once per event.
   */
  readonly lossOfLock: boolean
  /**
   * Most satellites kept their lock, and no position of the antenna explains their phases: nothing is known about the antenna from here
   * on until there is a history again. Reported once per event.
   */
  readonly contradiction: boolean
  /** Undefined also where observations come every 10 s or less often: a position extrapolated over them errs by metres. */
  readonly net: NetDisplacement | undefined
  /** Rms of the distance from the mean over the last 10 s, metres: of noise alone a few millimetres, most of it upwards. */
  readonly sway_m: number | undefined
  /**
   * The antenna is at least the threshold away from where it was 10 s ago, and stays there. True until it has stayed for 10 s at its new
   * place: keep it.
   */
  readonly moved: boolean | undefined
  /** While it `moved`: from where it was before. */
  readonly move: Move | undefined
}
