/** Carries out the actions of the procedure. Slow actions report their result as an event. */
import { isDeepStrictEqual } from 'node:util'
import { moveValues } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import {
  type AntennaMove,
  correctionStatus,
  type Enu,
  type HeldTarget,
  type Integrity,
  type MoveEvidence,
  type PositionComparison,
  type Receiver,
  type ReceiverTarget,
  type RtcmJudge,
} from 'rtk-base/services'
import type { Reference } from '../reference/reference.js'
import type { References } from '../reference/references.js'
import type { ReferenceStore } from '../reference-store.js'
import type { Surveyor } from '../survey/surveyor.js'
import type { BaseWatch } from './base-watch.js'
import type { ChosenSignals } from './chosen-signals.js'
import { ReceiverSetup } from './receiver-setup.js'
import type { Reports } from './reports.js'
import type { SurveyStep } from './survey-step.js'
import { type Action, type Event, isConfirmed, isPlaced, type State } from './table.js'
import {
  anotherAdvice,
  correctionsValues,
  heldValues,
  holdReason,
  isStillWrong,
  isWrongBase,
  movedText,
  movedValues,
} from './texts.js'

export interface ActionDeps {
  ctx: PluginContext
  receiver: Receiver
  judge: RtcmJudge
  integrity: Integrity
  base: BaseWatch
  output: ChosenSignals
  references: References
  reports: Reports
  store: ReferenceStore
  survey: SurveyStep
  surveyor: Surveyor
}

export interface Course {
  readonly state: State
  dispatch(event: Event): void
}

export class Actions {
  readonly #deps: ActionDeps
  readonly #course: Course
  readonly #setup: ReceiverSetup
  #isSuspecting: boolean = false
  /** The last finding about the antenna, as text. */
  #seen = ''

  constructor(deps: ActionDeps, course: Course) {
    this.#deps = deps
    this.#course = course
    this.#setup = new ReceiverSetup(deps.ctx, deps.receiver, deps.output)
  }

  /** @param event that it is done for */
  act(action: Action, event: Event): void {
    const { base, integrity, receiver, reports, survey } = this.#deps
    switch (action) {
      case 'hold':
        this.#hold(event)
        break
      case 'trust':
        integrity.settle()
        this.trust()
        break
      case 'read mode':
        this.#readMode()
        break
      case 'set rover':
        integrity.forgetPositions()
        this.#configure({ mode: 'rover' })
        break
      case 'set base':
        this.#setBase()
        break
      case 'confirm base':
        this.#confirmBase()
        break
      case 'gather positions':
        // Of this epoch on: it has the fix.
        integrity.forgetPositions(receiver.fix?.arrival_ms)
        break
      case 'survey':
        survey.begin()
        break
      case 'report move':
        this.#reportMove(event)
        break
      case 'report fault':
        reports.while('gnss-fault', { reason: base.trouble, again: false })
        break
    }
  }

  /** The step is over: pending results are dropped. */
  cancel(): void {
    this.#setup.cancel()
  }

  // ── the gate ──────────────────────────────────────────────────────────────────────────────────────────────────────

  #hold(event: Event): void {
    const { base, judge, reports } = this.#deps
    if (!isStillWrong(event)) base.difference = ''
    const evidence = event === 'antenna unknown' ? this.#seen : this.#suspected
    judge.hold(holdReason(event, evidence, base))
    // A fault that was reported stands until the base is trusted, or a rover.
    if (isWrongBase(event) && !reports.stands('gnss-fault'))
      reports.while('gnss-fault', { reason: base.trouble, again: true })
  }

  /** Opens the gate for the base. */
  trust(): void {
    const { base, integrity, judge, receiver, references, store } = this.#deps
    const { target } = base
    if (!target) return
    base.trusted()
    void store.set('confirmation', undefined)
    const point = target.method === 'survey' ? 'phase-centre' : 'arp'
    judge.trust({ arp: target.arp, stationId: receiver.stationId, point })
    references.used(target)
    integrity.trust(target, anotherAdvice[target.method])
  }

  /** The antenna position became unknown at this moment. */
  lost({ text }: MoveEvidence): void {
    this.#seen = text
    this.#course.dispatch(this.#course.state === 'verify' ? 'cannot be verified' : 'antenna unknown')
  }

  /** Held at once; announced when it is durable: a restart in between must not forget it. */
  suspect(evidence: MoveEvidence): void {
    const { base, integrity, judge } = this.#deps
    judge.hold(holdReason('move suspected', evidence.text, base))
    this.#isSuspecting = true
    void integrity.suspect(evidence).then(() => {
      this.#isSuspecting = false
      if (integrity.suspicion && isPlaced(this.#course.state)) this.#course.dispatch('move suspected')
    })
  }

  /** A suspicion was raised and is being written. */
  get isSuspecting(): boolean {
    return this.#isSuspecting
  }

  /** A suspected base is not trusted again while the suspicion is being stored. */
  overrules(to: State): boolean {
    const isSuspected = this.#isSuspecting && this.#deps.integrity.suspicion !== undefined
    return isSuspected && isPlaced(this.#course.state) && isPlaced(to)
  }

  // ── the receiver ──────────────────────────────────────────────────────────────────────────────────────────────────

  get mayRestart(): boolean {
    return this.#setup.mayRestart
  }

  #setBase(): void {
    const { base, references } = this.#deps
    base.target = references.chosen
    if (base.target) this.#configure(targetOf(base.target))
    else this.#course.dispatch('reference changed')
  }

  #configure(target: ReceiverTarget): void {
    void this.#setup.configure(target, (held) => {
      if (!held) this.#deps.base.rejected(this.#setup.trouble)
      this.#course.dispatch(held ? 'configured' : 'not taken')
    })
  }

  /** Verifies the base while the procedure continues, and rewrites it if other software changed it. A rejection counts while the base is in use. */
  #confirmBase(): void {
    const { base } = this.#deps
    const { target } = base
    if (!target) return
    void this.#setup.confirm(targetOf(target), () => {
      if (target !== base.target || !isConfirmed(this.#course.state)) return
      base.rejected(this.#setup.trouble)
      this.#course.dispatch('not taken')
    })
  }

  /** Reads what the receiver holds, where that can make a difference. */
  #readMode(): void {
    if (this.#beginVerification('not asked') === undefined)
      void this.#setup.read((held) => this.#beginVerification(held))
  }

  /** @returns whether it does; undefined: the receiver has to be asked */
  #beginVerification(held: HeldTarget | 'not asked'): boolean | undefined {
    const { base, ctx, integrity, references, surveyor } = this.#deps
    const { chosen } = references
    // A survey-in may have been asked for while it was read.
    const { answer, why } = surveyor.isWanted
      ? { answer: false, why: 'a survey-in was asked for or interrupted' }
      : integrity.beginVerification(chosen, held)
    if (answer && chosen) {
      base.target = chosen
      this.#course.dispatch('still our base')
    } else if (answer !== undefined) {
      ctx.log.info(`the start-up check comes first: ${why}`)
      this.#course.dispatch('not our base')
    }
    return answer
  }

  // ── a move ────────────────────────────────────────────────────────────────────────────────────────────────────────

  get #suspected(): string {
    return this.#deps.integrity.suspicion?.text ?? ''
  }

  #reportMove(event: Event): void {
    const { integrity, references, reports, store } = this.#deps
    const isSuspected = event === 'move suspected'
    const seen = isSuspected ? undefined : integrity.comparison
    references.moved(isSuspected ? this.#suspected : event, seen?.offset ?? offsetOf(integrity.suspicion?.move))
    if (event !== 'survey elsewhere') {
      this.#raiseMoved(seen, isSuspected)
      return
    }
    const elsewhere = { ...movedValues(seen, undefined), _move: movedText(seen, this.#suspected) }
    reports.while('gnss-reference-moved', elsewhere)
    void store.set('elsewhere', elsewhere)
  }

  /** @param contradicted position by corrections that contradict the reference and the position without them */
  reportCorrections(contradicted: PositionComparison['contradicted']): void {
    const { ctx, reports } = this.#deps
    const source = ctx.services.find(correctionStatus)?.remote ?? ''
    reports.while('gnss-corrections', contradicted && correctionsValues(contradicted, source))
  }

  /** The antenna is held at its first centimetres: how far it goes shows afterwards, and is reported anew. The history keeps both. */
  movesOn({ text, size_m = 0, move }: MoveEvidence): void {
    const { integrity, references, store } = this.#deps
    integrity.forgetPositions()
    const { suspicion } = integrity
    const isNews = move && !(suspicion?.move && isDeepStrictEqual(moveValues(move), moveValues(suspicion.move)))
    if (!suspicion || !isNews) return
    void integrity.suspect({ text, size_m: Math.max(size_m, suspicion.size_m ?? 0), move })
    // A person spoke of the moves before.
    if (move.moves > (suspicion.move?.moves ?? 1)) void store.set('confirmation', undefined)
    if (!move.isLeast) references.moved(text, offsetOf(move))
    this.#raiseMoved(undefined, true)
  }

  #raiseMoved(seen: PositionComparison | undefined, isSuspected: boolean): void {
    const { integrity, references, reports, store } = this.#deps
    if (store.get('confirmation')) {
      reports.while('gnss-moved', { confirmed: true, needed_m: integrity.needed_m })
      return
    }
    const { move } = integrity.suspicion ?? {}
    const isShown = !isSuspected || integrity.canSeeReturn
    const text = movedText(seen, this.#suspected)
    const values = heldValues(text, references.chosenMethod, isShown, seen, movedValues(seen, move))
    reports.while('gnss-moved', values, isSuspected ? move?.t : undefined)
  }
}

/** Undefined: the direction is unknown. */
const offsetOf = (move: AntennaMove | undefined): Enu | undefined =>
  move?.vector && { east: move.vector.east_m, north: move.vector.north_m, up: move.vector.up_m }

const targetOf = ({ arp, acc_m }: Reference): ReceiverTarget => ({ mode: 'fixed', arp, acc_m })
