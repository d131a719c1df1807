/** For people: the values of the standing errors, reasons for a closed gate, and advice. */
import { moveValues, roundTo } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import type { AntennaMove, ErrorValues, GateReason, PositionComparison } from 'rtk-base/services'
import type { Reference } from '../reference/reference.js'
import type { SurveyEnd } from '../survey/survey-run.js'
import { type BaseWatch, differenceValues, faultValues } from './base-watch.js'
import { type Event, type State, states } from './table.js'

/** How to fix a wrong reference. A survey-in does not replace a chosen manual one. */
export const anotherAdvice = {
  survey: 'send start-survey-in, or set or choose another reference',
  manual: 'enter the correct position, or set gnss-ref-chosen to survey and send start-survey-in',
}

export const sameReferenceText =
  'the chosen reference is the same, and the suspected move stands: to say that the antenna is where it was, send confirm-position; to use another position, survey or enter it'

/** A height above the sea was entered, or the geoid separation added twice: to confirm it would keep the error. */
const isHeightError = (method: Reference['method'], comparison: PositionComparison | undefined): boolean =>
  method === 'manual' && comparison?.mistakenHeight === true

/** Why no RTCM is sent yet. @param best_m the current accuracy, metres; undefined without a fix */
export const lateValues = (state: State, needed_m: number, best_m: number | undefined): ErrorValues => ({
  ...{ state, needed_m, ...(best_m !== undefined && { best_m: roundTo(best_m, 1) }) },
  ...{ _best: best_m === undefined ? 'no steady fix' : `${best_m.toFixed(1)} m`, _event: states[state].waits },
})

/** The start-up check takes longer. */
export function doubtValues(comparison: PositionComparison, method: Reference['method']): ErrorValues {
  const { distance_m, limits_m, text, hint, unverified } = comparison
  const [level_m, up_m] = limits_m
  return {
    ...(unverified && { unverified }),
    ...(isHeightError(method, comparison) && { height: true }),
    method,
    ...{ distance_m: roundTo(distance_m, 1), limit_m: roundTo(level_m, 1), limit_up_m: roundTo(up_m, 1) },
    ...{ _distance: distance_m.toFixed(1), _level: level_m.toFixed(1), _up: up_m.toFixed(1) },
    ...{ _offset: text, _hint: hint },
  }
}

/** Only the position by corrections contradicts the reference. @param source of them; '' unknown */
export const correctionsValues = (
  { distance_m, text }: PositionComparison['contradicted'] & object,
  source: string,
): ErrorValues => ({
  ...{ own: source === '', source, distance_m: roundTo(distance_m, 1) },
  ...{ _distance: distance_m.toFixed(1), _offset: text },
})

/** @param count epochs used @param returns to the previous reference */
export function surveyValues({ state, why }: SurveyEnd, count: number, returns: boolean): ErrorValues {
  const usable = state === 'incomplete' && count > 0
  const _then = returns
    ? 'the station returns to its previous reference'
    : 'there is no other reference, so no RTCM is sent'
  return { ...why, state, returns, usable, _then, _use: usable ? 'use-incomplete-survey-in accepts it, ' : '' }
}

/** @param returns to the reference before it @param asked it had not begun */
export function stoppedText(returns: boolean, asked: boolean): string {
  if (returns) return 'the survey-in has ended; the station returns to its previous reference after the start-up check'
  if (asked) return 'the survey-in has ended; there is no reference, so a survey-in starts with the next position'
  return 'the survey-in has ended; there is no other reference, so no RTCM is sent until there is one'
}

/** How far the antenna is away. @param move that is suspected */
export function movedValues(comparison: PositionComparison | undefined, move: AntennaMove | undefined): ErrorValues {
  if (!comparison) return move ? moveValues(move) : {}
  const { east, north, up } = comparison.offset
  return {
    distance_m: roundTo(comparison.distance_m, 2),
    ...{ east_m: roundTo(east, 2), north_m: roundTo(north, 2), up_m: roundTo(up, 2) },
  }
}

/** @param comparison the new antenna position; undefined if the move is only suspected */
export function movedText(comparison: PositionComparison | undefined, evidence: string): string {
  if (!comparison) return `the antenna seems to have moved: ${evidence}`
  return `reference moved by ${comparison.text}${comparison.hint}`
}

/**
 * @param move the move and its size, in words
 * @param isShown whether positions can show the return: not after a move that is small compared with their errors
 */
export function heldValues(
  move: string,
  method: Reference['method'],
  isShown: boolean,
  comparison: PositionComparison | undefined,
  values: ErrorValues,
): ErrorValues {
  if (isHeightError(method, comparison)) return { height: true, method, ...values, _move: move }
  const back = isShown ? '; RTCM resumes automatically when positions show for 10 min that the antenna is back' : ''
  return { method, returns: isShown, ...values, _move: move, _back: back }
}

/** The base sends a wrong reference, or none. */
export const isWrongBase = (event: Event): boolean => event === 'wrong 1005' || event === 'no 1005'

/** The base was wrong before and has not been shown to be correct since. */
export const isStillWrong = (event: Event): boolean =>
  isWrongBase(event) || event === 'not accepted' || event === 'not our base' || event === 'cannot be verified'

/** Codes of reasons for a closed gate; the other events show the fault of the base. */
const holdCodes: Partial<Record<Event, string>> = {
  'port gone': 'not-available',
  'receiver silent': 'not-available',
  'receiver restarted': 'receiver-restarted',
  'still our base': 'output-verified-first',
  'reference changed': 'other-reference-chosen',
  'output changed': 'output-changed',
  'constellations changed': 'constellations-changed',
  'survey over': 'survey-over',
  'survey failed': 'survey-failed',
  'survey asked for': 'survey-started',
  'agreed for 10 min': 'antenna-back',
  'position confirmed': 'position-confirmed',
  'observations stopped': 'observations-stopped',
  '1005 stopped': 'reference-stopped',
  'not our base': 'checked-first',
  'cannot be verified': 'checked-first',
  'move suspected': 'move-suspected',
  'antenna unknown': 'antenna-unknown',
}

/**
 * Why the gate was closed.
 * @param evidence that the antenna was moved, or may have been
 * @param base its fault, and how its newest 1005 differs from the reference
 */
export function holdReason(
  text: PluginContext['text'],
  event: Event,
  { evidence, difference, fault }: Pick<BaseWatch, 'difference' | 'fault'> & { evidence: string },
): GateReason {
  const code = holdCodes[event] ?? 'base-fault'
  const given: Readonly<Record<string, ErrorValues>> = {
    'base-fault': faultValues(fault),
    'checked-first': differenceValues(difference),
    'move-suspected': { evidence },
    'antenna-unknown': { evidence },
  }
  return gateReason(text, code, given[code])
}

/** A reason for a closed gate. */
export const gateReason = (text: PluginContext['text'], code: string, values?: ErrorValues): GateReason => ({
  ...{ code, values },
  text: text(`gate.${code}`, values),
})
