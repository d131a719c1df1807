/** Offsets of the antenna from the reference over time, compared with where they are expected. Pure. */
import { type Enu, median } from 'rtk-base/gnss'
import { stale_ms, explained as startCheck } from '../limits.js'
import type { MeasuredOffset } from './residual-offset.js'

/** Horizontally and vertically, metres: satellites stand above the horizon only, and the ionosphere errs upwards. */
export interface Limit {
  readonly level_m: number
  readonly up_m: number
}

interface Rule {
  readonly window_ms: number
  /** The limit in standard deviations of the median. */
  readonly sigmas: number
  /** From how far on the median of the window is suspect, by the noise of single offsets. */
  limit(sigma_m: number): Limit
}

const times = (factor: number, { level_m, up_m }: Limit): Limit => ({ level_m: factor * level_m, up_m: factor * up_m })
const alike = (limit_m: number): Limit => ({ level_m: limit_m, up_m: limit_m })

/** Offset explained by code range errors, for a given noise of single offsets. */
const explained = (sigma_m: number): Limit => ({
  level_m: Math.max(3, 1.5 * sigma_m),
  up_m: Math.max(4.5, 2.25 * sigma_m),
})
/** A warning comes before a hold, where the ionosphere of an afternoon does not explain it either, and goes well below its limit. */
const doubtful = (measured_m: number, prior_m: number): Limit => ({
  level_m: Math.max(2.2, 1.2 * measured_m, 1.9 * prior_m),
  up_m: Math.max(7, 4 * measured_m, 4 * prior_m),
})
const cleared = 0.6
/**
 * Rule for a suspicion: a median over the window that is farther from the expected offset than code ranges explain. Code errors wander by
 * metres over minutes to hours. The limits were chosen with `npm run bench holds`.
 */
const fast: Rule = { window_ms: 30_000, sigmas: 3, limit: (sigma_m) => times(3, explained(sigma_m)) }
const middle: Rule = {
  window_ms: 120_000,
  sigmas: 5,
  limit: (sigma_m) => alike(Math.max(5 * sigma_m, Math.hypot(10, 4 * sigma_m))),
}
const slow: Rule = { window_ms: 1_800_000, sigmas: 4, limit: (sigma_m) => alike(Math.hypot(6, 4 * sigma_m)) }
export const rules: readonly Rule[] = [fast, middle, slow]

/** The median of the first 10 min is where it is expected from then on, as far as the prior bears it out. */
const baseline_ms = 600_000
/**
 * An offset confirms the expectation in place of the start-up check: within the least limits of that check, and only if it is measured
 * well enough to tell. What it does not confirm, that check decides.
 */
const { level, up } = startCheck
const confirming: Limit = { level_m: level.least_m, up_m: up.least_m }
const confirmSigmas = 3
const confirm_ms = 14_000
/** Samples are condensed to medians of this length. */
const block_ms = 10_000
/** Number of blocks per median for rules over many minutes. */
const blocksOfLong = 6
const minute_ms = blocksOfLong * block_ms

interface Sample extends MeasuredOffset {
  at_ms: number
}

const length = ({ east, north, up }: Enu) => Math.hypot(east, north, up)
const isBeyond = ({ east, north, up }: Enu, { level_m, up_m }: Limit) =>
  Math.hypot(east, north) > level_m || Math.abs(up) > up_m
const difference = (p: Enu, q: Enu): Enu => ({ east: p.east - q.east, north: p.north - q.north, up: p.up - q.up })
const middleOf = (samples: readonly Sample[]): MeasuredOffset =>
  samples.length === 1
    ? samples[0]
    : {
        east: median(samples.map(({ east }) => east)),
        north: median(samples.map(({ north }) => north)),
        up: median(samples.map(({ up }) => up)),
        sigma_m: median(samples.map(({ sigma_m }) => sigma_m)),
      }

/** Samples taken after `after_ms`; `samples` is in order of time. */
function since(samples: Sample[], after_ms: number): Sample[] {
  let first = 0
  while (first < samples.length && samples[first].at_ms <= after_ms) first++
  return first === 0 ? samples : samples.slice(first)
}

/** Where the antenna was when that was last known otherwise. */
export interface Prior {
  offset: Enu
  /** 3D, 1 sigma, metres: of that position and of the reference together. */
  sigma_m: number
  /** The offset of the reference itself, where its frame is not that of the satellites; omitted: none. */
  reference?: Enu
}

/** How far the antenna is from where it is expected, with standard deviations, metres. */
export interface Away extends Enu {
  readonly sigma: Limit
}

/** Finds an offset that is suspect: far for a short time, or less far for long. */
export class OffsetWatch {
  readonly #prior: Prior
  /** Where it may be expected as well: the sign of a receiver's residuals is not documented. */
  readonly #mirrored: boolean
  /** The last seconds, sample by sample. */
  #recent: Sample[] = []
  /** Medians of 10 s, for two minutes. */
  #blocks: Sample[] = []
  /** Medians of a minute, for half an hour. */
  #minutes: Sample[] = []
  #unread = 0
  #blockFrom = 0
  #startedAt_ms: number | undefined
  #baseline: Enu | undefined

  /**
   * @param prior the expected offset
   * @param baseline the baseline of the previous watch, if the base was fixed throughout
   * @param mirrored whether the opposite of the prior is equally likely
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
  add(offset: MeasuredOffset, at_ms: number): Away | undefined {
    this.#startedAt_ms ??= at_ms
    const last = this.#recent.at(-1)
    // Samples from before a gap are stale.
    if (last && at_ms - last.at_ms > stale_ms) this.#recent = []
    this.#recent.push({ ...offset, at_ms })
    while (this.#recent[0].at_ms < at_ms - fast.window_ms) this.#recent.shift()
    if (this.#closeBlock(at_ms)) return this.#far(at_ms)
    return this.#isFar(this.#recent, fast, at_ms)
  }

  /** Median of the last 20 s; undefined when nothing came for 10 s. */
  newest(now_ms: number): MeasuredOffset | undefined {
    const last = this.#recent.at(-1)
    return last && now_ms - last.at_ms <= stale_ms ? middleOf(this.#recent) : undefined
  }

  /** Whether the last 15 s confirm the expected offset; undefined if they are inconclusive. */
  confirms(now_ms: number): boolean | undefined {
    const [first] = this.#recent
    const offset = this.newest(now_ms)
    if (!offset || now_ms - first.at_ms < confirm_ms) return undefined
    const error_m = (confirmSigmas * offset.sigma_m) / Math.sqrt(this.#recent.length)
    if (level.share * error_m > confirming.level_m || up.share * error_m > confirming.up_m) return undefined
    return !isBeyond(this.#away(offset), confirming)
  }

  /** From the reference itself, in one frame. */
  fromReference(offset: Enu): Enu {
    const { reference } = this.#prior
    return reference ? difference(offset, this.#nearest(offset, reference)) : offset
  }

  /**
   * The offset of the last 30 min from the reference itself, when it is too large for the accuracies; undefined else.
   * @param stands it was too large before
   */
  doubtful(at_ms: number, stands: boolean): Enu | undefined {
    const minutes = since(this.#minutes, at_ms - slow.window_ms - minute_ms)
    if (minutes.length < slow.window_ms / minute_ms / 2) return undefined
    const { sigma_m, ...measured } = middleOf(minutes)
    const offset = this.fromReference(measured)
    const limit = doubtful(sigma_m, this.#prior.sigma_m)
    return isBeyond(offset, times(stands ? cleared : 1, limit)) ? offset : undefined
  }

  #closeBlock(at_ms: number): boolean {
    const from = Math.floor(at_ms / block_ms)
    if (from === this.#blockFrom) return false
    const begun_ms = this.#blockFrom * block_ms
    this.#blockFrom = from
    const samples = this.#recent.filter((sample) => sample.at_ms >= begun_ms && sample.at_ms < begun_ms + block_ms)
    if (samples.length === 0) return false
    this.#blocks.push({ ...middleOf(samples), at_ms: samples.at(-1)?.at_ms ?? at_ms })
    this.#blocks = since(this.#blocks, at_ms - middle.window_ms - block_ms)
    if (++this.#unread >= blocksOfLong) this.#closeMinute(at_ms)
    return true
  }

  #closeMinute(at_ms: number): void {
    this.#minutes.push({ ...middleOf(this.#blocks.slice(-this.#unread)), at_ms })
    this.#minutes = since(this.#minutes, at_ms - slow.window_ms - minute_ms)
    this.#unread = 0
    this.#settle(at_ms)
  }

  #settle(at_ms: number): void {
    if (this.#baseline || at_ms - (this.#startedAt_ms ?? at_ms) < baseline_ms) return
    this.#baseline = this.#bounded(middleOf(since(this.#minutes, at_ms - baseline_ms - minute_ms)))
  }

  #bearsOut(baseline: Enu): boolean {
    return this.#fromPrior_m(baseline) <= Math.max(3, 2 * this.#prior.sigma_m)
  }

  /** A baseline never forgets its prior: farther away than that bears out, it goes only a part of the way. */
  #bounded(found: Enu): Enu {
    if (this.#bearsOut(found)) return found
    const expected = this.#nearestPrior(found)
    const away = difference(found, expected)
    const share = Math.max(1.5, this.#prior.sigma_m) / length(away)
    return {
      east: expected.east + share * away.east,
      north: expected.north + share * away.north,
      up: expected.up + share * away.up,
    }
  }

  #far(at_ms: number): Away | undefined {
    return (
      this.#isFar(this.#recent, fast, at_ms) ??
      this.#isFar(this.#blocks, middle, at_ms) ??
      // The long window changes once a minute.
      (this.#unread === 0 ? this.#isFar(this.#minutes, slow, at_ms) : undefined)
    )
  }

  #isFar(samples: readonly Sample[], rule: Rule, at_ms: number): Away | undefined {
    const [first] = samples
    if (!first || at_ms - first.at_ms < rule.window_ms - 1000) return undefined
    if (this.#isPlainlyNear(samples, rule)) return undefined
    const found = middleOf(samples)
    const away = this.#away(found)
    const limit = rule.limit(found.sigma_m)
    return isBeyond(away, limit) ? { ...away, sigma: times(1 / rule.sigmas, limit) } : undefined
  }

  /** Without sorting: where most samples are near on each axis, so is the median. Nearly always. */
  #isPlainlyNear(samples: readonly Sample[], { limit }: Rule): boolean {
    const { east, north, up } = this.#baseline ?? this.#prior.offset
    let sigma_m = Number.POSITIVE_INFINITY
    for (const sample of samples) sigma_m = Math.min(sigma_m, sample.sigma_m)
    const { level_m, up_m } = limit(sigma_m)
    const near_m = level_m / Math.SQRT2
    let e = 0
    let n = 0
    let u = 0
    for (const sample of samples) {
      if (Math.abs(sample.east - east) <= near_m) e++
      if (Math.abs(sample.north - north) <= near_m) n++
      if (Math.abs(sample.up - up) <= up_m) u++
    }
    return Math.min(e, n, u) > samples.length / 2
  }

  #away(offset: Enu): Enu {
    return difference(offset, this.#baseline ?? this.#nearestPrior(offset))
  }

  #fromPrior_m(offset: Enu): number {
    return length(difference(offset, this.#nearestPrior(offset)))
  }

  #nearestPrior(offset: Enu): Enu {
    return this.#nearest(offset, this.#prior.offset)
  }

  #nearest(offset: Enu, expected: Enu): Enu {
    if (!this.#mirrored) return expected
    const opposite = { east: -expected.east, north: -expected.north, up: -expected.up }
    return length(difference(offset, opposite)) < length(difference(offset, expected)) ? opposite : expected
  }
}
