/** The rules of one survey-in at their limits: what counts, when it ends, when its averaging begins anew. */
import t from 'tap'
import { CorrectionInput } from '../../plugins/reference/survey-in/survey/correction-input.js'
import { correctedModel, plainModel } from '../../plugins/reference/survey-in/survey/estimator.js'
import {
  type CorrectionsNow,
  type SurveyLimits,
  SurveyRun,
} from '../../plugins/reference/survey-in/survey/survey-run.js'
import { Surveyor, type SurveyRecord } from '../../plugins/reference/survey-in/survey/surveyor.js'
import type { PluginContext } from '../../runtime/plugin.js'
import { correctionStatus, type Receiver, type ReceiverFix } from '../../schemas/services.js'

const here = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }

/** A survey-in fed once a second with positions that are exact but for what a test adds. */
class Feed {
  readonly run: SurveyRun
  seconds = 0
  corrections: CorrectionsNow = { age_s: 1, count: 0, trust: 'trusted', remote: 'a', distance_m: 12_000 }
  limits: SurveyLimits = { mintime_s: 10_000, maxtime_s: 100_000, accuracy_m: 2, accuracyCorr_m: 0.03 }
  constructor(corrected = true) {
    this.run = new SurveyRun({ model: corrected ? correctedModel : plainModel, corrected, by: 'test' })
    this.plain(0)
  }

  /** Where the receiver finds itself without corrections. */
  plain(off_m: number, acc_m = 1.2) {
    this.run.withoutCorrections({ position: { ...here, x: here.x + off_m }, acc_m })
  }

  /** The ambiguities are determined a second time. */
  again(off_m = 0) {
    this.many(5, { fix: 'rtk-float' })
    return this.many(60, { off_m })
  }

  /** @returns how it ended, if it did */
  second({
    off_m = 0,
    fix,
    ...more
  }: { off_m?: number } & Partial<Pick<ReceiverFix, 'fix' | 'corrected' | 'sbas'>> = {}) {
    this.seconds++
    const now_ms = this.seconds * 1000
    this.corrections = { ...this.corrections, count: this.corrections.count + 1 }
    const position = { ...here, x: here.x + off_m }
    const { corrected } = this.run
    const kind = { fix: fix ?? (corrected ? 'rtk-fixed' : '3d'), corrected, ...more }
    const epoch = { t: 0, ok: true, position, lat: 0, lon: 0, alt: 0, acc_m: 0.02, geoidSeparation_m: 0 }
    this.run.epoch({ ...epoch, ...kind, satellitesUsed: 20, arrival_ms: now_ms }, this.corrections)
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

t.test('a plain survey-in counts no epoch that follows another base; SBAS is none', async (t) => {
  const feed = new Feed(false)
  for (const fix of ['rtk-fixed', 'rtk-float', '3d'] as const) {
    feed.many(5, { fix, corrected: true })
    t.equal(feed.run.count, 0, fix)
    t.equal(feed.run.isDisturbed, true)
  }
  feed.many(1, { corrected: true, sbas: true })
  feed.many(1)
  t.equal(feed.run.count, 2)
  t.equal(feed.run.isDisturbed, false)
  t.equal(feed.run.wantsPlain, true)
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
  for (const [age_s, fix, why] of [
    [11, '3d', { cause: 'no-corrections', minutes: 10 }],
    [1, 'rtk-float', { cause: 'no-rtk-fix', minutes: 10, fix: 'rtk-float' }],
  ] as const) {
    const feed = new Feed()
    feed.many(100)
    feed.corrections.age_s = age_s
    t.match(feed.many(700, { fix }), { state: 'aborted', why, after_s: 599 }, 'its last usable epoch was a tick before')
  }
  const unsettled = new Feed()
  unsettled.many(31)
  let end: ReturnType<Feed['many']>
  for (let i = 0; i < 40 && !end; i++) end = unsettled.many(1, { fix: 'rtk-float' }) ?? unsettled.many(20)
  t.match(end, { state: 'aborted', why: { cause: 'unsteady-fix', held_s: 30 } })
})

t.test('it ends when mintime is over and the accuracy is that of the limit with 1 ppm of the distance', async (t) => {
  const feed = new Feed()
  feed.corrections.trust = 'unknown'
  feed.many(200)
  feed.again()
  feed.many(135)
  const acc_m = feed.run.acc_m
  // 30 mm + 12 km · 1 ppm.
  t.ok(Math.abs(feed.run.needed_m(feed.limits) - 0.042) < 1e-12)
  feed.limits = { ...feed.limits, accuracyCorr_m: acc_m - 0.012 - 1e-3, mintime_s: 0 }
  t.equal(feed.second(), undefined)
  feed.limits = { ...feed.limits, accuracyCorr_m: acc_m - 0.012 + 1e-3, mintime_s: 339 }
  t.equal(feed.second(), undefined, 'what was observed counts: 338 s')
  t.match(feed.second(), { state: 'complete' })
})

t.test('it is incomplete at maxtime', async (t) => {
  const feed = new Feed(false)
  feed.limits = { mintime_s: 10, maxtime_s: 60, accuracy_m: 0.01, accuracyCorr_m: 0.03 }
  t.match(feed.many(100), { state: 'incomplete', after_s: 61, why: { cause: 'inaccurate' } })
})

t.test('a corrected survey-in does not stand on one determination of the ambiguities', async (t) => {
  const soon = { mintime_s: 60, maxtime_s: 2_000, accuracy_m: 2, accuracyCorr_m: 0.03 }
  const start = (trust: CorrectionsNow['trust'] = 'unknown') => {
    const feed = new Feed()
    feed.corrections.trust = trust
    feed.limits = soon
    t.equal(feed.many(85), undefined)
    t.equal(feed.run.wantsInitialisation, false, 'it is not good enough yet')
    t.equal(feed.many(100), undefined)
    t.equal(feed.run.wantsInitialisation, true)
    return feed
  }
  t.test('is complete with a second one that agrees', async (t) => {
    const feed = start()
    feed.many(3, { fix: 'rtk-float' })
    t.equal(feed.run.wantsInitialisation, false, 'it is on its way')
    t.match(feed.many(100), { state: 'complete', after_s: 40 }, 'held for 30 s, and 10 epochs')
  })
  t.test('needs a third one where centimetres are stated, because the base is said to be right', async (t) => {
    const feed = start('trusted')
    feed.many(3, { fix: 'rtk-float' })
    t.equal(feed.many(100), undefined, 'a wrong ambiguity may be found twice')
    t.equal(feed.run.wantsInitialisation, true)
    feed.many(3, { fix: 'rtk-float' })
    t.match(feed.many(100), { state: 'complete', after_s: 40 })
  })
  t.test('starts again with a second one that is elsewhere, and needs another one then', async (t) => {
    const feed = start()
    feed.many(3, { fix: 'none' })
    t.equal(feed.many(150, { off_m: 0.19 }), undefined)
    t.equal(feed.run.restarts, 1)
    t.ok(Math.abs((feed.run.mean?.x ?? 0) - here.x - 0.19) < 1e-3, 'nothing of the first one is left')
    t.equal(feed.run.wantsInitialisation, true)
    t.match(feed.again(0.19), { state: 'complete' })
  })
  t.test('knows after a restart of the service what was shown, and asks for it where that was nothing', async (t) => {
    const restored = (feed: Feed) => {
      const next = new Feed()
      next.limits = soon
      next.seconds = feed.seconds
      const snapshot = JSON.parse(JSON.stringify(feed.run.snapshot()))
      next.corrections = feed.corrections
      return Object.assign(next, { run: SurveyRun.restored(snapshot, correctedModel) })
    }
    const trusting = start('trusted')
    t.equal(restored(trusting).run.acc_m, trusting.run.acc_m, 'the base is said to be right')
    t.ok(trusting.run.acc_m < 0.1, `${trusting.run.acc_m} m`)
    const once = restored(start())
    t.equal(once.many(100), undefined)
    t.equal(once.run.wantsInitialisation, true)
    const lost = start()
    lost.many(1, { fix: 'rtk-float' })
    t.match(restored(lost).many(100), { state: 'complete' })
  })
  t.test('is incomplete without, and says so', async (t) => {
    t.match(start().many(3_000), {
      state: 'incomplete',
      why: { cause: 'undetermined', results: 2 },
    })
  })
})

t.test('a corrected survey-in is held against the position without corrections', async (t) => {
  for (const [off_m, acc_m, aborts] of [
    [4.7, 1.2, false],
    [4.9, 1.2, true],
    [-20, 1.2, true],
    [2.9, 0.1, false],
    [3.1, 0.1, true],
    [12, 4, false],
  ] as const) {
    t.test(`${off_m} m away, which is accurate to ${acc_m} m`, async (t) => {
      const feed = new Feed()
      feed.plain(off_m, acc_m)
      const end = feed.many(200)
      if (!aborts) t.equal(end, undefined)
      else {
        const away = Math.abs(off_m).toFixed(1)
        t.match(end, { state: 'aborted', after_s: 40 })
        t.match(end?.why, { cause: 'contradicted', source: 'a', _away: away, _offset: /^E / })
      }
    })
  }
  t.test('which it waits for', async (t) => {
    const run = new SurveyRun({ model: correctedModel, corrected: true, by: 'test' })
    t.equal(run.wantsPlain, true)
    const feed = Object.assign(new Feed(), { run })
    feed.limits = { mintime_s: 60, maxtime_s: 900, accuracy_m: 2, accuracyCorr_m: 0.03 }
    t.equal(feed.many(190), undefined)
    t.equal(run.wantsPlain, false, 'not for ever')
    t.equal(feed.again(), undefined)
    t.match(feed.many(1_000), { state: 'incomplete', why: { cause: 'unverified' } })
  })
  t.test('and uses none of a base more than 100 km away', async (t) => {
    const feed = new Feed()
    feed.corrections.distance_m = 100_500
    t.match(feed.many(700), { state: 'aborted', why: { cause: 'far', source: 'a', away_km: 101, limit_km: 100 } })
    t.equal(feed.run.count, 0)
  })
  t.test('a plain survey-in needs neither', async (t) => {
    const feed = new Feed(false)
    feed.plain(50)
    feed.limits = { mintime_s: 60, maxtime_s: 900, accuracy_m: 2, accuracyCorr_m: 0.03 }
    t.match(feed.many(100, { fix: '3d' }), { state: 'complete' })
  })
})

t.test('a survey-in is a corrected one where corrections are fresh, or are forced', async (t) => {
  const input = (status: object | undefined, correctionMaxAge_s?: number, trusted: string[] = []) => {
    const find = (token: unknown) => (token === correctionStatus ? status : { correctionMaxAge_s })
    return new CorrectionInput({ services: { find } } as unknown as PluginContext, trusted)
  }
  const receiver = (fix: string) => ({ fix: { fix } }) as Receiver
  const aged = (age_s: number, more: object = {}) => ({ forced: false, age_s: () => age_s, remote: 'a:2101', ...more })
  for (const [what, status, maxAge_s, fix, expected] of [
    ['10 s old', aged(10), undefined, '3d', true],
    ['older', aged(10.1), undefined, 'rtk-fixed', false],
    ['as old as the receiver takes', aged(4), 4, '3d', true],
    ['older than the receiver takes', aged(4.1), 4, '3d', false],
    ['the receiver takes more than 10 s', aged(10.1), 60, '3d', false],
    ['none, forced', aged(Number.POSITIVE_INFINITY, { forced: true }), undefined, '3d', true],
    ['fresh, switched off', aged(1, { input: 'off' }), undefined, 'rtk-fixed', false],
    ['fresh, automatic', aged(1, { input: 'auto' }), undefined, '3d', true],
    ['nobody accepts them, fixed', undefined, undefined, 'rtk-fixed', true],
    ['nobody accepts them, float', undefined, undefined, 'rtk-float', true],
    ['nobody accepts them', undefined, undefined, '3d', false],
  ] as const)
    t.equal(input(status, maxAge_s).isCorrected(receiver(fix)), expected, what)
  t.equal(input(undefined).isCorrected(undefined), false, 'no receiver')
  t.equal(input(undefined).now(), undefined)
  const facts = { count: 5, distance_m: 7 }
  t.same(input(aged(3, facts), 4).now(), { ...facts, age_s: 3, oldest_s: 4, remote: 'a:2101', trust: 'unknown' })
  for (const [trusted, trust] of [
    [['a:2101'], 'trusted'],
    [['b', 'a'], 'trusted'],
    [['b', 'a:2102'], 'rejected'],
    [['b'], 'rejected'],
  ] as const)
    t.equal(input(aged(3), 4, [...trusted]).now()?.trust, trust, trusted.join())
})

/** A surveyor on a clock of the test, and its stored records. */
function surveyor(limits: Partial<SurveyLimits> = {}) {
  const state = { now_ms: 0, saved: [] as SurveyRecord[], begunAgain: 0 }
  let count = 0
  const made = new Surveyor({
    models: { plain: plainModel, corrected: correctedModel },
    limits: () => ({ mintime_s: 20_000, maxtime_s: 100_000, accuracy_m: 100, accuracyCorr_m: 0.03, ...limits }),
    corrections: () => ({ age_s: 1, count: count++, trust: 'unknown', remote: 'a:2101', distance_m: 5_000 }),
    now_ms: () => state.now_ms,
    utc_s: () => 1_790_000_000 + state.now_ms / 1_000,
    datum: (corrected) => ({ frame: corrected ? 'ETRF2000' : 'WGS84', epoch: '' }),
    save: (record) => state.saved.push(record),
  })
  const fix = (off_m = 0, kind: ReceiverFix['fix'] = '3d', acc_m = 1): ReceiverFix => ({
    ...{ t: 0, ok: true, position: { ...here, x: here.x + off_m }, lat: 0, lon: 0, alt: 0, geoidSeparation_m: 0 },
    ...{ fix: kind, acc_m, corrected: kind === 'rtk-fixed', satellitesUsed: 20, arrival_ms: state.now_ms },
  })
  const seconds = (count: number, ...how: Parameters<typeof fix>) => {
    for (let s = 0; s < count; s++) {
      state.now_ms += 1_000
      if (made.epoch(fix(...how))) state.begunAgain++
      const end = made.tick()
      if (end) return { ...end, after_s: s + 1 }
    }
    return undefined
  }
  return { surveyor: made, state, seconds, fix }
}

t.test(
  'its progress is kept every minute, of a long one every twentieth of its time, and every 10 min at least',
  async (t) => {
    const { surveyor: made, state, seconds } = surveyor()
    made.begin(false, 'http')
    t.equal(state.saved.length, 1, 'that it began')
    const kept_s: number[] = []
    for (let s = 1; s <= 18_000; s++) {
      const before = state.saved.length
      seconds(1)
      if (state.saved.length > before) kept_s.push(s)
    }
    const gaps = kept_s.map((at_s, i) => at_s - (kept_s[i - 1] ?? 0))
    t.strictSame([...new Set(gaps.slice(0, 20))], [60], 'for 20 min')
    t.ok(gaps.every((gap_s, i) => Math.abs(gap_s - Math.min(600, Math.max(60, (kept_s[i] ?? 0) / 20))) <= 2))
    t.equal(gaps.at(-1), 600)
    t.match(state.saved.at(-1), { state: 'running', by: 'http', progress: { by: 'http', elapsed_s: Number } })
  },
)

t.test('what a survey-in found is a reference when it is complete, or when a person says so', async (t) => {
  const complete = surveyor({ mintime_s: 60 })
  complete.surveyor.begin(false, 'http')
  t.equal(complete.surveyor.isWanted, true)
  t.match(complete.seconds(100), { state: 'complete' })
  t.match(complete.surveyor.reference, { method: 'survey', corr: false, by: 'http', datum: { frame: 'WGS84' } })
  t.match(complete.state.saved.at(-1), { state: 'complete', allowUse: false })
  t.same(
    [complete.surveyor.isWanted, complete.surveyor.allow()],
    [false, 'the survey-in is complete and already in use'],
  )
  const first = complete.surveyor.reference

  complete.surveyor.begin(false, 'mqtt')
  t.equal(complete.surveyor.allow(), 'the survey-in has no epoch yet')
  t.same([complete.surveyor.result, complete.surveyor.reference], [undefined, first], 'the one before stands')
  complete.seconds(10)
  t.match(complete.surveyor.record, { state: 'running', count: Number, allowUse: false, previous: first })
  complete.surveyor.abort()
  t.match(complete.state.saved.at(-1), { state: 'aborted', previous: first })
  t.same([complete.surveyor.reference, complete.surveyor.result], [first, undefined])
  t.equal(complete.surveyor.allow(), 'there is no incomplete survey-in')
  const after = complete.state.saved.length
  complete.surveyor.abort()
  complete.surveyor.pause()
  t.equal(complete.state.saved.length, after, 'none runs')

  const next = surveyor()
  next.surveyor.restore(complete.state.saved.at(-1) as SurveyRecord)
  t.same(next.surveyor.reference, first, 'also after a restart')
  next.surveyor.begin(false, 'http')
  next.seconds(10)
  t.equal(next.surveyor.allow(), '')
  t.match(next.surveyor.record, { state: 'incomplete', allowUse: true, previous: undefined })
  t.match(next.surveyor.reference, { by: 'http', samples: Number })
  t.not(next.surveyor.reference?.t, first?.t)
  if (first) next.surveyor.reuse(first)
  t.match(next.state.saved.at(-1), { state: 'complete', by: 'http', t: first?.t })
  t.same(next.surveyor.reference, first)

  const incomplete = surveyor({ maxtime_s: 50, accuracy_m: 0.001 })
  incomplete.surveyor.begin(false, 'http')
  t.match(incomplete.seconds(100), { state: 'incomplete' })
  t.equal(incomplete.surveyor.reference, undefined, 'not until a person says so')
  t.equal(incomplete.surveyor.allow(), '')
  t.ok(incomplete.surveyor.reference)

  const interrupted = surveyor()
  interrupted.surveyor.begin(false, 'http')
  interrupted.seconds(100)
  interrupted.surveyor.pause()
  const { progress, ...without } = interrupted.state.saved.at(-1) as SurveyRecord
  const resumed = surveyor()
  resumed.surveyor.restore({ ...without, ...(progress && { progress }) })
  t.equal(resumed.surveyor.run?.count, interrupted.surveyor.run?.count, 'it continues')
  const lost = surveyor()
  lost.surveyor.restore(without)
  t.match(lost.surveyor.record, { state: 'aborted' })
})

t.test('a corrected survey-in states its accuracy for itself and to its source, and names that', async (t) => {
  const { surveyor: made, seconds, state, fix } = surveyor({ mintime_s: 100, accuracyCorr_m: 5 })
  made.begin(true, 'http')
  t.match(made.record, { acc_m: 0, relative_m: undefined, corrected: true, needed_m: 5 })
  seconds(60, 0, 'rtk-fixed', 0.02)
  const { acc_m, relative_m = 9 } = made.record
  t.ok(acc_m >= 1 && relative_m < 0.5, `${acc_m} m, ${relative_m} m to its source`)
  for (let s = 0; s < 10; s++) made.plain.add({ ...fix(), acc_m: 1.5, arrival_ms: state.now_ms + s * 100 })
  seconds(1, 0, 'rtk-fixed', 0.02)
  t.ok(made.record.acc_m >= 1.5, 'where the receiver finds itself without corrections counts')
  seconds(5, 0.5, 'rtk-fixed', 0.02)
  t.equal(state.begunAgain, 1, 'a step begins the averaging anew, once')
  const { elapsed_s } = made.record
  made.pause()
  state.now_ms += 1_000_000
  seconds(2, 0.5, 'rtk-fixed', 0.02)
  t.ok(made.record.elapsed_s - elapsed_s <= 2, 'a pause does not count')

  const { surveyor: plain, seconds: plainSeconds, state: kept } = surveyor({ mintime_s: 60 })
  plain.begin(false, 'http')
  t.match(plain.record, { acc_m: 0, relative_m: undefined, needed_m: 100 })
  plainSeconds(10)
  t.match(plain.record, { acc_m: Number, relative_m: undefined, datum: { frame: 'WGS84' } })
  t.ok(plain.record.acc_m > 0.1)
  plainSeconds(100)
  t.equal(plain.reference?.source, undefined)
  const done = kept.saved.at(-1) as SurveyRecord
  const source = { remote: 'a:2101', age_s: 1, count: 1, dist_m: 5_000 }
  for (const [corrected, remote, named] of [
    [true, 'a:2101', 'a:2101'],
    [true, '', undefined],
    [false, 'a:2101', undefined],
  ] as const) {
    const restored = surveyor().surveyor
    restored.restore({ ...done, corrected, rtcm: { ...source, remote } })
    t.equal(restored.reference?.source, named, `${corrected} ${remote}`)
    t.equal('source' in (restored.reference ?? {}), named !== undefined)
  }
  const { reference } = plain
  plain.begin(false, 'http')
  if (reference) plain.reuse(reference)
  t.equal(plain.isWanted, false, 'an earlier one that is used again ends it')
})
