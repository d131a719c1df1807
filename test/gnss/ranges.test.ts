/** Where the antenna is by the ranges of the station's own observations and broadcast orbits. */
import t from 'tap'
import { ResidualEvidence } from '../../plugins/reference/integrity/code/evidence.js'
import { rangeResiduals } from '../../plugins/reference/integrity/code/range-residuals.js'
import { offsetOf } from '../../plugins/reference/integrity/code/residual-offset.js'
import { OrbitSky } from '../../plugins/reference/integrity/orbit-sky.js'
import { sky } from '../../plugins/simulated/simulated-mosaic/sky.js'
import {
  constellationOf,
  decodeEphemeris,
  type Enu,
  type Ephemeris,
  Framer,
  geodeticToEcef,
  gpsToUnix,
  knownLeap_s,
  type Msm,
  type MsmEpoch,
  MsmEpochs,
  median,
  offsetEnu,
} from '../../runtime/lib/gnss/index.js'
import {
  constellations,
  ephemerisFrame,
  GaussMarkov,
  Model,
  msmFrames,
  Random,
  type Sight,
  visibleFrom,
} from '../../runtime/lib/simulation/index.js'
import type { Ecef, SatelliteResidual } from '../../schemas/services.js'
import { capture, noCaptures } from '../harness/captures.js'
import { few } from '../harness/index.js'
import { observedOf, orbitsOf } from './support/phase-captures.js'

const middle = (offsets: readonly Enu[]): Enu => ({
  east: median(offsets.map(({ east }) => east)),
  north: median(offsets.map(({ north }) => north)),
  up: median(offsets.map(({ up }) => up)),
})

t.test('recordings of a geodetic receiver: where its antenna is', { skip: noCaptures }, async (t) => {
  const recordings = [
    { name: 'swiftnav_week-rollover-STR24.rtcm3', week: 2009 },
    { name: 'swiftnav_missing-beidou-STR17.rtcm3', week: 2010 },
    { name: 'swiftnav_dropped-packets-STR24.rtcm3', week: 2009 },
  ]
  // Australia's positions are those of 1994: since then the ground has moved by 54 mm a year to the north and 18 to the east.
  const moved = { east: 0.44, north: 1.32 }
  for (const { name, week } of recordings) {
    const { arp } = orbitsOf(name)
    const observed = observedOf(name)
    const utc_s = gpsToUnix({ week, tow_s: Number(observed[0]?.epoch.time_ms) / 1000 }, knownLeap_s)
    if (!arp) return t.fail('no position')
    const orbits = new OrbitSky(() => ({ position: arp, utc_s }))
    const framer = new Framer({ onFrame: ({ kind, bytes }) => kind === 'rtcm' && orbits.hear(bytes) })
    framer.push(capture(name) ?? new Uint8Array(0), 0)
    framer.flush()
    const found = (from: Ecef) => observed.flatMap(({ epoch }) => offsetOf(orbits.residuals(epoch, from)) ?? [])
    const offsets = found(arp)
    t.ok(offsets.length > 0.99 * observed.length, `${name}: ${offsets.length} of ${observed.length} epochs`)
    const { east, north, up } = middle(offsets)
    const text = `E ${east.toFixed(2)} N ${north.toFixed(2)} U ${up.toFixed(2)}`
    t.ok(Math.hypot(east - moved.east, north - moved.north) < 2 && Math.abs(up) < 1.5, text)
    // Half a minute is what the quickest rule needs.
    const halves = Array.from({ length: Math.floor(offsets.length / 30) }, (_, i) =>
      middle(offsets.slice(30 * i, 30 * i + 30)),
    )
    const farthest_m = Math.max(...halves.map((at) => Math.hypot(at.east - east, at.north - north)))
    t.ok(farthest_m < 4, `medians of 30 s within ${farthest_m.toFixed(1)} m`)
    const away = middle(found(offsetEnu(arp, { east: -30, north: 40, up: 12 })))
    const errors = [away.east - east - 30, away.north - north + 40, away.up - up + 12]
    t.ok(Math.max(...errors.map(Math.abs)) < 0.5, `an antenna elsewhere: ${errors.map((error) => error.toFixed(2))}`)
  }
})

const utc_ms = Date.UTC(2026, 5, 1, 13)

/** One epoch of a simulated mosaic, with the ephemerides of its satellites. */
function simulated({ type = 7, seed = 1 } = {}) {
  const model = new Model({ seed, lat: 52, lon: 4.4, alt: 50, constellations: sky })
  for (let second = 0; second < 5; second++) model.epoch(utc_ms + 1000 * second, 1, true)
  const seen = model.epoch(utc_ms + 5000, 1, true)
  const collector = new MsmEpochs()
  const [epoch] = msmFrames({
    ...{ epoch: seen, tracks: seen.tracks, stationId: 0, models: sky, clockSteering: 0 },
    order: ['GPS', 'GLONASS', 'Galileo', 'BeiDou'],
    due: (number) => number % 10 === type,
  }).flatMap((frame) => collector.push(frame))
  const ephemerides = new Map<string, Ephemeris>()
  for (const sight of seen.sky) {
    const frame = ephemerisFrame(sight, seen.gps_s)
    const ephemeris = frame && decodeEphemeris(frame, seen.gps_s)
    if (ephemeris) ephemerides.set(`${ephemeris.constellation} ${ephemeris.satellite}`, ephemeris)
  }
  if (!epoch) throw new Error('no epoch')
  return { epoch, ephemerides, arp: model.truth, at_s: seen.gps_s }
}
type Simulated = ReturnType<typeof simulated>

const residualsOf = ({ epoch, ephemerides, arp, at_s }: Simulated): SatelliteResidual[] =>
  rangeResiduals(epoch, arp, at_s, (constellation, satellite) => ephemerides.get(`${constellation} ${satellite}`))

const size_m = (offset: Enu | undefined) => (offset ? Math.hypot(offset.east, offset.north, offset.up) : Number.NaN)

/** The observations changed, or left out. */
const changed = (
  epoch: MsmEpoch,
  change: (one: Msm['observations'][number], msm: Msm) => number | undefined,
): MsmEpoch => ({
  ...epoch,
  messages: epoch.messages.map((msm) => ({
    ...msm,
    observations: msm.observations.flatMap((one) => {
      const pseudorange_m = change(one, msm)
      return pseudorange_m === undefined ? [] : [{ ...one, pseudorange_m }]
    }),
  })),
})

t.test('a simulated receiver, whose air and ionosphere are others than the model of the station', async (t) => {
  const one = simulated()
  const residuals = residualsOf(one)
  t.strictSame([...new Set(residuals.map(({ constellation }) => constellation))].sort(), ['galileo', 'gps'])
  t.ok(residuals.length >= 12, `${residuals.length} satellites`)
  t.ok(
    residuals.every(({ elevation_deg, used }) => elevation_deg >= 10 && used),
    'none near the horizon',
  )
  for (const seed of [1, 2, 3, 4, 5]) {
    const offset = offsetOf(residualsOf(simulated({ seed })))
    t.ok(size_m(offset) < 8 && Number(offset?.sigma_m) < 6, `seed ${seed}: ${size_m(offset).toFixed(1)} m`)
  }
})

t.test(
  "the receiver's clock does not count: a millisecond is 300 km of range and 0.8 m of a satellite's way",
  async (t) => {
    const one = simulated()
    const before = offsetOf(residualsOf(one))
    const ahead = changed(one.epoch, ({ pseudorange_m = 0 }) => pseudorange_m + 299_792.458)
    const after = offsetOf(residualsOf({ ...one, epoch: ahead, at_s: one.at_s + 0.001 }))
    if (!before || !after) return t.fail('no offset')
    const away_m = size_m({
      east: after.east - before.east,
      north: after.north - before.north,
      up: after.up - before.up,
    })
    t.ok(away_m < 0.01, `${away_m} m`)
  },
)

t.test('the ionosphere is taken off: 20 m of it on L1 change nothing', async (t) => {
  const one = simulated()
  const before = offsetOf(residualsOf(one))
  const hertz: Record<string, number> = {
    'GPS 2': 1575.42e6,
    'GPS 10': 1227.6e6,
    'Galileo 2': 1575.42e6,
    'Galileo 15': 1207.14e6,
  }
  const stormy = changed(one.epoch, ({ satellite, signal, pseudorange_m = 0 }, { type }) => {
    const frequency_hz = hertz[`${constellationOf(type)} ${signal}`]
    return frequency_hz ? pseudorange_m + 20 * (satellite % 3) * (1575.42e6 / frequency_hz) ** 2 : undefined
  })
  const after = offsetOf(residualsOf({ ...one, epoch: stormy }))
  t.ok(before && after && Math.abs(size_m(after) - size_m(before)) < 0.001, `${size_m(before)} ${size_m(after)}`)
})

t.test('what gives no residual', async (t) => {
  const one = simulated()
  const count = (other: Partial<Simulated>) => residualsOf({ ...one, ...other }).length
  const alone = changed(one.epoch, ({ signal, pseudorange_m }) => (signal === 2 ? pseudorange_m : undefined))
  t.equal(count({ epoch: alone }), 0, 'one frequency')
  t.equal(count({ ephemerides: new Map() }), 0, 'no ephemeris')
  const marked = new Map([...one.ephemerides].map(([id, ephemeris]) => [id, { ...ephemeris, healthy: false }]))
  t.equal(count({ ephemerides: marked }), 0, 'satellites that say that they must not be used')
  t.equal(count({ at_s: one.at_s + 5 * 3600 }), 0, 'ephemerides of another time')
  t.equal(count({ arp: { x: Number.NaN, y: 0, z: 0 } }), 0, 'no place')
  const modulo = { ...one.epoch, messages: one.epoch.messages.map((msm) => ({ ...msm, type: msm.type - 4 })) }
  t.equal(count({ epoch: modulo }), 0, 'MSM3, whose ranges are modulo a light millisecond')
  t.equal(residualsOf(simulated({ type: 4 })).length, count({}), 'MSM4 gives as many as MSM7')
})

t.test('a range that is wrong is left out; if most are, nothing is said', async (t) => {
  const residuals = residualsOf(simulated())
  const before = offsetOf(residuals)
  const highest = residuals.toSorted((p, q) => q.elevation_deg - p.elevation_deg)[0]
  const wrong = (error_m: number, which: (one: SatelliteResidual, i: number) => boolean) =>
    offsetOf(residuals.map((one, i) => (which(one, i) ? { ...one, residual_m: one.residual_m + error_m } : one)))
  for (const error_m of [60, -400, 3e5]) {
    const after = wrong(error_m, (one) => one === highest)
    t.ok(after && before && Math.abs(size_m(after) - size_m(before)) < 2, `${error_m} m: ${size_m(after).toFixed(1)} m`)
    t.ok(Number(after?.sigma_m) < 6, `${after?.sigma_m}`)
  }
  const twice = wrong(-500, (_, i) => i === 2 || i === 9)
  t.ok(twice && size_m(twice) < 8, `two of them: ${size_m(twice).toFixed(1)} m`)
  const mistaken = wrong(30, (one) => one === residuals[3])
  t.ok(mistaken && size_m(mistaken) < 2 * mistaken.sigma_m, 'what is too small for that is in the accuracy')
  const none = residuals.map((one, i) => ({ ...one, residual_m: one.residual_m + 1000 * ((7 * i) % 11) }))
  t.equal(offsetOf(none), undefined)
})

/** Hours of an antenna that stands still, with reflections of minutes on both frequencies. @returns minutes until it is suspected to have moved */
function falselyMoved(seed: number, hours: number, chosen: (sights: readonly Sight[]) => readonly Sight[]) {
  const random = new Random(seed)
  const arp = geodeticToEcef({ lat: 52, lon: 4.4, alt: 30 })
  const evidence = new ResidualEvidence({ offset: { east: 0, north: 0, up: 0 }, sigma_m: 1.4 }, undefined)
  const models = constellations.filter(({ name }) => name === 'GPS' || name === 'Galileo')
  const errors = new Map<number, [GaussMarkov, GaussMarkov]>()
  const start_s = 1.46e9 + 2_592_000 * random.uniform()
  const step_s = 3
  let sights: readonly Sight[] = []
  for (let t = 0; t < hours * 3600; t += step_s) {
    if (t % 60 === 0) sights = chosen(visibleFrom(arp, start_s + t, 10, new Set(), models))
    const residuals = sights.map(({ constellation, svId, key, azimuth_deg, elevation_deg }): SatelliteResidual => {
      const own = errors.get(key) ?? [new GaussMarkov(random, 300), new GaussMarkov(random, 300)]
      errors.set(key, own)
      const size_m = 0.4 + 0.35 / Math.sin((elevation_deg * Math.PI) / 180)
      const residual_m = size_m * (2.546 * own[0].step(step_s) - 1.546 * own[1].step(step_s))
      return { constellation: constellation.name, satellite: svId, azimuth_deg, elevation_deg, residual_m, used: true }
    })
    if (evidence.hear(residuals, 1000 * t)) return t / 60
  }
  return undefined
}

t.test('a patch antenna that stands still, with few satellites or beside a wall, is not said to move', async (t) => {
  const scenes: Record<string, (sights: readonly Sight[]) => readonly Sight[]> = {
    'eight satellites': (sights) =>
      sights.toSorted((p, q) => ((p.key * 7919) % 101) - ((q.key * 7919) % 101)).slice(0, 8),
    'the highest eight': (sights) => sights.toSorted((p, q) => q.elevation_deg - p.elevation_deg).slice(0, 8),
    'a wall': (sights) => sights.filter(({ azimuth_deg }) => azimuth_deg > 20 && azimuth_deg < 250),
  }
  for (const [name, chosen] of Object.entries(scenes))
    for (const seed of few(2, [1, 2, 3, 4, 5, 6]))
      t.equal(falselyMoved(seed, 8, chosen), undefined, `${name}, seed ${seed}`)
})
