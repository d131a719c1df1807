import { Budget, type Rate } from 'rtk-base/link'

/** Of a station that has no budget yet, or had none for long, the whole burst is there. */
const mostKept = 20_000

/** Something that each station may cause so often: a burst at once, and then so many a second. */
export class StationBudgets {
  readonly #rate: Rate
  readonly #all = new Map<string, Budget>()

  /** @param burst how many at once @param every_s then one in this time, seconds */
  constructor(burst: number, every_s: number) {
    const each = 1_000
    this.#rate = { bytes_s: each / every_s, burst_bytes: burst * each, packets_s: 1 / every_s }
  }

  /** @param count at most the burst counts @returns false: too many */
  admits(serial: string, now_ms: number, count = 1): boolean {
    const budget = this.#all.get(serial) ?? new Budget(this.#rate, now_ms)
    this.#all.set(serial, budget)
    // A stranger chooses the serial numbers: the oldest entry makes room.
    if (this.#all.size > mostKept) this.#all.delete(this.#all.keys().next().value as string)
    return budget.admits(0, now_ms, count)
  }
}
