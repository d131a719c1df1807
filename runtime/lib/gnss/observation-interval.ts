/** Observations no longer flow after this many of their intervals without one. */
const missed = 3
/** The messages of one epoch come together. */
const together_ms = 100

/** Time without an observation after which observations no longer flow, but not before `shortest_ms`. */
export const flowLimit_ms = (interval_ms: number | undefined, shortest_ms: number): number =>
  Math.max(shortest_ms, missed * (interval_ms ?? 0))

/** The interval of observations, measured as they come. */
export class ObservationInterval {
  #newest_ms = Number.NEGATIVE_INFINITY
  /** Between the last epochs, the newest first. */
  #gaps_ms: number[] = []

  /** Monotonic ms of the newest observation; -Infinity: none. */
  get newest_ms(): number {
    return this.#newest_ms
  }

  /** Undefined until a second epoch has come. The smaller of the last two gaps: one of them may be an interruption. */
  get interval_ms(): number | undefined {
    return this.#gaps_ms.length === 0 ? undefined : Math.min(...this.#gaps_ms)
  }

  heard(now_ms: number): void {
    const gap_ms = now_ms - this.#newest_ms
    if (gap_ms > together_ms && Number.isFinite(gap_ms)) this.#gaps_ms = [gap_ms, ...this.#gaps_ms].slice(0, 2)
    this.#newest_ms = now_ms
  }

  /** The time until the next observation is no gap: another connection brings it. */
  interrupted(): void {
    this.#newest_ms = Number.NEGATIVE_INFINITY
  }
}
