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

/** Accuracy of the reference in use, metres; undefined while it is not known, as of one before a survey-in that failed. */
export function referenceAccuracy(document: Json): number | undefined {
  const chosen = textAt(document, 'gnss.ref.chosen')
  const isResult =
    textAt(document, 'gnss.ref.survey.state') === 'complete' || numberAt(document, 'gnss.ref.survey.allow_use') === 1
  const isInUse = chosen === 'manual' || isResult || textAt(document, 'gnss.state.status') === 'survey'
  return (isInUse && numberAt(document, `gnss.ref.${chosen}.acc`)) || undefined
}

const begins = /^(identify|configure|acquire|initial)$/

/** The station starts, and a survey-in follows by itself where there is no reference; not after one that failed. */
export const surveyFollows = (document: Json): boolean =>
  begins.test(textAt(document, 'gnss.state.status')) &&
  textAt(document, 'gnss.ref.chosen') !== 'manual' &&
  !/^(incomplete|aborted)$/.test(textAt(document, 'gnss.ref.survey.state'))

/** The receiver is not there: what it said last is no state of now. */
export const isReceiverAway = (document: Json): boolean =>
  /^(offline|stalled)$/.test(textAt(document, 'gnss.state.status'))

/** Nobody has set it up: it has no reference position, and nobody gets corrections. */
export const isNew = (document: Json): boolean =>
  textAt(document, 'gnss.ref.chosen') !== '' &&
  !hasReference(document) &&
  listAt(document, 'gnss.rtcm.subscribers').length === 0
