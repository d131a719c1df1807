/**
 * How honest the accuracy of a survey-in is: seeded surveys whose errors are known here and unknown to the estimator.
 */
import { Random } from 'rtk-base/simulation'
import { PositionEstimator, plainModel } from '../../plugins/reference/survey-in/survey/estimator.js'
import { atLeast, atMost, figure, type Measurement, quantile } from './measurement.js'
import { definePart } from './part.js'
import { type Family, families, logUniform } from './survey-families.js'

const truth = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }

export interface SimulatedSurvey {
  /** 3D error of the surveyed position, metres. */
  error_m: number
  /** What the estimator says of it. */
  stated_m: number
  /** What the plain weighted mean of independent epochs would say: 1 / sqrt(sum of 1/acc²). */
  naive_m: number
}

/** Seconds between two epochs: one that stands for more is not counted as observed. */
const step_s = 2
const shortest_s = 300
const longest_s = 21_600

/** The same survey at an end between 5 min and 6 h, and at 6 h. The accuracy varies by a tenth from epoch to epoch. */
export function simulateSurvey({ draw }: Family, random: Random): { any: SimulatedSurvey; long: SimulatedSurvey } {
  const { error, acc_m: told_m } = draw(random)
  const end_s = step_s * Math.round(logUniform(random, shortest_s, longest_s) / step_s)
  const estimator = new PositionEstimator(plainModel)
  let weights = 0
  const state = (): SimulatedSurvey => {
    const mean = estimator.mean ?? truth
    return {
      error_m: Math.hypot(mean.x - truth.x, mean.y - truth.y, mean.z - truth.z),
      stated_m: estimator.accuracy_m(),
      naive_m: 1 / Math.sqrt(weights),
    }
  }
  let any: SimulatedSurvey | undefined
  for (let t = 0; t < longest_s; t += step_s) {
    const [x, y, z] = error(t)
    const acc_m = told_m * (0.9 + 0.2 * random.uniform())
    weights += 1 / acc_m ** 2
    estimator.add({ x: truth.x + x, y: truth.y + y, z: truth.z + z }, acc_m, t)
    if (t + step_s >= end_s) any ??= state()
  }
  const long = state()
  return { any: any ?? long, long }
}

export interface Honesty {
  /** Mean of (3D error / stated accuracy)². */
  meanSquare: number
  /** Share of surveys whose error is within three times the stated accuracy. */
  within3Sigma: number
}

export function honesty(surveys: readonly SimulatedSurvey[], stated: (survey: SimulatedSurvey) => number): Honesty {
  const ratios = surveys.map((survey) => survey.error_m / stated(survey))
  return {
    meanSquare: ratios.reduce((sum, ratio) => sum + ratio * ratio, 0) / ratios.length,
    within3Sigma: ratios.filter((ratio) => ratio <= 3).length / ratios.length,
  }
}

export function simulateSurveys(family: Family, count: number, seed: number) {
  const random = new Random(seed)
  const surveys = Array.from({ length: count }, () => simulateSurvey(family, random))
  return { any: surveys.map(({ any }) => any), long: surveys.map(({ long }) => long) }
}

interface Size {
  /** Surveys of each family. */
  readonly each: number
  /** Of a long series. */
  readonly epochs: number
}

export const part = definePart<Size>({
  sizes: {
    full: { each: 150, epochs: 500_000 },
    smoke: { each: 1, epochs: 20_000 },
  },
  notComparable: 'its figures are of seeded surveys: a round says nothing that the one before has not said',
  async run({ each, epochs }) {
    const found: Measurement[] = []
    for (const [i, family] of families.entries()) {
      const { any, long } = simulateSurveys(family, each, i + 1)
      for (const [what, surveys] of [
        ['5 min-6 h', any],
        ['6 h', long],
      ] as const) {
        const { meanSquare, within3Sigma } = honesty(surveys, ({ stated_m }) => stated_m)
        const stated_m = surveys.map((survey) => survey.stated_m)
        found.push(
          atMost(`${family.name}, ${what}: mean of (error / stated)²`, meanSquare, 1.1, ''),
          atLeast(`${family.name}, ${what}: share within 3 sigma`, within3Sigma, 0.99, ''),
          figure(`${family.name}, ${what}: stated, median`, quantile(stated_m, 0.5), 'm', 1),
        )
      }
    }
    const naive = honesty(simulateSurveys(families[0], each, 1).any, ({ naive_m }) => naive_m)
    return [
      ...found,
      figure('plain 1/acc² estimator, 1: mean of (error / stated)²', naive.meanSquare, ''),
      figure('plain 1/acc² estimator, 1: share within 3 sigma', naive.within3Sigma, ''),
      atMost(`an epoch with its accuracy, series of ${epochs}`, perEpoch_us(epochs), 20, 'us', 50),
    ]
  },
})

function perEpoch_us(epochs: number): number {
  const started = performance.now()
  const estimator = new PositionEstimator(plainModel)
  const random = new Random(2)
  for (let t = 0; t < epochs; t++) {
    estimator.add({ ...truth, x: truth.x + random.normal() }, 1, t)
    estimator.accuracy_m()
  }
  return ((performance.now() - started) * 1000) / epochs
}
