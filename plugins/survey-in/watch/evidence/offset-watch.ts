/** Offsets of the antenna from the reference over time, compared with where they are expected. Pure. */
import type { Enu } from 'rtk-base/gnss'
import { median } from '../live-position.js'
import type { MeasuredOffset } from './residual-offset.js'

/**
 * What is suspect: a median over the window that is this far from where it is expected, and so many times the noise of single
 * offsets. Code ranges wander by metres over minutes to hours; the times and the factors were chosen with `npm run bench survey`.
 */
const rules = [
  { window_ms: 20_000, far_m: 20, sigmas: 8 },
  { window_ms: 120_000, far_m: 10, sigmas: 5 },
  { window_ms: 1_800_000, far_m: 6, sigmas: 3 },
] as const
/** A warning comes before a hold: half as far. */
const doubt = 0.5
/** The median of the first 10 min is where it is expected from then on, as long as the prior bears it out. */
const baseline_ms = 600_000
/** An offset must be within this of where it is expected to confirm it, and be measured well enough to say so. */
const confirms_m = 6
const confirmSigmas = 3
const confirm_ms = 14_000
/** Medians of so long stand for their samples. */
const block_ms = 10_000
const stale_ms = 10_000
const longest_ms = Math.max(...rules.map(({ window_ms }) => window_ms))

interface Sample extends MeasuredOffset {
  at_ms: number
}

const length = ({ east, north, up }: Enu) => Math.hypot(east, north, up)
const difference = (p: Enu, q: Enu): Enu => ({ east: p.east - q.east, north: p.north - q.north, up: p.up - q.up })
const middleOf = (samples: readonly Sample[]): MeasuredOffset => ({
  east: median(samples.map(({ east }) => east)),
  north: median(samples.map(({ north }) => north)),
  up: median(samples.map(({ up }) => up)),
  sigma_m: median(samples.map(({ sigma_m }) => sigma_m)),
})

/** Where the antenna was when that was last known otherwise. */
export interface Prior {
  offset: Enu
  /** 3D, 1 sigma, metres: of that position and of the reference together. */
  sigma_m: number
}

/** Finds an offset that is suspect: far for a short time, or less far for long. */
export class OffsetWatch {
  readonly #prior: Prior
  /** Where it may be expected as well: the sign of a receiver's residuals is not documented. */
  readonly #mirrored: boolean
  /** The last seconds, sample by sample. */
  #recent: Sample[] = []
  #blocks: Sample[] = []
  #blockFrom = 0
  #startedAt_ms: number | undefined
  #baseline: Enu | undefined

  /**
   * @param prior the offset to be expected
   * @param baseline that of the watch before this one, where the base was fixed all the time
   * @param mirrored whether the opposite of the prior is as likely
   */
  constructor(prior: Prior, baseline: Enu | undefined, mirrored: boolean) {
    this.#prior = prior
    this.#mirrored = mirrored
    this.#baseline = baseline && this.#bearsOut(baseline) ? baseline : undefined
  }

  get baseline(): Enu | undefined {
    return this.#baseline
  }

  /** @returns how far it is away from where it is expected, when that is suspect */
  add(offset: MeasuredOffset, at_ms: number): number | undefined {
    this.#startedAt_ms ??= at_ms
    const last = this.#recent.at(-1)
    // A gap: what was seen before it is of another time.
    if (last && at_ms - last.at_ms > stale_ms) this.#recent = []
    this.#recent.push({ ...offset, at_ms })
    const since_ms = at_ms - rules[0].window_ms
    if (this.#recent[0].at_ms < since_ms) this.#recent = this.#recent.filter((sample) => sample.at_ms >= since_ms)
    if (this.#closeBlock(at_ms)) {
      this.#settle(at_ms)
      return this.#far(at_ms)
    }
    return this.#isFar(this.#recent, rules[0], at_ms)
  }

  /** Median of the last 20 s; undefined when nothing came for 10 s. */
  newest(now_ms: number): MeasuredOffset | undefined {
    const last = this.#recent.at(-1)
    return last && now_ms - last.at_ms <= stale_ms ? middleOf(this.#recent) : undefined
  }

  /** Whether the last 15 s bear out where it is expected; undefined while they do not say. */
  confirms(now_ms: number): boolean | undefined {
    const [first] = this.#recent
    const offset = this.newest(now_ms)
    if (!offset || now_ms - first.at_ms < confirm_ms) return undefined
    if (confirmSigmas * offset.sigma_m > confirms_m * Math.sqrt(this.#recent.length)) return undefined
    return this.#away_m(offset) <= confirms_m
  }

  /** The offset of the last 30 min from the reference itself, when it is too large for the accuracies; undefined else. */
  doubtful(at_ms: number): Enu | undefined {
    const slow = rules[2]
    const blocks = this.#within(slow.window_ms, at_ms)
    if (blocks.length < slow.window_ms / block_ms / 2) return undefined
    const offset = middleOf(blocks)
    const limit_m = doubt * Math.max(slow.far_m, slow.sigmas * Math.max(offset.sigma_m, this.#prior.sigma_m))
    return length(offset) > limit_m ? offset : undefined
  }

  #closeBlock(at_ms: number): boolean {
    const from = Math.floor(at_ms / block_ms)
    if (from === this.#blockFrom) return false
    const begun_ms = this.#blockFrom * block_ms
    this.#blockFrom = from
    const samples = this.#recent.filter((sample) => sample.at_ms >= begun_ms && sample.at_ms < begun_ms + block_ms)
    if (samples.length === 0) return false
    this.#blocks.push({ ...middleOf(samples), at_ms: samples.at(-1)?.at_ms ?? at_ms })
    this.#blocks = this.#within(longest_ms, at_ms)
    return true
  }

  #within(window_ms: number, at_ms: number): Sample[] {
    return this.#blocks.filter((block) => block.at_ms > at_ms - window_ms - block_ms)
  }

  #settle(at_ms: number): void {
    if (this.#baseline || at_ms - (this.#startedAt_ms ?? at_ms) < baseline_ms) return
    const middle = middleOf(this.#within(baseline_ms, at_ms))
    if (this.#bearsOut(middle)) this.#baseline = middle
  }

  /** A baseline never forgets its prior: it lies within the uncertainty of both. */
  #bearsOut(baseline: Enu): boolean {
    return this.#fromPrior_m(baseline) <= Math.max(3, 2 * this.#prior.sigma_m)
  }

  #far(at_ms: number): number | undefined {
    for (const rule of rules) {
      const away_m = this.#isFar(rule === rules[0] ? this.#recent : this.#within(rule.window_ms, at_ms), rule, at_ms)
      if (away_m !== undefined) return away_m
    }
    return undefined
  }

  #isFar(samples: readonly Sample[], rule: (typeof rules)[number], at_ms: number): number | undefined {
    const [first] = samples
    if (!first || at_ms - first.at_ms < rule.window_ms - 1000) return undefined
    const middle = middleOf(samples)
    const away_m = this.#away_m(middle)
    return away_m > Math.max(rule.far_m, rule.sigmas * middle.sigma_m) ? away_m : undefined
  }

  #away_m(offset: Enu): number {
    return this.#baseline ? length(difference(offset, this.#baseline)) : this.#fromPrior_m(offset)
  }

  #fromPrior_m(offset: Enu): number {
    const { east, north, up } = this.#prior.offset
    const away_m = length(difference(offset, this.#prior.offset))
    return this.#mirrored
      ? Math.min(away_m, length(difference(offset, { east: -east, north: -north, up: -up })))
      : away_m
  }
}
