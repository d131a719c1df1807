/**
 * The vector between two stations by their phases (`rtk-base/baseline`): pure, from their RTCM and broadcast ephemerides.
 * From the vectors of a net: which base announces a wrong position, and why.
 */
export { type Baseline, baseline, baselineInSteps, mostAntennas_m, sigmaAt } from './baseline.js'
export * from './net/index.js'
export { type RecordedFrame, Recording, type RecordingOptions, type Station } from './recording.js'
export type { BaselineReason } from './solution.js'
export { allAtOnce, inSteps, type Steps } from './steps.js'
