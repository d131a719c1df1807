import type { Evidence } from './evidence.js'

/** How the receiver says that its ranges do not fit the position that it holds. */
const warning = /base station position seems incorrect/i

/** The receiver's own judgement, in its own words. */
export class WarningEvidence implements Evidence<string> {
  readonly baseline = undefined

  hear(text: string): string | undefined {
    return warning.test(text) ? `the receiver says: ${text}` : undefined
  }

  newest(): undefined {
    return undefined
  }
}
