/** Times as people and programs write them, and waits that end (`rtk-base/time`). */
export { iso, rangeOf, timeForms, timeOf } from './platform/time/time-range.js'
export { anySignal } from './platform/time/waits.js'
