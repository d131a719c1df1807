/** Observations are missing after this many intervals, but not before the time below. */
const missed = 3
const shortest_ms = 3_000

/** Whether observations go out, from the epochs that do. Pure. */
export class ObservationFlow {
  #newest_ms = Number.NEGATIVE_INFINITY
  /** Between the last epochs, the newest first. */
  #gaps_ms: number[] = []
  #begun_ms = Number.NEGATIVE_INFINITY
  /** Whether an epoch ever came: a receiver that someone else set up may send none. */
  seen = false

  /** The stream opened: observations have their time from now on. */
  begin(now_ms: number): void {
    this.#begun_ms = now_ms
  }

  epoch(now_ms: number): void {
    if (this.seen) this.#gaps_ms = [now_ms - this.#newest_ms, ...this.#gaps_ms].slice(0, 2)
    this.seen = true
    this.#newest_ms = now_ms
  }

  /**
   * How long the observations still count as flowing without another epoch, milliseconds; 0 or less when they stopped.
   * @param interval_s that the receiver is configured to; where it is not known, the last epochs show it
   */
  left_ms(now_ms: number, interval_s: number | undefined): number {
    // The smaller of the last two: one of them may be an interruption.
    const interval_ms = interval_s === undefined ? Math.min(...this.#gaps_ms) : interval_s * 1000
    const patience_ms = Number.isFinite(interval_ms) ? Math.max(shortest_ms, missed * interval_ms) : shortest_ms
    return Math.max(this.#newest_ms, this.#begun_ms) + patience_ms - now_ms
  }
}
