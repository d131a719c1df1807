import { Budget, FairShare } from 'rtk-base/link'

/** A stranger chooses the serial numbers: the oldest entry makes room. */
const mostKept = 20_000

/** Something that each station may cause so often: a burst at once, and then so many a second. */
export class StationBudgets {
  readonly #share: FairShare<Budget>

  /** @param burst how many at once @param every_s then one in this time, seconds */
  constructor(burst: number, every_s: number) {
    const each = 1_000
    const rate = { bytes_s: each / every_s, burst_bytes: burst * each, packets_s: 1 / every_s }
    this.#share = new FairShare({
      key: (serial) => serial,
      open: (now_ms) => new Budget(rate, now_ms),
      isIdle: (budget, now_ms) => budget.isCalm(now_ms),
      most: mostKept,
    })
  }

  /** @param count at most the burst counts @returns false: too many */
  admits(serial: string, now_ms: number, count = 1): boolean {
    return this.#share.of(serial, now_ms).admits(0, now_ms, count)
  }
}
