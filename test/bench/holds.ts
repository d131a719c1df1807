/**
 * How often a base that stands still is held because code evidence contradicts: the decision functions alone, fed with simulated offsets of both
 * kinds of evidence, one for each 10 s. Seeded.
 */
import { GaussMarkov, Random } from 'rtk-base/simulation'
import { rules as allRules, OffsetWatch, type Prior } from '../../plugins/reference/integrity/code/offset-watch.js'
import type { Enu } from '../../runtime/lib/gnss/index.js'
import { atMost, figure } from './measurement.js'
import { definePart } from './part.js'

interface Size {
  readonly stations: number
  readonly days: number
  /** Every sample goes through the watch: fewer of them. */
  readonly stationsOfDoubt: number
  readonly daysOfDoubt: number
}

const step_ms = 10_000
const day_s = 86_400
const year_days = 365
/** Slow parts change once a minute. */
const steps = 6

interface Surroundings {
  name: string
  /** Pseudorange residuals with the median of the constellation removed, rms, metres. */
  residual_m: readonly [number, number]
  /** Of the second solution, 3D 1 sigma: multipath of minutes, wander of hours. */
  multipath_m: number
  wander_m: number
  /** Highest error of the ionosphere in a day. */
  ionosphere_m: readonly [number, number]
  /** What the receiver says of the second solution. */
  acc_m: number
  /** Bursts of reflected signals in a day. */
  bursts: number
  isLimited: boolean
}

const typical: Surroundings = {
  name: 'typical',
  residual_m: [4.5, 8],
  multipath_m: 1.5,
  wander_m: 1,
  ionosphere_m: [1, 3],
  acc_m: 1.8,
  bursts: 0,
  isLimited: true,
}

const families: readonly Surroundings[] = [
  {
    name: 'quiet',
    residual_m: [0.8, 1.2],
    multipath_m: 0,
    wander_m: 0.5,
    ionosphere_m: [0.5, 1],
    acc_m: 1.2,
    bursts: 0,
    isLimited: true,
  },
  typical,
  // Two frequencies without ionosphere have three times the noise of one.
  { ...typical, name: 'typical, two frequencies', residual_m: [10, 16], ionosphere_m: [0, 0] },
  {
    name: 'obstructed',
    residual_m: [15, 20],
    multipath_m: 3,
    wander_m: 1.5,
    ionosphere_m: [1, 3],
    acc_m: 3,
    bursts: 48,
    isLimited: false,
  },
]

const uniform = (random: Random, [low, high]: readonly [number, number]) => low + (high - low) * random.uniform()
type Axes = [number, number, number]

/** How a 3D sigma divides into east, north and up, as satellites stand above the horizon only. */
const shares: Axes = [0.4, 0.4, 0.82]
/** A position of about 25 satellites, by the rms of one: PDOP with a clock for each constellation. */
const dilution = 1.3

class Wander {
  readonly #axes: GaussMarkov[]
  readonly #sigma_m: number
  constructor(random: Random, sigma_m: number, tau_s: number) {
    this.#sigma_m = sigma_m
    this.#axes = shares.map(() => new GaussMarkov(random, tau_s))
  }
  step(dt_s: number, onto: Axes): void {
    for (const axis of [0, 1, 2]) onto[axis] += this.#sigma_m * shares[axis] * this.#axes[axis].step(dt_s)
  }
}

/** Reflected signals for some minutes, now and then. */
class Bursts {
  readonly #random: Random
  readonly #perStep: number
  readonly #size_m: number
  #left = 0
  #value: Axes = [0, 0, 0]
  constructor(random: Random, perDay: number, size_m: number) {
    this.#random = random
    this.#perStep = (perDay * step_ms) / 1000 / day_s
    this.#size_m = size_m
  }
  step(onto: Axes): void {
    if (this.#left <= 0 && this.#random.uniform() < this.#perStep) {
      this.#left = Math.ceil(-Math.log(1 - this.#random.uniform()) * 12)
      for (const axis of [0, 1, 2]) this.#value[axis] = this.#size_m * shares[axis] * this.#random.normal()
    }
    if (this.#left-- <= 0) return
    for (const axis of [0, 1, 2]) onto[axis] += this.#value[axis]
  }
}

/** One series of offsets: noise of 10 s, parts that change in minutes to hours, the ionosphere, bursts. */
function offsets(
  random: Random,
  white_m: number,
  parts: Wander[],
  most_m: number,
  bursts: Bursts,
): (step: number) => Axes {
  const start_s = day_s * random.uniform()
  const slow: Axes = [0, 0, 0]
  const now: Axes = [0, 0, 0]
  return (step) => {
    if (step % steps === 0) {
      slow.fill(0)
      for (const part of parts) part.step((steps * step_ms) / 1000, slow)
      const up = most_m * Math.max(0, Math.cos((2 * Math.PI * (start_s + (step * step_ms) / 1000)) / day_s))
      slow[0] += 0.2 * up
      slow[1] += 0.2 * up
      slow[2] += 0.96 * up
    }
    for (const axis of [0, 1, 2]) now[axis] = slow[axis] + white_m * shares[axis] * random.normal()
    bursts.step(now)
    return now
  }
}

/** So many steps are remembered, and a watch that is needed is fed with. */
const remembered = 240
/** A watch that has just begun is fed all the time: its baseline is not known yet. */
const first = 720

/**
 * When the watch may find something: a median is farther away than a limit only where half of its samples are, on one axis, farther than
 * a part of the limit. In between nothing can come of feeding it. By rule: metres, steps of its window, how many of them.
 */
const looksAt = (sigma_m: number) =>
  allRules.map(({ window_ms, limit }) => {
    const { level_m, up_m } = limit(sigma_m)
    const window = Math.ceil(window_ms / step_ms) + (window_ms > 600_000 ? 6 : 1)
    return { near_m: Math.min(level_m / Math.SQRT2, up_m), window, enough: Math.max(1, Math.floor(window / 4)) }
  })

class Loudness {
  readonly #near_m: number
  readonly #enough: number
  readonly #ring: Uint8Array
  #count = 0
  constructor({ near_m, window, enough }: ReturnType<typeof looksAt>[number]) {
    this.#near_m = near_m
    this.#enough = enough
    this.#ring = new Uint8Array(window)
  }

  /** @returns whether enough of the window is far */
  add(farthest_m: number, step: number): boolean {
    const at = step % this.#ring.length
    const isLoud = farthest_m > this.#near_m ? 1 : 0
    this.#count += isLoud - this.#ring[at]
    this.#ring[at] = isLoud
    return this.#count >= this.#enough
  }
}

/** One station and kind of evidence. @returns how often it is held; it begins again then, as after a person has looked at it */
function run(offset: (step: number) => Axes, prior: Prior, sigma_m: number, isMirrored: boolean, days: number): number {
  const past = new Float32Array(3 * remembered)
  const last = (days * day_s * 1000) / step_ms
  let holds = 0
  let began = 0
  let rules = looksAt(sigma_m).map((rule) => new Loudness(rule))
  let watch: OffsetWatch | undefined = new OffsetWatch(prior, undefined, isMirrored)
  let baseline: Enu | undefined
  const feed = (to: OffsetWatch, step: number) => {
    const at = 3 * (step % remembered)
    return to.add({ east: past[at], north: past[at + 1], up: past[at + 2], sigma_m }, step * step_ms) !== undefined
  }
  for (let step = 0; step < last; step++) {
    const now = offset(step)
    past.set(now, 3 * (step % remembered))
    const expected = baseline ?? prior.offset
    const farthest_m = Math.max(
      Math.abs(now[0] - expected.east),
      Math.abs(now[1] - expected.north),
      Math.abs(now[2] - expected.up),
    )
    let isLoud = false
    for (const rule of rules) isLoud = rule.add(farthest_m, step) || isLoud
    const isNew = step - began < first
    let isHeld = false
    if (watch) isHeld = feed(watch, step)
    else if (isLoud) {
      watch = new OffsetWatch(prior, baseline, isMirrored)
      for (let before = step - remembered + 1; before <= step; before++) isHeld = feed(watch, before) || isHeld
    }
    if (isHeld) {
      holds++
      began = step
      baseline = undefined
      rules = looksAt(sigma_m).map((rule) => new Loudness(rule))
      watch = new OffsetWatch(prior, undefined, isMirrored)
    } else if (watch && !isNew && !isLoud) {
      baseline ??= watch.baseline
      watch = undefined
    }
  }
  return holds
}

/** How often the reference of one station becomes doubtful within some days: looked at once a minute, as the station does. */
function doubts(
  offset: (step: number) => Axes,
  prior: Prior,
  sigma_m: number,
  isMirrored: boolean,
  days: number,
): number {
  const watch = new OffsetWatch(prior, undefined, isMirrored)
  const last = (days * day_s * 1000) / step_ms
  let found = 0
  let stands = false
  for (let step = 0; step < last; step++) {
    const [east, north, up] = offset(step)
    watch.add({ east, north, up, sigma_m }, step * step_ms)
    if (step % steps !== 0) continue
    const isDoubtful: boolean = watch.doubtful(step * step_ms, stands) !== undefined
    if (isDoubtful && !stands) found++
    stands = isDoubtful
  }
  return found
}

function simulate(
  family: Surroundings,
  random: Random,
  judge: typeof run,
  days: number,
): { residuals: number; second: number } {
  const { multipath_m, wander_m, acc_m, bursts } = family
  // What the start-up check saw, and what is wrong with the reference: a survey-in of a metre or two.
  const prior_m = Math.hypot(1.1, acc_m / 2)
  const prior: Prior = {
    offset: {
      east: 0.4 * prior_m * random.normal(),
      north: 0.4 * prior_m * random.normal(),
      up: 0.8 * prior_m * random.normal(),
    },
    sigma_m: Math.max(1.5, acc_m),
  }
  const each_m = dilution * uniform(random, family.residual_m)
  const ranges = offsets(
    random,
    0.25 * each_m,
    [
      new Wander(random, 0.8 * each_m, 60 + 540 * random.uniform()),
      new Wander(random, wander_m, 7_200 + 21_600 * random.uniform()),
    ],
    uniform(random, family.ionosphere_m),
    new Bursts(random, bursts, 2 * each_m),
  )
  const second = offsets(
    random,
    0.2,
    [
      new Wander(random, 0.95, 300 + 900 * random.uniform()),
      new Wander(random, multipath_m, 120 + 1_080 * random.uniform()),
      new Wander(random, wander_m, 7_200 + 21_600 * random.uniform()),
    ],
    uniform(random, family.ionosphere_m),
    new Bursts(random, bursts, 2 * acc_m),
  )
  return { residuals: judge(ranges, prior, each_m, true, days), second: judge(second, prior, acc_m, false, days) }
}

export const part = definePart<Size>({
  sizes: {
    full: { stations: 60, days: 30, stationsOfDoubt: 12, daysOfDoubt: 10 },
    smoke: { stations: 4, days: 5, stationsOfDoubt: 2, daysOfDoubt: 1 },
  },
  notComparable: 'its figures are counts of seeded offsets: a round says nothing that the one before has not said',
  async run({ stations, days, stationsOfDoubt, daysOfDoubt }) {
    const years = (stations * days) / year_days
    const months = (stationsOfDoubt * daysOfDoubt) / 30
    return families.flatMap((family, i) => {
      const found = (judge: typeof run, count: number, length: number) => {
        const random = new Random(i + 1)
        return Array.from({ length: count }, () => simulate(family, random, judge, length))
      }
      const held = found(run, stations, days)
      const doubted = found(doubts, stationsOfDoubt, daysOfDoubt)
      const measured = (name: string, value: number, of: number) =>
        // Few stations and days: one alone is many a year.
        family.isLimited ? atMost(name, value, 1, '', Math.max(1, 1 / of)) : figure(name, value, '')
      return (['residuals', 'second'] as const).flatMap((kind) => {
        const sum = (counts: typeof held) => counts.reduce((total, each) => total + each[kind], 0)
        const what = `${family.name}, ${kind === 'second' ? 'second fix' : kind}`
        return [
          measured(`${what}: false holds a station and year`, sum(held) / years, years),
          measured(`${what}: times the reference is doubtful, a station and month`, sum(doubted) / months, months),
        ]
      })
    })
  },
})
