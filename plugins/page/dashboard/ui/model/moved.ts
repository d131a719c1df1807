/** "The antenna has moved", and the answers to it. Pure. */
import {
  errorsOf,
  type Json,
  numberAt,
  textAt,
  type Values,
} from '../../../../../runtime/lib/page/ui/station/document.js'

const movedCode = /^(gnss-)?(reference-)?moved$/

/** Buttons answer it: they are shown instead of its advice. @param code of an error, or of the reason of the verdict */
export const isMoved = (code: string | undefined): boolean => movedCode.test(code ?? '')

export interface Move {
  /** Undefined while no size is known. */
  readonly distance_m: number | undefined
  /** The height was entered wrongly: a confirmation would keep the error. */
  readonly isHeight: boolean
  /** Corrections resume when positions show that the antenna is back. */
  readonly returns: boolean
  /** A survey-in determines the new position already. */
  readonly isSurveying: boolean
  /** A survey-in replaces an entered position only after the choice of the surveyed one. */
  readonly isEntered: boolean
}

export function moveOf(document: Json): Move {
  const values: Values = errorsOf(document).find(({ code }) => isMoved(code))?.values ?? {}
  // What the error says of the move first: the position of now may be metres off.
  const distance_m =
    numberAt(document, 'gnss.state.motion.move.size_m') ??
    (Number(values.distance_m) || numberAt(document, 'gnss.pos.delta'))
  return {
    distance_m: distance_m || undefined,
    isHeight: values.height === true,
    returns: values.returns === true,
    isSurveying: textAt(document, 'gnss.state.status') === 'survey',
    isEntered: textAt(document, 'gnss.ref.chosen') === 'manual',
  }
}
