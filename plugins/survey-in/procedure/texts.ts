/** Texts for people: what the entries of `base.state.errors` say, why the gate is closed, and what to do about it. */
import type { Trouble } from 'rtk-base/plugin'
import type { PositionComparison } from 'rtk-base/services'
import { type Datum, datumText } from '../reference/datum.js'
import type { Reference } from '../reference/reference.js'
import type { SurveyEnd } from '../survey/survey-run.js'
import { type Event, type State, states } from './table.js'

/** A survey-in does not take the place of a manual reference that is chosen. */
export const anotherAdvice = {
  survey: 'send start-survey-in, or set or choose another reference',
  manual: 'enter the right position, or set gnss-ref-chosen to survey and send start-survey-in',
}

/** Why it takes so long. @param best_m the accuracy that there is, metres; undefined without a fix */
export function lateText(state: State, accuracy_m: number, best_m: number | undefined): Trouble {
  const late = 'nothing has gone out for 15 min'
  const sky = 'check the antenna and its view of the sky'
  const best = best_m === undefined ? 'no steady fix' : `${best_m.toFixed(1)} m`
  switch (state) {
    case 'acquire':
      return { text: `${late}: no 3D fix`, advice: sky }
    case 'initial':
      return {
        text: `${late}: no steady position as good as ${accuracy_m} m (${best})`,
        advice: `${sky}, or raise gnss-initial-accuracy`,
      }
    case 'accept':
      return {
        text: `${late}: the receiver sends no observations`,
        advice: `${sky}, and what else may configure the receiver`,
      }
    default:
      return {
        text: `${late}: the station waits ${states[state].waits}`,
        advice: 'check that its line works both ways, and its power',
      }
  }
}

/** The start-up check takes longer. */
export function doubtText(
  { distance_m, limits_m: [level_m, up_m], text, hint }: PositionComparison,
  method: Reference['method'],
): Trouble {
  const beside = `the antenna seems to be ${distance_m.toFixed(1)} m from the reference (${text})`
  const limits = `(${level_m.toFixed(1)} m, vertically ${up_m.toFixed(1)} m)`
  const then = `it is averaged for 10 min before anything goes out${hint}`
  return {
    text: `${beside}, more than the accuracies explain ${limits}: ${then}`,
    advice: `if the reference is wrong, ${anotherAdvice[method]}`,
  }
}

/** @param used what the corrections were in @param runs the survey-in is not over */
export function frameText(used: Datum, wanted: Datum, runs: boolean): Trouble {
  const what = `the survey-in ${runs ? 'uses' : 'used'} corrections in ${datumText(used)}, but the reference is to be in ${datumText(wanted)}`
  const then = 'a corrected survey-in takes the frame of its corrections, which may be a metre away'
  return {
    text: `${what}: ${then}`,
    advice: `take corrections in ${datumText(wanted)} and start a new survey-in, or set gnss-ref-frame and gnss-ref-epoch to what the corrections are in`,
  }
}

export const noPositionText: Trouble = {
  text: 'the survey-in got no position for 15 min: check the antenna and its view of the sky',
  advice: 'it goes on as soon as one comes',
}

/** @param count epochs that went in @param returns to the reference before it, as there is one */
export function surveyText({ state, reason }: SurveyEnd, count: number, returns: boolean): Trouble {
  const use = state === 'incomplete' && count > 0 ? 'use-incomplete-survey-in lets it be used, ' : ''
  const then = returns
    ? 'the station returns to the reference that it had'
    : 'there is no other reference, so nothing goes out'
  return { text: `the survey-in is ${state}: ${reason}`, advice: `${then}; ${use}start-survey-in starts a new one` }
}

export const stoppedReason = 'it was ended by stop-survey-in'

/** @param returns to the reference before it @param asked it had not begun */
export function stoppedText(returns: boolean, asked: boolean): string {
  if (returns)
    return 'the survey-in has ended; the station returns to the reference that it had, which is checked first'
  if (asked) return 'the survey-in has ended; there is no reference, so the station surveys with the next position'
  return 'the survey-in has ended; there is no other reference, so nothing goes out until there is one'
}

/** @param seen where the antenna is instead; undefined where that is only suspected */
export function movedText(seen: PositionComparison | undefined, evidence: string): string {
  if (!seen) return `the antenna seems to have moved: ${evidence}`
  return `reference moved by ${seen.text}${seen.hint}`
}

/** @param what moved, and how far @param isShown whether positions can show that the antenna is back: not after a move that is small beside their errors */
export function heldText(what: string, method: Reference['method'], isShown: boolean): Trouble {
  const back = isShown
    ? 'it goes on by itself when positions show for 10 min that the antenna is back'
    : 'where the antenna is exactly where it was, choose the same one again'
  return { text: `${what}: nothing goes out`, advice: `${anotherAdvice[method]}; ${back}` }
}

export const againAdvice = 'the receiver is configured again; check whether something else configures it'

/** The base sends something else than the reference, or no reference. */
export const isWrongBase = (event: Event): boolean => event === 'wrong 1005' || event === 'no 1005'

/** What the base sends was wrong before, and nothing has shown yet that it is not any more. */
export const isStillWrong = (event: Event): boolean =>
  isWrongBase(event) || event === 'not taken' || event === 'not our base' || event === 'cannot be verified'

export const checkedFirst = 'the reference is checked first'

/**
 * Why the gate was closed.
 * @param evidence that the antenna was moved, or may have been
 * @param base what is wrong with it, and how its newest 1005 differs from the reference
 */
export function holdReason(event: Event, evidence: string, base: { trouble: string; difference: string }): string {
  const { trouble, difference } = base
  switch (event) {
    case 'move suspected':
      return movedText(undefined, evidence)
    case 'port gone':
    case 'receiver silent':
      return 'the receiver is not there'
    case 'receiver restarted':
      return 'the receiver restarted: its reference is checked again'
    case 'still our base':
      return 'what the receiver sends shows first that nothing changed'
    case 'reference changed':
      return checkedFirst
    case 'station ID changed':
      return 'the receiver gets another station ID'
    case 'survey over':
      return checkedFirst
    case 'not our base':
    case 'cannot be verified':
      return difference ? `${difference}; ${checkedFirst}` : checkedFirst
    case 'survey failed':
      return 'the survey-in did not succeed, and there is no other reference'
    case 'survey asked for':
      return 'a survey-in runs'
    case 'observations stopped':
      return 'the receiver sends no observations: the reference is checked again'
    case 'signals lost':
      return `${evidence}: the reference is checked again`
    case '1005 stopped':
      return 'the receiver sends no 1005'
    default:
      return trouble
  }
}
