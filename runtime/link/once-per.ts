import type { Edges } from './port.js'

/** Reports of something that may happen all the time: one per period, with the number of those that were left out. */
export class OncePer {
  readonly #period_ms: number
  readonly #clock: Pick<Edges['clock'], 'monotonic'>
  #from_ms = Number.NEGATIVE_INFINITY
  #leftOut = 0

  constructor(period_ms: number, clock: Pick<Edges['clock'], 'monotonic'>) {
    this.#period_ms = period_ms
    this.#clock = clock
  }

  /** Calls `report` with the number of calls since the last report, this one included, unless that was less than a period ago. */
  report(report: (times: number) => void): void {
    this.#leftOut += 1
    const now_ms = this.#clock.monotonic()
    if (now_ms < this.#from_ms) return
    this.#from_ms = now_ms + this.#period_ms
    const times = this.#leftOut
    this.#leftOut = 0
    report(times)
  }
}
