/**
 * The vector between two stations by their phases (`rtk-base/baseline`): pure, from two streams of MSM and broadcast ephemerides.
 * From the vectors of a net: which base announces a wrong position, and why.
 */

export * from './net/index.js'
export type { BaselineReason } from './solution.js'
export { type Baseline, type BaselineOptions, BaselineWindow, type Side } from './window.js'
