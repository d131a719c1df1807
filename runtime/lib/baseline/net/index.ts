/** The judgement of bases by the vectors between them, and the causes of their offsets. */

export type { CauseEvidence, NetCause, RangedBase } from './cause.js'
export { causesOf } from './causes.js'
export { type Doubt, isConfirmed, laterThan, leastOpposing } from './confirmation.js'
export {
  judgeNet,
  judgeNetInSteps,
  type NetBase,
  type NetJudgement,
  type NetOptions,
  type NetReason,
  samePlace_m,
} from './judge.js'
export { type DailyOffset, dailyOffset, movementOf } from './movement.js'
export type { NetVector } from './pairs.js'
