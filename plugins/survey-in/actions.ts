/** Carries the actions of the procedure out. What becomes of those that take a while comes back as an event. */
import type { Ecef, ReceiverTarget } from 'rtk-base/services'
import type { Baselines } from './movement.js'
import type { Parts } from './parts.js'
import type { HeldTarget } from './receiver-setup.js'
import { heldAdvice, holdReason, movedText } from './reports.js'
import type { Action, Event, State } from './table.js'

export class Actions {
  readonly #parts: Parts
  readonly #state: () => State
  readonly #dispatch: (event: Event) => void

  constructor(parts: Parts, state: () => State, dispatch: (event: Event) => void) {
    this.#parts = parts
    this.#state = state
    this.#dispatch = dispatch
  }

  /** @param event that it is done for */
  act(action: Action, event: Event): void {
    const { hardware, check, base, reports } = this.#parts
    switch (action) {
      case 'hold':
        hardware?.judge.hold(holdReason(event, this.#parts.evidence))
        return
      case 'trust':
        void this.#parts.settle()
        this.trust({})
        return
      case 'read mode':
        this.#readMode()
        return
      case 'set rover':
        check.clear()
        this.#configure({ mode: 'rover' })
        return
      case 'set base':
        this.#setBase()
        return
      case 'confirm base':
        this.#confirmBase()
        return
      case 'gather positions':
        check.clear()
        return
      case 'survey':
        this.#survey()
        return
      case 'report move':
        this.#reportMove(event)
        return
      case 'report fault':
        reports.raise('gnss-fault', `${base.trouble}; everything is tried again every minute`)
        return
    }
  }

  /** The gate opens for the base. @param baselines of the watch before this one, on a reload */
  trust(baselines: Baselines): void {
    const { base, check, hardware, ledger, memory, surroundings, trusted } = this.#parts
    const { target } = base
    if (!target || !hardware) return
    const { receiver, judge } = hardware
    const live = check.live?.position
    base.trust(live, { ...trusted.baselines(receiver, target, live), ...baselines })
    judge.trust({ arp: target.arp, stationId: receiver.stationId })
    if (ledger.used(target, surroundings.utc_s())) void memory.set('ledger', ledger.entries)
    void this.#parts.remember(true)
  }

  /** Where the antenna was when that was last known otherwise than by an echo of the base. */
  place(position: Ecef | undefined): void {
    this.#parts.check.live = position && { position, acc_m: 0, corrected: false }
  }

  #setBase(): void {
    const { base, references } = this.#parts
    base.target = references.chosen
    if (!base.target) {
      this.#dispatch('reference changed')
      return
    }
    const { arp, acc_m } = base.target
    this.#configure({ mode: 'fixed', arp, acc_m })
  }

  #configure(target: ReceiverTarget): void {
    const { base, hardware } = this.#parts
    void hardware?.setup.configure(target, (held) => {
      if (!held) base.trouble = hardware.setup.trouble
      this.#dispatch(held ? 'configured' : 'not taken')
    })
  }

  /** Verified beside whatever else goes on, and written where someone else changed it: a refusal counts as long as this base is in use. */
  #confirmBase(): void {
    const { base, hardware } = this.#parts
    const { target } = base
    if (!target) return
    void hardware?.setup.confirm({ mode: 'fixed', arp: target.arp, acc_m: target.acc_m }, () => {
      const state = this.#state()
      if (target !== base.target || (state !== 'accept' && state !== 'fixed')) return
      base.trouble = hardware.setup.trouble
      this.#dispatch('not taken')
    })
  }

  /** Reads what the receiver holds, where that can make a difference. */
  #readMode(): void {
    const { asked, hardware, trusted } = this.#parts
    const against = trusted.againstAsking(asked !== undefined)
    if (against) this.#startCold(against)
    else void hardware?.setup.read((held) => this.#judgeMode(held))
  }

  #judgeMode(held: HeldTarget): void {
    const { base, hardware, references, trusted } = this.#parts
    const { chosen } = references
    const against = hardware ? trusted.against(hardware.receiver, chosen, held) : 'it is gone'
    if (against) {
      this.#startCold(against)
      return
    }
    base.target = chosen
    this.place(trusted.live)
    this.#dispatch('still our base')
  }

  #startCold(why: string): void {
    this.#parts.ctx.log.info(`the start-up check comes first: ${why}`)
    this.#dispatch('not our base')
  }

  #survey(): void {
    const parts = this.#parts
    const { check, ctx, hardware, surroundings, surveyor } = parts
    const { run } = surveyor
    const goesOn = parts.asked === undefined && run?.mean && check.isNear({ arp: run.mean, corr: run.corrected })
    if (goesOn) ctx.log.info('the survey-in goes on where it was interrupted')
    else {
      // One that was aborted for want of corrections does not become a plain one by being started again.
      const { state, corrected } = surveyor.record
      const wasCorrected = parts.asked === undefined && state === 'aborted' && corrected
      surveyor.begin(wasCorrected || surroundings.isCorrected(hardware?.receiver), parts.asked ?? 'survey')
    }
    parts.asked = undefined
    parts.noteReference()
    parts.reports.clear('gnss-survey')
  }

  #reportMove(event: Event): void {
    const { check, evidence, ledger, memory, references, reports, surroundings } = this.#parts
    const { chosen } = references
    const suspected = event === 'move suspected'
    const offset = suspected ? undefined : check.comparison?.offset
    const what = movedText(offset, evidence)
    if (chosen) ledger.moved(chosen, surroundings.utc_s(), suspected ? evidence : event, offset)
    void memory.set('ledger', ledger.entries)
    if (event === 'survey elsewhere') {
      const text = `${what}: a new survey-in was started`
      reports.raise('gnss-reference-moved', text)
      void memory.set('moved', text)
      return
    }
    reports.raise('gnss-moved', `${what}: ${heldAdvice}`)
  }
}
