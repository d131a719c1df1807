/** Whether an antenna moved, from the offsets of many days: a step or a drift. */
import type { Enu } from '../../../../schemas/services.js'
import { median } from '../../gnss/index.js'
import { listed, type NetCause } from './cause.js'

/** An offset of one day. */
export interface DailyOffset {
  /** UTC, seconds since 1970. */
  readonly t_s: number
  /** True minus announced position, metres. */
  readonly offset: Enu
  readonly sigma: Enu
}

/** The offset of a day: of each axis the median of its samples. */
export function dailyOffset(t_s: number, samples: readonly Omit<DailyOffset, 't_s'>[]): DailyOffset {
  const medians = (part: 'offset' | 'sigma'): Enu => {
    const of = (axis: keyof Enu) => median(samples.map((sample) => sample[part][axis]))
    return { east: of('east'), north: of('north'), up: of('up') }
  }
  return { t_s, offset: medians('offset'), sigma: medians('sigma') }
}

const day_s = 86_400
const year_s = 365.25 * day_s
/** Days that are needed, on each side of a step, the newest that are used, and those of them that are tried: a long move shows in a part of them as well, in a tenth of the time. */
const days = { least: 14, side: 5, most: 400, tried: 120 }
/** A move is stated from this many standard deviations, since every day is tried; its other directions from `besides`. */
const significant = { sigmas: 6, besides: 4 }
/** Smaller moves are not stated, metres. Those that are not sudden may be the yearly wave of a building or of the ground. */
const least_m = { sudden: { level: 0.005, up: 0.01 }, slow: { level: 0.01, up: 0.015 } }
/** A step is sudden if this part of it shows between the days next to it. */
const sudden = 0.7
/** The correlation of days; more is not told from a move. */
const mostCorrelated = 0.9
/**
 * Factors for normally distributed values: standard deviation by the median deviation, and of a median by that of the
 * mean.
 */
const byDeviation = 1.4826
const ofMedian = 1.2533

const axes = ['east', 'north', 'up'] as const
const words = {
  east: ['to the east', 'to the west'],
  north: ['to the north', 'to the south'],
  up: ['up', 'down'],
} as const

/** How one axis moved under one assumption. */
interface Move {
  /** Over the days, metres. */
  readonly size_m: number
  readonly sigma_m: number
  /** Median deviation of the days from it. */
  readonly misfit_m: number
  readonly isSudden: boolean
}

/**
 * Steps by the difference of medians, drifts by the slope of Theil and Sen (Sen 1968, J. Am. Stat. Assoc. 63), whichever
 * fits better. Correlated days count as fewer. A yearly rate is stated from a year of days.
 * @returns undefined: no significant move, or fewer than 14 days
 */
export function movementOf(offsets: readonly DailyOffset[]): NetCause | undefined {
  const known = usable(offsets)
  const first = known[0]?.t_s ?? 0
  const last = known[known.length - 1]?.t_s ?? 0
  if (known.length < days.least || last - first < (days.least - 1) * day_s) return undefined
  const series = (axis: keyof Enu) => known.map(({ offset }) => offset[axis])
  const times = known.map(({ t_s }) => t_s)
  let best: { move: Move; of: (values: readonly number[]) => Move; step: number | undefined } | undefined
  for (const axis of axes) {
    const values = series(axis)
    const drift = (some: readonly number[]) => drifted(times, some)
    const candidates: { of: (some: readonly number[]) => Move; step: number | undefined }[] = [
      { of: drift, step: undefined },
    ]
    const step = likelyStep(values)
    candidates.push({ of: (some) => stepped(some, step), step })
    const moves = candidates.map((candidate) => ({ ...candidate, move: candidate.of(values) }))
    moves.sort((p, q) => p.move.misfit_m - q.move.misfit_m)
    const [found] = moves
    if (!found || !isMove(found.move, axis, significant.sigmas)) continue
    if (!best || strength(found.move) > strength(best.move)) best = found
  }
  if (!best) return undefined
  const { of, step } = best
  const moved = axes
    .map((axis) => ({ axis, move: of(series(axis)) }))
    .filter(({ axis, move }) => isMove(move, axis, move === best.move ? significant.sigmas : significant.besides))
  return cause(moved, step === undefined ? undefined : times[step], first, last)
}

const strength = ({ size_m, sigma_m }: Move) => Math.abs(size_m) / sigma_m
const isMove = (move: Move, axis: keyof Enu, sigmas: number) =>
  strength(move) > sigmas &&
  Math.abs(move.size_m) >= least_m[move.isSudden ? 'sudden' : 'slow'][axis === 'up' ? 'up' : 'level']

/** Finite, in the order of time, without days that are much less precise than most. */
function usable(offsets: readonly DailyOffset[]): DailyOffset[] {
  const finite = offsets.filter(({ t_s, offset, sigma }) =>
    [t_s, ...axes.map((axis) => offset[axis]), ...axes.map((axis) => sigma[axis])].every(Number.isFinite),
  )
  const all = finite.sort((p, q) => p.t_s - q.t_s).slice(-days.most)
  const step = Math.ceil(all.length / days.tried)
  const newest = all.filter((_, at) => (all.length - 1 - at) % step === 0)
  const size = ({ sigma }: DailyOffset) => Math.hypot(sigma.east, sigma.north, sigma.up)
  const usual_m = newest.length > 0 ? median(newest.map(size)) : 0
  return newest.filter((one) => size(one) <= 3 * usual_m)
}

/** The day from which on the values differ most from those before, by the sum of absolute deviations. */
function likelyStep(values: readonly number[]): number {
  let best = days.side
  let least = Infinity
  for (let at = days.side; at <= values.length - days.side; at++) {
    const sum = deviations(values, at).reduce((total, value) => total + Math.abs(value), 0)
    if (sum < least) [least, best] = [sum, at]
  }
  return best
}

function deviations(values: readonly number[], at: number): number[] {
  const [before, after] = [median(values.slice(0, at)), median(values.slice(at))]
  return values.map((value, index) => value - (index < at ? before : after))
}

function stepped(values: readonly number[], at: number): Move {
  const left = deviations(values, at)
  const { noise_m, share } = noiseOf(left)
  const counts = 1 / (at * share) + 1 / ((values.length - at) * share)
  const size_m = median(values.slice(at)) - median(values.slice(0, at))
  const next_m = median(values.slice(at, at + days.side)) - median(values.slice(at - days.side, at))
  const isSudden = next_m / size_m >= sudden
  return { size_m, sigma_m: noise_m * ofMedian * Math.sqrt(counts), misfit_m: meanSize(left), isSudden }
}

function drifted(times: readonly number[], values: readonly number[]): Move {
  const slopes: number[] = []
  for (let p = 0; p < values.length; p++) {
    for (let q = p + 1; q < values.length; q++) {
      const time = times[q] - times[p]
      if (time > 0) slopes.push((values[q] - values[p]) / time)
    }
  }
  const slope = slopes.length > 0 ? median(slopes) : 0
  const flat = values.map((value, index) => value - slope * (times[index] - times[0]))
  const level = median(flat)
  const left = flat.map((value) => value - level)
  const { noise_m, share } = noiseOf(left)
  // Of a slope over evenly spaced days: σ √(12 / n) / T.
  const sigma_m = noise_m * Math.sqrt(12 / (values.length * share))
  const size_m = slope * (times[times.length - 1] - times[0])
  return { size_m, sigma_m, misfit_m: meanSize(left), isSudden: false }
}

const meanSize = (values: readonly number[]) => values.reduce((sum, value) => sum + Math.abs(value), 0) / values.length

/** Robust noise of residuals, and how many independent values each is worth, by the correlation of successive ones. */
function noiseOf(left: readonly number[]): { noise_m: number; share: number } {
  const noise_m = Math.max(byDeviation * median(left.map(Math.abs)), 1e-4)
  // Outliers are cut so that they hide no correlation.
  const cut = left.map((value) => Math.max(-3 * noise_m, Math.min(3 * noise_m, value)))
  let both = 0
  let own = 0
  for (let k = 0; k < cut.length; k++) {
    own += cut[k] ** 2
    if (k > 0) both += cut[k] * cut[k - 1]
  }
  const correlation = own > 0 ? Math.max(0, Math.min(mostCorrelated, both / own)) : 0
  return { noise_m, share: (1 - correlation) / (1 + correlation) }
}

function cause(
  moved: readonly { axis: keyof Enu; move: Move }[],
  step_s: number | undefined,
  first_s: number,
  last_s: number,
): NetCause {
  const years = (last_s - first_s) / year_s
  const kind = step_s === undefined ? 'drift' : 'step'
  const mm = (metres: number) => Math.round(metres * 1_000) + 0
  const parts = (per: number) =>
    listed(
      moved.map(({ axis, move }) => `${mm(Math.abs(move.size_m) / per)} mm ${words[axis][move.size_m > 0 ? 0 : 1]}`),
    )
  const since_s = step_s ?? first_s
  const since = new Date(since_s * 1_000)
  const date = new Intl.DateTimeFormat('en-GB', {
    ...{ month: 'long', year: 'numeric', timeZone: 'UTC' },
    ...(step_s === undefined ? {} : { day: 'numeric' }),
  } as const).format(since)
  const values: Record<string, string | number> = { kind, since_s }
  for (const { axis, move } of moved) values[`${axis}_mm`] = mm(move.size_m)
  return {
    kind: 'moved',
    values,
    text:
      step_s === undefined
        ? `The antenna moved ${parts(1)} since ${date}${years < 1 ? '' : `: it drifts by ${parts(years)} a year`}.`
        : `The antenna moved ${parts(1)} on about ${date}.`,
  }
}
