import type { Evidence, Suspect } from './evidence.js'

/** How the receiver says that its ranges do not fit the position that it holds. */
const warning = /base station position seems incorrect/i

/** What the receiver notices is about 50 m to 25 km. */
const least_m = 50

/** The receiver's own judgement, in its own words. */
export class WarningEvidence implements Evidence<string> {
  hear(text: string): Suspect | undefined {
    return warning.test(text) ? { text: `the receiver says: ${text}`, size_m: least_m } : undefined
  }
}
