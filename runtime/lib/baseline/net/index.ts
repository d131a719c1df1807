/** The judgement of bases by the vectors between them, and the causes of their offsets. */

export { type CauseEvidence, causesOf, type NetCause, type RangedBase } from './causes.js'
export {
  judgeNet,
  judgeNetInSteps,
  type NetBase,
  type NetJudgement,
  type NetOptions,
  type NetReason,
  samePlace_m,
} from './judge.js'
export { type DailyOffset, movementOf } from './movement.js'
export type { NetVector } from './pairs.js'
