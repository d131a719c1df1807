import type { Evidence } from './evidence.js'

/** How the receiver says that its ranges do not fit the position that it holds. */
const warning = /base station position seems incorrect/i

/** The receiver's own judgement, in its own words: about 50 m to 25 km. */
export class WarningEvidence implements Evidence<string> {
  hear(text: string): string | undefined {
    return warning.test(text) ? `the receiver says: ${text}` : undefined
  }
}
