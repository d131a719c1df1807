/** Whether a station is set up. Pure. */
import { type Json, numberAt, textAt } from './document.js'
import { roversOf } from './links.js'

/** The chosen position can be used: the mean of a survey-in that runs, or that failed, is shown in its place and is none. */
export function hasReference(document: Json): boolean {
  const chosen = textAt(document, 'gnss.ref.chosen')
  if (textAt(document, 'gnss.state.status') === 'fixed') return true
  if (textAt(document, `gnss.ref.${chosen}.type`) === '') return false
  const state = textAt(document, 'gnss.ref.survey.state')
  return chosen === 'manual' || state === 'complete' || numberAt(document, 'gnss.ref.survey.allow_use') === 1
}

/** Accuracy of the reference in use, metres; undefined without one, and while it is not known, as of one before a survey-in that failed. */
export function referenceAccuracy(document: Json): number | undefined {
  const chosen = textAt(document, 'gnss.ref.chosen')
  const isResult =
    textAt(document, 'gnss.ref.survey.state') === 'complete' || numberAt(document, 'gnss.ref.survey.allow_use') === 1
  return ((chosen === 'manual' || isResult) && numberAt(document, `gnss.ref.${chosen}.acc`)) || undefined
}

const begins = /^(identify|configure|acquire|initial)$/

/** The station is starting and will survey automatically without a reference; not after a failed survey-in. */
export const surveyFollows = (document: Json): boolean =>
  begins.test(textAt(document, 'gnss.state.status')) &&
  textAt(document, 'gnss.ref.chosen') !== 'manual' &&
  !/^(incomplete|aborted)$/.test(textAt(document, 'gnss.ref.survey.state'))

/** The receiver is absent: its last values are not current. */
export const isReceiverAway = (document: Json): boolean =>
  /^(offline|stalled)$/.test(textAt(document, 'gnss.state.status'))

/** The station is not set up: no reference position and no clients. */
export const isNew = (document: Json): boolean =>
  textAt(document, 'gnss.ref.chosen') !== '' && !hasReference(document) && roversOf(document).length === 0
