/**
 * How honest the accuracy of a survey-in is: seeded surveys whose errors are known here and unknown to the estimator.
 */
import { GaussMarkov, Random } from '../../plugins/gnss-zed/simulator/physics/random.js'
import { PositionEstimator, plainModel } from '../../plugins/survey-in/survey/estimator.js'
import { atLeast, atMost, type Measurement } from './measurement.js'

const truth = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }

export interface SimulatedSurvey {
  /** 3D error of the surveyed position, metres. */
  error_m: number
  /** What the estimator says of it. */
  stated_m: number
  /** What the plain weighted mean of independent epochs would say: 1 / sqrt(sum of 1/acc²). */
  naive_m: number
}

/** From `low` to `high`, evenly on a logarithmic scale. */
const logUniform = (random: Random, low: number, high: number) => low * (high / low) ** random.uniform()

/**
 * One survey of 5 min to 6 h at 1 Hz. Each axis has white noise, two Gauss-Markov parts with time constants of 30 to
 * 1,800 s, and a constant bias. The receiver's accuracy is the 3D sigma of the parts that vary, up to a fifth wrong in a
 * run and a tenth from epoch to epoch.
 */
export function simulateSurvey(random: Random): SimulatedSurvey {
  const length_s = Math.round(logUniform(random, 300, 21_600))
  const white_m = logUniform(random, 0.05, 0.5)
  const parts = [0, 1].map(() => {
    const tau_s = logUniform(random, 30, 1_800)
    const sigma_m = logUniform(random, 0.1, 1)
    return { sigma_m, axes: [0, 1, 2].map(() => new GaussMarkov(random, tau_s)) }
  })
  const bias_m = [0, 1, 2].map(() => 0.1 * random.normal())
  const sigma_m = Math.sqrt(3 * (white_m ** 2 + parts[0].sigma_m ** 2 + parts[1].sigma_m ** 2))
  const told_m = sigma_m * (0.8 + 0.4 * random.uniform())

  const estimator = new PositionEstimator(plainModel)
  let weights = 0
  for (let t = 0; t < length_s; t++) {
    const [x, y, z] = bias_m.map((bias, axis) => {
      const varying = parts.reduce((sum, part) => sum + part.sigma_m * part.axes[axis].step(1), 0)
      return bias + varying + white_m * random.normal()
    })
    const acc_m = told_m * (0.9 + 0.2 * random.uniform())
    weights += 1 / acc_m ** 2
    estimator.add({ x: truth.x + x, y: truth.y + y, z: truth.z + z }, acc_m, t)
  }
  const mean = estimator.mean ?? truth
  return {
    error_m: Math.hypot(mean.x - truth.x, mean.y - truth.y, mean.z - truth.z),
    stated_m: estimator.accuracy_m(),
    naive_m: 1 / Math.sqrt(weights),
  }
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

export function simulateSurveys(count: number, seed: number): SimulatedSurvey[] {
  const random = new Random(seed)
  return Array.from({ length: count }, () => simulateSurvey(random))
}

export async function benchSurvey(): Promise<Measurement[]> {
  const surveys = simulateSurveys(1000, 1)
  const own = honesty(surveys, ({ stated_m }) => stated_m)
  const naive = honesty(surveys, ({ naive_m }) => naive_m)
  const started = performance.now()
  const estimator = new PositionEstimator(plainModel)
  const random = new Random(2)
  const epochs = 1_000_000
  for (let t = 0; t < epochs; t++) {
    estimator.add({ ...truth, x: truth.x + random.normal() }, 1, t)
    estimator.accuracy_m()
  }
  const perEpoch_us = ((performance.now() - started) * 1000) / epochs
  return [
    atLeast('survey-in: mean of (3D error / stated)², 1,000 surveys', own.meanSquare, 0.3, ''),
    atMost('survey-in: mean of (3D error / stated)², 1,000 surveys', own.meanSquare, 1.1, ''),
    atLeast('survey-in: share of errors within 3 sigma', own.within3Sigma, 0.99, ''),
    { name: 'plain 1/acc² estimator: mean of (3D error / stated)²', value: naive.meanSquare, unit: '' },
    { name: 'plain 1/acc² estimator: share within 3 sigma', value: naive.within3Sigma, unit: '' },
    atMost('survey-in: an epoch with its accuracy, series of 1,000,000', perEpoch_us, 20, 'us'),
  ]
}
