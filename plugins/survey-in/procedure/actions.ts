/** Carries out the actions of the procedure. The result of one that takes a while comes back as an event. */
import type { RtcmJudge } from 'rtk-base/services'
import type { BaseTrust } from '../trust/base-trust.js'
import type { BaseWatch } from '../watch/base-watch.js'
import type { BaseSetup } from './base-setup.js'
import { type MoveReportDeps, reportMove } from './move-report.js'
import { againAdvice, holdReason, isStillWrong, isWrongBase } from './reports.js'
import type { SurveyStep } from './survey-step.js'
import type { Action, Event } from './table.js'

export interface ActionDeps extends MoveReportDeps {
  judge: RtcmJudge
  base: BaseWatch
  trust: BaseTrust
  setup: BaseSetup
  survey: SurveyStep
}

export class Actions {
  readonly #deps: ActionDeps

  constructor(deps: ActionDeps) {
    this.#deps = deps
  }

  /** @param event that it is done for */
  act(action: Action, event: Event): void {
    const { base, check, judge, reports, setup, survey, suspicion, trust } = this.#deps
    switch (action) {
      case 'hold':
        if (!isStillWrong(event)) base.difference = ''
        judge.hold(holdReason(event, suspicion.evidence, base))
        // A fault that was reported stands until the base is trusted, or a rover.
        if (isWrongBase(event) && !reports.stands('gnss-fault'))
          reports.raise('gnss-fault', { text: base.trouble, advice: againAdvice })
        return
      case 'trust':
        void suspicion.settle()
        trust.trust()
        return
      case 'read mode':
        setup.readMode()
        return
      case 'set rover':
        check.clear()
        setup.setRover()
        return
      case 'set base':
        setup.setBase()
        return
      case 'confirm base':
        setup.confirm()
        return
      case 'gather positions':
        check.clear()
        return
      case 'survey':
        survey.begin()
        return
      case 'report move':
        reportMove(this.#deps, event)
        return
      case 'report fault':
        reports.raise('gnss-fault', {
          text: base.trouble,
          advice: 'everything is tried again every minute',
        })
        return
    }
  }
}
