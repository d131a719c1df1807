/** Whether a station has what it serves from. Pure. */
import { type Json, listAt, numberAt, textAt } from '../station/document.js'

/** The chosen position can be used: the mean of a survey-in that runs, or that failed, is shown in its place and is none. */
export function hasReference(document: Json): boolean {
  const chosen = textAt(document, 'gnss.ref.chosen')
  if (textAt(document, 'gnss.state.status') === 'fixed') return true
  if (textAt(document, `gnss.ref.${chosen}.type`) === '') return false
  const state = textAt(document, 'gnss.ref.survey.state')
  return chosen === 'manual' || state === 'complete' || numberAt(document, 'gnss.ref.survey.allow_use') === 1
}

/** Nobody has set it up: it has no reference position, and nobody gets corrections. */
export const isNew = (document: Json): boolean =>
  textAt(document, 'gnss.ref.chosen') !== '' &&
  !hasReference(document) &&
  listAt(document, 'gnss.rtcm.subscribers').length === 0
