/** The entries of `base.state.errors` of this plugin. */
import type { PluginContext } from 'rtk-base/plugin'
import { ErrorValuesShape } from 'rtk-base/schemas'
import type { ErrorValues } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { isAbsent, isSettled, type State } from './table.js'
import { lateValues } from './texts.js'

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
export const ReportsSnapshot = Type.Array(
  Type.Tuple([Report, Type.Object({ values: ErrorValuesShape, t: Type.Optional(Type.Number()) })]),
)
export type ReportsSnapshot = Static<typeof ReportsSnapshot>
type Standing = ReportsSnapshot[number][1]

/** RTCM is sent despite these errors; the others explain why it is held. */
const doubts: ReadonlySet<Report> = new Set([
  'gnss-corrections',
  'gnss-reference-drift',
  'gnss-reference-frame',
  'gnss-reference-moved',
])

/** A person is informed when the way to a base takes longer than this. */
export const late_s = 900
/** The text is updated this often: fix and accuracy may come and go every second. */
const repeated_s = 300

/** Keeps the raised errors, so that a reload does not lose an error whose cause persists. */
export class Reports {
  readonly #errors: PluginContext['errors']
  readonly #standing = new Map<Report, Standing>()
  /** Time since RTCM was last sent, across states; time without a receiver does not count. */
  #onTheWay_s = 0

  constructor(errors: PluginContext['errors']) {
    this.#errors = errors
  }

  /** @param values undefined: the report does not stand @param t since when, UTC seconds; default: now */
  while(report: Report, values: ErrorValues | undefined, t?: number): void {
    if (values) this.#standing.set(report, { values, ...(t !== undefined && { t }) })
    else this.#standing.delete(report)
    this.#errors.while(report, values, { severity: doubts.has(report) ? 'doubts' : 'silences', t })
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
    if (this.stands('gnss-initial') && this.#onTheWay_s % repeated_s !== 0) return
    this.while('gnss-initial', lateValues(state, needed_m, best_m))
  }

  snapshot(): ReportsSnapshot {
    return [...this.#standing]
  }

  restore(standing: ReportsSnapshot): void {
    for (const [report, { values, t }] of standing) this.while(report, values, t)
  }
}
