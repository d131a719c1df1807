/** What phases in lock and the code of the same satellites show of an antenna over an outage. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { type Anchor, type Carried, carry } from '../../plugins/reference/integrity/continuity/carry.js'
import { CodeLevels, compareLevels } from '../../plugins/reference/integrity/continuity/code-levels.js'
import { Continuity } from '../../plugins/reference/integrity/continuity/continuity.js'
import type { Fitted } from '../../plugins/reference/integrity/continuity/fit.js'
import { whoIs } from '../../plugins/reference/integrity/continuity/moment.js'
import { MomentFile } from '../../plugins/reference/integrity/continuity/moment-file.js'
import { type Bridging, bridging, type EphemerisOf } from '../../plugins/reference/integrity/continuity/observed.js'
import type { OrbitSky } from '../../plugins/reference/integrity/orbit-sky.js'
import { sky } from '../../plugins/simulated/simulated-mosaic/sky.js'
import {
  decodeEphemeris,
  type Enu,
  type Ephemeris,
  Framer,
  gpsSeconds,
  isEphemeris,
  type MsmEpoch,
  MsmEpochs,
  messageNumber,
  type ObservedEpoch,
  type ObservedSignal,
  Orbits,
  observedIn,
  offsetEnu,
} from '../../runtime/lib/gnss/index.js'
import { ephemerisFrame, Model, msmFrames, type NoiseName, Random } from '../../runtime/lib/simulation/index.js'
import type { DataDir } from '../../runtime/plugin.js'
import type { Receiver, ReferencePosition } from '../../schemas/services.js'
import { capture, noCaptures } from '../harness/captures.js'
import { few, sample } from '../harness/index.js'
import { observedOf, orbitsOf } from './support/phase-captures.js'

interface SiteOptions {
  readonly seed: number
  readonly noise?: NoiseName
  readonly start_ms?: number
  /** Errors of broadcast orbits and clocks, in parts of those of the model. */
  readonly drift?: number
}

/** An antenna and its receiver: observations by exact geometry, other air than the model of the station, ephemerides. */
function siteOf({ seed, noise = 'quiet', start_ms = Date.UTC(2026, 5, 1, 6), drift = 1 }: SiteOptions) {
  const model = new Model({ seed, lat: 52 - 10 * (seed % 9), lon: 4.4, alt: 50, constellations: sky, noise })
  const random = new Random(seed + 99)
  const rates = new Map<number, number>()
  const orbits = new Orbits()
  const collector = new MsmEpochs()
  let [now_ms, gps_s] = [start_ms, 0]
  const error_m = (key: number, name: string) => {
    const rate = rates.get(key) ?? drift * (name === 'Galileo' ? 0.12 : 0.25) * random.normal()
    rates.set(key, rate)
    return (rate * (now_ms - start_ms)) / 3_600_000
  }
  const frames = new Map<number, Uint8Array>()
  const decoded = new Map<number, { frame: Uint8Array; ephemeris: Ephemeris }>()
  let last: MsmEpoch | undefined
  return {
    model,
    /** The last step, as the monitor hears it. */
    get heard() {
      if (!last) throw new Error('no epoch')
      return { epoch: last, now_ms, at_s: gps_s }
    },
    step(dt_s: number): ObservedEpoch<Bridging> {
      now_ms += dt_s * 1000
      const epoch = model.epoch(now_ms, dt_s, true)
      gps_s = epoch.gps_s
      if (Math.floor(now_ms / 60_000) !== Math.floor((now_ms - dt_s * 1000) / 60_000))
        for (const sight of epoch.sky) {
          const frame = ephemerisFrame(sight, gps_s)
          // A satellite sends the same for hours: it is decoded once.
          const known = decoded.get(sight.key)
          const ephemeris = known?.frame === frame ? known?.ephemeris : frame && decodeEphemeris(frame, gps_s)
          if (!frame || !ephemeris) continue
          decoded.set(sight.key, { frame, ephemeris })
          if (orbits.take(ephemeris, gps_s)) frames.set(sight.key, frame)
        }
      const tracks = epoch.tracks.map(({ sight, ...track }) => {
        const range_m = sight.range_m + error_m(sight.key, sight.constellation.name)
        return { ...track, sight: { ...sight, range_m } }
      })
      const [heard] = msmFrames({
        ...{ epoch: { ...epoch, tracks }, tracks, stationId: 0, models: sky, clockSteering: 0 },
        order: ['GPS', 'GLONASS', 'Galileo', 'BeiDou'],
        due: (type) => type % 10 === 7,
      }).flatMap((frame) => collector.push(frame))
      if (!heard) throw new Error('no epoch')
      last = heard
      return observedIn(heard, gps_s, bridging)
    },
    newest: ((constellation, satellite) => orbits.ephemeris(constellation, satellite, gps_s)) as EphemerisOf,
    /** The reference is a metre or so from the truth. */
    anchor(observed: ObservedEpoch<Bridging>): Anchor {
      const arp = offsetEnu(model.truth, { east: random.normal(), north: random.normal(), up: 1.3 * random.normal() })
      return { ...observed, arp, acc_m: 1.3, ephemerides: orbits.fresh(gps_s) }
    },
    frames: () => [...frames.values()],
  }
}
type Site = ReturnType<typeof siteOf>

/** Half an hour of lock, an anchor, and an outage. */
function outage(
  options: SiteOptions,
  away_s: number,
  by: Partial<Enu> = {},
  meanwhile: (site: Site) => void = () => {},
) {
  const site = siteOf(options)
  for (let minute = 0; minute < 30; minute++) site.step(60)
  const anchor = site.anchor(site.step(1))
  site.model.move(by.east ?? 0, by.north ?? 0, by.up ?? 0)
  for (let left_s = away_s; left_s > 0; left_s -= 60) {
    if (left_s <= 60) meanwhile(site)
    if (left_s > 60) site.step(60)
  }
  const now = site.step(away_s % 60 || 60)
  return { site, anchor, now, carried: carry(anchor, now, site.newest) }
}

const folderOf = (path: string): DataDir => ({
  ...{ path, quota_bytes: 1e6 },
  usage: async () => ({ bytes: 0, files: 0 }),
  ensureRoom: async () => {},
})
const error_m = ({ fitted }: Carried, { east = 0, north = 0, up = 0 }: Partial<Enu> = {}) =>
  fitted ? Math.hypot(fitted.east - east, fitted.north - north, fitted.up - up) : Number.NaN
const signalsOf = (
  epoch: ObservedEpoch<Bridging>,
  change: (one: ObservedSignal, i: number) => ObservedSignal,
): ObservedEpoch<Bridging> => ({
  ...epoch,
  satellites: epoch.satellites.map((one, i) => ({ ...one, signals: one.signals.map((signal) => change(signal, i)) })),
})

t.test('phases in lock: where the antenna is after an outage, with orbits that err as broadcast ones', async (t) => {
  const cases = [
    { away_s: 10, error_m: 0.05, seen_m: 0.3 },
    { away_s: 300, error_m: 0.2, seen_m: 0.6 },
    { away_s: 600, error_m: 0.3, seen_m: 0.8 },
    { away_s: 3600, error_m: 1.5, seen_m: 4 },
  ]
  for (const { away_s, error_m: most_m, seen_m } of cases)
    for (const noise of few(1, ['quiet', 'typical'] as const))
      for (let seed = 1; seed <= sample(1, 12, 3); seed++) {
        const start_ms = Date.UTC(2026, 5, 1, 6) + seed * 1.7e6
        const still = outage({ seed, noise, start_ms }, away_s).carried
        t.not(still.stayed, false, `${away_s} s, ${noise}: ${error_m(still).toFixed(2)} m`)
        t.ok(error_m(still) < most_m, `an error of ${error_m(still).toFixed(2)} m`)
        if (away_s <= 300) t.equal(still.stayed, true, 'it is shown')
        const by = { east: 0.6 * seen_m, north: -0.64 * seen_m, up: 0.48 * seen_m }
        const moved = outage({ seed, noise, start_ms }, away_s, by).carried
        t.equal(moved.stayed, false, `${seen_m} m: ${error_m(moved, by).toFixed(2)} m beside`)
        t.ok(error_m(moved, by) < most_m)
      }
})

t.test('never "it stayed" with the antenna 40 cm away, in any direction', async (t) => {
  fc.assert(
    fc.property(
      ...([fc.integer({ min: 1, max: 1000 }), fc.constantFrom(10, 120, 480, 900)] as const),
      fc.double({ min: -1, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 6.28, noNaN: true }),
      (seed, away_s, up, turn) => {
        const level = Math.sqrt(1 - up * up)
        const by = { east: 0.4 * level * Math.sin(turn), north: 0.4 * level * Math.cos(turn), up: 0.4 * up }
        return outage({ seed }, away_s, by).carried.stayed !== true
      },
    ),
    { numRuns: sample(4, 60, 15) },
  )
  // Upwards orbits err most: too little to be a move, too much to have stayed.
  for (const seed of [1, 2, 3]) t.equal(outage({ seed, drift: 0 }, 900, { up: 0.38 }).carried.stayed, undefined)
})

t.test('an antenna that moves a little in every outage has not stayed for long', async (t) => {
  for (const by of [{ east: 0.06 }, { north: -0.05, up: 0.04 }]) {
    const site = siteOf({ seed: 8 })
    for (let minute = 0; minute < 30; minute++) site.step(60)
    let anchor = site.anchor(site.step(1))
    let [times, moved_m] = [0, 0]
    for (; times < 20; times++) {
      site.model.move(by.east ?? 0, by.north ?? 0, by.up ?? 0)
      moved_m += Math.hypot(by.east ?? 0, by.north ?? 0, by.up ?? 0)
      const { stayed, unchecked } = carry(anchor, site.step(10), site.newest)
      if (!stayed) break
      t.ok(moved_m <= 0.3, `it stayed ${times + 1} times, ${moved_m.toFixed(2)} m away`)
      anchor = { ...anchor, ...site.step(20), unchecked }
    }
    t.ok(times >= 1 && times < 6, `it stayed ${times} times`)
  }
  const { anchor, carried, now, site } = outage({ seed: 8 }, 10)
  t.equal(carried.stayed, true)
  const unchecked = { east: 0.25, north: 0, up: 0, level_m2: 0, up_m2: 0 }
  t.equal(carry({ ...anchor, unchecked }, now, site.newest).stayed, undefined, 'no move: that was earlier')
})

t.test('what outages left open is kept until positions are compared, over a restart too', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'rtk-base-outage-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  const site = siteOf({ seed: 8 })
  for (let minute = 0; minute < 30; minute++) site.step(60)
  const { arp } = site.anchor(site.step(1))
  const orbits = {
    timeOf: () => site.heard.at_s,
    ephemeris: site.newest,
    fresh: () => site.frames().map((frame) => ({ frame, ephemeris: decodeEphemeris(frame, site.heard.at_s) })),
  } as unknown as OrbitSky
  const folder = () => folderOf(path)
  const reference = { arp, acc_m: 1.3, corr: false }
  const receiver = { identity: { maker: 'one', module: '', serial: '' } } as Receiver
  const who = whoIs(receiver)
  const clocks = { now_ms: () => site.heard.now_ms, utc_s: () => 0 }
  const make = () => new Continuity(orbits, clocks, { error: () => t.fail() }, folder)
  let continuity = make()
  const hear = (base?: ReferencePosition) => {
    site.step(1)
    continuity.hear(site.heard.epoch, who, base, true)
    if (base) continuity.tick(receiver, base, undefined, {})
  }
  /** A minute in use, 10 s of outage, a few epochs. */
  const answer = async (east: number, isKilled: boolean) => {
    for (let s = 0; s < 60; s++) hear(reference)
    continuity.pause()
    if (isKilled) {
      const file = new MomentFile(folder)
      while (!(Number(file.read()?.observed?.anchor.at_s) > site.heard.at_s - 40)) await setImmediate()
      continuity = make()
      continuity.start(undefined)
    }
    site.model.move(east, 0, 0)
    site.step(10)
    for (let s = 0; s < 4; s++) hear()
    return continuity.carried(reference, who)
  }
  continuity.trusted(reference, who, 'checked')
  for (const isKilled of [false, true]) {
    let times = 0
    while (times < 10 && (await answer(0.06, isKilled)) === true) {
      continuity.trusted(reference, who, 'verified')
      times++
    }
    t.ok(times >= 1 && times < 5, `it stayed ${times} times`)
    continuity.trusted(reference, who, 'verified')
    t.equal(await answer(0, isKilled), undefined, 'ranges of some seconds are no check')
    continuity.trusted(reference, who, 'checked')
    t.equal(await answer(0, isKilled), true, 'positions are one')
    continuity.trusted(reference, who, 'checked')
  }
})

t.test('the time since an earlier process trusted a base gets no shorter by a clock that is set', async (t) => {
  const moment = {
    reference: { arp: { x: 4e6, y: 0, z: 5e6 }, acc_m: 1, corr: false },
    ...{ uid: 'A', msss_ms: 1_000_000, t: 1_790_000_000, baselines: {} },
  }
  let utc_s = 0
  const clocks = { now_ms: () => 0, utc_s: () => utc_s }
  const continuity = new Continuity({} as OrbitSky, clocks, { error: () => t.fail() }, () => folderOf('/nowhere'))
  continuity.open({ get: () => moment, set: async () => {} })
  for (const [what, at_s, msss_ms, age_ms] of [
    ['both agree', moment.t + 60, 1_060_000, 61_000],
    ['UTC is set back', moment.t - 3600, 1_060_000, 61_000],
    ['UTC is unknown', 0, 1_060_000, 61_000],
    ['UTC is set ahead', moment.t + 3600, 1_060_000, 3_601_000],
    ['the receiver counts again from 0', moment.t, 1_000_000 - 2 ** 32 + 60_000, 61_000],
    ['the receiver does not report its time', moment.t + 60, undefined, Number.NaN],
  ] as const) {
    utc_s = at_s
    t.same(Math.round(continuity.age_ms({ sinceReset_ms: msss_ms })), age_ms, what)
  }
})

t.test('what is no evidence, and what is left out', async (t) => {
  const { anchor, now, carried, site } = outage({ seed: 4 }, 120)
  t.equal(carried.stayed, true)
  const answer = (then: Anchor, later: ObservedEpoch<Bridging>) => carry(then, later, site.newest).stayed
  const phases = (share: number, change: (one: ObservedSignal, i: number) => Partial<ObservedSignal>) =>
    signalsOf(now, (one, i) => (i % 10 < 10 * share ? { ...one, ...change(one, i) } : one))
  t.test('a time before, the same, or hours later', async (t) => {
    for (const at_s of [now.at_s + 1, now.at_s, now.at_s - 3 * 3600, now.at_s - 604_800, Number.NaN])
      t.equal(answer({ ...anchor, at_s }, now), undefined, `${at_s - now.at_s}`)
  })
  t.test('lock that was lost, or half a cycle unknown', async (t) => {
    t.equal(
      answer(
        anchor,
        phases(1, () => ({ lock: { from_ms: 60_000, below_ms: 62_000 } })),
      ),
      undefined,
    )
    t.equal(
      answer(
        anchor,
        phases(1, () => ({ phase_m: undefined })),
      ),
      undefined,
    )
    t.equal(
      answer(
        anchor,
        phases(0.4, () => ({ lock: { from_ms: 0, below_ms: 32 }, phase_m: 2e7 })),
      ),
      true,
      'of some satellites',
    )
  })
  t.test('phases that were set anew, and slips without a flag', async (t) => {
    const jump = (cycles: number) =>
      phases(0.2, ({ phase_m = 0 }, i) => ({ phase_m: phase_m + 0.19 * cycles * (i + 1) }))
    for (const cycles of [1, -7, 6000]) t.equal(answer(anchor, jump(cycles)), true, `a few by ${cycles} cycles`)
    const all = phases(1, ({ phase_m = 0 }, i) => ({ phase_m: phase_m + 0.19 * ((i * 7) % 11) }))
    t.equal(answer(anchor, all), undefined, 'all of them')
  })
  t.test('the clock of the receiver is set by a millisecond', async (t) => {
    const set = signalsOf(now, ({ code_m, phase_m = 0, ...one }) => ({
      ...one,
      code_m: code_m + 299_792.458,
      phase_m: phase_m + 299_792.458,
    }))
    t.equal(answer(anchor, { ...set, at_s: now.at_s + 0.001 }), true)
  })
  t.test('satellites that are unhealthy, without orbits, or too few', async (t) => {
    const none = { ...anchor, ephemerides: [] }
    t.equal(carry(none, now, () => undefined).stayed, undefined)
    t.equal(answer(none, now), true, 'the newest ephemerides do as well')
    const ill = anchor.ephemerides.map((one) => ({ ...one, healthy: false }))
    t.equal(carry({ ...anchor, ephemerides: ill }, now, () => undefined).stayed, undefined)
    t.equal(answer(anchor, { ...now, satellites: now.satellites.slice(0, 5) }), undefined)
  })
  t.test('a satellite whose orbit is wrong', async (t) => {
    const [first, ...others] = anchor.ephemerides
    if (first?.constellation === 'GLONASS' || !first) return t.fail()
    const wrong = { ...first, m0_rad: first.m0_rad + 1e-4, deltaN_radps: first.deltaN_radps + 1e-9 }
    t.equal(answer({ ...anchor, ephemerides: [wrong, ...others] }, now), true)
  })
})

t.test('one or two slips without a flag among few satellites look like no move', async (t) => {
  const random = new Random(4)
  for (let seed = 1; seed <= sample(6, 12, 12); seed++) {
    const { anchor, now, site } = outage({ seed, drift: 0 }, seed % 2 === 0 ? 60 : 300)
    for (let trial = 0; trial < 60; trial++) {
      const chosen = now.satellites
        .map((one) => ({ one, order: random.normal() }))
        .sort((a, b) => a.order - b.order)
        .slice(0, 10 + (trial % 6))
        .map(({ one }) => one)
      const slips = Array.from({ length: 1 + (trial % 2) }, () => 0.19 * Math.round(4 * random.normal()))
      const slipped = signalsOf({ ...now, satellites: chosen }, (one, i) => ({
        ...one,
        phase_m: one.phase_m === undefined ? undefined : one.phase_m + (slips[i] ?? 0) * (one.signal < 10 ? 1 : 1.28),
      }))
      const { stayed, fitted } = carry(anchor, slipped, site.newest)
      t.not(stayed, false, `seed ${seed}, trial ${trial}: ${JSON.stringify(fitted)}`)
    }
  }
})

t.test('a receiver that counts lock times to 64 s', async (t) => {
  const { anchor, now, site } = outage({ seed: 5 }, 300)
  const counted = (epoch: ObservedEpoch<Bridging>, begun: (i: number) => number = () => 0) =>
    signalsOf(epoch, ({ phase_m = 0, ...one }, i) => ({
      ...one,
      lock: { from_ms: 64_000, below_ms: 66_000 },
      phase_m: phase_m + begun(i),
    }))
  const then = { ...anchor, ...counted(anchor) }
  t.equal(carry(then, counted(now), site.newest).stayed, true, 'phases that agree were not interrupted')
  const random = new Random(1)
  let answers = 0
  for (let i = 0; i < sample(150, 3000, 600); i++) {
    const offsets = Array.from({ length: 64 }, () => random.normal())
    if (
      carry(
        then,
        counted(now, (n) => offsets[n] ?? 0),
        site.newest,
      ).stayed !== undefined
    )
      answers++
  }
  t.equal(answers, 0, 'phases that began anew never agree')
})

t.test('over the end of the GPS week, and with newer ephemerides', async (t) => {
  const start_ms = Date.UTC(2026, 5, 6, 23, 25)
  for (const away_s of [300, 600]) {
    const { carried, anchor, now } = outage({ seed: 6, start_ms }, away_s)
    t.ok(Math.floor(anchor.at_s / 604_800) < Math.floor(now.at_s / 604_800))
    t.ok(error_m(carried) < 0.3, `${error_m(carried).toFixed(2)} m`)
    t.not(carried.stayed, false)
  }
})

t.test('at an obstructed site there is no false move', async (t) => {
  for (let seed = 1; seed <= sample(2, 40, 5); seed++)
    for (const away_s of [60, 300, 600])
      t.not(
        outage({ seed, noise: 'obstructed', start_ms: Date.UTC(2026, 5, 1, 6) + seed * 1.7e6 }, away_s).carried.stayed,
        false,
      )
})

t.test('recordings of a geodetic receiver, whose satellites err as they do', { skip: noCaptures }, async (t) => {
  for (const { name, week } of [
    { name: 'swiftnav_week-rollover-STR24.rtcm3', week: 2009 },
    { name: 'swiftnav_missing-beidou-STR17.rtcm3', week: 2010 },
    { name: 'swiftnav_dropped-packets-STR24.rtcm3', week: 2009 },
  ]) {
    const { arp } = orbitsOf(name)
    const observed = observedOf(name)
    if (!arp) return t.fail('no position')
    const start_s = gpsSeconds({ week, tow_s: Number(observed[0]?.epoch.time_ms) / 1000 })
    const orbits = new Orbits()
    const framer = new Framer({
      onFrame: ({ kind, bytes }) => {
        const ephemeris = kind === 'rtcm' && isEphemeris(messageNumber(bytes)) && decodeEphemeris(bytes, start_s)
        if (ephemeris) orbits.take(ephemeris, start_s)
      },
    })
    framer.push(capture(name) ?? new Uint8Array(0), 0)
    framer.flush()
    const timeOf = (time_ms: number) => {
      const at_s = week * 604_800 + time_ms / 1000
      return at_s < start_s ? at_s + 604_800 : at_s
    }
    const epochs = observed.map(({ epoch }) => observedIn(epoch, timeOf(epoch.time_ms), bridging))
    for (const { away_s, most_m } of [
      { away_s: 10, most_m: 0.06 },
      { away_s: 300, most_m: 0.2 },
      { away_s: 900, most_m: 0.4 },
    ]) {
      let farthest_m = 0
      for (let i = 0; i < epochs.length; i += 30) {
        const later = epochs.find(({ at_s }) => Math.abs(at_s - epochs[i].at_s - away_s) < 0.1)
        if (!later) continue
        const anchor = { ...epochs[i], arp, acc_m: 1, ephemerides: [] }
        const carried = carry(anchor, later, (...satellite) => orbits.ephemeris(...satellite, start_s))
        if (carried.stayed === false) t.fail(`${name}: a false move after ${away_s} s`)
        if (away_s === 10 && carried.stayed !== true) t.fail(`${name}: it is not shown after 10 s`)
        if (carried.fitted) farthest_m = Math.max(farthest_m, error_m(carried))
      }
      t.ok(farthest_m < most_m, `${name}: ${away_s} s, at most ${farthest_m.toFixed(3)} m`)
    }
  }
})

/** 15 min of code, an outage without lock, 10 min of code. */
function codeOf(options: SiteOptions, by: Partial<Enu> = {}): Fitted | undefined {
  const site = siteOf(options)
  const [before, after] = [new CodeLevels(), new CodeLevels()]
  for (let minute = 0; minute < 2; minute++) site.step(60)
  const { arp } = site.anchor(site.step(1))
  for (let i = 0; i < 180; i++) before.take(site.step(5), arp, site.newest)
  site.model.forgetTracks()
  site.model.move(by.east ?? 0, by.north ?? 0, by.up ?? 0)
  site.step(300)
  for (let i = 0; i < 120; i++) after.take(site.step(5), arp, site.newest)
  return compareLevels(before.settled, after.settled)
}

t.test('the code of the same satellites before and after', async (t) => {
  for (let seed = 1; seed <= sample(1, 20, 5); seed++) {
    for (const by of [{}, { east: 5 }, { north: -3, up: 8 }]) {
      const fitted = codeOf({ seed, start_ms: Date.UTC(2026, 5, 1, 6) + seed * 1.7e6 }, by)
      if (!fitted) {
        t.fail('no result')
        continue
      }
      const { east = 0, north = 0, up = 0 }: Partial<Enu> = by
      const { level_m, up_m } = fitted.sigma
      const away = [Math.hypot(fitted.east - east, fitted.north - north) / level_m, Math.abs(fitted.up - up) / up_m]
      t.ok(Math.max(...away) < 4, `${away.map((sigmas) => sigmas.toFixed(1))} sigmas beside`)
      t.ok(level_m < 0.8 && up_m < 1.3, `${level_m.toFixed(2)} ${up_m.toFixed(2)} m`)
    }
  }
})

t.test('the file', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'rtk-base-outage-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  const file = new MomentFile(() => folderOf(path))
  const { anchor, now, site } = outage({ seed: 7 }, 60)
  const levels = new CodeLevels()
  for (let i = 0; i < 70; i++) levels.take(site.step(5), anchor.arp, site.newest)
  t.equal(file.read(), undefined, 'none')
  const unchecked = { east: 0.1, north: 0.02, up: -0.05, level_m2: 0.001, up_m2: 0.002 }
  const { arp, acc_m } = anchor
  const moment = { reference: { arp, acc_m, corr: false }, uid: '7', who: 'one', t: 1_790_000_000, baselines: {} }
  await file.write({ moment, observed: undefined }, [])
  t.strictSame(file.read(), { moment }, 'a moment without observations')
  await file.write(
    { moment, observed: { who: 'one', anchor: { ...anchor, unchecked }, levels: levels.settled } },
    site.frames(),
  )
  t.strictSame(file.read()?.moment, moment)
  const read = file.read()?.observed
  t.strictSame(read?.anchor.unchecked, unchecked)
  t.equal(read?.who, 'one')
  t.strictSame(read?.levels, levels.settled)
  if (read) t.equal(carry(read.anchor, now, () => undefined).stayed, true, 'it has all that is needed')
  const observed = { at_s: 1, satellites: [], ephemerides: ['AAAA', '0wAA////'], levels: [] }
  const write = (value: unknown) =>
    writeFileSync(join(path, 'last.json'), typeof value === 'string' ? value : JSON.stringify(value))
  write({ moment, observed })
  t.strictSame(file.read()?.observed?.anchor.ephemerides, [], 'frames that are none')
  for (const damaged of [
    ...['', '7', '{', 'null', '[]', 'x'.repeat(2_000_000)],
    ...[
      { at_s: null },
      { unchecked: { east: 0, north: 0, up: 0, level_m2: -1, up_m2: 0 } },
      { satellites: [{ constellation: 'GLONASS', satellite: 1, signals: [] }] },
      { satellites: [{ constellation: 'GPS', satellite: 1, signals: [[2, 1, 'x', 0]] }] },
      { ephemerides: new Array(1000).fill('AAAA') },
      { levels: [{ constellation: 'GPS' }] },
    ].map((damage) => ({ moment, observed: { ...observed, ...damage } })),
    ...[
      { reference: { ...moment.reference, arp: { x: 'a', y: 0, z: 0 } } },
      { msss_ms: -1 },
      { uid: 7 },
      { baselines: 0 },
    ].map((damage) => ({ moment: { ...moment, ...damage } })),
    { observed },
  ]) {
    write(damaged)
    t.equal(file.read(), undefined, JSON.stringify(damaged).slice(0, 60))
  }
  for (const name of ['last.json', 'last.json.new']) {
    rmSync(join(path, name), { force: true })
    execFileSync('mkfifo', [join(path, name)])
  }
  t.equal(file.read(), undefined, 'a FIFO would block its reader for ever')
  await file.write({ moment, observed: undefined }, [])
  t.strictSame(file.read(), { moment }, 'and its writer')
  t.equal(statSync(join(path, 'last.json')).mode & 0o777, 0o600)
})
