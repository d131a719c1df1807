/** The phase watch: what the carrier phases of a base's own observations say about its antenna. */
export type { Displacement } from './displacement.js'
export * from './lock-time.js'
export * from './msm-epochs.js'
export * from './phase-watch.js'
export * from './report.js'
export type { LockReport } from './signal-tracks.js'
export * from './sky.js'
export type { ThirdDifference } from './third-difference.js'
