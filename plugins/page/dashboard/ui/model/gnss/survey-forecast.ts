/** How long a survey-in still takes, and what its result is good for. Pure. */
import type { SurveyNow } from './survey.js'

/** The station's own model of the accuracy (options `plain` and `corrected` of survey-in): correlation time, and what never averages out. */
interface ErrorModel {
  readonly correlation_s: number
  readonly bias_m: number
}
const plain: ErrorModel = { correlation_s: 900, bias_m: 1.3 }
const corrected: ErrorModel = { correlation_s: 300, bias_m: 0.02 }
/** Errors that stay similar for twice as long: the slow end of the range. */
const slower = 2
/** The noise of the minutes to come is about that of now: so much better or worse. */
const spread = 0.1
const year_s = 31_536_000

/** Variance of the mean of T = r·τ seconds, of 1: flat while T is short, 2/r when it is long. */
const reduction = (r: number): number => (r < 1e-6 ? 1 : (2 / r) * (1 - (1 - Math.exp(-r)) / r))

/** Seconds in all until the variance of the mean is down to `wanted`. */
function secondsFor(wanted: number, correlation_s: number): number {
  if (wanted >= 1) return 0
  let [low, high] = [0, year_s]
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2
    if (reduction(middle / correlation_s) > wanted) low = middle
    else high = middle
  }
  return high
}

export interface Forecast {
  /** Time left, seconds: the shortest and the longest that is likely. `Infinity`: not within the longest time of the survey-in. */
  readonly from_s: number
  readonly to_s: number
  /** Accuracy at its end, metres. */
  readonly acc_m: number
}

/** Undefined before the first epochs, and when none runs. */
export function forecastOf(survey: SurveyNow): Forecast | undefined {
  const { state, acc_m, target_m, elapsed_s, mintime_s, maxtime_s, isCorrected } = survey
  if (state !== 'running' || acc_m === undefined || elapsed_s <= 0 || target_m <= 0) return undefined
  const { bias_m, correlation_s } = isCorrected ? corrected : plain
  const least_s = Math.max(0, mintime_s - elapsed_s)
  const most_s = Math.max(least_s, maxtime_s - elapsed_s)
  const noise2 = acc_m ** 2 - bias_m ** 2
  if (noise2 <= 0) return { from_s: least_s, to_s: least_s, acc_m }
  /** Time left with this correlation time, if the noise to come is `factor` of the noise of now. */
  const left = (tau_s: number, factor: number) => {
    const of1 = (noise2 * factor ** 2) / reduction(elapsed_s / tau_s)
    const wanted2 = target_m ** 2 - bias_m ** 2
    if (acc_m <= target_m) return least_s
    if (wanted2 <= 0) return Number.POSITIVE_INFINITY
    const left_s = Math.max(least_s, secondsFor(wanted2 / of1, tau_s) - elapsed_s)
    return left_s > most_s ? Number.POSITIVE_INFINITY : left_s
  }
  const from_s = left(correlation_s, 1 - spread)
  const to_s = left(correlation_s * slower, 1 + spread)
  const end_s = elapsed_s + (Number.isFinite(from_s) ? Math.max(from_s, least_s) : most_s)
  const atEnd2 = (noise2 * reduction(end_s / correlation_s)) / reduction(elapsed_s / correlation_s) + bias_m ** 2
  const atEnd_m = Math.sqrt(atEnd2)
  return { from_s, to_s, acc_m: Number.isFinite(from_s) ? Math.min(atEnd_m, Math.max(target_m, bias_m)) : atEnd_m }
}

const steps_s = [0, 15, 30, 60, 120, 180, 300, 600, 900, 1_200, 1_800, 2_700, 3_600, 5_400, 7_200, 10_800, 14_400]
const round = (seconds: number, isUp: boolean): number => {
  const step = isUp
    ? steps_s.find((one) => one >= seconds)
    : steps_s.filter((one) => one <= seconds && seconds <= 14_400).at(-1)
  if (step !== undefined) return step
  return (isUp ? Math.ceil(seconds / 7_200) : Math.floor(seconds / 7_200)) * 7_200
}

/** As a person says it: the range widened to round times, never one exact number. */
export function roughly({ from_s, to_s }: Forecast): { from_s: number; to_s: number } {
  const from = Number.isFinite(from_s) ? round(from_s, false) : from_s
  const to = Number.isFinite(to_s) ? round(to_s, true) : to_s
  return { from_s: from, to_s: to <= from && Number.isFinite(to) ? round(from + 1, true) : to }
}

/** Purpose of a reference by its accuracy: `map` rovers are right on any map, `near` to a few decimetres, `own` only to each other. */
export type Purpose = 'map' | 'near' | 'own'
export const purposeOf = (acc_m: number): Purpose => (acc_m <= 0.1 ? 'map' : acc_m <= 0.5 ? 'near' : 'own')
