import type { StartCheck } from '../watch/start-check.js'
import { lateText, type Reports } from './reports.js'
import { isAbsent, isSettled, type State } from './table.js'

/** A person is informed when the way to a base takes longer than this. */
export const late_s = 900
/** The text follows the cause this often: fix and accuracy may come and go every second. */
const retold_s = 300

/** How long the station has been on its way, whatever states it went through; time without a receiver does not count. */
export class Lateness {
  readonly #reports: Reports
  readonly #check: Pick<StartCheck, 'newest'>
  readonly #accuracy_m: () => number
  #onTheWay_s = 0

  /** @param accuracy_m the accuracy that the first position needs */
  constructor(reports: Reports, check: Pick<StartCheck, 'newest'>, accuracy_m: () => number) {
    this.#reports = reports
    this.#check = check
    this.#accuracy_m = accuracy_m
  }

  /** Called every second. */
  second(state: State): void {
    if (isSettled(state)) this.#onTheWay_s = 0
    if (isSettled(state) || isAbsent(state)) return
    this.#onTheWay_s += 1
    if (this.#onTheWay_s < late_s) return
    if (this.#reports.stands('gnss-initial') && this.#onTheWay_s % retold_s !== 0) return
    this.#reports.raise('gnss-initial', lateText(state, this.#accuracy_m(), this.#check.newest()?.acc_m))
  }
}
