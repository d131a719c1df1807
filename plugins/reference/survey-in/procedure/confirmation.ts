/** A person says that the antenna is at its reference, against the evidence. */
import type { ActionReturn } from 'rtk-base/plugin'
import type { MoveEvidence } from 'rtk-base/services'
import { overrideOf, whereText } from '../reference/override.js'
import { signatureOf } from '../reference/reference.js'
import type { ProcedureDeps } from './deps.js'
import type { State } from './table.js'

/** A move that was not reported for so long is over, at any usual interval of observations. */
const reported_ms = 6_000

export class Confirmation {
  readonly #deps: ProcedureDeps
  readonly #state: () => State
  readonly #confirmed: () => void
  #moveHeard_ms = Number.NEGATIVE_INFINITY

  /** @param confirmed called when it is durable that the reference is used again */
  constructor(deps: ProcedureDeps, state: () => State, confirmed: () => void) {
    this.#deps = deps
    this.#state = state
    this.#confirmed = confirmed
  }

  heardEvidence({ moved }: MoveEvidence): void {
    if (moved) this.#moveHeard_ms = this.#deps.ctx.clock.monotonic()
  }

  /** The station reports that the antenna is not at its reference. */
  get #isElsewhere(): boolean {
    const state = this.#state()
    return state === 'moved' || (state === 'survey' && this.#deps.reports.stands('gnss-reference-moved'))
  }

  /**
   * Without a position it is checked later.
   * @param by surface of the command
   * @returns what follows; durable when it resolves. undefined: no move is reported
   */
  async request(by: string): Promise<ActionReturn | undefined> {
    const { integrity, references, reports, store } = this.#deps
    const { chosen } = references
    if (!chosen || !this.#isElsewhere) return undefined
    await store.set('confirmation', { reference: signatureOf(chosen), t: references.utc_s(), by })
    const done = await this.check()
    if (done) return done
    const { needed_m } = integrity
    if (this.#state() === 'moved') reports.while('gnss-moved', { confirmed: true, needed_m })
    const text = `confirmed: it is checked as soon as the receiver has a position that is accurate to ${needed_m} m; nothing more is to be done`
    return { text, value: { used: false, needed_m } }
  }

  /** Called every second. @returns what follows; undefined: there is nothing to check, or no position yet */
  async check(): Promise<ActionReturn | undefined> {
    const { ctx, integrity, references, reports, store, surveyor } = this.#deps
    const confirmation = store.get('confirmation')
    const { chosen } = references
    if (!confirmation || !chosen || !this.#isElsewhere) return undefined
    const { by, t } = confirmation
    if (confirmation.reference !== signatureOf(chosen)) {
      await store.set('confirmation', undefined)
      return undefined
    }
    // The move is reported for some seconds, and would be suspected again.
    const isReported = ctx.clock.monotonic() - this.#moveHeard_ms < reported_ms
    const live = isReported ? undefined : integrity.position
    if (!live) return undefined
    const comparison = integrity.compare(live, chosen)
    const isAccurate = live.acc_m <= integrity.needed_m
    // Later starts are compared with it.
    if (comparison.agrees !== true && !isAccurate) return undefined
    const { text: evidence = '', move } = integrity.suspicion ?? {}
    const override = overrideOf(chosen, { live, comparison, move }, { by, t, evidence })
    const where = whereText(comparison, move)
    ctx.log.warn({ by }, `the reference was confirmed; ${where}`)
    if (isAccurate) integrity.notePosition()
    integrity.settle()
    for (const report of ['gnss-reference-moved', 'gnss-survey'] as const) reports.while(report, undefined)
    surveyor.asked = undefined
    surveyor.abort()
    const stored = references.confirm(chosen, override)
    const cleared = (['elsewhere', 'confirmation'] as const).map((name) => store.set(name, undefined))
    await Promise.all([stored, ...cleared])
    references.noteChosen()
    this.#confirmed()
    return { text: `the reference is used again; ${where}`, value: { used: true, distance_m: override.distance_m } }
  }
}
