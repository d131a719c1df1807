/** Texts for people: entries of `base.state.errors`, reasons for a closed gate, and advice. */
import { type Drift, moveValues, roundTo } from 'rtk-base/gnss'
import type { Trouble } from 'rtk-base/plugin'
import type { AntennaMove, ErrorValues, PositionComparison } from 'rtk-base/services'
import { type Datum, datumText } from '../reference/datum.js'
import type { Reference } from '../reference/reference.js'
import type { SurveyEnd } from '../survey/survey-run.js'
import { type Event, type State, states } from './table.js'

/** A survey-in does not replace a chosen manual reference. */
export const anotherAdvice = {
  survey: 'send start-survey-in, or set or choose another reference',
  manual: 'enter the correct position, or set gnss-ref-chosen to survey and send start-survey-in',
}

/** The three answers to a move. */
const movedAdvice = {
  survey:
    'if the antenna is where it was, send confirm-position; if it moved, send start-survey-in or enter a position',
  manual:
    'if the antenna is where it was, send confirm-position; if it moved, enter the new position, or set gnss-ref-chosen to survey and send start-survey-in',
}

export const sameReferenceText =
  'the chosen reference is the same, and the suspected move stands: to say that the antenna is where it was, send confirm-position; to use another position, survey or enter it'

/** A height above the sea was entered, or the geoid separation added twice: the monitor recognises it, and to confirm it would keep the error. */
const heightAdvice = 'correct gnss-ref-manual-alt: it is the height above the ellipsoid'
const isHeightError = (method: Reference['method'], hint: string): boolean =>
  method === 'manual' && hint.includes('geoid separation')

/** Why no RTCM is sent yet. @param best_m the current accuracy, metres; undefined without a fix */
export function lateText(state: State, accuracy_m: number, best_m: number | undefined): Trouble {
  const late = 'no RTCM was sent for 15 min'
  const sky = 'check the antenna and its view of the sky'
  const best = best_m === undefined ? 'no steady fix' : `${best_m.toFixed(1)} m`
  const values = { state, needed_m: accuracy_m, ...(best_m !== undefined && { best_m: roundTo(best_m, 1) }) }
  switch (state) {
    case 'acquire':
      return { text: `${late}: no 3D fix`, advice: sky, values }
    case 'initial':
      return {
        text: `${late}: no steady position as good as ${accuracy_m} m (${best})`,
        advice: `${sky}, or raise gnss-initial-accuracy`,
        values,
      }
    case 'accept':
      return {
        text: `${late}: the receiver sends no observations`,
        advice: `${sky}, and whether other software configures the receiver`,
        values,
      }
    default:
      return {
        text: `${late}: the station waits ${states[state].waits}`,
        advice: 'check the power of the receiver, and its line in both directions',
        values,
      }
  }
}

/** The start-up check takes longer. */
export function doubtText(
  { distance_m, limits_m: [level_m, up_m], text, hint, unverified }: PositionComparison,
  method: Reference['method'],
): Trouble {
  const beside = `the antenna seems to be ${distance_m.toFixed(1)} m from the reference (${text})`
  const limits = `(${level_m.toFixed(1)} m, vertically ${up_m.toFixed(1)} m)`
  const then = unverified
    ? `positions without corrections are awaited for up to 10 min before RTCM is sent${hint}`
    : `positions are averaged for 10 min before RTCM is sent${hint}`
  return {
    text: `${beside}, more than the accuracies explain ${limits}: ${then}`,
    advice: isHeightError(method, hint) ? heightAdvice : `if the reference is wrong, ${anotherAdvice[method]}`,
    values: {
      ...(unverified && { unverified }),
      ...(isHeightError(method, hint) && { height: true }),
      method,
      distance_m: roundTo(distance_m, 1),
      limit_m: roundTo(level_m, 1),
      limit_up_m: roundTo(up_m, 1),
    },
  }
}

/** Only the position by corrections contradicts the reference. @param source of them; '' unknown */
export function correctionsText(
  { distance_m, text }: PositionComparison['contradicted'] & object,
  source: string,
): Trouble {
  const whose = source ? `the corrections of ${source}` : 'corrections that come by a port of the receiver'
  return {
    text: `${whose} put the antenna ${distance_m.toFixed(1)} m (${text}) away from the reference, but its position without them agrees with it: the position of that base may be wrong, and the reference is used`,
    advice: 'compare the position that the base announces with its true one; use no corrections of it until then',
    values: { own: source === '', source, distance_m: roundTo(distance_m, 1) },
  }
}

/** @param used frame of the corrections @param runs the survey-in is still running */
export function frameText(used: Datum, wanted: Datum, runs: boolean): Trouble {
  const what = `the survey-in ${runs ? 'uses' : 'used'} corrections in ${datumText(used)}, but the reference should be in ${datumText(wanted)}`
  const then = 'a corrected survey-in takes the frame of its corrections, which may be a metre away'
  return {
    text: `${what}: ${then}`,
    advice: `use corrections in ${datumText(wanted)} and start a new survey-in, or set gnss-ref-frame and gnss-ref-epoch to those of the corrections`,
    values: { runs, used: datumText(used), wanted: datumText(wanted) },
  }
}

/** @param used of an entered position; undefined: nobody entered it */
export function untransformedText(used: Datum | undefined, announced: string): Trouble {
  const given = used?.frame ? datumText(used) : 'an unknown frame'
  return {
    text: `the entered position is in ${given} and is announced unchanged: it cannot be transformed to ${announced}`,
    advice:
      'set gnss-ref-frame to one of the frames of gnss-announce-frame and gnss-ref-epoch to a decimal year, or clear gnss-announce-frame',
    values: { used: used?.frame ? datumText(used) : '', wanted: announced, entered: true },
  }
}

export function driftText(datum: Datum, { rate_m, since_m }: Drift): Trouble {
  const [since, rate] = [(since_m * 100).toFixed(1), (rate_m * 1000).toFixed(0)]
  return {
    text: `the announced coordinates, in ${datumText(datum)}, are ${since} cm from those of today: the plate moves ${rate} mm per year in this frame`,
    advice:
      'set gnss-announce-frame to a frame that moves with the plate, set gnss-announce-epoch if rovers need this epoch, or determine the position again',
    values: { datum: datumText(datum), since, rate },
  }
}

export const noPositionText: Trouble = {
  text: 'the survey-in got no position for 15 min: check the antenna and its view of the sky',
  advice: 'it continues with the next position',
}

export const disturbedText: Trouble = {
  text: 'the survey-in without corrections gets no position: the receiver uses corrections that come by another of its ports, and a wrong position of their base would shift the result',
  advice:
    'end these corrections (gnss-zed.otherPorts), and it continues; or let the station receive them, send rtcmin=1 and start-survey-in for a survey-in with corrections',
  values: { disturbed: true },
}

/** @param count epochs used @param returns to the previous reference */
export function surveyText({ state, reason }: SurveyEnd, count: number, returns: boolean): Trouble {
  const use = state === 'incomplete' && count > 0 ? 'use-incomplete-survey-in accepts it, ' : ''
  const then = returns
    ? 'the station returns to its previous reference'
    : 'there is no other reference, so no RTCM is sent'
  return {
    text: `the survey-in is ${state}: ${reason}`,
    advice: `${then}; ${use}start-survey-in starts a new one`,
    values: { state, reason, returns, usable: use !== '' },
  }
}

export const stoppedReason = 'it was ended by stop-survey-in'

/** @param returns to the reference before it @param asked it had not begun */
export function stoppedText(returns: boolean, asked: boolean): string {
  if (returns) return 'the survey-in has ended; the station returns to its previous reference after the start-up check'
  if (asked) return 'the survey-in has ended; there is no reference, so a survey-in starts with the next position'
  return 'the survey-in has ended; there is no other reference, so no RTCM is sent until there is one'
}

/** How far the antenna is away. @param move that is suspected */
export function movedValues(seen: PositionComparison | undefined, move: AntennaMove | undefined): ErrorValues {
  if (!seen) return move ? moveValues(move) : {}
  const { east, north, up } = seen.offset
  return {
    distance_m: roundTo(seen.distance_m, 2),
    ...{ east_m: roundTo(east, 2), north_m: roundTo(north, 2), up_m: roundTo(up, 2) },
  }
}

/** @param seen the new antenna position; undefined if the move is only suspected */
export function movedText(seen: PositionComparison | undefined, evidence: string): string {
  if (!seen) return `the antenna seems to have moved: ${evidence}`
  return `reference moved by ${seen.text}${seen.hint}`
}

/** @param what the move and its size @param isShown whether positions can show the return: not after a move that is small compared with their errors */
export function heldText(what: string, method: Reference['method'], isShown: boolean, seen: ErrorValues = {}): Trouble {
  const text = `${what}: no RTCM is sent`
  if (isHeightError(method, what)) return { text, advice: heightAdvice, values: { height: true, method, ...seen } }
  const back = isShown ? '; RTCM resumes automatically when positions show for 10 min that the antenna is back' : ''
  return { text, advice: `${movedAdvice[method]}${back}`, values: { method, returns: isShown, ...seen } }
}

/** The start-up check found the antenna elsewhere. @param what the move and its size */
export const elsewhereText = (what: string, seen: ErrorValues = {}): Trouble => ({
  values: seen,
  text: `${what}: a new survey-in was started`,
  advice:
    'if the antenna is where it was, send confirm-position; otherwise wait for the survey-in, or enter a position',
})

/** A person has answered a move, and there is no position yet. @param needed_m the accuracy that it needs */
export const confirmedText = (needed_m: number): Trouble => ({
  text: `a person confirmed the position: it is checked as soon as the receiver has one that is accurate to ${needed_m} m, and no RTCM is sent before`,
  advice: 'nothing more is to be done',
  values: { confirmed: true, needed_m },
})

export const confirmedReason = 'a person confirmed the former position'

export const againAdvice = 'the receiver is configured again; check whether other software configures it'

/** @param trouble the fault of the receiver's output */
export const faultText = (trouble: string, advice: string): Trouble => ({
  text: trouble,
  advice,
  values: { reason: trouble, again: advice === againAdvice },
})

/** The base sends a wrong reference, or none. */
export const isWrongBase = (event: Event): boolean => event === 'wrong 1005' || event === 'no 1005'

/** The base was wrong before and has not been shown to be correct since. */
export const isStillWrong = (event: Event): boolean =>
  isWrongBase(event) || event === 'not taken' || event === 'not our base' || event === 'cannot be verified'

export const checkedFirst = 'the reference is checked first'

/**
 * Why the gate was closed.
 * @param evidence that the antenna was moved, or may have been
 * @param base its fault, and how its newest 1005 differs from the reference
 */
export function holdReason(event: Event, evidence: string, base: { trouble: string; difference: string }): string {
  const { trouble, difference } = base
  switch (event) {
    case 'move suspected':
      return movedText(undefined, evidence)
    case 'port gone':
    case 'receiver silent':
      return 'the receiver is not available'
    case 'receiver restarted':
      return 'the receiver restarted: its reference is checked again'
    case 'still our base':
      return 'the output of the receiver is verified first'
    case 'reference changed':
      return 'another reference was chosen: it is checked first'
    case 'station ID changed':
      return 'the receiver gets another station ID'
    case 'messages changed':
      return 'the receiver gets other RTCM messages'
    case 'constellations changed':
      return 'the receiver starts with other constellations: the reference is checked again'
    case 'survey over':
      return 'the survey-in has ended: the reference is checked first'
    case 'agreed for 10 min':
      return 'the antenna is back: the reference is checked first'
    case 'not our base':
    case 'cannot be verified':
      return difference ? `${difference}; ${checkedFirst}` : checkedFirst
    case 'survey failed':
      return 'the survey-in failed, and there is no other reference'
    case 'survey asked for':
      return 'a survey-in was started'
    case 'position confirmed':
      return 'a person confirmed the position: it is checked first'
    case 'observations stopped':
      return 'the receiver sends no observations: the reference is checked again'
    case 'antenna unknown':
      return `${evidence}: the reference is checked again`
    case '1005 stopped':
      return 'the receiver sends no 1005'
    default:
      return trouble
  }
}
