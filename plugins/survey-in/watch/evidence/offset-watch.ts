/** Offsets of the antenna from the reference over time, compared with where they were at first. Pure. */
import type { Enu } from 'rtk-base/gnss'
import { median } from '../live-position.js'

/** Suspect: this far for 20 s, or this far as a median of 10 min. */
const far_m = 10
const far_ms = 20_000
const slow_m = 4
const slow_ms = 600_000
/** What was seen in the first 10 min after fixed is taken as where the antenna is. */
const baseline_ms = 600_000
/**
 * Until then what the start-up check saw. Only when that is small: the sign of the receiver's residuals is not documented,
 * and a wrong one must not look like a move.
 */
const priorLimit_m = 3
/** Without that, the first minute. */
const early_ms = 60_000
const sample_ms = 1000
const slowLook_ms = 10_000
const stale_ms = 10_000

interface Sample extends Enu {
  at_ms: number
}

const length = ({ east, north, up }: Enu) => Math.hypot(east, north, up)
const difference = (p: Enu, q: Enu): Enu => ({ east: p.east - q.east, north: p.north - q.north, up: p.up - q.up })
const middleOf = (samples: readonly Enu[]): Enu => ({
  east: median(samples.map(({ east }) => east)),
  north: median(samples.map(({ north }) => north)),
  up: median(samples.map(({ up }) => up)),
})

/** Finds an offset that is suspect: far for a short time, or less far for long. */
export class OffsetWatch {
  readonly #prior: Enu | undefined
  #samples: Sample[] = []
  #recent: Sample[] = []
  #started_ms: number | undefined
  #baseline: Enu | undefined
  #looked_ms = 0

  /**
   * @param prior the offset to be expected, as the start-up check saw it
   * @param baseline that of the watch before this one, where the base was fixed all the time
   */
  constructor(prior: Enu | undefined, baseline: Enu | undefined) {
    this.#prior = prior && length(prior) <= priorLimit_m ? prior : undefined
    this.#baseline = baseline
  }

  get baseline(): Enu | undefined {
    return this.#baseline
  }

  /** @returns how far it is away from where it was, when that is suspect */
  add(offset: Enu, at_ms: number): number | undefined {
    this.#started_ms ??= at_ms
    const last = this.#samples.at(-1)
    this.#recent.push({ ...offset, at_ms })
    this.#recent = this.#recent.filter((sample) => sample.at_ms >= at_ms - far_ms)
    if (!last || at_ms - last.at_ms >= sample_ms) this.#samples.push({ ...offset, at_ms })
    if (this.#samples.length > (2 * slow_ms) / sample_ms) {
      this.#samples = this.#samples.filter((sample) => sample.at_ms > at_ms - slow_ms)
    }
    this.#settle(at_ms)
    return this.#fast() ?? this.#slow(at_ms)
  }

  /** Median of the last 20 s; undefined when nothing came for 10 s. */
  newest(now_ms: number): Enu | undefined {
    const last = this.#recent.at(-1)
    return last && now_ms - last.at_ms <= stale_ms ? middleOf(this.#recent) : undefined
  }

  #settle(at_ms: number): void {
    if (this.#baseline || at_ms - (this.#started_ms ?? at_ms) < baseline_ms) return
    this.#baseline = middleOf(this.#samples)
  }

  /** Where it is expected: its own median, before that what the start-up check saw, else the first minute. */
  #expected(): Enu | undefined {
    if (this.#baseline || this.#prior) return this.#baseline ?? this.#prior
    const started_ms = this.#started_ms ?? 0
    const first = this.#samples.filter(({ at_ms }) => at_ms <= started_ms + early_ms)
    const newest_ms = this.#samples.at(-1)?.at_ms ?? 0
    return newest_ms > started_ms + early_ms ? middleOf(first) : undefined
  }

  #fast(): number | undefined {
    const expected = this.#expected()
    const [first] = this.#recent
    const last = this.#recent.at(-1)
    if (!expected || !last || last.at_ms - first.at_ms < far_ms - sample_ms) return undefined
    const nearest = Math.min(...this.#recent.map((sample) => length(difference(sample, expected))))
    return nearest > far_m ? nearest : undefined
  }

  #slow(at_ms: number): number | undefined {
    if (!this.#baseline || at_ms - this.#looked_ms < slowLook_ms) return undefined
    this.#looked_ms = at_ms
    // Ten minutes of their own after those of the baseline.
    if (at_ms - (this.#started_ms ?? at_ms) < baseline_ms + slow_ms) return undefined
    const window = this.#samples.filter((sample) => sample.at_ms > at_ms - slow_ms)
    const away_m = length(difference(middleOf(window), this.#baseline))
    return away_m > slow_m ? away_m : undefined
  }
}
