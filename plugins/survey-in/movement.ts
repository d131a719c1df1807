/** The movement check of a base in fixed mode: its own position is an echo, so other evidence has to tell. Pure. */
import { type Enu, enu } from 'rtk-base/gnss'
import type { Ecef, ReceiverFix, SatelliteResidual } from 'rtk-base/services'
import { isPosition, median } from './live-position.js'
import { offsetOf } from './residual-offset.js'

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
/** How the receiver says that its ranges do not fit the position that it holds. */
const warning = /base station position seems incorrect/i

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

/** One kind of evidence: offsets from the reference, held against where they were at first. */
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

/** Where each kind of evidence saw the antenna in its first 10 min: for the next watch of the same base. */
export interface Baselines {
  residuals?: Enu
  second?: Enu
}

/** All evidence together. Each call returns why the antenna is suspected to have moved, or undefined. */
export class MovementWatch {
  readonly #arp: Ecef
  readonly #residuals: OffsetWatch
  readonly #second: OffsetWatch

  /**
   * @param arp the reference that the base holds
   * @param live where the antenna was when it was last known otherwise
   */
  constructor(arp: Ecef, live: Ecef | undefined, baselines: Baselines = {}) {
    this.#arp = arp
    const prior = live && enu(arp, live)
    this.#residuals = new OffsetWatch(prior, baselines.residuals)
    this.#second = new OffsetWatch(prior, baselines.second)
  }

  get baselines(): Baselines {
    const { baseline: residuals } = this.#residuals
    const { baseline: second } = this.#second
    return { ...(residuals && { residuals }), ...(second && { second }) }
  }

  residuals(residuals: readonly SatelliteResidual[], now_ms: number): string | undefined {
    const offset = offsetOf(residuals)
    const away_m = offset && this.#residuals.add(offset, now_ms)
    return away_m === undefined ? undefined : `the ranges say ${away_m.toFixed(1)} m`
  }

  secondFix(fix: ReceiverFix, now_ms: number): string | undefined {
    // A firmware whose second solution only echoes the first tells nothing.
    if (!isPosition(fix)) return undefined
    const away_m = this.#second.add(enu(this.#arp, fix.position), now_ms)
    return away_m === undefined ? undefined : `the second position solution says ${away_m.toFixed(1)} m`
  }

  warning(text: string): string | undefined {
    return warning.test(text) ? `the receiver says: ${text}` : undefined
  }

  /** Distance to the reference by the best evidence of the last seconds, metres; undefined without any. */
  delta_m(now_ms: number): number | undefined {
    const offset = this.#second.newest(now_ms) ?? this.#residuals.newest(now_ms)
    return offset && length(offset)
  }
}
