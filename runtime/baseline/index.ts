/** The vector between two stations by their phases (`rtk-base/baseline`): pure, from two streams of MSM and broadcast ephemerides. */
export { type Baseline, type BaselineOptions, type BaselineReason, BaselineWindow, type Side } from './window.js'
