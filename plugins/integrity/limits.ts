/** The limits that more than one part judges by. What one algorithm alone needs stands where it runs, e.g. `code/offset-watch.ts`. */

/** From how far on a net displacement within 10 s is a move, where `phases.threshold_m` does not say otherwise. */
export const moved_m = 0.03
/** What an unknown accuracy of a reference is taken for. A code position is not trusted to be better either. */
export const unknownAccuracy_m = 1
/** Evidence that is older is of a time that is over. */
export const stale_ms = 10_000
/** With fewer satellites nothing is concluded from carrier phases. */
export const fewestSatellites = 6

/**
 * What the accuracies explain: so many sigma of both positions together. The shares are the horizontal and the vertical part of a 3D
 * accuracy, as satellites stand above the horizon only. Code positions err by more than their accuracies say: closer than `least_m`
 * nothing is concluded.
 */
export const explained = {
  sigmas: 4,
  level: { share: 0.55, least_m: 2.5 },
  up: { share: 0.85, least_m: 3.5 },
} as const

/** In doubt a position is averaged for so long before it is decided. */
export const doubt_s = 600
/** An antenna that was moved is back when positions agree for so long. */
export const back_ms = 600_000
/** Positions can see the return from a move that is larger than so many times what they may err by. */
export const seenReturn = 2

/** A start is warm for so long after the last trusted moment. */
export const warm_s = 600
/** How much the receiver's own clock and UTC may disagree about the time between: more means that it was off. */
export const clocksAgree_s = 5
/** A receiver or a link that was away for longer may have come back with its antenna elsewhere. */
export const longestAway_s = 5
/** A base that was heard so short a time ago needs no ranges, where the carrier phases bridge the gap. */
export const brief_ms = 10_000
/** All evidence of a warm start must have come by then; without it the start-up check decides. */
export const verified_ms = 24_000
/** Signals that were tracked all the time: so large a part of those that are tracked now. */
export const trackedShare = 0.6

/** Code evidence that stays away for so long is a fault of its own: nobody would see the antenna being moved slowly. */
export const unwatched_ms = 180_000
/** A reload that takes longer leaves a time that nobody watched: as long as the RTCM gate keeps its verdict. */
export const longestReload_ms = 10_000
