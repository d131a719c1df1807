/** The parts that judge whether the antenna is where it was, each at its limits. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from 'rtk-base/simulation'
import t, { type Test } from 'tap'
import { warningEvidence } from '../../plugins/reference/integrity/code/evidence.js'
import { MovementWatch, type Seen } from '../../plugins/reference/integrity/code/movement.js'
import { OffsetWatch } from '../../plugins/reference/integrity/code/offset-watch.js'
import { offsetOf } from '../../plugins/reference/integrity/code/residual-offset.js'
import { compare, heightHint } from '../../plugins/reference/integrity/comparison.js'
import { Continuity } from '../../plugins/reference/integrity/continuity/continuity.js'
import { keptRunning, type TrustedMoment } from '../../plugins/reference/integrity/continuity/moment.js'
import { Verification } from '../../plugins/reference/integrity/continuity/verification.js'
import { explained } from '../../plugins/reference/integrity/limits.js'
import { IntegrityMonitor } from '../../plugins/reference/integrity/monitor.js'
import { OrbitSky } from '../../plugins/reference/integrity/orbit-sky.js'
import { PositionCheck } from '../../plugins/reference/integrity/position-check.js'
import { Suspicion } from '../../plugins/reference/integrity/suspicion.js'
import { WatchReports } from '../../plugins/reference/integrity/watch-reports.js'
import { BaseWatch } from '../../plugins/reference/survey-in/procedure/base-watch.js'
import { surveyDatum } from '../../plugins/reference/survey-in/reference/datum.js'
import { disagreement } from '../../plugins/reference/survey-in/reference/manual-entry.js'
import type { Reference } from '../../plugins/reference/survey-in/reference/reference.js'
import { CorrelationTime } from '../../plugins/reference/survey-in/survey/correlation.js'
import {
  correctedModel,
  PositionEstimator,
  plainModel,
  reduction,
} from '../../plugins/reference/survey-in/survey/estimator.js'
import { Initialisations } from '../../plugins/reference/survey-in/survey/initialisations.js'
import { LogMedian } from '../../plugins/reference/survey-in/survey/log-median.js'
import { PlainPosition } from '../../plugins/reference/survey-in/survey/plain-position.js'
import {
  distance,
  type Enu,
  ecefToGeodetic,
  isMsm,
  isPosition,
  median,
  messageNumber,
  moveText,
  offsetEnu,
  offsetText,
  PositionWindow,
  roundEcef,
} from '../../runtime/lib/gnss/index.js'
import type { DataDir, PluginContext } from '../../runtime/plugin.js'
import {
  type AntennaMove,
  correctionStatus,
  type EvidenceMemory,
  type EvidenceName,
  type HeldTarget,
  type MoveVector,
  procedureStatus,
  type Receiver,
  type ReceiverFix,
  type ReferencePosition,
  type RtcmFrame,
  type SatelliteResidual,
} from '../../schemas/services.js'
import { arpFrame, msmFrame, until } from '../harness/index.js'
import { errorsOf } from '../harness/standing-errors.js'
import { epochOf, evenDirection, evenNoise } from './support/phase-scenes.js'

const here = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }
const at = (east: number, north = 0, up = 0) => offsetEnu(here, { east, north, up })
const enu = (east: number, north = 0, up = 0): Enu => ({ east, north, up })

// ── evidence of ranges ──────────────────────────────────────────────────────────────────────────────────────────────

const prior = { offset: enu(0), sigma_m: 1 }
/** Feeds an offset once a second; @returns the second in which it became suspect, and how far it was said to be */
function suspected(watch: OffsetWatch, offset: (s: number) => Enu, from_s: number, to_s: number, sigma_m = 1) {
  for (let s = from_s; s <= to_s; s++) {
    const away = watch.add({ ...offset(s), sigma_m }, s * 1000)
    if (away) return { s, away_m: Math.hypot(away.east, away.north, away.up) }
  }
  return undefined
}

t.test('an offset is suspect the sooner the farther it is', async (t) => {
  for (const [north_m, up_m, within_s] of [
    [9.1, 0, 30],
    [0, 13.6, 30],
    [0, 10.9, 130],
    [8.8, 0, 1870],
  ] as const) {
    const far_m = north_m + up_m
    const found = suspected(new OffsetWatch(prior, undefined, false), () => enu(0, north_m, up_m), 0, 2000)
    t.ok(found && found.s <= within_s && found.s > within_s * 0.9, `${far_m} m after ${found?.s} s`)
    const known_m = within_s > 600 ? 1.5 : 0
    t.ok(Math.abs((found?.away_m ?? 0) - (far_m - known_m)) < 1e-9, 'after ten minutes less what the baseline takes')
  }
  t.equal(
    suspected(new OffsetWatch(prior, undefined, false), () => enu(7.1), 0, 4000),
    undefined,
  )
  t.equal(
    suspected(new OffsetWatch(prior, undefined, false), () => enu(22), 0, 100, 5),
    undefined,
    'less exact: 4.5 sigma',
  )
  t.ok(suspected(new OffsetWatch(prior, undefined, false), () => enu(23), 0, 100, 5))
  const wild = new OffsetWatch(prior, undefined, false)
  t.equal(
    suspected(wild, (s) => enu(s % 5 < 2 ? 500 : 0), 0, 1000),
    undefined,
    'two fifths of wild epochs are nothing',
  )
})

t.test('a gap of 10 s begins the last seconds anew', async (t) => {
  const watch = new OffsetWatch(prior, undefined, false)
  suspected(watch, () => enu(30), 0, 15)
  t.equal(watch.newest(25_000)?.east, 30)
  t.equal(watch.newest(25_001), undefined)
  t.equal(
    suspected(watch, () => enu(30), 26, 54),
    undefined,
  )
  t.ok(suspected(watch, () => enu(30), 55, 56))
})

t.test(
  'an offset confirms after 14 s, within the limits of the start-up check, where it is measured well enough',
  async (t) => {
    const watch = (east: number, seconds: number, sigma_m = 1, up = 0) => {
      const made = new OffsetWatch(prior, undefined, false)
      suspected(made, () => ({ ...enu(east), up }), 0, seconds, sigma_m)
      return made.confirms(seconds * 1000)
    }
    t.equal(watch(0, 13), undefined)
    t.equal(watch(0, 14), true)
    t.equal(watch(2.5, 14), true)
    t.equal(watch(2.51, 14), false)
    t.equal(watch(0, 14, 1, -3.5), true)
    t.equal(watch(0, 14, 1, -3.51), false)
    t.equal(watch(0, 15, 5.4), true, 'the vertical part of 3 sigma of the mean of 16 is within 3.5 m')
    t.equal(watch(0, 15, 5.6), undefined)
    t.equal(new OffsetWatch(prior, undefined, false).confirms(0), undefined)
  },
)

t.test('the opposite of where it is expected is as good where the sign is not documented', async (t) => {
  const away = { offset: enu(10), sigma_m: 1 }
  for (const mirrored of [false, true]) {
    const watch = new OffsetWatch(away, undefined, mirrored)
    suspected(watch, () => enu(-10), 0, 19)
    t.equal(watch.confirms(19_000), mirrored)
    const near = new OffsetWatch(away, undefined, mirrored)
    suspected(near, () => enu(10), 0, 19)
    t.equal(near.confirms(19_000), true)
  }
})

t.test('a baseline is the median of the first ten minutes, and never forgets where the antenna was', async (t) => {
  const watch = new OffsetWatch(prior, undefined, false)
  suspected(watch, () => enu(2), 0, 599)
  t.equal(watch.baseline, undefined)
  suspected(watch, () => enu(2), 600, 680)
  t.match(watch.baseline, enu(2))
  const far = new OffsetWatch(prior, undefined, false)
  suspected(far, () => enu(0, 6), 0, 680)
  t.match(far.baseline, enu(0, 1.5), 'farther than the accuracies bear out: a part of the way')
  t.same(new OffsetWatch(prior, enu(3), false).baseline, enu(3))
  t.equal(new OffsetWatch(prior, enu(3.1), false).baseline, undefined)
  const wide = { offset: enu(0), sigma_m: 4 }
  t.same(new OffsetWatch(wide, enu(8), false).baseline, enu(8), 'twice the accuracy')
  t.equal(new OffsetWatch(wide, enu(8.1), false).baseline, undefined)
})

t.test(
  'an offset of half an hour is doubtful beyond 2.2 m, 1.2 sigma or 1.9 of the prior, upwards 7 m, until it is well below',
  async (t) => {
    const doubtful = (at: Enu, minutes: number, sigma_m = 1, stands = false, known_m = prior.sigma_m) => {
      const watch = new OffsetWatch({ ...prior, sigma_m: known_m }, undefined, false)
      suspected(watch, () => at, 0, minutes * 60 + 15, sigma_m)
      return watch.doubtful((minutes * 60 + 15) * 1000, stands)
    }
    const up = (up_m: number): Enu => ({ east: 0, north: 0, up: up_m })
    t.equal(doubtful(enu(2.3), 14), undefined, 'a quarter of an hour at least')
    t.match(doubtful(enu(2.3), 16), enu(2.3))
    t.equal(doubtful(enu(2.1), 16), undefined)
    t.equal(doubtful(enu(3.5), 16, 3), undefined)
    t.match(doubtful(enu(3.7), 16, 3), enu(3.7))
    t.equal(doubtful(enu(3.7), 16, 1, false, 2), undefined, 'the place was known to 2 m only')
    t.match(doubtful(enu(3.9), 16, 1, false, 2), enu(3.9))
    t.equal(doubtful(up(6.9), 16), undefined)
    t.match(doubtful(up(7.1), 16), up(7.1))
    t.match(doubtful(enu(1.4), 16, 1, true), enu(1.4), 'what stands goes at three fifths')
    t.equal(doubtful(enu(1.3), 16, 1, true), undefined)
  },
)

const fixAt = (east: number, arrival_ms: number, more: Partial<ReceiverFix> = {}): ReceiverFix => ({
  ...{ t: 0, fix: '3d', ok: true, position: at(east), lat: 0, lon: 0, alt: 0, acc_m: 1, geoidSeparation_m: 0 },
  ...{ satellitesUsed: 20, corrected: false, arrival_ms, ...more },
})

/** The residuals of a base that stands `east` of where it says. */
const residualsOf = (east: number): SatelliteResidual[] =>
  Array.from({ length: 12 }, (_, i) => {
    const { east: e, north, up } = evenDirection(i, 12)
    const azimuth_deg = (Math.atan2(e, north) * 180) / Math.PI
    return {
      ...{ constellation: 'gps', satellite: i + 1, azimuth_deg, elevation_deg: (Math.asin(up) * 180) / Math.PI },
      ...{ residual_m: -e * east + 7 + evenNoise(i), used: true },
    }
  })

t.test('evidence that denies is not overruled by evidence that confirms', async (t) => {
  const confirms = (second: number | undefined, ranges: number | undefined) => {
    const watch = new MovementWatch({ arp: here, acc_m: 1 }, { position: here, acc_m: 1 })
    for (let s = 0; s <= 15; s++) {
      if (second !== undefined) watch.secondFix(fixAt(second, s * 1000), s * 1000)
      if (ranges !== undefined) watch.residuals(residualsOf(ranges), s * 1000)
    }
    return watch.confirms(15_000)
  }
  t.equal(confirms(undefined, undefined), undefined)
  t.equal(confirms(0, undefined), true)
  t.equal(confirms(undefined, 0), true)
  t.equal(confirms(0, 0), true)
  t.equal(confirms(9, 0), false)
  t.equal(confirms(0, 9), false)
  t.equal(confirms(undefined, 9), false)
})

t.test('the offset that is shown is that of the second solution, else of the ranges', async (t) => {
  const watch = new MovementWatch({ arp: here, acc_m: 0 }, undefined)
  t.equal(watch.delta_m(0), undefined)
  for (let s = 0; s <= 15; s++) watch.residuals(residualsOf(4), s * 1000)
  t.ok(Math.abs((watch.delta_m(15_000) ?? 0) - 4) < 0.1)
  for (let s = 0; s <= 15; s++) watch.secondFix(fixAt(-3, s * 1000), s * 1000)
  t.ok(Math.abs((watch.delta_m(15_000) ?? 0) - 3) < 0.01)
  t.match(watch.warning('Base station position seems incorrect'), {
    text: /^the receiver reports: Base/,
    move: { size_m: 50, isLeast: true },
  })
  t.equal(warningEvidence('txbuf alloc'), undefined)
})

t.test('a reference in a frame that is 2 m from that of the satellites is not doubtful', async (t) => {
  const [shift, minutes] = [2.4, 16]
  const evidence: [name: string, hear: (watch: MovementWatch, east: number, s: number) => void][] = [
    ['the second fix', (watch, east, s) => watch.secondFix(fixAt(east, s * 1000), s * 1000)],
    ['ranges', (watch, east, s) => watch.residuals(residualsOf(east), s * 1000)],
    ['ranges, the other sign', (watch, east, s) => watch.residuals(residualsOf(-east), s * 1000)],
  ]
  for (const [name, hear] of evidence) {
    const heard = (at_m: number, seenAt?: ReturnType<typeof at>) => {
      const watch = new MovementWatch({ arp: here, acc_m: 0.1, ...(seenAt && { seenAt }) }, undefined)
      for (let s = 0; s <= minutes * 60 + 15; s++) hear(watch, at_m, s)
      const now_ms = (minutes * 60 + 15) * 1000
      return { doubtful: watch.doubtful(now_ms, false), delta_m: watch.delta_m(now_ms) ?? Number.NaN }
    }
    t.ok(heard(shift).doubtful, `${name}: its frame is not known`)
    const known = heard(shift, at(shift))
    t.equal(known.doubtful, undefined, name)
    t.ok(known.delta_m < 0.2, `${name}: ${known.delta_m.toFixed(2)} m`)
    t.match(heard(shift + 2.7, at(shift)).doubtful, Object, `${name}: a reference that is wrong by 2.7 m`)
  }
})

// ── positions and the start-up check ────────────────────────────────────────────────────────────────────────────────

t.test('a window of positions is a median of all of it', async (t) => {
  t.equal(median([3, 1, 2]), 2)
  t.equal(median([4, 1, 2, 3]), 2.5)
  const window = new PositionWindow(10)
  t.equal(window.newest(), undefined)
  for (let s = 0; s < 10; s++) window.add(fixAt(s === 4 ? 900 : 1, s * 1000, { acc_m: s }))
  t.equal(window.result(9999), undefined)
  const live = window.result(10_000)
  t.ok(Math.abs((live?.position.x ?? 0) - at(1).x) < 1e-9)
  t.match(live, { acc_m: 4.5, corrected: false })
  window.clear()
  t.equal(window.result(20_000), undefined)
  for (const s of [20, 22.5, 25, 27.5]) window.add(fixAt(1, s * 1000))
  t.equal(window.result(30_000), undefined, 'four in ten seconds are too few')
  window.add(fixAt(1, 29_000))
  t.ok(window.result(30_000))
  window.add(fixAt(5, 29_100))
  window.add(fixAt(5, 29_199))
  t.equal(window.newest()?.position.x, at(1).x, 'five a second at most')
  const kinds = (['none', 'dead-reckoning', '2d', '3d', '3d-dr', 'time', 'rtk-float', 'rtk-fixed'] as const).filter(
    (fix) => isPosition(fixAt(0, 0, { fix })),
  )
  t.same(kinds, ['3d', '3d-dr', 'rtk-float', 'rtk-fixed'])
  t.notOk(
    isPosition(undefined) ||
      isPosition(fixAt(0, 0, { ok: false })) ||
      isPosition(fixAt(0, 0, { acc_m: Number.POSITIVE_INFINITY })),
  )
})

const reference = (more: Partial<Reference> = {}): Reference => ({
  ...{ method: 'survey', arp: here, acc_m: 0.5, corr: false, t: 0, by: 'http', samples: 1, elapsed_s: 1, ...more },
})

const limits = { maxDelta_m: 15, maxDeltaCorr_m: 0.5 }

t.test('a position is compared by what the accuracies explain, up to what is allowed', async (t) => {
  const verdict = (
    east: number,
    up: number,
    more: { acc_m?: number; corrected?: boolean } = {},
    of: Partial<Reference> = {},
  ) => compare({ position: at(east, 0, up), acc_m: 1, corrected: false, ...more }, reference(of), limits).agrees
  t.same([verdict(2.49, 0), verdict(2.51, 0), verdict(15.1, 0)], [true, undefined, false])
  t.same([verdict(0, 3.79), verdict(0, 3.81)], [true, undefined], '4 × 0.85 × √(1² + 0.5²)')
  t.same(
    [verdict(2.45, 0, { acc_m: 0.1 }), verdict(0, -3.51, { acc_m: 0.1 })],
    [true, undefined],
    'never less than 2.5 and 3.5 m',
  )
  t.same(
    [verdict(4.9, 0, { acc_m: 2 }, { acc_m: 0 }), verdict(4.94, 0, { acc_m: 2 }, { acc_m: 0 })],
    [true, undefined],
    'an unknown accuracy is 1 m',
  )
  const corrected = { corrected: true }
  t.same([verdict(0.49, 0, corrected, { corr: true }), verdict(0.51, 0, corrected, { corr: true })], [true, false])
  t.equal(verdict(0.51, 0, corrected), true, 'only where both are')
  t.equal(offsetText(enu(30, -0.24, 1.36)), 'E +30.0 / N -0.2 / U +1.4 m')
  const hint = (east: number, up: number, geoidSeparation_m?: number) => heightHint(enu(east, 0, up), geoidSeparation_m)
  t.match(hint(0, 45, 44.6), /geoid separation here \(44\.6 m\): a height above mean sea level was entered/)
  t.match(hint(0, -45, 44.6), /: it was added to a height that was one above the ellipsoid already/)
  t.match(hint(0, -33, -30), /: a height above mean sea level/)
  t.strictSame(
    [
      ...[hint(0, 47.7, 44.6), hint(0, 47.5, 44.6), hint(0, 41.5, 44.6), hint(0, 41.7, -44.6)],
      ...[hint(23, 45, 44.6), hint(22.4, 45, 44.6), hint(0, 45), hint(0, 2, 0), hint(0, 0.5, 0.6)],
    ].map((text) => text !== ''),
    [false, true, false, true, false, true, false, false, true],
    'within 3 m, and in height alone',
  )
})

interface CheckOptions {
  size_m?: number
  chosen?: Reference
  /** Of the corrections. */
  source?: string
  isVouchedFor?: boolean
}

/** A start-up check of a base that moved, with one position a second. */
function check({ size_m, chosen = reference(), source = '', isVouchedFor = false }: CheckOptions = {}) {
  const state = { now_ms: 0, stands: false, doubts: [] as boolean[] }
  const known = new Map<unknown, unknown>([
    [correctionStatus, { remote: source }],
    [procedureStatus, { trustedSources: isVouchedFor ? [source] : [] }],
  ])
  const ctx = {
    clock: { monotonic: () => state.now_ms },
    services: { find: (token: unknown) => known.get(token) },
    event: () => ({ emit: (comparison: unknown) => state.doubts.push(comparison !== undefined) }),
  }
  const made = new PositionCheck(
    ctx as never,
    {
      suspicion: () => (state.stands || size_m !== undefined ? { size_m } : undefined),
      limits: () => ({ accuracy_m: 3, ...limits }),
      geoidSeparation_m: () => undefined,
    },
    10,
  )
  /** @returns after how many seconds `then` was true */
  const seconds = (
    count: number,
    east: number,
    then = () => made.isBack(chosen) === true,
    more: Partial<ReceiverFix> = {},
  ) => {
    for (let s = 1; s <= count; s++) {
      made.add(fixAt(east, state.now_ms, more))
      state.now_ms += 1000
      if (then()) return s
    }
    return undefined
  }
  return { check: made, state, seconds }
}

t.test('a base that moved is back after ten minutes without a break', async (t) => {
  const { check: made, seconds } = check()
  t.equal(seconds(700, 0), 610, 'ten minutes after the window of ten seconds')
  made.forget()
  t.equal(seconds(605, 0), undefined)
  seconds(9, 30)
  t.equal(seconds(500, 0), undefined, 'one that is elsewhere begins them again')
  t.ok((seconds(200, 0) ?? 0) > 90)
  t.equal(check({ size_m: 5.1 }).seconds(620, 0), 610)
  t.equal(
    check({ size_m: 4.9 }).seconds(2000, 0),
    undefined,
    'a move that the positions cannot tell from none is not undone by them',
  )
  const away = { chosen: { ...reference(), acc_m: 1.3 } }
  t.equal(check(away).seconds(620, 1.94), 610)
  t.equal(
    check(away).seconds(2000, 1.96),
    undefined,
    '0.55 × 1 m more must be within 2.5 m, whatever the accuracy of the reference explains',
  )
  t.equal(check().seconds(620, 0, undefined, { acc_m: 4.1 }), 610)
  t.equal(check().seconds(2000, 0, undefined, { acc_m: 4.2 }), undefined, '0.85 × 4.2 m are not within 3.5 m')
  for (const [size_m, tells] of [
    [2 * explained.level.least_m, false],
    [2 * explained.level.least_m + 0.001, true],
    [undefined, true],
  ] as const)
    t.equal(check(size_m === undefined ? {} : { size_m }).check.canSeeReturn, tells, `a move of ${size_m} m`)
})

t.test('the start-up check compares with the reference, and takes longer in doubt', async (t) => {
  const decide = (
    east: number,
    more: Parameters<typeof check>[0] = {},
    fix: Partial<ReceiverFix> = {},
    stands = false,
  ) => {
    const rig = check(more)
    rig.state.stands = stands
    let found: ReturnType<PositionCheck['locate']>
    const after = rig.seconds(
      1000,
      east,
      () => {
        found = rig.check.locate(more.chosen ?? reference())
        return found !== undefined
      },
      fix,
    )
    return { found: found?.agrees, after, doubts: rig.state.doubts }
  }
  t.match(decide(0), { found: true, after: 10, doubts: [] })
  t.match(decide(30), { found: false, after: 10 })
  t.match(decide(5), { found: false, after: 610, doubts: [true, false] })
  t.match(decide(0, {}, { acc_m: 3.1 }), { found: undefined, after: undefined }, 'no position is good enough')
  t.match(decide(0, {}, { acc_m: 3 }), { found: true })
  t.match(decide(5, {}, {}, true), { found: undefined, after: 10, doubts: [] }, 'a suspicion is not averaged')
  t.match(
    decide(30, {}, { corrected: true }),
    { found: false, after: 610, doubts: [true, false] },
    'corrections that nobody vouches for: positions without them are awaited',
  )
  const { check: made, seconds, state } = check()
  seconds(10, 5, () => false)
  t.strictSame(made.locate(undefined), { agrees: undefined }, 'there is nothing to compare with')
  t.equal(made.locate(reference()), undefined)
  made.forget()
  t.same(state.doubts, [true, false], 'the doubt ends with the positions that it was of')
  const asked = check()
  asked.seconds(10, 5, () => asked.check.locate(reference()) !== undefined)
  asked.state.now_ms = 0
  t.equal(asked.check.locate(undefined), undefined)
  t.same(asked.state.doubts, [true, false], 'nobody asks for the reference any more: that ends it')
  seconds(12, 1, () => false)
  t.ok(Math.abs((made.distance_m(reference()) ?? 0) - 1) < 1e-6)
  for (const by of ['window', 'newest'] as const)
    t.same([made.isAt(reference(), by), made.isAt(reference({ arp: at(30) }), by)], [true, false])
  const live = (east: number) => ({ position: at(east), acc_m: 0.5, corrected: false })
  t.match(made.judge(live(1), reference({ method: 'manual' })), { agrees: true })
  t.match(made.judge(live(40), reference({ method: 'manual' })), { agrees: false, text: /^E \+40\.0/, hint: '' })
  t.equal(made.comparison?.agrees, false, 'which is the last comparison')
  made.forget(state.now_ms - 2_000)
  t.equal(made.isAt(reference(), 'window'), undefined, 'two positions are too few')
  t.equal(made.isAt(reference(), 'newest'), true)
  made.forget()
  t.same([made.isAt(reference(), 'newest'), made.distance_m(reference())], [undefined, undefined])
})

t.test('corrections of a base that nobody vouches for are no evidence by themselves', async (t) => {
  const of = (source: string) => ({ corr: true, acc_m: 0.02, source })
  const vouched = { isVouchedFor: true }
  /** Where corrections put the antenna and where the second solution does, metres east; `where` is held against the reference. */
  for (const [what, chosen, options, corrected, second, agrees, where, more] of [
    ['they agree', {}, {}, 0, undefined, true, 0, {}],
    ['they do not', {}, {}, 10, undefined, undefined, 10, { unverified: true }],
    ['those of a port do not', {}, { source: '' }, 10, undefined, undefined, 10, { unverified: true }],
    ['all positions agree', {}, {}, 0, 0, true, 0, {}],
    ['those without them agree', {}, {}, 10, 0, true, 0, { contradicted: true }],
    ['those without them do not', {}, {}, 0, 10, undefined, 10, {}],
    ['neither do', {}, {}, 30, 10, undefined, 10, { contradicted: true }],
    ['a person vouches for them', {}, vouched, 30, 0, false, 30, {}],
    ['a reference by corrections of a port', of(''), {}, 30, 0, false, 30, {}],
    ['a reference by the same base', of('caster:2102'), {}, 0.4, 0, true, 0.4, {}],
    ['by the same base, far from those without', of('caster:2102'), {}, 30, 0, true, 0, { contradicted: true }],
    ['by the same base, and none without', of('caster:2102'), {}, 30, undefined, false, 30, {}],
    ['a reference by another base', of('other:2101'), {}, 0.4, 0, true, 0, {}],
    ['by another base, and none without', of('other:2101'), {}, 30, undefined, false, 30, { unverified: true }],
    ['a reference without corrections, from there', { source: 'caster:2101' }, {}, 0.4, 0, true, 0, {}],
  ] as const) {
    const { check: made, state } = check({ source: 'caster:2101', ...options })
    for (; state.now_ms <= 12_000; state.now_ms += 1_000) {
      made.add(fixAt(corrected, state.now_ms, { fix: 'rtk-fixed', corrected: true, acc_m: 0.02 }))
      if (second !== undefined) made.addSecond(fixAt(second, state.now_ms))
      made.locate(reference(chosen))
    }
    const { comparison } = made
    const found = { unverified: comparison?.unverified, contradicted: comparison?.contradicted !== undefined }
    t.same(
      [comparison?.agrees, Math.round(10 * (comparison?.offset.east ?? 99)) / 10, found],
      [agrees, where, { unverified: undefined, contradicted: false, ...more }],
      what,
    )
    const whose =
      'source' in options ? 'corrections that come by a port of the receiver' : 'the corrections of caster:2101'
    const hint = found.unverified ? `; this position rests on ${whose}, and that of their base may be wrong` : ''
    t.equal(comparison?.hint, hint)
    t.ok(made.live, 'it was accurate enough')
  }

  /** Ten metres by corrections; elsewhere without them. @returns after how many seconds `then` was true */
  const beside = ({ check: made, state }: ReturnType<typeof check>, second: number, then: () => boolean) => {
    for (let s = 1; s < 1_300; s++) {
      made.add(fixAt(10, state.now_ms, { fix: 'rtk-fixed', corrected: true }))
      made.addSecond(fixAt(second, state.now_ms))
      state.now_ms += 1_000
      if (then()) return s
    }
    return undefined
  }
  const source = 'caster:2101'
  const [doubtful, back] = [check({ source }), check({ source })]
  t.equal(
    beside(doubtful, 5, () => doubtful.check.locate(reference()) !== undefined),
    610,
  )
  t.equal(doubtful.check.comparison?.unverified, undefined, 'the second solution is averaged too')
  t.equal(
    beside(back, 0, () => back.check.isBack(reference()) === true),
    610,
  )
  t.ok(Math.abs(back.check.comparison?.offset.east ?? 9) < 0.001 && back.check.live)
})

t.test('each doubt has its own ten minutes', async (t) => {
  for (const [east, fix] of [
    [5, {}],
    [30, { corrected: true }],
  ] as const) {
    const { check: made, seconds, state } = check()
    const decided = () => seconds(1_000, east, () => made.locate(reference()) !== undefined, fix)
    t.same([decided(), state.doubts], [610, [true, false]])
    made.forget()
    t.same([decided(), state.doubts], [610, [true, false, true, false]], 'again')
    made.forget()
    t.equal(state.doubts.length, 4, 'one that is over does not end again')
  }
  const { check: made, seconds, state } = check()
  seconds(300, 0)
  made.forget(state.now_ms - 60_000)
  t.ok((seconds(700, 0) ?? 0) > 590, 'and so has a return')
  made.forget()
  t.equal(made.isBack(reference()), undefined)
  t.equal(made.comparison?.agrees, true, 'the last comparison stands')
})

t.test('whether an antenna is back is not known while positions cannot tell', async (t) => {
  const { check: made, seconds } = check()
  t.equal(made.isBack(reference()), undefined, 'there are none')
  seconds(12, 0, () => false)
  t.equal(made.isBack(reference()), undefined, 'not for ten minutes yet')
  made.forget()
  seconds(12, 30, () => false)
  t.equal(made.isBack(reference()), false)
})

// ── a warm start ────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('a warm start needs all evidence, by 24 s at the latest', async (t) => {
  const verify = (byPhases: boolean, confirms: boolean | undefined, againstRanges = '') => {
    const made = new Verification({ confirms: () => confirms }, 0, { byPhases, againstRanges })
    let announced = false
    return {
      heard: made.heard.bind(made),
      announced: () => {
        announced = true
      },
      second: (now_ms: number) => made.second(now_ms, announced).answer,
      get missing() {
        return made.second(0, announced).why
      },
    }
  }
  /** Twelve signals of as many satellites, `held` of them in lock for 64 s. */
  const heard = (held: number, net?: number, of = 12, phase: object = { phase_m: 1 }) =>
    ({
      epoch: epochOf(
        Object.fromEntries(
          Array.from({ length: of }, (_, i) => [i + 1, { ...phase, lock: i < held ? 383 : 1 } as never]),
        ),
      ),
      report: { net: net === undefined ? undefined : { distance_m: net } },
    }) as never
  const whole = verify(false, true)
  t.equal(whole.second(1000), undefined)
  t.match(whole.missing, /tracked all the time/)
  whole.heard(heard(8, 0.029), 60_000)
  t.match(whole.missing, /no 1005/)
  t.equal(whole.second(2000), undefined)
  whole.announced()
  t.equal(whole.second(3000), true)
  const unseen = verify(false, undefined)
  unseen.announced()
  unseen.heard(heard(8, 0.029), 60_000)
  t.match(unseen.missing, /neither carrier phases nor ranges show/)

  const few = verify(false, true)
  few.announced()
  few.heard(heard(7, 0), 60_000)
  t.equal(few.second(23_999), undefined, '7 of 12 signals are less than 60 %')
  t.equal(few.second(24_000), false)
  const undated = verify(false, true)
  undated.announced()
  undated.heard(heard(12, 0), Number.NaN)
  t.equal(undated.second(23_999), undefined, 'nobody knows how long ago the base was trusted')
  const five = verify(false, true)
  five.announced()
  five.heard(heard(5, 0, 5), 60_000)
  t.equal(five.second(24_000), false, 'five satellites are too few')
  five.heard(heard(6, 0, 6), 60_000)
  t.equal(five.second(24_000), true)

  const moving = verify(false, true)
  moving.announced()
  moving.heard(heard(12, 0.03), 60_000)
  t.equal(moving.second(10_000), undefined, '3 cm may be the beginning of a move')
  moving.heard(heard(12, 0.01), 60_000)
  t.equal(moving.second(11_000), true)
  t.equal(verify(true, false).second(0), false, 'evidence that denies')

  const noisy = new Verification({ confirms: () => false }, 0, { byPhases: true, againstRanges: 'no clock' })
  noisy.heard(heard(12, 0.01), 60_000)
  t.equal(noisy.second(15_000, true, 'pending').answer, undefined, 'phases over an outage may tell soon')
  t.equal(noisy.second(16_000, true, true).answer, true, 'they tell decimetres, ranges of seconds metres')
  t.equal(noisy.second(16_000, false, true).answer, undefined, 'the base has not announced itself')
  t.equal(noisy.second(16_000, true).answer, false, 'without them, ranges deny')

  const brief = verify(true, undefined)
  brief.announced()
  brief.heard(heard(12, 0.01), 60_000)
  t.equal(brief.second(1000), true, 'heard a moment ago')
  const moved = verify(true, undefined)
  moved.announced()
  moved.heard(heard(12, 0.1), 60_000)
  t.equal(moved.second(1000), undefined, 'heard a moment ago, and 10 cm away')
  t.equal(moved.second(24_000), false)
  const phaseless = verify(true, true)
  phaseless.announced()
  phaseless.heard(heard(12, undefined, 12, {}), 60_000)
  t.equal(phaseless.second(24_000), false, 'a lock without a phase shows nothing')
  const afresh = verify(true, undefined)
  afresh.announced()
  afresh.heard(heard(12), 60_000)
  t.equal(afresh.second(23_000), undefined, 'its phases started afresh: that is not enough any more')
  const hopeless = verify(true, true, 'it is another receiver')
  hopeless.announced()
  t.equal(hopeless.second(1000), undefined)
  hopeless.heard(heard(12), 60_000)
  t.equal(hopeless.second(1000), false, 'ranges are not enough either')
  t.match(hopeless.missing, 'the carrier phases do not bridge the gap, and it is another receiver')
})

// ── a survey-in ─────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('ambiguities that were determined twice agree within 5 cm, or three times the accuracy', async (t) => {
  const twice = (off_m: number, acc_m: number, epochs = 10) => {
    const made = new Initialisations()
    for (let i = 0; i < 10; i++) made.add(at(0.001 * (i % 2)))
    made.lost()
    for (let i = 0; i < epochs; i++) made.add(at(off_m + 0.001 * (i % 2)))
    return [made.settle(acc_m), made.suffice(1)]
  }
  t.same(twice(0.049, 0.01), [true, true])
  t.same(twice(0.051, 0.01), [false, false])
  t.same(
    [twice(0.089, 0.03), twice(0.091, 0.03)],
    [
      [true, true],
      [false, false],
    ],
  )
  t.same(twice(0, 0.01, 9), [true, false], 'nine epochs say nothing')
  const one = new Initialisations()
  for (let i = 0; i < 9; i++) one.add(here)
  t.equal(one.needsAnother(1), false)
  one.lost()
  for (let i = 0; i < 10; i++) one.add(here)
  t.equal(one.needsAnother(1), true, 'the one before was too short to be one')
  one.pause()
  t.equal(one.needsAnother(1), false)
  for (let i = 0; i < 10; i++) one.add(here)
  one.lost()
  t.same([one.needsAnother(1), one.snapshot().agreed], [false, false])
  for (let i = 0; i < 10; i++) one.add(at(1))
  one.lost()
  const next = new Initialisations()
  next.restore(one.snapshot())
  for (let i = 0; i < 10; i++) next.add(here)
  t.equal(next.settle(0.01), true, 'the first one is what others are held against')
  t.same(next.snapshot(), { agreed: true, agreements: 1, first: one.snapshot().first })
  const spread = new Initialisations()
  const steps = { x: 0.01, y: -0.02, z: 0.03 }
  const axes = ['x', 'y', 'z'] as const
  for (let i = 0; i < 11; i++) spread.add({ x: here.x + i * steps.x, y: here.y + i * steps.y, z: here.z + i * steps.z })
  spread.lost()
  const { first } = spread.snapshot()
  for (const axis of axes)
    t.ok(Math.abs((first?.[axis] ?? 0) - here[axis] - 5 * steps[axis]) < 1e-6, `the mean of ${axis}`)
})

t.test('the accuracy is that of the larger noise, what drifts, and what never averages out', async (t) => {
  const stated = (position: (i: number) => number, count: number, acc_m = 1, model = plainModel, _distance_m = 0) => {
    const estimator = new PositionEstimator(model)
    for (let i = 0; i < count; i++) estimator.add(at(position(i)), acc_m, i)
    return estimator
  }
  const close = (value: number, expected: number, what: string) =>
    t.ok(Math.abs(value / expected - 1) < 0.02, `${what}: ${value} is ${expected}`)
  close(stated(() => 0, 900).accuracy_m(), Math.hypot(Math.sqrt(reduction(1)), 1.3), 'of what it is told')
  close(
    stated((i) => (i % 2 === 0 ? 3 : -3), 900).accuracy_m(),
    Math.hypot(3 * Math.sqrt(reduction(1)), 1.3),
    'of what it sees, where that is more',
  )
  const drifts = stated((i) => (i < 450 ? 0 : 10), 900)
  const noise = Math.max(1, 5) ** 2 * reduction(900 / drifts.correlation_s)
  close(drifts.accuracy_m(), Math.sqrt(noise + 100 - 4 * reduction(1) + 1.3 ** 2), 'halves that differ by 10 m')
  close(stated(() => 0, 1, 0.01, correctedModel).accuracy_m(30_000), Math.hypot(0.01, 0.05), 'ppm of the distance')
  t.equal(stated(() => 0, 100).correlation_s, 900)
  const weighted = new PositionEstimator(plainModel)
  weighted.add(here, 1, 0)
  weighted.add(at(5), 2, 1)
  t.ok(Math.abs((weighted.mean?.y ?? 0) - (here.y + (at(5).y - here.y) / 5)) < 2e-4, 'weights of 1 and 1/4')
  const late = new PositionEstimator(plainModel)
  for (const time_s of [0, 0.5, 100, 99]) late.add(here, 1, time_s)
  t.equal(late.observed_s, 1 + 0.5 + 2 + 0)
})

t.test('the correlation of a series, its spread and its drift, in bounded memory', async (t) => {
  const of = (count: number, value: (i: number) => number) => {
    const made = new CorrelationTime()
    for (let i = 0; i < count; i++) made.add([value(i), 0, 0])
    return made
  }
  t.same(
    [of(15, (i) => i % 2).epochs, of(15, (i) => i).drift, of(20, () => 1).epochs],
    [0, 0, 0],
    'nothing can be said',
  )
  t.equal(of(16, (i) => (i < 8 ? 0 : 4)).drift, 4)
  t.equal(of(16, (i) => (i < 14 ? 0 : 8)).drift, 7, 'the last eighth against all')
  t.ok(Math.abs(of(100, (i) => (i % 2 === 0 ? 2 : -2)).sigma - 2) < 1e-9)
  t.equal(of(0, () => 0).sigma, 0)
  const blocks = of(1600, (i) => (Math.floor(i / 10) % 2 === 0 ? 1 : -1) * (1 + (Math.floor(i / 20) % 3) * 0.01))
  t.ok(blocks.epochs > 2.2 && blocks.epochs < 2.8, `${blocks.epochs} epochs in blocks of ten`)
  const long = of(512 * 4, (i) => i)
  t.ok(long.snapshot().bins.length < 3 * 512 && long.snapshot().width >= 8)
  const again = new CorrelationTime()
  again.restore(long.snapshot())
  t.same([again.epochs, again.sigma, again.drift], [long.epochs, long.sigma, long.drift])
  t.ok(Math.abs(long.drift - 1024) < 10)
  const median = new LogMedian()
  t.equal(median.value, 0)
  for (const value of [1, 2, 3, 1e9, 0]) median.add(value)
  t.ok(Math.abs(median.value / 2 - 1) < 0.011)
  const more = new LogMedian()
  more.restore([...median.snapshot(), [-1, 5], [1e9, 5], [3, -1]])
  t.equal(more.value, median.value, 'what is damaged does not count')
})

t.test('a position without corrections is new, of ten epochs, and not echoed', async (t) => {
  const plain = new PlainPosition()
  const add = (from_s: number, count: number, more: Partial<ReceiverFix> = {}) => {
    for (let i = 0; i < count; i++) plain.add(fixAt(2, (from_s + i) * 1000, more))
  }
  add(0, 9)
  add(9, 5, { corrected: true })
  add(9, 5, { fix: 'time' })
  t.equal(plain.newest(9000), undefined)
  add(9, 1)
  t.match(plain.newest(9000), { acc_m: 1 })
  t.ok(plain.newest(609_000))
  t.equal(plain.newest(609_001), undefined)
  plain.clear()
  t.equal(plain.newest(9000), undefined)
  add(10, 9)
  t.equal(plain.newest(19_000), undefined, 'what was before does not count')
  for (let i = 0; i < 60; i++) plain.add(fixAt(30, 20_000 + i * 1_000))
  plain.clear()
  for (let i = 0; i < 10; i++) plain.add(fixAt(2, 80_000 + i * 1_000))
  const { position = here } = plain.newest(89_000) ?? {}
  t.ok(distance(position, at(2)) < 0.01, 'nor is it averaged')
})

t.test('what is told of a move and of two positions', async (t) => {
  const moved = ([east_m, north_m, up_m]: readonly number[], sigma_m: number, more: Partial<AntennaMove> = {}) => {
    const square = sigma_m ** 2
    const covariance = [square, 0, 0, square, 0, 4 * square] as const
    const vector: MoveVector = { east_m, north_m, up_m, covariance }
    const size_m = Math.hypot(east_m, north_m, up_m)
    return moveText({ by: 'phases', t: 0, size_m, isLeast: false, moves: 1, vector, ...more })
  }
  for (const [text, expected] of [
    [moved([0.03, 0, 0.002], 0.005), '3.0 ± 0.5 cm east'],
    [moved([-0.3, 0.3, -0.1], 0.004), '42.4 ± 0.4 cm north-west and 10.0 ± 0.8 cm down'],
    [moved([0, 0, 1.5], 0.02), '1.50 ± 0.04 m up'],
    [moved([0, -2, 0], 0.02, { isLeast: true, moves: 2 }), 'at least 2.00 ± 0.02 m south, in 2 moves'],
    [moved([0.01, 0, 0], 0.02, { moves: 2 }), 'less than 10.8 cm, so it may be back, in 2 moves'],
    [moved([0.02, 0, 0], 0.02, { isLeast: true }), 'more than 2.0 cm, direction unknown'],
  ] as const)
    t.equal(text, expected)
  const unknown = { by: 'code', t: 0, size_m: 6, isLeast: true, moves: 1 } as const
  t.equal(moveText(unknown), 'more than 6.00 m, direction unknown')
  const angles = ecefToGeodetic(here)
  for (const [apart_m, text] of [
    [9.9, /9\.900 m apart/],
    [10.4, / 10 m apart/],
  ] as const) {
    const { x, y, z } = offsetEnu(here, enu(0, apart_m, 0))
    t.match(disagreement({ x, y, z, ...angles, hp: true } as Parameters<typeof disagreement>[0]), text)
  }
})

t.test('a survey-in without a known time has no epoch', async (t) => {
  const unknown = { frame: '', epoch: '' }
  t.strictSame(surveyDatum(false, unknown, 0), { frame: 'WGS84', epoch: '' })
  t.match(surveyDatum(false, unknown, Date.UTC(2026, 6, 2) / 1000), { frame: 'WGS84', epoch: /^2026\.5/ })
})

t.test('a start is warm for the very same receiver that went on as the trusted base, for 10 min', async (t) => {
  const round_ms = 2 ** 32
  const chosen = reference({})
  const trusted = { reference: chosen, uid: 'A', msss_ms: 1_000_000, t: 1_790_000_000, baselines: {} }
  const held = { mode: 'fixed', arp: chosen.arp } as Parameters<typeof keptRunning>[3]
  const later = (by_s: number, more: object = {}) => ({
    ...{ uid: 'A', msss_ms: trusted.msss_ms + by_s * 1000, t: trusted.t + by_s, ...more },
  })
  for (const [what, now, verdict] of [
    ['a minute later', later(60), ''],
    ['10 min later', later(600), ''],
    ['a second more', later(601), /it was trusted 10 min ago/],
    ['clocks that disagree by 5 s', later(60, { t: trusted.t + 65 }), ''],
    ['and by 6 s', later(60, { t: trusted.t + 66 }), /was restarted/],
    ['the other way round', { uid: 'A', msss_ms: 995_000, t: trusted.t }, ''],
    ['its clock began anew', later(60, { msss_ms: 30_000 }), /was restarted/],
    ['its clock of 32 bits turned', { uid: 'A', msss_ms: 20_000, t: trusted.t + 60 }, /was restarted/],
    ['another receiver', later(60, { uid: 'B' }), /another receiver/],
    ['a clock that it does not report', later(60, { msss_ms: undefined }), /does not report/],
    ['no time', later(60, { t: 0 }), /time is not known/],
  ] as const) {
    t.match(keptRunning(trusted, chosen, now, held), verdict === '' ? /^$/ : verdict, what)
  }
  const turned = { ...trusted, msss_ms: round_ms - 40_000 }
  t.equal(keptRunning(turned, chosen, { uid: 'A', msss_ms: 20_000, t: trusted.t + 60 }, held), '', 'after 49.7 days')
  t.match(keptRunning({ ...trusted, t: 0 }, chosen, later(60), held), /time is not known/)
  t.match(keptRunning(trusted, reference({ arp: at(0.5) }), later(60), held), /another reference is chosen/)
  const elsewhere = { mode: 'fixed', arp: at(0.5) } as typeof held
  t.match(keptRunning(trusted, chosen, later(60), elsewhere), /holds another reference/)
  for (const target of [undefined, { mode: 'survey-in' as const }])
    t.match(keptRunning(trusted, chosen, later(60), target), /holds no reference/)
})

// ── what the base does, and what is known of it ─────────────────────────────────────────────────────────────────────

const heardAs = (bytes: Uint8Array, arrival_ms: number): RtcmFrame => ({
  type: messageNumber(bytes),
  bytes,
  arrival_ms,
})

const msm = (arrival_ms: number, id = 0) => heardAs(msmFrame(1074, 1_000, false, id), arrival_ms)
const arp = (arrival_ms: number, position = here, id = 0) => heardAs(arpFrame(roundEcef(position), id), arrival_ms)

/** A watch of a base whose receiver sends observations and 1005 so often. */
class FlowingBase extends BaseWatch {
  readonly #flow: { flows: boolean; newest_ms: number; since_ms: number }

  constructor() {
    const flow = { flows: false, newest_ms: Number.NEGATIVE_INFINITY, since_ms: Number.NEGATIVE_INFINITY }
    super(flow)
    this.#flow = flow
  }

  override heard(frame: RtcmFrame, step: Parameters<BaseWatch['heard']>[1]) {
    const flow = this.#flow
    if (isMsm(frame.type)) {
      this.#pass(frame.arrival_ms)
      if (!flow.flows) flow.since_ms = frame.arrival_ms
      Object.assign(flow, { flows: true, newest_ms: frame.arrival_ms })
    }
    return super.heard(frame, step)
  }

  override waits(since_ms: number, now_ms: number) {
    this.#pass(now_ms)
    return super.waits(since_ms, now_ms)
  }

  /** The service tells when they stop: here after 5 s. */
  #pass(now_ms: number): void {
    if (now_ms - this.#flow.newest_ms >= 5_000) this.#flow.flows = false
  }
}

function baseWatch(observations = 1, point = 1) {
  const base = new FlowingBase()
  base.target = reference({ arp: roundEcef(here) })
  base.expected = { stationId: 0, intervals_s: { observations, reference: point } }
  return base
}

t.test('a base that is fixed stops when its observations do, or its 1005 for 10 s or three intervals', async (t) => {
  for (const [reference_s, points_ms] of [
    [1, 10_000],
    [4, 12_000],
    [10, 30_000],
  ] as const) {
    const flow = { flows: undefined as boolean | undefined, newest_ms: 0, since_ms: 0 }
    const base = new BaseWatch(flow)
    base.target = reference({ arp: roundEcef(here) })
    base.expected = { stationId: 0, intervals_s: { observations: 1, reference: reference_s } }
    base.heard(arp(1_000), 'fixed')
    t.equal(base.stopped(1_000), undefined, 'that it is not known yet is no interruption')
    flow.flows = false
    t.equal(base.stopped(1_000), 'observations stopped', 'a base without satellites sends its 1005 all the same')
    flow.flows = true
    t.equal(base.stopped(1_000 + points_ms), undefined)
    t.equal(base.stopped(1_001 + points_ms), '1005 stopped')
    base.begin()
    t.equal(base.stopped(1_001 + points_ms), '1005 stopped')
    base.begin(1_001 + points_ms)
    t.equal(base.stopped(1_001 + points_ms), undefined, 'where it is known to come')
  }
})

t.test('the first two wrong 1005 are of the mode before; a base that is fixed sends none', async (t) => {
  const base = baseWatch()
  const wrong = { kind: 'position', values: { message: '1005' } }
  t.equal(base.heard(arp(0), 'accept'), undefined, 'right, but there are no observations')
  base.heard(msm(0), 'accept')
  t.equal(base.heard(arp(0), undefined), undefined, 'nothing is waited for')
  t.equal(base.heard(arp(0), 'fixed'), undefined)
  t.equal(base.heard(arp(0), 'accept'), 'right 1005')
  t.equal(base.heard(heardAs(arpFrame(roundEcef(here), 0, 1), 0), 'accept'), 'right 1005', 'as 1006')
  t.equal(base.heard(arp(0, at(1)), 'fixed'), 'wrong 1005')
  t.match([base.difference, base.fault], [wrong, wrong])
  base.rejected('rejected')
  t.match(base.fault, { kind: 'rejected', values: { difference_code: 'gate.fault.position', why: 'rejected' } })
  base.heard(arp(0), 'fixed')
  t.equal(base.difference, undefined)
  base.rejected('rejected')
  t.same(base.fault, { kind: 'rejected', values: { why: 'rejected' } })
  t.equal(base.heard(msm(0, 7), 'fixed'), 'wrong 1005', 'another station ID, in any message')
  const rounds = () => [1, 2, 3].map(() => base.heard(arp(0, at(1)), 'accept'))
  const [open, again] = [undefined, 'wrong 1005']
  const fresh = baseWatch()
  t.same(
    [1, 2, 3].map(() => fresh.heard(arp(0, at(1)), 'accept')),
    [open, open, again],
  )
  for (const [what, last] of [
    ['once', again],
    ['twice', again],
    ['three times: it does not take it', 'not accepted'],
    ['and counts anew', again],
  ] as const) {
    base.begin()
    t.same(rounds(), [open, open, last], what)
  }
  base.trusted()
  for (const last of [again, again, 'not accepted']) {
    base.begin()
    t.same(rounds(), [open, open, last], 'a base that was trusted has three again')
  }
})

t.test('a right 1005 is waited for 15 s, or three intervals, of flowing RTCM', async (t) => {
  for (const [interval_s, wait_ms] of [
    [1, 15_000],
    [10, 30_000],
  ] as const) {
    const silent = baseWatch(interval_s, interval_s)
    t.equal(silent.waits(1_000, 1_000 + wait_ms), undefined)
    t.equal(silent.waits(1_000, 1_001 + wait_ms), 'observations stopped', 'nothing came at all')
  }
  const stopped = baseWatch()
  stopped.heard(msm(1_000), 'accept')
  t.equal(stopped.waits(1_000, 5_999), undefined)
  t.equal(stopped.waits(1_000, 6_000), 'observations stopped', 'it came and stopped')
  t.equal(stopped.waits(1_001, 6_000), undefined, 'it stopped before')

  /** Waits from `since_ms` with an MSM each second from `from_ms` on. @returns when it ended, and how */
  const wait = (base: BaseWatch, since_ms: number, from_ms: number, also: (now_ms: number) => void = () => {}) => {
    for (let now_ms = from_ms; ; now_ms += 1_000) {
      base.heard(msm(now_ms), 'accept')
      also(now_ms)
      const event = base.waits(since_ms, now_ms)
      if (event) return [now_ms, event]
    }
  }
  const none = baseWatch()
  t.same(wait(none, 2_000, 2_000), [17_000, 'no 1005'])
  t.same(none.fault, { kind: 'no-reference' })
  t.same(wait(none, 20_000, 18_000), [35_000, 'no 1005'], 'from when it is waited for')
  t.same(wait(none, 36_000, 50_000), [65_000, 'not accepted'], 'from when RTCM flows again; the third time')
  t.same(wait(baseWatch(1, 10), 0, 0), [30_000, 'no 1005'])
  const one = baseWatch()
  t.same(
    wait(one, 0, 0, (ms) => ms === 5_000 && void one.heard(arp(ms, at(1)), 'accept')),
    [15_000, 'no 1005'],
  )
  t.match(one.fault, { kind: 'position' }, 'one that was wrong is named')
  one.begin()
  t.same(
    wait(one, 16_000, 16_000, (ms) => ms === 18_000 && void one.heard(arp(ms), 'fixed')),
    [33_000, 'no 1005'],
  )
  t.same(one.fault, { kind: 'no-reference' })
  one.heard(arp(33_000, at(1)), 'fixed')
  one.begin()
  t.equal(one.waits(0, 37_999), 'not accepted')
  t.equal(one.difference, undefined, 'that was of the step before')
})

/** What is remembered, and what was written of it. */
function memoryOf(values: Partial<Record<EvidenceName, unknown>> = {}) {
  const writes: string[] = []
  const damaged: string[] = []
  const set = async (name: EvidenceName, value: unknown) => {
    writes.push(name)
    values[name] = value
  }
  const memory: EvidenceMemory = { get: (name) => values[name], set }
  const log = { error: ({ name }: { name: string }) => damaged.push(name) } as never
  const make = () => {
    const suspicion = new Suspicion(log)
    suspicion.open(memory)
    return suspicion
  }
  return { memory, log, make, values, writes, damaged }
}

t.test('a suspicion stands over a restart until it is settled', async (t) => {
  const { make } = memoryOf()
  const suspicion = make()
  t.equal(suspicion.present, undefined)
  const suspected = { text: 'the ranges show 12.0 m', size_m: 12 }
  const written = suspicion.raise(suspected)
  t.strictSame(suspicion.present, suspected, 'at once')
  await written
  const next = make()
  t.strictSame(next.present, suspected)
  await next.settle()
  t.same([next.present, make().present], [undefined, undefined])
  await next.raise({ text: 'the phases', size_m: undefined })
  t.strictSame(make().present, { text: 'the phases', size_m: undefined })
})

t.test('what is remembered and damaged is as if it had never been, but a suspicion stands', async (t) => {
  const arp = here
  for (const value of [5, 'x', [null, 7], {}, { evidence: 3 }, { reference: { arp }, uid: 'A', msss_ms: 1, t: 1 }]) {
    const { last, make, damaged } = lastMoment(t, { trusted: value, suspicion: value })
    t.equal(last.seen, undefined)
    t.match(make().present, { text: /suspected before, the evidence is lost/, size_m: undefined })
    t.same(damaged, ['trusted', 'suspicion'])
  }
  const none = memoryOf({ suspicion: null })
  t.same([none.make().present, none.damaged], [undefined, []])
})

/** Nobody waits for the newest moment to be written. */
function folder(t: Test): DataDir {
  const path = mkdtempSync(join(tmpdir(), 'rtk-base-trust-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  return { path } as DataDir
}

/** What is known of the last trusted moment, on a clock of the test. */
function lastMoment(t: Test, values: Partial<Record<EvidenceName, unknown>> = {}) {
  const dir = folder(t)
  const now = { ms: 1_000_000 }
  const store = memoryOf(values)
  const clocks = { now_ms: () => now.ms, utc_s: () => Math.floor(now.ms / 1_000) + 1_789_999_000 }
  const orbits = new OrbitSky(() => undefined)
  const next = () => {
    const continuity = new Continuity(orbits, clocks, store.log, () => dir)
    continuity.start(undefined)
    continuity.open(store.memory)
    return continuity
  }
  const receiver = { identity: { module: 'M', serial: 'A' }, sinceReset_ms: 5_000, stationId: 7 } as {
    sinceReset_ms?: number
  } & Receiver
  const pass = (seconds: number) => {
    now.ms += Math.round(seconds * 1_000)
    if (receiver.sinceReset_ms !== undefined)
      Object.assign(receiver, { sinceReset_ms: receiver.sinceReset_ms + seconds * 1_000 })
  }
  return { ...store, dir, last: next(), next, now, pass, receiver }
}

const seenHere = { position: here, acc_m: 1 }

t.test('a warm start is not asked for where nothing can come of it', async (t) => {
  const { last, next, now, pass, receiver } = lastMoment(t)
  const judged = (one = last) => {
    const { answer, why } = one.judge(receiver, reference({}), 'not asked', undefined)
    return answer === undefined ? 'ask' : why
  }
  t.match(judged(), /nothing was trusted before/)
  /** Whether the phases alone can show that it is the same, while the ranges cannot. */
  const isBrief = (one = last, of = receiver, target = reference({})) => {
    const made = one.verification(of, target, { confirms: () => undefined } as never)
    return !/do not bridge/.test(made.second(now.ms, true).why)
  }
  t.same([isBrief(), last.seen], [false, undefined])
  const judge = (target: ReferencePosition | undefined, held: HeldTarget) =>
    last.judge(receiver, target, held, undefined)
  t.match(judge(reference({}), undefined), { answer: false, why: /nothing was trusted before/ })
  t.same(last.age_ms(receiver), Number.NaN)
  await last.remember(receiver, reference({}), seenHere, { second: enu(1) })
  t.same([judged(), last.seen, last.age_ms(receiver)], ['ask', seenHere, 1_000])
  t.match(judge(undefined, undefined), { answer: false, why: 'there is no reference' })
  t.match(judge(reference({}), undefined), { answer: false, why: /holds no reference/ })
  t.strictSame(judge(reference({}), { mode: 'fixed', arp: here } as never), { answer: true, why: '' })
  for (const [seconds, brief, against] of [
    [5, true, 'ask'],
    [0.1, true, 'ask'],
    [4.9, true, 'ask'],
    [0.1, false, 'the receiver was away for 10 s'],
  ] as const) {
    pass(seconds)
    t.same([isBrief(), judged()], [brief, against])
  }
  t.equal(last.age_ms(receiver), 11_100)
  const carried = (held: HeldTarget | 'not asked') => last.judge(receiver, reference({}), held, 'pending')
  t.match(carried('not asked'), { answer: undefined }, 'phases in lock may show it')
  t.match(carried({ mode: 'fixed', arp: here } as never), { answer: true, why: '' })
  t.match(carried({ mode: 'fixed', arp: at(1) } as never), { answer: false, why: /holds another/ })
  now.ms = 1_060_000
  const another = next()
  t.same([judged(another), another.age_ms(receiver)], ['ask', 61_000])
  await last.remember(receiver, reference({}), seenHere, {})
  pass(6)
  for (const other of [{ serial: 'B' }, { module: 'N' }, { maker: 'X' }, { serial: '' }]) {
    const of = { ...receiver, identity: { ...receiver.identity, ...other } } as Receiver
    t.notOk(isBrief(last, of), JSON.stringify(other))
  }
  t.notOk(isBrief(last, receiver, reference({ arp: at(0.01) })), 'another reference')
  t.ok(isBrief())
})

t.test('the trusted moment is kept four times a minute, and in the settings what has changed', async (t) => {
  const { dir, last, next, pass, receiver, values, writes } = lastMoment(t)
  const target = reference({})
  const tick = (seen: Seen | undefined) => last.tick(receiver, target, seen, {})
  tick(seenHere)
  t.same(writes, ['trusted'], 'for the first time at once')
  pass(14.999)
  tick(seenHere)
  t.equal(next().age_ms(receiver), 15_999, 'the one before')
  pass(0.001)
  tick(seenHere)
  await until(() => next().age_ms(receiver) === 1_000, 'the newer moment is in its file')
  t.same(writes, ['trusted'], 'nothing else has changed')
  pass(15)
  tick(undefined)
  t.same(writes, ['trusted', 'trusted'])
  t.equal(last.seen, undefined)
  await until(() => !readFileSync(join(dir.path, 'last.json'), 'utf8').includes('seen'), 'the file is written')
  const stored = values.trusted as TrustedMoment
  pass(15)
  Object.assign(receiver, { sinceReset_ms: undefined })
  await last.remember(receiver, target, undefined, {})
  t.match(values.trusted, { msss_ms: stored.msss_ms, t: stored.t }, 'both clocks when the receiver reported its own')
  const msss_ms = Number(stored.msss_ms) + 1_000
  const later = { sinceReset_ms: msss_ms + 14_000 }
  for (const [what, change, isUsed] of [
    ['newer', { t: stored.t + 1, msss_ms }, true],
    ['as old', { t: stored.t, msss_ms }, false],
    ['of another receiver', { uid: 'B', t: stored.t + 1, msss_ms }, false],
  ] as const) {
    writeFileSync(join(dir.path, 'last.json'), JSON.stringify({ moment: { ...stored, ...change } }))
    t.equal(next().age_ms(later), 16_000 - (isUsed ? 1_000 : 0), what)
  }
  values.trusted = undefined
  t.equal(next().seen, undefined, 'the settings decide whether there is one')
  const handed = last.handOver()
  const reloaded = next()
  reloaded.start(handed)
  t.equal(reloaded.age_ms(receiver), 1_000, 'the next instance of the plugin')
})

t.test('baselines hold for the very same base that was not looked at again', async (t) => {
  const { last, receiver } = lastMoment(t)
  const baselines = { residuals: enu(1) }
  t.same(last.baselines(receiver, reference({}), undefined), {}, 'nothing is known')
  for (const seen of [seenHere, undefined]) {
    await last.remember(receiver, reference({}), seen, baselines)
    for (const [what, of, target, now, holds] of [
      ['the same', receiver, reference({}), seen, true],
      ['another receiver', { ...receiver, identity: { serial: 'B' } } as Receiver, reference({}), seen, false],
      ['another reference', receiver, reference({ arp: at(1) }), seen, false],
      ['seen elsewhere', receiver, reference({}), { position: at(1), acc_m: 1 }, false],
      ['seen in one of them', receiver, reference({}), seen ? undefined : seenHere, false],
      ['seen at the same place again', receiver, reference({}), seen && { ...seenHere, acc_m: 2 }, true],
    ] as const)
      t.same(last.baselines(of, target, now), holds ? baselines : {}, what)
  }
})

t.test('a base in use is reported without evidence for 3 min, and when the ranges doubt its reference', async (t) => {
  const raised = new Map<string, unknown>()
  const calls: string[] = []
  const heard = errorsOf('integrity')
  const errors = {
    ...heard,
    while(...given: Parameters<typeof heard.while>) {
      const [code] = given
      const entry = heard.while(...given)
      calls.push(`${entry ? '+' : '-'}${code}`)
      if (entry) raised.set(code, entry)
      else raised.delete(code)
      return entry
    },
  }
  const state = {
    delta_m: undefined as number | undefined,
    offset: undefined as Enu | undefined,
    looks: [] as boolean[],
  }
  const movement = {
    delta_m: () => state.delta_m,
    doubtful: (_now_ms: number, stands: boolean) => {
      state.looks.push(stands)
      return state.offset
    },
  } as unknown as MovementWatch
  const reports = new WatchReports(errors, () => 44.6)
  const [begun_ms, seen_ms] = [1_000_000, 1_179_999]
  const [unwatched, doubtful] = ['gnss-unwatched', 'gnss-reference-doubtful']
  const second = (after_ms: number, delta_m?: number) => {
    state.delta_m = delta_m
    reports.second(movement, after_ms)
    return [...raised.keys()]
  }
  reports.begin(begun_ms, 'choose another one')
  t.same([second(seen_ms), second(seen_ms + 1), second(seen_ms + 2)], [[], [unwatched], [unwatched]])
  t.match(raised.get(unwatched), { severity: 'doubts', why: /for 3 min/, advice: /^check the view/ })
  t.same([second(seen_ms + 3, 0), second(seen_ms + 180_002), second(seen_ms + 180_003)], [[], [], [unwatched]])
  t.same(calls, [`+${unwatched}`, `-${unwatched}`, `+${unwatched}`], 'each once')
  reports.end()
  t.same([calls.at(-1), raised.size, reports.snapshot()], [`-${unwatched}`, 0, []])

  reports.begin(begun_ms, 'choose another one')
  state.looks.length = 0
  state.offset = enu(0.04, -0.06, 45.04)
  t.same([second(begun_ms + 59_999, 1), second(begun_ms + 60_000, 1)], [[], [doubtful]])
  t.match(raised.get(doubtful), {
    severity: 'doubts',
    why: /the antenna is at E \+0\.0 \/ N -0\.1 \/ U \+45\.0 m from the reference$/,
    advice: /^RTCM is still sent: .* height above mean sea level .*; if it is wrong, choose another one$/,
    values: { east_m: 0, north_m: -0.1, up_m: 45 },
  })
  second(begun_ms + 119_999, 1)
  second(begun_ms + 120_000, 1)
  t.same(state.looks, [false, true], 'looked at once a minute, and raised once')
  const next = new WatchReports(errors, () => undefined)
  next.restore(reports.snapshot())
  t.equal(calls.at(-1), `+${doubtful}`, 'the next instance has it too')
  next.begin(begun_ms, '')
  state.offset = undefined
  next.second(movement, begun_ms + 60_000)
  t.same([calls.at(-1), raised.size], [`-${doubtful}`, 0])
})

t.test('a monitor that was reloaded knows what the one before knew, and for how long nobody watched', async (t) => {
  const dir = folder(t)
  const clock = { ms: 100_000 }
  const listeners = new Map<unknown, (event: unknown) => void>()
  const emitted: unknown[] = []
  const services = new Map<unknown, unknown>()
  const ctx = {
    clock: { monotonic: () => clock.ms },
    event: () => ({ on: {}, emit: (event: unknown) => emitted.push(event) }),
    on: (event: unknown, listener: (event: unknown) => void) => listeners.set(event, listener),
    timers: { every: () => {} },
    log: { error: t.fail },
    errors: { while: () => {} },
    services: { find: (token: unknown) => services.get(token), watch: (_: unknown, fn: () => void) => fn() },
    dataDir: () => dir,
  } as unknown as PluginContext
  const receiver = (mode = 'rover') => {
    const events = { onRtcm: 'rtcm', onFix: 'fix', onSecondFix: 'second', onWarning: 'warning', onResiduals: 'ranges' }
    return { mode, identity: { serial: 'A' }, stationId: 0, ...events } as unknown as Receiver
  }
  const startLimits = { accuracy_m: 3, ...limits }
  const make = () =>
    new IntegrityMonitor(
      ctx,
      { initial_s: 10, phases: { enabled: true, threshold_m: 0.03 } } as never,
      () => startLimits,
    )
  const warn = () => listeners.get('warning')?.('Base station position seems incorrect')

  const listening = make()
  listening.start(receiver('listening'), undefined)
  t.same([listening.snapshot(), listeners.size, listening.needed_m], [undefined, 0, 3])
  const fresh = make()
  t.match(fresh.beginVerification(reference(), 'not asked'), { answer: false, why: 'there is no receiver' })
  t.match(fresh.verify(true), { answer: false, why: 'it is not watched' })
  fresh.start(receiver(), undefined)
  warn()
  t.same([emitted.length, fresh.stayed], [0, undefined], 'no base is in use')
  t.match(fresh.snapshot(), { at_ms: 100_000, inUse: false })

  fresh.trust(reference(), 'choose another one')
  t.equal(fresh.stayed, true)
  const still = fresh.snapshot()
  warn()
  t.match(emitted, [{ moved: true, by: 'code', text: /seems incorrect/, size_m: 50 }])
  t.match(fresh.stayed, { moved: true })
  const moved = fresh.snapshot()
  for (const [away_ms, before, stayed] of [
    [10_000, still, true],
    [10_001, still, { moved: undefined, text: /nobody watched the antenna for 10 s/ }],
    [12_600, still, { moved: undefined, text: /nobody watched the antenna for 13 s/ }],
    [12_600, moved, { moved: true }],
    [12_600, still && { ...still, inUse: false }, undefined],
  ] as const) {
    clock.ms = 100_000 + away_ms
    const next = make()
    next.start(receiver(), before)
    if (typeof stayed === 'object') t.match(next.stayed, stayed, `${away_ms} ms`)
    else t.equal(next.stayed, stayed, `${away_ms} ms`)
  }
  fresh.trust(reference(), '')
  t.equal(fresh.stayed, true, 'trusted again')
  fresh.leave()
  t.same([fresh.stayed, fresh.snapshot()?.inUse], [undefined, false])

  const located = make()
  located.start(receiver(), undefined)
  t.equal(located.distance_m(reference()), undefined, 'there is no position')
  listeners.get('fix')?.(fixAt(2, clock.ms))
  t.ok(Math.abs((located.distance_m(reference()) ?? 0) - 2) < 1e-6)
  t.equal(located.distance_m(undefined), undefined)
  listeners.get('fix')?.(fixAt(2, clock.ms, { fix: 'time' }))
  clock.ms += 10_000
  t.ok(located.distance_m(reference()))
  clock.ms += 1
  t.equal(located.distance_m(reference()), undefined, 'it is older than 10 s')
})

/** Twenty satellites of two constellations, and what the ranges to them say of an antenna that is beside its reference. */
function skyOfResiduals({ east, north, up }: Enu, noise_m: (elevation_deg: number) => number, lowest_deg = 12) {
  return Array.from({ length: 20 }, (_, i): SatelliteResidual => {
    const [azimuth_deg, elevation_deg] = [(i * 137) % 360, lowest_deg + ((i * 29) % (88 - lowest_deg))]
    const [azimuth, elevation] = [(azimuth_deg * Math.PI) / 180, (elevation_deg * Math.PI) / 180]
    const level = Math.sin(azimuth) * east + Math.cos(azimuth) * north
    const along_m = Math.cos(elevation) * level + Math.sin(elevation) * up
    const residual_m = noise_m(elevation_deg) - along_m + 100 * (i % 2)
    return {
      constellation: i % 2 ? 'gps' : 'galileo',
      satellite: i,
      azimuth_deg,
      elevation_deg,
      residual_m,
      used: true,
    }
  })
}

t.test('what speaks for a move says how far it is', async (t) => {
  const watch = new MovementWatch(reference({}), seenHere)
  t.same(watch.warning('Base station position seems incorrect'), {
    text: 'the receiver reports: Base station position seems incorrect',
    move: { by: 'code', size_m: 50, isLeast: true, moves: 1 },
  })
  t.equal(watch.warning('antenna short'), undefined)
  for (const [acc_m, sigma_m] of [
    [0, Math.SQRT2],
    [3, Math.hypot(3, 1)],
  ] as const)
    for (const [part, isBorne] of [
      [0.99, true],
      [1.01, false],
    ] as const) {
      const second = enu(part * Math.max(3, 2 * sigma_m))
      const { baselines } = new MovementWatch({ arp: here, acc_m }, undefined, { second })
      t.same(baselines, isBorne ? { second } : {}, 'an unknown accuracy is 1 m, and no code position is better')
    }
  let found: unknown
  for (let s = 0; s < 40 && !found; s++) found = watch.secondFix(fixAt(12, s * 1_000), s * 1_000)
  t.match(found, { text: 'the second fix shows a move of 12.00 ± 3.00 m east', move: { vector: {} } })
  const ranges = new MovementWatch(reference({}), seenHere)
  const far = skyOfResiduals(enu(12), () => 0)
  found = undefined
  for (let s = 0; s < 40 && !found; s++) found = ranges.residuals(far, s * 1_000)
  t.match(found, {
    text: /^the ranges show a move of more than \d\.\d\d m, direction unknown$/,
    move: { isLeast: true },
  })
  t.notOk((found as { move: AntennaMove }).move.vector)
  t.equal(ranges.residuals(far.slice(0, 7), 35_000), undefined, 'too few to say')
  t.ok(Math.abs((ranges.delta_m(35_000) ?? 0) - 12) < 1e-6)
})

t.test('the ranges need eight satellites, and one more than there are unknowns', async (t) => {
  const elevations_deg = [15, 50, 80, 30]
  const used = (count: number, constellations: number, sector_deg = 360): SatelliteResidual[] =>
    Array.from({ length: count }, (_, i) => ({
      ...{ constellation: String(i % constellations), satellite: i, residual_m: i % constellations, used: true },
      ...{
        azimuth_deg: (i * 137.5) % sector_deg,
        elevation_deg: elevations_deg[Math.floor(i / constellations) % 4] ?? 0,
      },
    }))
  for (const [count, constellations, isSaid] of [
    [7, 1, false],
    [8, 1, true],
    [8, 3, true],
    [8, 5, false],
    [12, 4, true],
  ] as const)
    t.equal(offsetOf(used(count, constellations)) !== undefined, isSaid, `${count} of ${constellations}`)
  t.equal(offsetOf(used(12, 2, 60)), undefined, 'a sixth of the sky')
})

t.test('the ranges state the error that they have', async (t) => {
  const random = new Random(3)
  const gauss = () => Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform())
  for (const [noise_m, lowest_deg] of [
    [1, 20],
    [4, 5],
  ] as const) {
    let errors = 0
    let stated = 0
    for (let n = 0; n < 1_500; n++) {
      const noise = (elevation_deg: number) =>
        (noise_m * gauss()) / Math.max(Math.sin((elevation_deg * Math.PI) / 180), Math.sqrt(0.05))
      const found = offsetOf(skyOfResiduals(enu(3, -2, 5), noise, lowest_deg))
      if (!found) throw new Error('none')
      errors += (found.east - 3) ** 2 + (found.north + 2) ** 2 + (found.up - 5) ** 2
      stated += found.sigma_m ** 2
    }
    const ratio = Math.sqrt(stated / errors)
    t.ok(ratio > 0.94 && ratio < 1.06, `states ${ratio.toFixed(3)} of its error`)
  }
})
