/** The judgement of bases by the vectors between them, and the causes of their offsets. */
export { judgeNet, type NetBase, type NetJudgement, type NetOptions, type NetReason } from './judge.js'
export type { NetVector } from './pairs.js'
export { type CauseEvidence, causesOf, type NetCause, type RangedBase } from './causes.js'
export { type DailyOffset, movementOf } from './movement.js'
