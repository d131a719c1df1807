const week_ms = 604_800_000
/** Late frames of an earlier epoch are dropped; a time farther back is a new start. */
const reordering_ms = 3_000
/** A pause of the stream after which nothing is known about the time between, and as many intervals. */
const gap = { least_ms: 3_000, intervals: 3 }
const intervals = 8

/** The times of a stream's epochs on a scale without week ends, and the interval that they have. */
export class EpochClock {
  readonly #intervals_ms = new Float64Array(intervals).fill(Infinity)
  #epochs = 0
  #tow_ms = 0
  /** The time of the last epoch; not a number before the first. */
  time_ms = Number.NaN

  /** The shortest of the last intervals; infinite at the start. */
  get interval_ms(): number {
    let least = Infinity
    for (const interval_ms of this.#intervals_ms) least = Math.min(least, interval_ms)
    return least
  }

  /** How long the stream may pause. */
  get pause_ms(): number {
    const { interval_ms } = this
    return Math.max(gap.least_ms, interval_ms === Infinity ? 0 : gap.intervals * interval_ms)
  }

  /** @returns the time since the last epoch, 0 for the first, infinite when the clock was set back; undefined when the epoch is not newer */
  advance(tow_ms: number): number | undefined {
    if (!Number.isFinite(tow_ms)) return undefined
    if (Number.isNaN(this.time_ms)) {
      this.time_ms = 0
      this.#tow_ms = tow_ms
      return 0
    }
    const turned_ms = (((tow_ms - this.#tow_ms + week_ms / 2) % week_ms) + week_ms) % week_ms
    const interval_ms = turned_ms - week_ms / 2
    if (interval_ms <= 0 && interval_ms > -reordering_ms) return undefined
    this.#tow_ms = tow_ms
    if (interval_ms < 0) {
      this.time_ms += week_ms
      return Infinity
    }
    // Two pauses of the same length: someone chose a longer interval.
    const last_ms = this.#intervals_ms[(this.#epochs + intervals - 1) % intervals]
    const isChosen = interval_ms > this.pause_ms && Math.abs(interval_ms - last_ms) <= interval_ms / 50
    if (isChosen) this.#intervals_ms.fill(interval_ms)
    this.#intervals_ms[this.#epochs++ % intervals] = interval_ms
    this.time_ms += interval_ms
    return interval_ms
  }
}
