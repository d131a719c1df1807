/** How integrity watches carrier phases: displacements, the history of phases, what is usual, and what a reload hands over. */
import t from 'tap'
import { AntennaPhases } from '../../plugins/reference/integrity/antenna-phases.js'
import { Creep } from '../../plugins/reference/integrity/phase/creep.js'
import { type Displacement, DisplacementFit } from '../../plugins/reference/integrity/phase/displacement.js'
import { EpochClock } from '../../plugins/reference/integrity/phase/epoch-clock.js'
import type { PhaseReport } from '../../plugins/reference/integrity/phase/report.js'
import { SignalTracks } from '../../plugins/reference/integrity/phase/signal-tracks.js'
import { Calm } from '../../plugins/reference/integrity/phase/third-difference.js'
import { type Enu, encodeMsm, messageNumber, roundEcef } from '../../runtime/lib/gnss/index.js'
import type { RtcmFrame, SatelliteResidual } from '../../schemas/services.js'
import { arpFrame, msmFrame } from '../harness/index.js'
import { epochOf, evenDirection, evenNoise, Scene } from './support/phase-scenes.js'

const here = { x: 3_925_405.8088, y: 274_491.1138, z: 5_002_842.746 }

const enu = (east: number, north = 0, up = 0): Enu => ({ east, north, up })

// ── a displacement ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The fit of `of` satellites that all see the displacement, with what is added to the residual of each. */
function fitted(
  of: number,
  moved: Enu,
  added: (i: number) => number = () => 0,
  group = (_: number) => 0,
  isExact = false,
) {
  const fit = new DisplacementFit()
  for (let i = 0; i < of; i++) {
    const direction = evenDirection(i, of)
    const along = direction.east * moved.east + direction.north * moved.north + direction.up * moved.up
    fit.add(i, group(i), { ...direction, isExact }, -along + 1e5 * (1 + group(i)) + added(i), 0.002)
  }
  return { fit, result: fit.solve() }
}

const sizeOf = (found: Displacement) => Math.hypot(found.east_m, found.north_m, found.up_m)
t.test('a displacement', async (t) => {
  t.test('is what all phases agree on, whatever the clocks', async (t) => {
    for (const moved of [enu(0.03), enu(0, -0.5), enu(0, 0, 4), enu(10, -20, 5)]) {
      const { result } = fitted(
        20,
        moved,
        () => 0,
        (i) => i % 2,
      )
      t.match(result, { satellites: 20 })
      const found = result as Displacement
      const error = Math.hypot(found.east_m - moved.east, found.north_m - moved.north, found.up_m - moved.up)
      t.ok(error < 1e-6, `${error} m`)
    }
  })

  t.test('is not spoilt by a constellation of a single satellite, which has a clock of its own', async (t) => {
    const alone = (i: number) => (i === 0 ? 1 : 0)
    const { fit, result } = fitted(20, enu(0.03), () => 0, alone)
    const found = result as Displacement
    t.ok(Math.hypot(found.east_m - 0.03, found.north_m, found.up_m) < 1e-6, JSON.stringify(found))
    t.equal(fit.agrees(0), true, 'nothing speaks against it')
  })

  t.test('says how exact it is by noise and geometry', async (t) => {
    const { result } = fitted(20, enu(0.05), evenNoise)
    const { sigma, east_m, north_m, up_m } = result as Displacement
    t.ok(
      Math.abs(east_m - 0.05) < 3 * sigma.east_m &&
        Math.abs(north_m) < 3 * sigma.north_m &&
        Math.abs(up_m) < 3 * sigma.up_m,
    )
    for (const value of [sigma.east_m, sigma.north_m, sigma.up_m]) t.ok(value > 0.0004 && value < 0.004, `${value} m`)
    const far = fitted(20, enu(9), evenNoise).result as Displacement
    t.ok(far.sigma.east_m > 3 * sigma.east_m, 'whole degrees add to the noise of one that is far')
    const exact = fitted(20, enu(9), evenNoise, () => 0, true).result as Displacement
    t.ok(exact.sigma.east_m < 1.1 * sigma.east_m, `${exact.sigma.east_m} m: those of orbits do not`)
  })

  t.test('needs six satellites, and three axes', async (t) => {
    t.equal(fitted(5, enu(1)).result, undefined)
    t.match(fitted(6, enu(0)).result, { satellites: 6 })
    t.equal(
      fitted(
        6,
        enu(0),
        () => 0,
        (i) => i % 4,
      ).result,
      undefined,
      'seven unknowns',
    )
    const fit = new DisplacementFit()
    for (let i = 0; i < 12; i++) fit.add(i, 0, { east: 0.5, north: 0.5, up: Math.SQRT1_2 }, 0, 0.002)
    t.not(typeof fit.solve(), 'object', 'all of them in one place of the sky')
    for (const turned of [0, 1]) {
      fit.clear()
      for (let i = 0; i < 12; i++) {
        const [level, up] = [Math.cos(0.2 + i / 10), Math.sin(0.2 + i / 10)]
        const azimuth = turned + i * Math.PI
        const direction = { east: level * Math.sin(azimuth), north: level * Math.cos(azimuth), up }
        fit.add(i, 0, direction, evenNoise(i), 0.002)
      }
      t.not(typeof fit.solve(), 'object', 'nor all of them in one plane')
    }
  })

  t.test('is none where the half of them slipped alike: that is no move of the antenna', async (t) => {
    for (const slip of [0.095, 0.19, 1]) {
      const { result, fit } = fitted(20, enu(0), (i) => evenNoise(i) + (i % 2 === 0 ? slip : 0))
      t.ok(
        result === 'contradiction' || (typeof result === 'object' && sizeOf(result) < 0.01),
        `by ${slip} m: ${JSON.stringify(result)}`,
      )
      if (typeof result !== 'object') continue
      t.equal(fit.agrees(1) === fit.agrees(0), false, 'one half is left out')
    }
  })

  t.test('stands against a third that slipped, which is left out', async (t) => {
    const { result, fit } = fitted(21, enu(0.05, 0.02), (i) => evenNoise(i) + (i % 3 === 0 ? 0.3 + i * 0.1 : 0))
    const found = result as Displacement
    t.match(found, { satellites: 14 })
    t.ok(Math.hypot(found.east_m - 0.05, found.north_m - 0.02, found.up_m) < 0.006)
    for (let i = 0; i < 21; i++) t.equal(fit.agrees(i), i % 3 !== 0)
    t.ok(Math.abs(fit.rest_m(3) - 0.6) < 0.01, 'and what it leaves is the slip')
  })

  t.test('is a contradiction where the phases go each their own way', async (t) => {
    t.equal(fitted(20, enu(0), (i) => 5 * Math.sin(i * i * 3.7)).result, 'contradiction')
    t.match(
      fitted(20, enu(0), (i) => 4 * evenNoise(i)).result,
      { satellites: Number },
      'four times the noise is still noise',
    )
    t.equal(fitted(20, enu(0), (i) => 40 * evenNoise(i)).result, 'contradiction', 'forty times is not')
  })

  t.test('weighs a satellite once, however many signals it has', async (t) => {
    const fit = new DisplacementFit()
    for (let i = 0; i < 12; i++)
      for (let signal = 0; signal < (i === 0 ? 6 : 1); signal++)
        fit.add(i, 0, evenDirection(i, 12), i === 0 ? 0.004 : 0, 0.002)
    const many = fit.solve() as Displacement
    fit.clear()
    t.equal(fit.size, 0)
    for (let i = 0; i < 12; i++) fit.add(i, 0, evenDirection(i, 12), i === 0 ? 0.004 : 0, 0.002)
    const one = fit.solve() as Displacement
    t.ok(Math.abs(sizeOf(many) - sizeOf(one)) < 0.0005, `${sizeOf(many)} and ${sizeOf(one)} m`)
    for (let i = 0; i < 600; i++) fit.add(i, 0, evenDirection(i, 600), 0, 0.002)
    t.equal(fit.size, 512)
    t.equal(fit.add(1, 0, evenDirection(1, 12), 0, 0.002), -1)
  })
})

// ── the history of phases ───────────────────────────────────────────────────────────────────────────────────────────

t.test('a phase starts afresh when its lock was lost or its half cycle was resolved', async (t) => {
  const tracks = new SignalTracks()
  let time_ms = 0
  const take = (halfCycle: boolean, lock = 500) => {
    const report = tracks.take(
      epochOf({ 1: { phase_m: 100 + time_ms, lock, halfCycle }, 2: { phase_m: 5, lock: 600 } }),
      time_ms,
      10_000,
    )
    tracks.keep(time_ms)
    time_ms += 1000
    return report
  }
  const since = () => [...tracks.values()].map((track) => [track.satellite, track.since])
  for (let i = 0; i < 5; i++) t.match(take(false), { lostShare: 0 })
  t.same(since(), [
    [1, 0],
    [2, 0],
  ])
  take(true)
  t.same(since(), [
    [1, 5],
    [2, 0],
  ])
  take(true)
  take(true)
  t.match(take(true), { lostShare: 0 }, 'a half cycle that stays is no further loss of lock')
  t.match(take(true, 64), { lostShare: 0.5, tracked: 2 }, 'an indicator that went back is one')
  t.same(since(), [
    [1, 9],
    [2, 0],
  ])
  t.match(take(true, 500), { lostShare: 0.5 }, 'counted for 3 s')
  take(true)
  t.match(take(true), { lostShare: 0 })
  tracks.take(epochOf({ 3: { phase_m: 1, lock: 1 } }, 1073), time_ms, 10_000)
  t.notOk(
    since().some(([satellite]) => satellite === 3),
    'MSM3 has no whole phases',
  )
})

t.test('what is not received is lost at once where its constellation is there, else after the absence', async (t) => {
  const tracks = new SignalTracks()
  const both = { 1: { phase_m: 1, lock: 500 }, 2: { phase_m: 2, lock: 500 } }
  for (let i = 0; i < 4; i++) tracks.take(epochOf(both), i * 1000, 5000)
  t.match(tracks.take(epochOf({ 1: both[1] }), 4000, 5000), { lostShare: 0.5 })
  for (const [time_ms, lostShare] of [
    [5000, 1],
    [9000, 0],
    [9001, 1],
  ] as const) {
    t.equal(tracks.take({ time_ms, messages: [] }, time_ms, 5000).lostShare, lostShare, `${time_ms} ms`)
  }
  const young = new SignalTracks()
  for (let i = 0; i < 2; i++) young.take(epochOf(both), i * 1000, 5000)
  t.match(
    young.take(epochOf({ 1: both[1] }), 2000, 5000),
    { lostShare: 0 },
    'two epochs are not long enough to be missed',
  )
})

t.test('a clock that is set moves every history alike, with the rate of each signal', async (t) => {
  const tracks = new SignalTracks()
  const lightMs_m = 299_792.458
  const epoch = (i: number, step_m: number) =>
    epochOf(Object.fromEntries([1, 2, 3, 4, 5].map((n) => [n, { phase_m: n * 1e6 + i * n * 100 + step_m, lock: 500 }])))
  const oldest_m = () => [...tracks.values()][0]?.phases_m[0] ?? 0
  for (let i = 0; i < 4; i++) {
    tracks.take(epoch(i, 0), i * 1000, 5000)
    tracks.keep(i * 1000)
  }
  tracks.take(epoch(4, 29), 4000, 5000)
  t.equal(oldest_m(), 1e6, 'below 30 m it is the antenna’s or the satellites’')
  tracks.take(epoch(5, 29 + lightMs_m), 5000, 5000)
  t.ok(Math.abs(oldest_m() - (1e6 + lightMs_m)) < 60)
})

t.test('epochs closer together than 0.95 s are not kept', async (t) => {
  const tracks = new SignalTracks()
  const kept = (time_ms: number) => {
    tracks.take(epochOf({ 1: { phase_m: 1, lock: 500 } }), time_ms, 5000)
    return tracks.keep(time_ms)
  }
  t.same([0, 200, 949, 950, 1800, 1900].map(kept), [0, undefined, undefined, 1, undefined, 2])
})

t.test('the clock of a stream', async (t) => {
  const clock = new EpochClock()
  t.equal(clock.advance(604_799_000), 0)
  t.equal(clock.pause_ms, 3000)
  t.equal(clock.advance(0), 1000, 'over the end of the week')
  t.equal(clock.time_ms, 1000)
  t.equal(clock.advance(0), undefined, 'twice')
  t.equal(clock.advance(604_797_001), undefined, 'late by less than 3 s')
  t.equal(clock.advance(604_797_000), Number.POSITIVE_INFINITY, 'a clock that went back')
  t.equal(clock.time_ms, 1000 + 604_800_000, 'the scale continues')
  t.equal(clock.advance(604_798_000), 1000)
  t.equal(clock.interval_ms, 1000)
  t.equal(clock.advance(Number.NaN), undefined)
  const slow = new EpochClock()
  slow.advance(0)
  slow.advance(5000)
  t.equal(slow.pause_ms, 15_000, 'three intervals')
  slow.advance(7000)
  t.equal(slow.interval_ms, 2000, 'the shortest of the last eight')
  for (let i = 0; i < 8; i++) slow.advance(7000 + 5000 * (i + 1))
  t.equal(slow.interval_ms, 5000)
  const slowed = new EpochClock()
  for (let second = 0; second <= 10; second++) slowed.advance(1000 * second)
  slowed.advance(15_000)
  t.equal(slowed.interval_ms, 1000, 'one pause')
  slowed.advance(20_000)
  t.equal(slowed.interval_ms, 5000, 'a second one of the same length: a chosen interval')
  slowed.advance(21_000)
  t.equal(slowed.interval_ms, 1000, 'and back')
})

t.test('a creep is sure after 3 s and three samples that agree, beyond 15 standard deviations', async (t) => {
  const sigma = { east_m: 0.0025, north_m: 0.0025, up_m: 0.0025 }
  const position = (east_m: number, up_m = 0): Displacement => ({
    east_m,
    north_m: 0,
    up_m,
    sigma,
    covariance: [0, 0, 0, 0, 0, 0],
    satellites: 12,
    steady: 6,
  })
  const creep = new Creep(0.03)
  const take = (at_ms: number, east: number) => creep.take(at_ms, position(east), enu(0.01))
  t.same(
    [0, 1000, 2000].map((at_ms) => take(at_ms, 0.06)),
    [undefined, undefined, undefined],
  )
  t.ok(Math.abs((take(3000, 0.06)?.east ?? 0) - 0.05) < 1e-9)
  t.equal(take(4000, 0.045), undefined, 'below 15 standard deviations')
  t.same(
    [5000, 6000, 8000].map((at_ms) => take(at_ms, 0.06)?.east),
    [undefined, undefined, 0.06 - 0.01],
  )
  creep.restart()
  t.same(
    [9000, 12_000].map((at_ms) => take(at_ms, 0.06)),
    [undefined, undefined],
    'two samples',
  )
  creep.restart()
  t.same(
    [0, 1000, 2000, 3000].map((at_ms) => take(at_ms, at_ms === 0 ? 0.2 : 0.06)),
    [undefined, undefined, undefined, undefined],
  )
  t.ok(take(4000, 0.06), 'those that agree with each other')
  creep.restart()
  const sways = [0, 1000, 2000, 3000, 4000, 5000].map((at_ms) => take(at_ms, at_ms % 2000 === 0 ? 0.16 : 0.06))
  t.ok(
    sways.every((found) => found === undefined),
    'positions that differ by two thirds of themselves',
  )
  const exact = new Creep(0.03)
  const fine = { ...sigma, east_m: 0.001 }
  for (const at_ms of [0, 1000, 2000, 3000, 4000]) {
    t.equal(exact.take(at_ms, { ...position(0.0299), sigma: fine }, enu(0)), undefined, 'below the threshold')
  }
})

t.test('what is usual at a station is known after five epochs, and 2.5 times that disturbs it', async (t) => {
  const calm = new Calm()
  const see = (scale_m: number, signals = 20) => calm.disturbed({ scale_m, signals })
  t.same(
    [1, 2, 3, 4, 5].map(() => see(0.01)),
    [undefined, undefined, undefined, undefined, undefined],
  )
  t.equal(see(0.01), false)
  t.equal(see(1, 7), undefined, 'seven signals say nothing about all')
  t.same([see(0.0251), see(0.0249)], [true, false])
  t.equal(see(0.03), false, 'what is usual follows')
  calm.restart()
  t.equal(see(1), undefined)
  const quiet = new Calm()
  for (let i = 0; i < 6; i++) quiet.disturbed({ scale_m: 0.001, signals: 8 })
  t.equal(quiet.disturbed({ scale_m: 0.015, signals: 8 }), false, 'never below 15 mm')
  t.equal(quiet.disturbed({ scale_m: 0.0151, signals: 8 }), true)
})

// ── a reload ────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('the frames of the last epochs go to the next instance, and no more than that', async (t) => {
  const phases = new AntennaPhases({ enabled: true, threshold_m: 0.03 })
  const scene = new Scene()
  const directions: SatelliteResidual[] = []
  let known: PhaseReport | undefined
  const second = (watch: AntennaPhases) => {
    const { epoch } = scene.next()
    const arrival_ms = scene.time_s * 1000
    for (const msm of epoch.messages) {
      const observations = msm.observations.slice(0, 12)
      for (const { report } of watch.hear(
        { type: msm.type, bytes: encodeMsm({ ...msm, observations }), arrival_ms } as RtcmFrame,
        0,
      ))
        known = report
    }
  }
  const held = () => phases.snapshot().frames.length
  for (let i = 0; i < 240; i++) second(phases)
  t.equal(held(), 960, 'four minutes of four messages')
  second(phases)
  t.equal(held(), 483, 'then the newer half')
  const next = new AntennaPhases({ enabled: true, threshold_m: 0.03 })
  next.look(directions, scene.time_s * 1000)
  next.restore(phases.snapshot())
  second(next)
  t.equal(known?.interval_s, 1, 'it continues where the one before was')
  t.equal(known?.interrupted, false)
})

// ── phases of the own station ───────────────────────────────────────────────────────────────────────────────────────

const heardAs = (bytes: Uint8Array, arrival_ms: number): RtcmFrame => ({
  type: messageNumber(bytes),
  bytes,
  arrival_ms,
})

const msm = (arrival_ms: number, id = 0) => heardAs(msmFrame(1074, 1_000, false, id), arrival_ms)
const arp = (arrival_ms: number, position = here, id = 0) => heardAs(arpFrame(roundEcef(position), id), arrival_ms)

t.test('the phases are of the own station, with directions of the last minute, for ten seconds', async (t) => {
  const names = ['gps', 'sbas', 'galileo', 'beidou', 'qzss', 'glonass', 'navic', 'other']
  const phases = new AntennaPhases({ enabled: true, threshold_m: 0.03 })
  phases.look(
    names.map((constellation, i) => ({ constellation, satellite: i, azimuth_deg: i, elevation_deg: 9 }) as never),
    0,
  )
  t.same(phases.snapshot().satellites[2], { constellation: 'galileo', satellite: 2, azimuth_deg: 2, elevation_deg: 9 })
  t.same(phases.hear(arp(0), 0), [])
  t.same(phases.hear(msm(0, 7), 0), [], 'another station')
  t.equal(phases.snapshot().frames.length, 0)
  t.equal(phases.at(0), undefined)
  t.same([phases.enabled, new AntennaPhases({ enabled: false, threshold_m: 1 }).enabled], [true, false])
  const frame = (epoch: number, arrival_ms: number) => heardAs(msmFrame(1074, epoch, false), arrival_ms)
  for (const [interval_ms, lasts_ms] of [
    [1_000, 10_000],
    [10_000, 25_000],
  ] as const) {
    const watch = new AntennaPhases({ enabled: true, threshold_m: 0.03 })
    let newest_ms = 0
    for (let n = 1; n < 6; n++)
      if (watch.hear(frame(n * interval_ms, n * interval_ms), 0).some(({ report }) => report))
        newest_ms = n * interval_ms
    t.equal(watch.snapshot().at_ms, newest_ms)
    t.ok(newest_ms > 0 && watch.at(newest_ms + lasts_ms), `${lasts_ms} ms`)
    t.equal(watch.at(newest_ms + lasts_ms + 1), undefined)
  }
  const off = new AntennaPhases({ enabled: false, threshold_m: 1 })
  const heard = [1_000, 2_000].flatMap((ms) => off.hear(frame(ms, ms), 0))
  t.ok(heard.length > 0 && heard.every(({ report }) => report === undefined))
})
