/** Warns while a base is in use: missing evidence, or evidence that contradicts the reference. */
import { type Enu, offsetText, roundTo } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import { ErrorValuesShape } from 'rtk-base/schemas'
import type { ErrorValues } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { MovementWatch } from './code/movement.js'
import { heightHint } from './comparison.js'
import { unwatched_ms } from './limits.js'

const look_ms = 60_000

const Report = Type.Enum(['gnss-unwatched', 'gnss-reference-doubtful'])
type Report = Static<typeof Report>

/** The raised reports, for the next instance of the plugin. */
export const ReportsSnapshot = Type.Array(Type.Tuple([Report, ErrorValuesShape]))
type ReportsSnapshot = Static<typeof ReportsSnapshot>

export class WatchReports {
  readonly #errors: PluginContext['errors']
  readonly #geoidSeparation_m: () => number | undefined
  #standing = new Map<Report, ErrorValues>()
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
    for (const report of [...this.#standing.keys()]) this.#while(report, undefined)
  }

  snapshot(): ReportsSnapshot {
    return [...this.#standing]
  }

  restore(standing: ReportsSnapshot): void {
    for (const [report, values] of standing) this.#while(report, values)
  }

  /** Called every second while the base is in use. */
  second(movement: MovementWatch, now_ms: number): void {
    const isWatched = movement.delta_m(now_ms) !== undefined
    if (isWatched) this.#seenAt_ms = now_ms
    if (isWatched || now_ms - this.#seenAt_ms >= unwatched_ms) this.#while('gnss-unwatched', isWatched ? undefined : {})
    if (now_ms - this.#lookedAt_ms < look_ms) return
    this.#lookedAt_ms = now_ms
    const offset = movement.doubtful(now_ms, this.#standing.has('gnss-reference-doubtful'))
    this.#while('gnss-reference-doubtful', offset && this.#valuesOf(offset))
  }

  #valuesOf(offset: Enu): ErrorValues {
    const values = { east_m: roundTo(offset.east, 1), north_m: roundTo(offset.north, 1), up_m: roundTo(offset.up, 1) }
    const hint = heightHint(offset, this.#geoidSeparation_m())
    return { ...values, _offset: offsetText(offset), _hint: hint, _remedy: this.#advice }
  }

  /** A report keeps the values that it began with. Neither of them stops RTCM. */
  #while(report: Report, values: ErrorValues | undefined): void {
    if ((values !== undefined) === this.#standing.has(report)) return
    if (values) this.#standing.set(report, values)
    else this.#standing.delete(report)
    this.#errors.while(report, values, { severity: 'doubts' })
  }
}
