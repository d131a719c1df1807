/** The survey-in's mean and what it says of its own accuracy. */
import fc from 'fast-check'
import { GaussMarkov, Random } from 'rtk-base/simulation'
import t from 'tap'
import { CorrelationTime } from '../../plugins/reference/survey-in/survey/correlation.js'
import {
  correctedModel,
  type EstimatorSnapshot,
  PositionEstimator,
  plainModel,
  reduction,
} from '../../plugins/reference/survey-in/survey/estimator.js'
import { LogMedian } from '../../plugins/reference/survey-in/survey/log-median.js'
import { honesty, simulateSurveys } from '../bench/survey.js'
import { families } from '../bench/survey-families.js'
import { few, gateOnly } from '../harness/sample.js'

const here = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }
const around = (dx: number, dy = 0, dz = 0) => ({ x: here.x + dx, y: here.y + dy, z: here.z + dz })

t.test('states an accuracy that its errors keep to', async (t) => {
  for (const [i, family] of few(1, [...families.entries()])) {
    t.test(`in simulated surveys of 5 min to 6 h, and of 6 h: ${family.name}`, async (t) => {
      const { any, long } = simulateSurveys(family, 40, i + 1)
      for (const surveys of [any, long]) {
        const { meanSquare, within3Sigma } = honesty(surveys, ({ stated_m }) => stated_m)
        t.ok(meanSquare <= 1.1, `mean of (error / stated)² is ${meanSquare.toFixed(2)}`)
        t.equal(within3Sigma, 1)
      }
    })
  }
  t.test('which an estimator that takes epochs as independent fails by far', { skip: gateOnly }, async (t) => {
    const naive = honesty(simulateSurveys(families[0], 40, 1).any, ({ naive_m }) => naive_m)
    t.ok(naive.meanSquare > 100, `mean of (error / stated)² is ${naive.meanSquare.toFixed(0)}`)
  })
  t.test('and is still good enough for 2 m in a reasonable time', async (t) => {
    for (const [acc_m, within_s] of [
      [1.2, 10],
      [1.8, 1_200],
      [2.5, 4_500],
    ]) {
      const random = new Random(9)
      const noise = [1, 2, 3].map(() => new GaussMarkov(random, 300))
      const estimator = new PositionEstimator(plainModel)
      let after_s = 0
      for (; estimator.accuracy_m() > 2 && after_s < 10_000; after_s++) {
        const [x, y, z] = noise.map((axis) => (acc_m / Math.sqrt(3)) * axis.step(1))
        estimator.add(around(x, y, z), acc_m, after_s)
      }
      t.ok(after_s <= within_s, `${acc_m} m: after ${after_s} s`)
    }
  })
})

t.test('a series that is not of one place states at least a third of its error', async (t) => {
  for (const [what, model, acc_m, length_s, jump_m, error_m] of [
    ['plain, moved by 10 m', plainModel, 1.5, 600, 10, 0],
    ['plain, moved by 10 m in a long survey-in', plainModel, 1.5, 21_600, 10, 0],
    ['plain, moved by 3 m in a long survey-in', plainModel, 1.5, 21_600, 3, 0],
    ['corrected, moved by 0.4 m', correctedModel, 0.014, 600, 0.4, 0],
    ['corrected, creeping by 4 mm/s', correctedModel, 0.014, 300, 0, 0.004],
    ['corrected, creeping by 0.2 mm/s', correctedModel, 0.014, 3_600, 0, 0.0002],
  ] as const) {
    t.test(what, async (t) => {
      for (const share of [0.1, 0.25, 0.5, 0.75, 0.9]) {
        const random = new Random(6)
        const noise = [1, 2, 3].map(() => new GaussMarkov(random, 60))
        const estimator = new PositionEstimator(model)
        const place = (second: number) => (second < share * length_s ? 0 : jump_m) + error_m * second
        for (let i = 0; i < length_s; i++) {
          const [x, y, z] = noise.map((axis) => 0.4 * acc_m * axis.step(1))
          estimator.add(around(x + place(i), y, z), acc_m, i)
        }
        const away_m = Math.abs((estimator.mean?.x ?? 0) - here.x - place(length_s))
        const stated_m = estimator.accuracy_m()
        t.ok(stated_m >= away_m / 3, `at ${share}: ${stated_m.toFixed(3)} m of ${away_m.toFixed(3)} m`)
      }
    })
  }
})

t.test('the mean', async (t) => {
  t.test('is weighted by 1/acc² and exact to 0.1 mm, whatever the order and the offset', async () => {
    const offset = fc.double({ min: -20, max: 20, noNaN: true })
    const epoch = fc.record({ dx: offset, dy: offset, dz: offset, acc: fc.double({ min: 0.01, max: 50, noNaN: true }) })
    fc.assert(
      fc.property(fc.array(epoch, { minLength: 1, maxLength: 60 }), (epochs) => {
        const estimator = new PositionEstimator(plainModel)
        epochs.forEach(({ dx, dy, dz, acc }, i) => {
          estimator.add(around(dx, dy, dz), acc, i)
        })
        const weights = epochs.reduce((sum, { acc }) => sum + 1 / acc ** 2, 0)
        const expected = epochs.reduce((sum, { dx, acc }) => sum + dx / acc ** 2, 0) / weights
        return Math.abs((estimator.mean?.x ?? 0) - here.x - expected) <= 1.01e-4
      }),
    )
  })
  t.test('does not exist without an epoch', async (t) => {
    const estimator = new PositionEstimator(plainModel)
    t.equal(estimator.mean, undefined)
    t.equal(estimator.accuracy_m(), Number.POSITIVE_INFINITY)
    t.equal(estimator.snapshot(), undefined)
  })
})

t.test('the accuracy', async (t) => {
  const flat = (model: typeof plainModel, seconds: number, acc_m: number) => {
    const estimator = new PositionEstimator(model)
    for (let i = 0; i < seconds; i++) estimator.add(here, acc_m, i)
    return estimator
  }
  for (const [what, model, seconds, acc_m, distance_m, expected] of [
    ['of a moment is that of its epochs', plainModel, 1, 2, 0, Math.hypot(2, 1.3)],
    ['after one correlation time', plainModel, 900, 2, 0, Math.hypot(2 * Math.sqrt(2 * Math.exp(-1)), 1.3)],
    ['after a day comes near the bias', plainModel, 86_400, 2, 0, Math.hypot(2 * Math.sqrt((2 / 96) * (95 / 96)), 1.3)],
    ['of a corrected survey-in 12 km away', correctedModel, 1, 0.014, 12_000, Math.hypot(0.014, 0.02 + 0.012)],
  ] as [string, typeof plainModel, number, number, number, number][]) {
    t.test(what, async (t) => {
      const stated = flat(model, seconds, acc_m).accuracy_m(distance_m)
      t.ok(Math.abs(stated / expected - 1) < 0.01, `${stated} is ${expected}`)
    })
  }
  t.test('the reduction is smooth where its closed form loses digits', async (t) => {
    for (const r of [1e-9, 1e-4, 9.99e-4, 1.001e-3, 0.01]) {
      t.ok(Math.abs(reduction(r) - (1 - r / 3 + (r * r) / 12)) < 1e-6, `r = ${r}`)
    }
  })
  t.test('does not fall faster than correlated errors allow', async (t) => {
    const random = new Random(3)
    const slow = [1, 2, 3].map(() => new GaussMarkov(random, 3_000))
    const estimator = new PositionEstimator(plainModel)
    for (let i = 0; i < 43_200; i++) {
      const [x, y, z] = slow.map((axis) => axis.step(1))
      estimator.add(around(x, y, z), 1.7, i)
    }
    t.ok(estimator.correlation_s > 1_500, `${estimator.correlation_s} s of 3,000 s`)
  })
  t.test('does not count gaps as observed', async (t) => {
    const estimator = new PositionEstimator(plainModel)
    for (let i = 0; i < 10; i++) estimator.add(here, 1, i * 3_600)
    t.equal(estimator.observed_s, 1 + 9 * 2)
  })
})

t.test('a survey-in of 30 days', async (t) => {
  t.test('fits into bounded memory and goes on from its snapshot as if nothing had been', async (t) => {
    const random = new Random(4)
    const noise = [1, 2, 3].map(() => new GaussMarkov(random, 600))
    let estimator = new PositionEstimator(plainModel)
    const whole = new PositionEstimator(plainModel)
    let largest = 0
    const days = 30
    for (let i = 0; i < days * 86_400; i += 10) {
      const [x, y, z] = noise.map((axis) => axis.step(10))
      for (const one of [estimator, whole]) one.add(around(x, y, z), 1 + 0.1 * x * x, i)
      if (i % 86_400 !== 43_200) continue
      const text = JSON.stringify(estimator.snapshot())
      largest = Math.max(largest, text.length)
      estimator = new PositionEstimator(plainModel)
      estimator.restore(JSON.parse(text) as EstimatorSnapshot)
    }
    t.ok(largest < 48_000, `${largest} bytes`)
    t.strictSame(estimator.mean, whole.mean)
    t.equal(estimator.count, whole.count)
    t.ok(Math.abs(estimator.accuracy_m() / whole.accuracy_m() - 1) < 0.02)
    t.ok(Math.hypot((whole.mean?.x ?? 0) - here.x, (whole.mean?.y ?? 0) - here.y) < 0.2)
  })
})

t.test('the correlation time is found for white noise and for Gauss-Markov noise', async (t) => {
  const random = new Random(5)
  for (const tau_s of [0, 30, 300]) {
    const correlation = new CorrelationTime()
    const axes = [1, 2, 3].map(() => new GaussMarkov(random, Math.max(tau_s, 1)))
    for (let i = 0; i < 100_000; i++) {
      const [x, y, z] = tau_s === 0 ? [random.normal(), random.normal(), random.normal()] : axes.map((a) => a.step(1))
      correlation.add([x, y, z])
    }
    const expected = Math.max(0.5, tau_s)
    t.ok(Math.abs(correlation.epochs / expected - 1) < 0.35, `${correlation.epochs.toFixed(1)} epochs of ${expected}`)
  }
})

t.test('the median is right to 1 % in bounded memory', async () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.001, max: 9_000, noNaN: true }), { minLength: 1 }), (values) => {
      const median = new LogMedian()
      for (const value of values) median.add(value)
      const sorted = [...values].sort((a, b) => a - b)
      const exact = sorted[Math.ceil(sorted.length / 2) - 1]
      return Math.abs(median.value / exact - 1) < 0.0101
    }),
  )
})
