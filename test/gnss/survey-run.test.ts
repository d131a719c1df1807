/** The rules of one survey-in at their limits: what counts, when it ends, when its averaging begins anew. */
import t from 'tap'
import { correctedModel, plainModel } from '../../plugins/survey-in/survey/estimator.js'
import { type CorrectionsNow, type SurveyLimits, SurveyRun } from '../../plugins/survey-in/survey/survey-run.js'
import type { ReceiverFix } from '../../schemas/services.js'

const here = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }

/** A survey-in fed once a second with positions that are exact but for what a test adds. */
class Feed {
  readonly run: SurveyRun
  seconds = 0
  corrections: CorrectionsNow = { age_s: 1, count: 0, remote: 'a', distance_m: 12_000 }
  limits: SurveyLimits = { mintime_s: 10_000, maxtime_s: 100_000, accuracy_m: 2, accuracyCorr_m: 0.03 }
  constructor(corrected = true) {
    this.run = new SurveyRun({ model: corrected ? correctedModel : plainModel, corrected, by: 'test' })
  }

  /** @returns how it ended, if it did */
  second({ off_m = 0, fix = 'rtk-fixed' as ReceiverFix['fix'] } = {}) {
    this.seconds++
    const now_ms = this.seconds * 1000
    this.corrections = { ...this.corrections, count: this.corrections.count + 1 }
    const position = { ...here, x: here.x + off_m }
    const epoch = { t: 0, fix, ok: true, position, lat: 0, lon: 0, alt: 0, acc_m: 0.02, geoidSeparation_m: 0 }
    this.run.epoch({ ...epoch, satellitesUsed: 20, corrected: true, arrival_ms: now_ms }, this.corrections)
    return this.run.tick(now_ms, this.corrections, this.limits)
  }

  many(count: number, epoch: Parameters<Feed['second']>[0] = {}) {
    for (let i = 0; i < count; i++) {
      const end = this.second(epoch)
      if (end) return { ...end, after_s: i + 1 }
    }
    return undefined
  }
}

t.test('a corrected survey-in counts what is RTK-fixed for 30 s on corrections of at most 10 s', async (t) => {
  const feed = new Feed()
  feed.many(30)
  t.equal(feed.run.count, 0)
  feed.many(1)
  t.equal(feed.run.count, 1)
  feed.corrections.age_s = 10
  feed.many(1)
  t.equal(feed.run.count, 2)
  feed.corrections.age_s = 10.1
  feed.many(5)
  t.equal(feed.run.count, 2)
  feed.corrections.age_s = 1
  feed.many(1, { fix: 'rtk-float' })
  feed.many(30)
  t.equal(feed.run.count, 2, 'float: 30 s from then')
  feed.many(1)
  t.equal(feed.run.count, 3)
})

t.test('its averaging begins anew with the third epoch in a row that is more than 5 cm away', async (t) => {
  for (const [off_m, epochs, anew] of [
    [0.051, 3, true],
    [0.051, 2, false],
    [0.049, 60, false],
    [-0.051, 3, true],
  ] as const) {
    const feed = new Feed()
    feed.many(131)
    t.equal(feed.run.count, 101)
    feed.many(epochs, { off_m })
    t.equal(feed.run.restarts, anew ? 1 : 0, `${epochs} epochs ${off_m} m away`)
    if (anew) {
      t.equal(feed.run.count, 1)
      t.ok(Math.abs((feed.run.mean?.x ?? 0) - here.x - off_m) < 1e-4, 'nothing of before is left')
      t.ok(feed.run.elapsed_s <= 1)
    }
  }
})

t.test('it is aborted after 10 min without a usable epoch, with the reason', async (t) => {
  for (const [age_s, fix, reason] of [
    [11, '3d', /no corrections came for 10 min/],
    [1, 'rtk-float', /no RTK fix for 10 min, only rtk-float/],
  ] as const) {
    const feed = new Feed()
    feed.many(100)
    feed.corrections.age_s = age_s
    t.match(
      feed.many(700, { fix }),
      { state: 'aborted', reason, after_s: 599 },
      'its last usable epoch was a tick before',
    )
  }
  const unsettled = new Feed()
  unsettled.many(31)
  let end: ReturnType<Feed['many']>
  for (let i = 0; i < 40 && !end; i++) end = unsettled.many(1, { fix: 'rtk-float' }) ?? unsettled.many(20)
  t.match(end, { state: 'aborted', reason: /held for 30 s/ })
})

t.test('it ends when mintime is over and the accuracy is that of the limit with 1 ppm of the distance', async (t) => {
  const feed = new Feed()
  feed.many(400)
  const acc_m = feed.run.acc_m
  // 30 mm + 12 km · 1 ppm.
  t.ok(Math.abs(feed.run.needed_m(feed.limits) - 0.042) < 1e-12)
  feed.limits = { ...feed.limits, accuracyCorr_m: acc_m - 0.012 - 1e-3, mintime_s: 0 }
  t.equal(feed.second(), undefined)
  feed.limits = { ...feed.limits, accuracyCorr_m: acc_m - 0.012 + 1e-3, mintime_s: 373 }
  t.equal(feed.second(), undefined, 'what was observed counts: 372 of 402 s')
  t.match(feed.second(), { state: 'complete' })
})

t.test('it is incomplete at maxtime', async (t) => {
  const feed = new Feed(false)
  feed.limits = { mintime_s: 10, maxtime_s: 60, accuracy_m: 0.01, accuracyCorr_m: 0.03 }
  t.match(feed.many(100), { state: 'incomplete', after_s: 61, reason: /are needed/ })
})
