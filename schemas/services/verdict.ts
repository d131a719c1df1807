/** Provided by verdict: what the base does, and whether it is fit to serve. For everyone who decides by it; the document shows the same. */
import type { Event } from '../event.js'
import type { BaseStateName, Verdict } from '../info/base.js'
import { defineService } from '../token.js'

export interface BaseVerdict {
  /** `base.state.base` */
  readonly base: BaseStateName
  /** `base.state.verdict` */
  readonly verdict: Verdict
  /** `base`, or anything of the verdict but its time, changed. */
  readonly onChange: Event<void>
}
export const verdict = defineService<BaseVerdict>('verdict')
