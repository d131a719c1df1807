/** Times as people and programs write them, the wait between attempts, and waits that end (`rtk-base/time`). */
export { Backoff, type Waits, waitAfter_ms } from './platform/time/backoff.js'
export { Steady } from './platform/time/steady.js'
export { iso, rangeOf, timeForms, timeOf } from './platform/time/time-range.js'
export { anySignal } from './platform/time/waits.js'
