import type { Owner } from '../../runtime/platform/guard/owner.js'
import { ManualClock } from '../harness/manual-clock.js'

/** A plugin as far as its callbacks need one. @param failures gets what is reported of it */
export const ownerOf = (name: string, failures: string[] = [], clock = new ManualClock()): Owner => ({
  ...{ name, activity: 0, clock, live: true, signal: new AbortController().signal },
  failed: (error, what) => failures.push(`${name} ${what}: ${(error as Error).message}`),
  leftBehind: (error) => failures.push(`${name} left behind: ${(error as Error).message}`),
  own: (_, dispose) => dispose,
})
