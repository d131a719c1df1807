/** Limits shared by several parts. Limits of a single algorithm are in its own file, e.g. `code/offset-watch.ts`. */

/** Default of `phases.threshold_m`: net displacement within 10 s that counts as a move. */
export const moved_m = 0.03
/** Accuracy assumed for a reference of unknown accuracy. A code position is never trusted to be better either. */
export const unknownAccuracy_m = 1
/** Older evidence is stale. */
export const stale_ms = 10_000
/** With fewer satellites, carrier phases give no result. */
export const fewestSatellites = 6

/**
 * Distance explained by the accuracies, in sigmas of both positions combined. The shares are the horizontal and the vertical part of a 3D
 * accuracy, because satellites are only above the horizon. Errors of code positions exceed their stated accuracies: below `least_m`
 * no conclusion is drawn.
 */
export const explained = {
  sigmas: 4,
  level: { share: 0.55, least_m: 2.5 },
  up: { share: 0.85, least_m: 3.5 },
} as const

/** Averaging time before a doubtful position is decided. */
export const doubt_s = 600
/** A moved antenna is back once positions have agreed for this long. */
export const back_s = 600
/** Positions can show the return from a move that is larger than this multiple of their error. */
export const seenReturn = 2

/** Maximum age of the last trusted moment for a warm start. */
export const warm_s = 600
/** Maximum disagreement of the receiver's clock and UTC about the elapsed time: more means that the receiver was off. */
export const clocksAgree_s = 5
/** After a longer absence of the receiver or its link, the antenna may be elsewhere. */
export const longestAway_s = 5
/** After a shorter absence, carrier phases that bridge the gap are enough, without ranges. */
export const brief_ms = 10_000
/** Time limit for the evidence of a warm start; then the start-up check decides. */
export const verified_ms = 24_000
/** Required share of the currently tracked signals that were tracked throughout. */
export const trackedShare = 0.6

/** Code evidence missing for this long is reported: a slow move of the antenna would go unnoticed. */
export const unwatched_ms = 180_000
/** Longest unwatched time of a reload that is bridged. */
export const longestReload_ms = 10_000
