import type { Enu } from 'rtk-base/gnss'
import type { Placed, Sample } from './departure.js'
import { type Displacement, doubtOf } from './displacement.js'
import { orderStatistic } from './order-statistic.js'

/** Positions that are kept: more than `span_ms` at 5 Hz. */
const capacity = 128
/** The net displacement is the one over this time. */
export const span_ms = 10_000
/** A displacement that lasts this long is not a swing. At 1 Hz these are three epochs. */
const confirm_ms = 2_000
/** While a mast sways, as long as this. */
const confirmSwaying_ms = 8_000
/** Decides from this part of the threshold, so that noise does not hide a move of just the threshold. */
const decideFrom = 0.6
/** The part of the displacement that the epochs which confirm it may differ from their mean. */
const steadiness = 0.5
/** A displacement of fewer standard deviations is noise. */
export const significance = 5
/** A displacement of fewer is no motion at all. */
const quiet = 3
/**
 * Decision levels, in standard deviations, for a move of less than `thresholds` thresholds. `atOnce` applies if at least `share` of it came
 * within the confirming samples and those just before, otherwise `slowly`. Multipath and satellite clocks let the position of a stationary
 * antenna drift by 2 to 3 cm, mostly upwards: in 32 simulated days of typical surroundings by up to 4.7 standard deviations, seldom at once. Above 3.5
 * the rate falls by a factor of e per 0.3. The rest is a margin for what real skies do besides.
 */
const small = { thresholds: 4 / 3, atOnce: 5.5, slowly: 7, share: 0.6, samples: 3 }
/** Above this rms, as a part of the threshold, the mast sways. */
const swaying = 1 / 3
/** And in standard deviations: below is noise. */
const noisy = 2
/** A step is looked for between the medians of this time before and behind it. */
const settle_ms = 4_000
/**
 * A move too small to be reported becomes a part of the past some seconds later, and the antenna seems to be as far to the other side: in
 * as many samples of the time before it was at least this part of the way there.
 */
const rebound = { within_ms: 15_000, samples: 2, share: 0.4 }
/** A swing is seen against the median of at least so many samples. */
const leastOfMedian = 5
/** An antenna that stays within this for as many samples as a third difference has leaves less than 8 cm in it. */
const still_m = 0.01
const stillSamples = 4
/** And only with this part of the satellites of the minute, all the time: others have other errors, which look like a step. */
const settlesWith = 0.8
/** With less than this share of satellites, the limit is multiplied: few satellites give a slightly different position than all. */
const fewer = { share: 0.6, times: 3 }
const usual_ms = 60_000
/** Minimum size, minimum standard deviations, and the part that must happen within two samples. */
const step = { least_m: 0.012, significance: 7, sharpness: 0.6 }

/**
 * Interprets the sequence of positions. Positions count from the start of the watch. The *level* is the antenna position without
 * swings. It changes only by lasting steps. Each kept epoch remembers its own level, so a step does not bend
 * the polynomials fitted later.
 */
export class Motion {
  readonly #threshold_m: number
  /** Rings by sample number. */
  readonly #times_ms = new Float64Array(capacity)
  readonly #positions = new Float64Array(capacity * 3)
  readonly #levels = new Float64Array(capacity * 3)
  readonly #sigmas = new Float64Array(capacity * 3)
  readonly #satellites = new Uint8Array(capacity)
  readonly #sorted = new Float64Array(capacity)
  readonly #candidate = new Float64Array(3)
  #next = 0
  #first = 0
  /** The level of now. */
  readonly level = { east: 0, north: 0, up: 0 }
  /** When the last step began, as far as the level changed. */
  #stepped_ms = -Infinity
  #usualFrom_ms = -Infinity
  /** The last rms before the antenna left its level. */
  #calm_m = 0
  /** When its displacement was last within its noise. */
  #quietAt_ms = -Infinity

  constructor(threshold_m: number) {
    this.#threshold_m = threshold_m
  }

  /** Nothing is known about the time before; the antenna is at its level by definition. */
  restart(): void {
    this.#first = this.#next
    this.level.east = 0
    this.level.north = 0
    this.level.up = 0
    this.#stepped_ms = -Infinity
    this.#calm_m = 0
  }

  /** When the antenna was last where it used to be. */
  get quietAt_ms(): number {
    return this.#quietAt_ms
  }

  /** The loss of most satellites was reported: fewer are usual from now on. */
  forgetUsual(): void {
    if (this.#next > this.#first) this.#usualFrom_ms = this.#times_ms[(this.#next - 1) % capacity]
  }

  /**
   * Takes the position of an epoch.
   * @param stepNoise standard deviation of the difference of two positions, in those of one
   * @param bent_m a displacement in the past that is extrapolated makes a position step by up to so much
   * @returns when the level stepped, since when; else undefined
   */
  add(time_ms: number, position: Displacement, stepNoise: number, bent_m: number): number | undefined {
    this.keep(time_ms, position)
    return this.#settle(time_ms, position, stepNoise, bent_m)
  }

  /** Stores the position of an antenna that is on its way: its level stays where it was. */
  keep(time_ms: number, position: Displacement): void {
    if (this.#next - this.#first === capacity) this.#first++
    const slot = this.#next++ % capacity
    this.#times_ms[slot] = time_ms
    this.#positions.set([position.east_m, position.north_m, position.up_m], slot * 3)
    this.#levels.set([this.level.east, this.level.north, this.level.up], slot * 3)
    const { east_m, north_m, up_m } = position.sigma
    this.#sigmas.set([east_m, north_m, up_m], slot * 3)
    this.#satellites[slot] = position.satellites
  }

  /** The newest, and those before it after `from_ms`, with the errors of the newest. */
  since(from_ms: number, position: Placed, stepNoise: number): [...Sample[], Sample] {
    const samples: [...Sample[], Sample] = [
      { time_ms: this.#times_ms[(this.#next - 1) % capacity], position, stepNoise },
    ]
    for (let sample = this.#next - 2; sample >= this.#first; sample--) {
      const slot = sample % capacity
      if (this.#times_ms[slot] <= from_ms) break
      const [east_m, north_m, up_m] = this.#positions.subarray(slot * 3, slot * 3 + 3)
      samples.unshift({ time_ms: this.#times_ms[slot], position: { ...position, east_m, north_m, up_m }, stepNoise })
    }
    return samples
  }

  /** Whether third differences up to this time hold nothing of the motion of the antenna. */
  isStill(time_ms: number): boolean {
    const isKnown = this.#times_ms[(this.#next + capacity - 1) % capacity] === time_ms
    if (!isKnown || this.#next - this.#first < stillSamples) return false
    for (let sample = this.#next - stillSamples; sample < this.#next; sample++) {
      const at = (sample % capacity) * 3
      const [east, north, up] = this.#levels.subarray(at, at + 3)
      const positions = this.#positions
      if (Math.hypot(positions[at] - east, positions[at + 1] - north, positions[at + 2] - up) > still_m) return false
    }
    return true
  }

  /** The displacement between the level 10 s ago and now. */
  net(time_ms: number, position: Displacement): Enu {
    let sample = Math.max(this.#first, this.#next - 1)
    while (sample > this.#first && this.#times_ms[sample % capacity] > time_ms - span_ms) sample--
    const at = (sample % capacity) * 3
    return {
      east: position.east_m - this.#levels[at],
      north: position.north_m - this.#levels[at + 1],
      up: position.up_m - this.#levels[at + 2],
    }
  }

  /**
   * The antenna position if it is off its level by as much as decides a move: such an epoch would bend later polynomials.
   * Only as clear as a move, and only for an antenna that was calm before and left its place at once. Otherwise errors would feed themselves:
   * those of the extrapolation come slowly, so the median of the last 10 s has them too.
   * @param position the newest that was added
   */
  swungOut(position: Displacement): Enu | undefined {
    const { east_m, north_m, up_m, sigma } = position
    if (this.#calm_m > this.#threshold_m * swaying) return undefined
    const { level } = this
    const [east, north, up] = [east_m - level.east, north_m - level.north, up_m - level.up]
    const normalised = Math.hypot(east / sigma.east_m, north / sigma.north_m, up / sigma.up_m)
    const least_m = this.#threshold_m * decideFrom
    if (Math.hypot(east, north, up) < least_m || normalised < significance * doubtOf(position)) return undefined
    const newest = this.#next - 1
    if (!this.#isSeenBy(fewer.share, newest, this.#next)) return undefined
    const recent = this.#reaching(this.#next, this.#times_ms[newest % capacity] - span_ms)
    this.#median(Math.max(this.#first, Math.min(recent, this.#next - leastOfMedian)), this.#next, this.#before)
    return this.#distance(newest, this.#before) < least_m ? undefined : { east: east_m, north: north_m, up: up_m }
  }

  /** Whether the antenna was to the other side before, which an earlier move explains as well. */
  rebounds({ east_m, north_m, up_m }: Displacement): boolean {
    const square = east_m * east_m + north_m * north_m + up_m * up_m
    const from = this.#reaching(this.#next, this.#times_ms[(this.#next - 1) % capacity] - rebound.within_ms)
    let opposite = 0
    for (let sample = from; sample < this.#next; sample++) {
      const at = (sample % capacity) * 3
      const [e, n, u] = this.#positions.subarray(at, at + 3)
      // Whatever became of its level.
      if (e * east_m + n * north_m + u * up_m <= -rebound.share * square) opposite++
    }
    return opposite >= rebound.samples
  }

  /** Rms of the distance from the level over the last 10 s, or since the last step; undefined with fewer than 5 samples. */
  sway_m(time_ms: number): number | undefined {
    const from_ms = Math.max(time_ms - span_ms, this.#stepped_ms)
    const mean = this.#candidate.fill(0)
    let count = 0
    for (let sample = this.#next - 1; sample >= this.#first; sample--) {
      const slot = sample % capacity
      if (this.#times_ms[slot] < from_ms) break
      for (let axis = 0; axis < 3; axis++) mean[axis] += this.#positions[slot * 3 + axis]
      count++
    }
    if (count < 5) return undefined
    let squares = 0
    for (let sample = this.#next - count; sample < this.#next; sample++) {
      const at = (sample % capacity) * 3
      for (let axis = 0; axis < 3; axis++) squares += (this.#positions[at + axis] - mean[axis] / count) ** 2
    }
    return Math.sqrt(squares / count)
  }

  /**
   * Whether the antenna moved: it has settled at least the threshold away from its start, or every sample of the last 2 s is beyond the decision
   * level, they agree, and their mean is significant. While the mast sways, only the mean and median of 8 s are used.
   */
  moved(time_ms: number, position: Displacement): boolean {
    const { level } = this
    if (Math.hypot(level.east, level.north, level.up) >= this.#threshold_m) return true
    const net = this.net(time_ms, position)
    const decide_m = this.#threshold_m * decideFrom
    if (Math.hypot(net.east, net.north, net.up) < decide_m) {
      this.#calm_m = this.sway_m(time_ms) ?? 0
    }
    const { east_m, north_m, up_m } = position.sigma
    if (Math.hypot(net.east / east_m, net.north / north_m, net.up / up_m) < quiet) this.#quietAt_ms = time_ms
    const sways = this.#calm_m > Math.max(this.#threshold_m * swaying, noisy * Math.hypot(east_m, north_m, up_m))
    const from_ms = time_ms - (sways ? confirmSwaying_ms : confirm_ms) * 0.99
    let samples = 0
    let covered_ms = 0
    let east = 0
    let north = 0
    let up = 0
    // A good second does not improve the preceding second with few satellites.
    const worst = this.#candidate.fill(0)
    // One more than begins within the time: the samples must span it.
    for (let sample = this.#next - 1; sample >= this.#first; sample--) {
      const slot = sample % capacity
      east += this.#positions[slot * 3]
      north += this.#positions[slot * 3 + 1]
      up += this.#positions[slot * 3 + 2]
      for (let axis = 0; axis < 3; axis++) worst[axis] = Math.max(worst[axis], this.#sigmas[slot * 3 + axis])
      samples++
      covered_ms = time_ms - this.#times_ms[slot]
      if (this.#times_ms[slot] <= from_ms) break
    }
    if (samples < 2 || covered_ms < time_ms - from_ms) return false
    const offset = { east: position.east_m - net.east, north: position.north_m - net.north, up: position.up_m - net.up }
    east = east / samples - offset.east
    north = north / samples - offset.north
    up = up / samples - offset.up
    const size_m = Math.hypot(east, north, up)
    const normalised = Math.hypot(east / worst[0], north / worst[1], up / worst[2])
    const isSeen = this.#isSeenBy(fewer.share, this.#next - samples, this.#next)
    const least_m = isSeen ? decide_m : fewer.times * decide_m
    const isSmall = size_m < small.thresholds * this.#threshold_m
    const cameAtOnce = isSmall && this.#shareOfLast(samples, { east, north, up }, offset) >= small.share
    const clear = !isSmall ? significance : cameAtOnce ? small.atOnce : small.slowly
    if (size_m < least_m || normalised < clear * doubtOf(position)) return false
    if (sways) {
      // A single swing, however far, is in the mean as well.
      this.#median(this.#next - samples, this.#next, this.#after)
      const [e, n, u] = this.#after
      return Math.hypot(e - offset.east, n - offset.north, u - offset.up) >= least_m
    }
    for (let sample = this.#next - samples; sample < this.#next; sample++) {
      const at = (sample % capacity) * 3
      const e = this.#positions[at] - offset.east
      const n = this.#positions[at + 1] - offset.north
      const u = this.#positions[at + 2] - offset.up
      if (Math.hypot(e, n, u) < decide_m) return false
      if (Math.hypot(e - east, n - north, u - up) > steadiness * size_m) return false
    }
    return true
  }

  /**
   * How much of a net displacement is missing just before it: 1 where all of it came at once, 0 where it was there before, or where
   * nothing is known of that time.
   * @param samples that confirm it @param net their mean, from `offset`
   */
  #shareOfLast(samples: number, net: Enu, offset: Enu): number {
    const end = this.#next - samples
    if (end - small.samples < this.#first) return 0
    let already = 0
    for (let sample = end - small.samples; sample < end; sample++) {
      const at = (sample % capacity) * 3
      already += (this.#positions[at] - offset.east) * net.east
      already += (this.#positions[at + 1] - offset.north) * net.north
      already += (this.#positions[at + 2] - offset.up) * net.up
    }
    return 1 - already / small.samples / (net.east ** 2 + net.north ** 2 + net.up ** 2)
  }

  /**
   * A step becomes the level when the median of 4 s behind it differs from that of 4 s before it, clearly and at once. Slow
   * changes do not count, nor do those that a displacement in the past explains: they may be errors of the extrapolation, which a changed
   * level would feed.
   */
  #settle(time_ms: number, position: Displacement, stepNoise: number, bent_m: number): number | undefined {
    const { sigma } = position
    const end = this.#next
    const middle = this.#reaching(end, time_ms - settle_ms)
    if (middle <= this.#first + 1) return undefined
    const stepped_ms = this.#times_ms[middle % capacity]
    const begin = this.#reaching(middle, stepped_ms - settle_ms)
    if (end - middle < 3 || middle - begin < 3 || !this.#isSeenBy(settlesWith, begin, end)) return undefined
    this.#median(middle, end, this.#after)
    this.#median(begin, middle, this.#before)
    const [e, n, u] = this.#after.map((value, axis) => value - this.#before[axis])
    const size_m = Math.hypot(e, n, u)
    const normalised = Math.hypot(e / sigma.east_m, n / sigma.north_m, u / sigma.up_m) / stepNoise
    if (size_m < Math.max(step.least_m, bent_m) || normalised < step.significance * doubtOf(position)) return undefined
    const sharp = this.#between(middle - 2, middle, e, n, u) / size_m
    if (sharp < step.sharpness * size_m) return undefined
    for (let sample = begin; sample < end; sample++) {
      const side = sample < middle ? this.#before : this.#after
      if (this.#distance(sample, side) > steadiness * size_m) return undefined
    }
    const { level } = this
    level.east += e
    level.north += n
    level.up += u
    for (let sample = middle; sample < end; sample++) {
      this.#levels.set([level.east, level.north, level.up], (sample % capacity) * 3)
    }
    this.#stepped_ms = stepped_ms
    return stepped_ms
  }

  /** Whether all of these samples rest on at least this share of the satellites that there were. */
  #isSeenBy(share: number, begin: number, end: number): boolean {
    let most = 0
    const from_ms = Math.max(this.#times_ms[(end - 1) % capacity] - usual_ms, this.#usualFrom_ms)
    for (let sample = end - 1; sample >= this.#first && this.#times_ms[sample % capacity] >= from_ms; sample--) {
      most = Math.max(most, this.#satellites[sample % capacity])
    }
    for (let sample = begin; sample < end; sample++) {
      if (this.#satellites[sample % capacity] < share * most) return false
    }
    return true
  }

  readonly #after = new Float64Array(3)
  readonly #before = new Float64Array(3)

  /** The first sample of those before `end` that lie at `from_ms` or later. */
  #reaching(end: number, from_ms: number): number {
    let sample = end
    while (sample > this.#first && this.#times_ms[(sample - 1) % capacity] >= from_ms) sample--
    return sample
  }

  #median(begin: number, end: number, into: Float64Array): void {
    for (let axis = 0; axis < 3; axis++) {
      for (let sample = begin; sample < end; sample++) {
        this.#sorted[sample - begin] = this.#positions[(sample % capacity) * 3 + axis]
      }
      into[axis] = orderStatistic(this.#sorted, end - begin, (end - begin) >> 1)
    }
  }

  /** The way from one sample to another along a direction, times its length. */
  #between(from: number, to: number, east: number, north: number, up: number): number {
    const p = (from % capacity) * 3
    const q = (to % capacity) * 3
    const positions = this.#positions
    return (
      (positions[q] - positions[p]) * east +
      (positions[q + 1] - positions[p + 1]) * north +
      (positions[q + 2] - positions[p + 2]) * up
    )
  }

  #distance(sample: number, from: Float64Array): number {
    const at = (sample % capacity) * 3
    const positions = this.#positions
    return Math.hypot(positions[at] - from[0], positions[at + 1] - from[1], positions[at + 2] - from[2])
  }
}
