/** The entries of `base.state.errors` of this plugin. */
import type { PluginContext, Trouble } from 'rtk-base/plugin'
import { TroubleShape } from 'rtk-base/schemas'
import { type Static, Type } from 'typebox'
import { isAbsent, isSettled, type State } from './table.js'
import { lateText } from './texts.js'

const Report = Type.Enum([
  'gnss-corrections',
  'gnss-initial',
  'gnss-reference-drift',
  'gnss-reference-frame',
  'gnss-survey',
  'gnss-moved',
  'gnss-reference-moved',
  'gnss-fault',
])
export type Report = Static<typeof Report>

/** The raised errors, for the next instance on a reload. */
export const ReportsSnapshot = Type.Array(Type.Tuple([Report, Type.Union([Type.String(), TroubleShape])]))
export type ReportsSnapshot = Static<typeof ReportsSnapshot>

/** RTCM is sent despite these errors; the others explain why it is held. */
const doubts: ReadonlySet<Report> = new Set([
  'gnss-corrections',
  'gnss-reference-drift',
  'gnss-reference-frame',
  'gnss-reference-moved',
])

/** A person is informed when the way to a base takes longer than this. */
export const late_s = 900
/** The text follows the cause this often: fix and accuracy may come and go every second. */
const retold_s = 300

/** Keeps the raised errors, so that a reload does not lose an error whose cause persists. */
export class Reports {
  readonly #errors: PluginContext['errors']
  readonly #standing = new Map<Report, string | Trouble>()
  /** Time since RTCM was last sent, across states; time without a receiver does not count. */
  #onTheWay_s = 0

  constructor(errors: PluginContext['errors']) {
    this.#errors = errors
  }

  raise(report: Report, trouble: string | Trouble): void {
    this.#standing.set(report, trouble)
    const parts = typeof trouble === 'string' ? { text: trouble } : trouble
    this.#errors.raise(report, { severity: doubts.has(report) ? 'doubts' : 'silences', ...parts })
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

  /** Called every second. @param needed_m the accuracy that the first position needs @param best_m that there is; undefined without a fix */
  second(state: State, needed_m: number, best_m: number | undefined): void {
    if (isSettled(state)) this.#onTheWay_s = 0
    if (isSettled(state) || isAbsent(state)) return
    this.#onTheWay_s += 1
    if (this.#onTheWay_s < late_s) return
    if (this.stands('gnss-initial') && this.#onTheWay_s % retold_s !== 0) return
    this.raise('gnss-initial', lateText(state, needed_m, best_m))
  }

  snapshot(): ReportsSnapshot {
    return [...this.#standing]
  }

  restore(standing: ReportsSnapshot): void {
    for (const [report, trouble] of standing) this.raise(report, trouble)
  }
}
