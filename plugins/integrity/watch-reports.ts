/** Warns while a base is in use: missing evidence, or evidence that contradicts the reference. */
import { offsetText, roundTo } from 'rtk-base/gnss'
import type { PluginContext, Trouble } from 'rtk-base/plugin'
import { TroubleShape } from 'rtk-base/schemas'
import { type Static, Type } from 'typebox'
import type { MovementWatch } from './code/movement.js'
import { heightHint } from './comparison.js'
import { unwatched_ms } from './limits.js'

const look_ms = 60_000

const unwatchedText: Trouble = {
  text: 'for 3 min neither the ranges of at least 8 satellites nor a second fix has located the antenna: a slow move would go unnoticed',
  advice: 'check the view of the sky, and whether other software configures the receiver',
}

const Report = Type.Enum(['gnss-unwatched', 'gnss-reference-doubtful'])
type Report = Static<typeof Report>

/** The raised reports, for the next instance of the plugin. */
export const ReportsSnapshot = Type.Array(Type.Tuple([Report, TroubleShape]))
type ReportsSnapshot = Static<typeof ReportsSnapshot>

export class WatchReports {
  readonly #errors: PluginContext['errors']
  readonly #geoidSeparation_m: () => number | undefined
  #standing = new Map<Report, Trouble>()
  #seenAt_ms = 0
  #lookedAt_ms = 0
  #advice = ''

  constructor(errors: PluginContext['errors'], geoidSeparation_m: () => number | undefined) {
    this.#errors = errors
    this.#geoidSeparation_m = geoidSeparation_m
  }

  /** The base is in use from now on. @param advice how to fix a wrong reference */
  begin(now_ms: number, advice: string): void {
    this.#seenAt_ms = now_ms
    this.#lookedAt_ms = now_ms
    this.#advice = advice
  }

  /** The base is no longer in use. */
  end(): void {
    for (const report of [...this.#standing.keys()]) this.#clear(report)
  }

  snapshot(): ReportsSnapshot {
    return [...this.#standing]
  }

  restore(standing: ReportsSnapshot): void {
    for (const [report, trouble] of standing) this.#raise(report, trouble)
  }

  /** Called every second while the base is in use. */
  second(movement: MovementWatch, now_ms: number): void {
    if (movement.delta_m(now_ms) !== undefined) {
      this.#seenAt_ms = now_ms
      this.#clear('gnss-unwatched')
    } else if (now_ms - this.#seenAt_ms >= unwatched_ms && !this.#standing.has('gnss-unwatched')) {
      this.#raise('gnss-unwatched', unwatchedText)
    }
    if (now_ms - this.#lookedAt_ms < look_ms) return
    this.#lookedAt_ms = now_ms
    const stands = this.#standing.has('gnss-reference-doubtful')
    const offset = movement.doubtful(now_ms, stands)
    if (!offset) this.#clear('gnss-reference-doubtful')
    else if (!stands) {
      const where = `by the ranges of the last 30 min the antenna is at ${offsetText(offset)} from the reference`
      const hint = heightHint(offset, this.#geoidSeparation_m())
      const then = `RTCM is still sent: check the reference position${hint}; if it is wrong, ${this.#advice}`
      const values = { east_m: roundTo(offset.east, 1), north_m: roundTo(offset.north, 1), up_m: roundTo(offset.up, 1) }
      this.#raise('gnss-reference-doubtful', { text: where, advice: then, values })
    }
  }

  /** Neither report stops RTCM. */
  #raise(report: Report, trouble: Trouble): void {
    this.#standing.set(report, trouble)
    this.#errors.raise(report, { severity: 'doubts', ...trouble })
  }

  #clear(report: Report): void {
    if (this.#standing.delete(report)) this.#errors.clear(report)
  }
}
