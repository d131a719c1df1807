/** Progress and scatter of a survey-in. Pure. */

import { type Enu, enu } from '../../../../../../runtime/lib/gnss/geodesy.js'
import { type Json, numberAt, textAt } from '../../../../../../runtime/lib/page/ui/station/document.js'
import type { CurvePoint, Point } from '../../station/messages.js'

/** A plain survey-in states no less than this (option `plain.bias_m` of survey-in): mostly the ionosphere. */
export const plainLimit_m = 1.3

export interface SurveyNow {
  readonly state: string
  readonly isCorrected: boolean
  /** The accuracy compared with the target, metres; undefined before the first epoch. */
  readonly acc_m: number | undefined
  /** The stated accuracy, metres: larger than `acc_m` for an untrusted correction source. */
  readonly stated_m: number | undefined
  readonly target_m: number
  readonly elapsed_s: number
  readonly mintime_s: number
  readonly maxtime_s: number
  readonly count: number
  readonly mean: Point | undefined
  /** The result may be used although it missed the target. */
  readonly isAllowed: boolean
  /** Share of the shortest time, and of the way to the target: 0 to 1. */
  readonly timeShare: number
  readonly accuracyShare: number
  /** A plain one can never state so little. */
  readonly isOutOfReach: boolean
}

const share = (value: number) => Math.max(0, Math.min(1, value))

/** Undefined where no plugin of the station surveys. */
export function surveyOf(document: Json | undefined): SurveyNow | undefined {
  const at = (name: string) => numberAt(document, `gnss.ref.survey.${name}`) ?? 0
  const state = textAt(document, 'gnss.ref.survey.state')
  if (state === '') return undefined
  const isCorrected =
    (document as { gnss?: { ref?: { survey?: { corr?: unknown } } } }).gnss?.ref?.survey?.corr === true
  const count = at('count')
  const acc_m = count > 0 ? at(isCorrected ? 'acc_corr' : 'acc') : undefined
  const target_m = isCorrected ? at('accuracy_corr_dyn') : at('config.accuracy')
  const mintime_s = at('config.mintime')
  const elapsed_s = at('elapsed')
  const isThere = textAt(document, 'gnss.ref.survey.type') !== ''
  return {
    state,
    isCorrected,
    acc_m,
    target_m,
    elapsed_s,
    mintime_s,
    count,
    stated_m: count > 0 ? at('acc') : undefined,
    maxtime_s: at('config.maxtime'),
    mean: isThere ? { x: at('x'), y: at('y'), z: at('z') } : undefined,
    isAllowed: at('allow_use') === 1,
    timeShare: mintime_s > 0 ? share(elapsed_s / mintime_s) : 1,
    // The variance falls with the time, so this grows about evenly.
    accuracyShare: acc_m && target_m > 0 ? share((target_m / acc_m) ** 2) : 0,
    isOutOfReach: !isCorrected && target_m > 0 && target_m < plainLimit_m,
  }
}

/** Time and accuracy must both be reached: whole percent, 100 only when finished. */
export function percentOf({ state, timeShare, accuracyShare }: SurveyNow): number {
  if (state === 'complete') return 100
  return Math.min(99, Math.floor(Math.min(timeShare, accuracyShare) * 100))
}

export interface Scatter {
  /** Where the receiver was, and how the mean went, seen from the mean: metres, oldest first. */
  readonly positions: readonly Enu[]
  readonly means: readonly Enu[]
  /** Half the side of the square that shows all of it, metres. */
  readonly reach_m: number
}

/** @param acc_m radius of the circle that has to fit in */
export function scatterOf(points: readonly CurvePoint[], origin: Point, acc_m: number): Scatter {
  const positions = points.map(({ now }) => enu(origin, now))
  const means = points.map(({ mean }) => enu(origin, mean))
  const away = [...positions, ...means].map(({ east, north }) => Math.max(Math.abs(east), Math.abs(north)))
  return { positions, means, reach_m: Math.max(0.02, acc_m, ...away) * 1.1 }
}
