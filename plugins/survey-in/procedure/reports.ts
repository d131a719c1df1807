/** Texts for people: the entries of `base.state.errors`, why the gate is closed, and what to do about it. */
import type { Enu } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import { offsetText } from '../reference/reference.js'
import type { SurveyEnd } from '../survey/survey-run.js'
import { type Event, type State, states } from './table.js'

export type Report = 'gnss-initial' | 'gnss-survey' | 'gnss-moved' | 'gnss-reference-moved' | 'gnss-fault'

/** The errors of this plugin; remembers them, so that a reload does not lose one whose cause goes on. */
export class Reports {
  readonly #errors: PluginContext['errors']
  readonly #standing = new Map<Report, string>()

  constructor(errors: PluginContext['errors']) {
    this.#errors = errors
  }

  raise(report: Report, text: string): void {
    this.#standing.set(report, text)
    this.#errors.raise(report, text)
  }

  clear(...reports: Report[]): void {
    for (const report of reports) {
      this.#standing.delete(report)
      this.#errors.clear(report)
    }
  }

  stands(report: Report): boolean {
    return this.#standing.has(report)
  }

  snapshot(): [Report, string][] {
    return [...this.#standing]
  }

  restore(standing: readonly [Report, string][]): void {
    for (const [report, text] of standing) this.raise(report, text)
  }
}

/** Why it takes so long. @param best_m the accuracy that there is, metres; undefined without a fix */
export function lateText(state: State, accuracy_m: number, best_m: number | undefined): string {
  const late = 'nothing has gone out for 15 min'
  const sky = 'check the antenna and its view of the sky'
  const best = best_m === undefined ? 'no steady fix' : `${best_m.toFixed(1)} m`
  switch (state) {
    case 'acquire':
      return `${late}: no 3D fix; ${sky}`
    case 'initial':
      return `${late}: no steady position as good as ${accuracy_m} m (${best}); ${sky}, or raise gnss-initial-accuracy`
    case 'accept':
      return `${late}: the receiver sends no observations; ${sky}, and what else may configure the receiver`
    default:
      return `${late}: the station waits ${states[state].waits}; check that its line works both ways, and its power`
  }
}

export const noPositionText =
  'the survey-in got no position for 15 min: check the antenna and its view of the sky; it goes on as soon as one comes'

/** @param count epochs that went in */
export function surveyText({ state, reason }: SurveyEnd, count: number): string {
  const use = state === 'incomplete' && count > 0 ? 'use-incomplete-survey-in lets it be used, ' : ''
  return `the survey-in is ${state}: ${reason}; ${use}start-survey-in starts a new one`
}

/** @param seen where the antenna is instead; undefined where that is only suspected */
export function movedText(seen: Enu | undefined, evidence: string): string {
  return seen ? `reference moved by ${offsetText(seen)}` : `the antenna seems to have moved: ${evidence}`
}

export const heldAdvice =
  'nothing goes out until it agrees for 10 min, another reference is set or chosen, or start-survey-in'

export const againAdvice = 'the receiver is configured again; check whether something else configures it'

/** The base sends something else than the reference, or no reference. */
export const isWrongBase = (event: Event): boolean => event === 'wrong 1005' || event === 'no 1005'

export const checkedFirst = 'the reference is checked first'

/**
 * Why the gate was closed.
 * @param evidence that the antenna was moved
 * @param trouble what is wrong with the base
 */
export function holdReason(event: Event, evidence: string, trouble: string): string {
  switch (event) {
    case 'move suspected':
      return movedText(undefined, evidence)
    case 'port gone':
    case 'receiver silent':
      return 'the receiver is not there'
    case 'receiver restarted':
      return 'the receiver restarted: its reference is checked again'
    case 'not our base':
    case 'reference changed':
      return checkedFirst
    case 'survey asked for':
      return 'a survey-in runs'
    case 'RTCM stopped':
    case 'no RTCM for 10 min':
      return 'the receiver sends no RTCM'
    default:
      return trouble
  }
}
