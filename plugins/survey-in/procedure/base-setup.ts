/** Makes a rover or a base of the receiver, and finds out whether it still is our base. Results come back as events. */
import type { PluginContext } from 'rtk-base/plugin'
import type { Receiver, ReceiverTarget } from 'rtk-base/services'
import type { ReferenceChoice } from '../reference/choice.js'
import type { Reference } from '../reference/reference.js'
import type { SurveyRequest } from '../survey/survey-request.js'
import type { Surveyor } from '../survey/surveyor.js'
import type { BaseTrust } from '../trust/base-trust.js'
import type { LastTrust } from '../trust/last-trust.js'
import type { BaseWatch } from '../watch/base-watch.js'
import type { HeldTarget, ReceiverSetup } from './receiver-setup.js'
import type { Event, State } from './table.js'

export interface BaseSetupDeps {
  log: PluginContext['log']
  receiver: Receiver
  setup: ReceiverSetup
  base: BaseWatch
  choice: ReferenceChoice
  trust: BaseTrust
  last: LastTrust
  request: SurveyRequest
  surveyor: Pick<Surveyor, 'run'>
  state(): State
  dispatch(event: Event): void
}

/** The states in which the base is expected to hold what was written. */
const confirmed: readonly State[] = ['accept', 'verify', 'fixed']

export class BaseSetup {
  readonly #deps: BaseSetupDeps

  constructor(deps: BaseSetupDeps) {
    this.#deps = deps
  }

  setRover(): void {
    this.#configure({ mode: 'rover' })
  }

  setBase(): void {
    const { base, choice, dispatch } = this.#deps
    base.target = choice.chosen
    if (!base.target) {
      dispatch('reference changed')
      return
    }
    const { arp, acc_m } = base.target
    this.#configure({ mode: 'fixed', arp, acc_m })
  }

  /** Verifies the base while the procedure goes on, and writes it again where someone else changed it. A rejection counts while it is in use. */
  confirm(): void {
    const { base, dispatch, setup, state } = this.#deps
    const { target } = base
    if (!target) return
    void setup.confirm({ mode: 'fixed', arp: target.arp, acc_m: target.acc_m }, () => {
      if (target !== base.target || !confirmed.includes(state())) return
      base.rejected(setup.trouble)
      dispatch('not taken')
    })
  }

  /** Reads what the receiver holds, where that can make a difference. */
  readMode(): void {
    const against = this.#againstAsking()
    if (against) this.#startCold(against)
    else void this.#deps.setup.read((held) => this.#judge(held))
  }

  #againstAsking(): string {
    const { last, request, surveyor } = this.#deps
    return last.againstAsking(request.by !== undefined || surveyor.run !== undefined)
  }

  #judge(held: HeldTarget): void {
    const { choice, dispatch, last, receiver, trust } = this.#deps
    const { chosen } = choice
    // A survey-in may have been asked for while it was read.
    const against = this.#againstAsking() || last.against(receiver, chosen, held)
    if (against) {
      this.#startCold(against)
      return
    }
    trust.watch(chosen as Reference)
    dispatch('still our base')
  }

  #startCold(why: string): void {
    this.#deps.log.info(`the start-up check comes first: ${why}`)
    this.#deps.dispatch('not our base')
  }

  #configure(target: ReceiverTarget): void {
    const { base, dispatch, setup } = this.#deps
    void setup.configure(target, (held) => {
      if (!held) base.rejected(setup.trouble)
      dispatch(held ? 'configured' : 'not taken')
    })
  }
}
