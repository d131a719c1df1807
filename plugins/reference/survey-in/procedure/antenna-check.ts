/** Whether the antenna is at the reference: the start-up check, the evidence of moves, and how they are reported. */
import { isDeepStrictEqual } from 'node:util'
import { moveValues } from 'rtk-base/gnss'
import {
  type AntennaMove,
  correctionStatus,
  type Enu,
  type HeldTarget,
  type Judgement,
  type MoveEvidence,
  type PositionComparison,
} from 'rtk-base/services'
import { placeOf } from '../reference/override.js'
import type { ProcedureDeps } from './deps.js'
import { type Event, isPlaced, type State } from './table.js'
import { correctionsValues, gateReason, heldValues, movedText, movedValues } from './texts.js'

export class AntennaCheck {
  readonly #deps: ProcedureDeps
  readonly #suspicionStored: () => void
  #isSuspecting: boolean = false
  /** Why the position of the antenna is unknown, as text. */
  #unknown = ''
  /** Observations paused while the receiver was a base: a move that the phases show since then is one from the reference. */
  #paused = false

  /** @param suspicionStored called when a new suspicion is durable and stands */
  constructor(deps: ProcedureDeps, suspicionStored: () => void) {
    this.#deps = deps
    this.#suspicionStored = suspicionStored
  }

  /** A new step begins. @param why the event that led to it */
  begin(why: Event): void {
    const isOnTheWay = why === 'configured' || why === '3D fix' || why === 'fix lost'
    this.#paused = why === 'observations stopped' || (this.#paused && isOnTheWay)
  }

  // ── where it is ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** The start-up check. Where a survey-in was asked for, or interrupted, nothing is compared. */
  locate(): Event | undefined {
    const { integrity, references, surveyor } = this.#deps
    const chosen = surveyor.isWanted ? undefined : references.chosen
    const place = references.override?.place
    // Where a person confirmed the antenna, it is not compared with the reference again.
    if (chosen && place && !integrity.suspicion && integrity.isAt(place, 'window'))
      return integrity.locate(undefined) && 'agrees'
    const result = integrity.locate(chosen)
    if (!result) return undefined
    this.#reportCorrections(chosen && result.agrees ? integrity.comparison?.contradicted : undefined)
    if (!chosen) return 'nothing to compare'
    if (integrity.suspicion) return 'move suspected'
    if (result.agrees) return 'agrees'
    return chosen.method === 'survey' ? 'survey elsewhere' : 'manual elsewhere'
  }

  /** Called every second of `moved`. */
  back(): Event | undefined {
    const { integrity, references } = this.#deps
    const { chosen, override } = references
    if (!chosen || !integrity.isBack(placeOf(chosen, override))) return undefined
    integrity.settle()
    return 'agreed for 10 min'
  }

  /** Whether the receiver may have kept running as the trusted base. undefined: what it holds has to be read first. */
  keptRunning(held: HeldTarget | 'not asked'): Judgement {
    const { integrity, references, surveyor } = this.#deps
    // A survey-in may have been asked for while it was read.
    if (surveyor.isWanted) return { answer: false, why: 'a survey-in was asked for or interrupted' }
    return integrity.beginVerification(references.chosen, held)
  }

  /** Called every second of `verify`. @param announced the receiver sends the reference in its 1005 */
  verified(announced: boolean): Event | undefined {
    const { ctx, integrity } = this.#deps
    const { answer, why } = integrity.verify(announced)
    if (answer === undefined) return undefined
    if (!answer) ctx.log.info(`the start-up check comes first: ${why}`)
    return answer ? 'nothing changed' : 'cannot be verified'
  }

  // ── whether it moves ──────────────────────────────────────────────────────────────────────────────────────────────

  /** The meaning of evidence depends on the state; that of a survey-in is its own. */
  heard(evidence: MoveEvidence, state: State): Event | undefined {
    const { integrity } = this.#deps
    const { by, moved, text } = evidence
    if (by === 'phases' && !moved) this.#paused = false
    if (isPlaced(state)) {
      if (moved && this.#isSuspecting) return undefined
      // For code evidence against an untrusted base, and for moves of an already suspected antenna, the start-up check decides.
      if (moved && (state === 'fixed' || (by === 'phases' && !integrity.suspicion))) this.#suspect(evidence)
      else {
        this.#unknown = text
        return state === 'verify' ? 'cannot be verified' : 'antenna unknown'
      }
    } else if (by === 'code') return undefined
    else if (state === 'moved' && moved) this.#movesOn(evidence)
    // The result of the start-up check no longer counts.
    else if (this.#paused && moved) {
      if (!integrity.suspicion && !this.#isSuspecting) this.#suspect(evidence)
    }
    // Positions from before and after do not belong together.
    else if (state === 'initial' || state === 'moved') integrity.forgetPositions()
    return undefined
  }

  /** Held at once; announced when it is durable: a restart in between must not forget it. */
  #suspect(evidence: MoveEvidence): void {
    const { ctx, integrity, judge } = this.#deps
    judge.hold(gateReason(ctx.text, 'move-suspected', { evidence: evidence.text }))
    this.#isSuspecting = true
    void integrity.suspect(evidence).then(() => {
      this.#isSuspecting = false
      if (integrity.suspicion) this.#suspicionStored()
    })
  }

  /** A suspicion is being stored: until then, the base is not trusted again. */
  get isSuspected(): boolean {
    return this.#isSuspecting && this.#deps.integrity.suspicion !== undefined
  }

  /** Why it is not trusted to be at the reference, as text. */
  evidenceOf(event: Event): string {
    return event === 'antenna unknown' ? this.#unknown : (this.#deps.integrity.suspicion?.text ?? '')
  }

  /** The antenna is held at its first centimetres: how far it goes shows afterwards, and is reported anew. The history keeps both. */
  #movesOn({ text, size_m = 0, move }: MoveEvidence): void {
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

  // ── how it is reported ────────────────────────────────────────────────────────────────────────────────────────────

  reportMove(event: Event): void {
    const { integrity, references, reports, store } = this.#deps
    const isSuspected = event === 'move suspected'
    const comparison = isSuspected ? undefined : integrity.comparison
    const { text = '', move } = integrity.suspicion ?? {}
    references.moved(isSuspected ? text : event, comparison?.offset ?? offsetOf(move))
    if (event !== 'survey elsewhere') {
      this.#raiseMoved(comparison, isSuspected)
      return
    }
    const elsewhere = { ...movedValues(comparison, undefined), _move: movedText(comparison, text) }
    reports.while('gnss-reference-moved', elsewhere)
    void store.set('elsewhere', elsewhere)
  }

  /** @param contradicted position by corrections that contradict the reference and the position without them */
  #reportCorrections(contradicted: PositionComparison['contradicted']): void {
    const { ctx, reports } = this.#deps
    const source = ctx.services.find(correctionStatus)?.remote ?? ''
    reports.while('gnss-corrections', contradicted && correctionsValues(contradicted, source))
  }

  #raiseMoved(comparison: PositionComparison | undefined, isSuspected: boolean): void {
    const { integrity, references, reports, store } = this.#deps
    if (store.get('confirmation')) {
      reports.while('gnss-moved', { confirmed: true, needed_m: integrity.needed_m })
      return
    }
    const { text = '', move } = integrity.suspicion ?? {}
    const isShown = !isSuspected || integrity.canSeeReturn
    const values = heldValues(
      movedText(comparison, text),
      references.chosenMethod,
      isShown,
      comparison,
      movedValues(comparison, move),
    )
    reports.while('gnss-moved', values, isSuspected ? move?.t : undefined)
  }
}

/** Undefined: the direction is unknown. */
const offsetOf = (move: AntennaMove | undefined): Enu | undefined =>
  move?.vector && { east: move.vector.east_m, north: move.vector.north_m, up: move.vector.up_m }
