import type { Receiver } from 'rtk-base/services'
import type { Memory } from '../memory.js'
import type { ReferenceChoice } from '../reference/choice.js'
import type { Ledger } from '../reference/ledger.js'
import type { Surroundings } from '../surroundings.js'
import type { StartCheck } from '../watch/start-check.js'
import type { Suspicion } from '../watch/suspicion.js'
import { heldText, movedText, type Reports } from './reports.js'
import type { Event } from './table.js'

export interface MoveReportDeps {
  check: StartCheck
  choice: ReferenceChoice
  ledger: Ledger
  memory: Memory
  receiver: Pick<Receiver, 'fix'>
  reports: Reports
  surroundings: Surroundings
  suspicion: Suspicion
}

/** Enters a move in the ledger and reports it. @param event what showed it */
export function reportMove(deps: MoveReportDeps, event: Event): void {
  const { check, choice, ledger, memory, receiver, reports, surroundings, suspicion } = deps
  const { chosen } = choice
  const { evidence } = suspicion
  const suspected = event === 'move suspected'
  const isShown = !suspected || check.tells()
  const offset = suspected ? undefined : check.comparison?.offset
  const what = movedText(offset, evidence, receiver.fix?.geoidSeparation_m)
  if (chosen) ledger.moved(chosen, surroundings.utc_s(), suspected ? evidence : event, offset)
  void memory.set('ledger', ledger.entries)
  if (event !== 'survey elsewhere') {
    reports.raise('gnss-moved', heldText(what, choice.chosenMethod, isShown))
    return
  }
  const text = `${what}: a new survey-in was started`
  reports.raise('gnss-reference-moved', text)
  void memory.set('moved', text)
}

/** The antenna keeps moving after the report: its size and the advice are reported anew. */
export function retellMove({ check, choice, receiver, reports, suspicion }: MoveReportDeps): void {
  const what = movedText(undefined, suspicion.evidence, receiver.fix?.geoidSeparation_m)
  reports.raise('gnss-moved', heldText(what, choice.chosenMethod, check.tells()))
}
