/** Provided by verdict: the state of the base and the overall verdict, as in the document. */
import type { Event } from '../event.js'
import type { BaseStateName, Verdict } from '../info/base.js'
import { defineService } from '../token.js'

export interface BaseVerdict {
  /** `base.state.base` */
  readonly base: BaseStateName
  /** `base.state.verdict` */
  readonly verdict: Verdict
  /** `base` changed, or any member of the verdict except its time. */
  readonly onChange: Event<void>
}
export const verdict = defineService<BaseVerdict>('verdict')
