/** The phase watch: on real receivers' observations, and on a simulated sky for what captures do not hold. */
import fc from 'fast-check'
import t from 'tap'
import { OrbitSky } from '../../plugins/reference/integrity/orbit-sky.js'
import { Motion } from '../../plugins/reference/integrity/phase/motion.js'
import { orderStatistic } from '../../plugins/reference/integrity/phase/order-statistic.js'
import { PhaseWatch } from '../../plugins/reference/integrity/phase/phase-watch.js'
import type { PhaseReport } from '../../plugins/reference/integrity/phase/report.js'
import { msmSatellite, skyOf } from '../../plugins/reference/integrity/phase/sky.js'
import {
  type Constellation,
  constellationOf,
  type Enu,
  encodeMsm,
  Framer,
  gpsToUnix,
  knownLeap_s,
  lockBroken,
  lockTime,
  type Msm,
  MsmEpochs,
} from '../../runtime/lib/gnss/index.js'
import { capture, noCaptures } from '../harness/captures.js'
import { few, gateOnly, sample } from '../harness/sample.js'
import { BroadcastOrbits } from './support/broadcast-orbits.js'
import { type Observed, observedOf, orbitsOf } from './support/phase-captures.js'
import { displaced, normal, Scene, type SceneOptions, uniform, within } from './support/phase-scenes.js'

const diagonal = 1 / Math.sqrt(3)
const directions: Record<string, Enu> = {
  east: { east: 1, north: 0, up: 0 },
  west: { east: -1, north: 0, up: 0 },
  north: { east: 0, north: 1, up: 0 },
  south: { east: 0, north: -1, up: 0 },
  up: { east: 0, north: 0, up: 1 },
  down: { east: 0, north: 0, up: -1 },
  diagonal: { east: diagonal, north: -diagonal, up: diagonal },
}
const times = ({ east, north, up }: Enu, by: number): Enu => ({ east: east * by, north: north * by, up: up * by })
const rms = (values: number[]) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length)
const mm = (metres: number) => Math.round(metres * 1000)

/** Runs a scene; `change` is called before each epoch with its number. */
function run(
  scene: Scene,
  epochs: number,
  change: (epoch: number) => void = () => {},
  watch = new PhaseWatch(),
): PhaseReport[] {
  return Array.from({ length: epochs }, (_, epoch) => {
    change(epoch)
    const { epoch: observed, sky } = scene.next()
    return watch.take(observed, sky) as PhaseReport
  })
}
const moves = (reports: PhaseReport[]) => reports.flatMap(({ moved }, epoch) => (moved ? epoch : []))

t.test('lock time indicators', async (t) => {
  t.same(lockTime(1074, 0), { from_ms: 0, below_ms: 32 })
  t.same(lockTime(1074, 5), { from_ms: 512, below_ms: 1024 })
  t.same(lockTime(1074, 15), { from_ms: 524_288, below_ms: Infinity })
  const fine: [indicator: number, from_ms: number, below_ms: number][] = [
    [0, 0, 1],
    [63, 63, 64],
    [64, 64, 66],
    [96, 128, 132],
    [351, 32_256, 32_768],
  ]
  for (const [indicator, from_ms, below_ms] of fine) t.same(lockTime(1077, indicator), { from_ms, below_ms })
  t.same(lockTime(1077, 704), { from_ms: 67_108_864, below_ms: Infinity }, 'the last value of the table')
  for (let indicator = 0; indicator < 704; indicator++) {
    if (lockTime(1077, indicator).below_ms !== lockTime(1077, indicator + 1).from_ms)
      t.fail(`a hole behind ${indicator}`)
  }
  t.same(lockTime(1077, 1000), { from_ms: 0, below_ms: Infinity }, 'a reserved value says nothing')
  t.same(lockTime(1074, undefined), { from_ms: 0, below_ms: Infinity })

  const broken = (type: number, before: number, now: number, interval_ms: number) =>
    lockBroken(lockTime(type, before), lockTime(type, now), interval_ms)
  t.ok(broken(1074, 10, 9, 1000), 'an indicator that went back')
  t.ok(broken(1074, 3, 4, 1000), 'a lock shorter than the interval')
  t.notOk(broken(1074, 5, 5, 1000))
  t.notOk(broken(1077, 351, 351, 10_000), 'a receiver that stops counting at 64 s')
  t.notOk(broken(1077, 704, 704, 1e9))
})

t.test('satellites of the receiver in the numbers of MSM', async (t) => {
  const table: [name: string, number: number, constellation: Constellation, satellite: number][] = [
    ['gps', 32, 'GPS', 32],
    ['sbas', 120, 'SBAS', 1],
    ['sbas', 158, 'SBAS', 39],
    ['galileo', 36, 'Galileo', 36],
    ['beidou', 63, 'BeiDou', 63],
    ['qzss', 1, 'QZSS', 1],
    ['qzss', 194, 'QZSS', 2],
    ['glonass', 24, 'GLONASS', 24],
    ['navic', 3, 'NavIC', 3],
  ]
  for (const [name, number, constellation, satellite] of table) {
    t.same(msmSatellite(name, number), { constellation, satellite })
  }
  for (const [name, number] of [
    ['glonass', 255],
    ['imes', 1],
    ['constructor', 1],
    ['gps', 0],
    ['', 3],
  ] as const) {
    t.equal(msmSatellite(name, number), undefined)
  }
  const sky = skyOf([
    { constellation: 'qzss', satellite: 3, azimuth_deg: 10, elevation_deg: 20 },
    { constellation: 'gps', satellite: 3, azimuth_deg: 0, elevation_deg: -91 },
    { constellation: 'gps', satellite: 4, azimuth_deg: undefined, elevation_deg: 20 },
  ])
  t.match(sky('QZSS', 3), { azimuth_deg: 10, elevation_deg: 20 })
  t.equal(sky('GPS', 3), undefined, 'elevation −91 is unknown')
  t.equal(sky('GPS', 4), undefined)
  t.equal(sky('BeiDou', 3), undefined)
})

t.test('collects the messages of an epoch', async (t) => {
  const { messages } = new Scene().next().epoch
  const frames = (shift_ms: number) =>
    messages.map((msm) =>
      encodeMsm({ ...msm, epochTime: msm.epochTime + shift_ms, observations: msm.observations.slice(0, 8) }),
    )
  const types = [1077, 1087, 1097, 1127]
  const whole = new MsmEpochs()
  const seen = [0, 1000].flatMap((shift) => frames(shift).flatMap((frame) => whole.push(frame)))
  t.same(
    seen.map(({ time_ms }) => time_ms),
    [1000, 2000],
  )
  t.same(
    seen.map((epoch) => epoch.messages.map(({ type }) => type)),
    [types, types],
  )

  const lossy = new MsmEpochs()
  const kept = [frames(0).slice(0, 3), frames(1000)].flat().flatMap((frame) => lossy.push(frame))
  t.same(
    kept.map((epoch) => epoch.messages.length),
    [3, 4],
    'a lost last message ends with the next epoch',
  )
  const glonassFirst = new MsmEpochs()
  const turned = [frames(0)[1], frames(0)[0], ...frames(0).slice(2)]
  t.same(
    turned.flatMap((frame) => glonassFirst.push(frame)).map(({ time_ms }) => time_ms),
    [1000],
    'in the time of GPS, whichever comes first',
  )
  t.same(new MsmEpochs().push(Uint8Array.of(0xd3, 0, 2, 1, 2, 3, 4, 5)), [], 'other frames are no matter')
})

interface Known {
  name: string
  /** The least share of epochs with a verdict after the first 20; undefined without directions. */
  known?: number
  losses?: number
}
const captured: Known[] = [
  { name: 'pygnssutils_pygpsdata-rtcm3.log', known: 0.7, losses: 1 },
  { name: 'gpsd_ublox-zed-f9t-rtcm3.log', known: 0.8 },
  { name: 'hazer_ubx-zed-f9p-2.dat', known: 0 },
  { name: 'swiftnav_dropped-packets-STR24.rtcm3', known: 0.99 },
  { name: 'swiftnav_week-rollover-STR24.rtcm3', known: 0.99 },
  { name: 'swiftnav_missing-beidou-STR17.rtcm3', known: 0.8 },
  { name: 'swiftnav_sept.rtcm' },
  { name: 'swiftnav_javad.rtcm' },
  { name: 'swiftnav_switch-legacy-msm-legacy-msm.rtcm' },
]

t.test('reports no move on any capture of a real receiver', { skip: noCaptures || gateOnly }, async (t) => {
  for (const { name, known, losses = 0 } of captured) {
    t.test(name, async (t) => {
      const watch = new PhaseWatch()
      const reports = observedOf(name).map(({ epoch, sky }) => watch.take(epoch, sky) as PhaseReport)
      t.ok(reports.length > 20, `${reports.length} epochs`)
      t.same(moves(reports), [])
      t.equal(reports.filter(({ lossOfLock }) => lossOfLock).length, losses)
      if (known === undefined) return
      const later = reports.slice(20)
      const nets = later.flatMap(({ net }) => net ?? [])
      const share = later.filter(({ moved }) => moved === false).length / later.length
      t.ok(share >= known, `a verdict in ${(share * 100).toFixed(0)} % of the epochs`)
      t.comment(
        `net displacement, rms E/N/U ${(['east_m', 'north_m', 'up_m'] as const).map((axis) => (rms(nets.map((net) => net[axis])) * 1000).toFixed(1)).join(' / ')} mm`,
      )
    })
  }
})

t.test('raises no false alarm wherever in a capture it starts', { skip: noCaptures }, async (t) => {
  const every = sample(997, 5, 149)
  for (const { name, known } of captured) {
    if (known === undefined) continue
    const observed = observedOf(name)
    for (let start = 0; start + 40 < observed.length; start += every) {
      const watch = new PhaseWatch()
      const reports = observed.slice(start, start + 120).map(({ epoch, sky }) => watch.take(epoch, sky) as PhaseReport)
      if (moves(reports).length > 0) t.fail(`${name}: a start at epoch ${start}`)
    }
  }
  t.pass('none')
})

t.test('broadcast orbits fit the phases of every constellation', { skip: noCaptures }, async (t) => {
  const name = 'swiftnav_dropped-packets-STR24.rtcm3'
  const { orbits, arp } = orbitsOf(name)
  if (!(orbits instanceof BroadcastOrbits) || !arp) return t.fail('no ephemerides')
  const observed = observedOf(name)
  const [early, late] = [observed[600], observed[630]]
  const seconds = (late.epoch.time_ms - early.epoch.time_ms) / 1000
  for (const msm of early.epoch.messages) {
    const constellation = constellationName(msm)
    const drifts = msm.observations.flatMap(({ satellite, signal, phase_m }) => {
      const other = late.epoch.messages
        .find(({ type }) => type === msm.type)
        ?.observations.find((observation) => observation.satellite === satellite && observation.signal === signal)
      const from = orbits.range_m(arp, constellation, satellite, early.epoch.time_ms / 1000)
      const to = orbits.range_m(arp, constellation, satellite, late.epoch.time_ms / 1000)
      if (!other || phase_m === undefined || other.phase_m === undefined || !from || !to) return []
      return [(other.phase_m - phase_m - (to - from)) / seconds]
    })
    const middle = drifts.toSorted((p, q) => p - q)[drifts.length >> 1]
    const worst = Math.max(...drifts.map((drift) => Math.abs(drift - middle)))
    t.ok(drifts.length > 0 && worst < 2, `${constellation}: ${drifts.length} phases within ${worst.toFixed(2)} m/s`)
  }
})

t.test(
  'the ephemerides of a stream give exact directions, the receiver those that are left',
  { skip: noCaptures },
  async (t) => {
    const name = 'swiftnav_dropped-packets-STR24.rtcm3'
    const { arp } = orbitsOf(name)
    const observed = observedOf(name)
    const { epoch, sky: known } = observed.at(-1) as Observed
    if (!arp) return t.fail('no position')
    const utc_s = gpsToUnix({ week: 2009, tow_s: epoch.time_ms / 1000 }, knownLeap_s)
    const orbits = new OrbitSky(() => ({ position: arp, utc_s }))
    const framer = new Framer({ onFrame: ({ kind, bytes }) => kind === 'rtcm' && orbits.hear(bytes) })
    framer.push(capture(name) ?? new Uint8Array(0), 0)
    framer.flush()
    const sky = orbits.over(
      (_, satellite) => (satellite === 63 ? { azimuth_deg: 1, elevation_deg: 2 } : undefined),
      epoch.time_ms,
    )
    t.strictSame(sky?.('BeiDou', 63), { azimuth_deg: 1, elevation_deg: 2 })
    let compared = 0
    for (const msm of epoch.messages)
      for (const satellite of new Set(msm.observations.map((one) => one.satellite))) {
        const constellation = constellationName(msm)
        const [own, other] = [sky?.(constellation, satellite), known?.(constellation, satellite)]
        if (!own || !other) continue
        compared++
        const away_deg = Math.hypot(
          own.elevation_deg - other.elevation_deg,
          Math.cos(own.elevation_deg * (Math.PI / 180)) * (((own.azimuth_deg - other.azimuth_deg + 540) % 360) - 180),
        )
        // The other directions are those of some seconds before.
        t.ok(own.isExact && away_deg < 0.2, `${constellation} ${satellite}: ${away_deg.toFixed(3)}°`)
      }
    t.ok(compared > 20, `${compared} satellites`)
    const below = { azimuth_deg: 180, elevation_deg: -80 }
    const contradicted = orbits.over(() => below, epoch.time_ms)
    const seen = epoch.messages.flatMap((msm) =>
      msm.observations.map((one) => contradicted?.(constellationName(msm), one.satellite)),
    )
    t.ok(
      seen.length > 20 && seen.every((one) => one === below),
      'where the receiver contradicts it, the receiver counts',
    )
    t.equal(
      new OrbitSky(() => undefined).over(known, epoch.time_ms),
      known,
      'without a time and a place those that are known',
    )
  },
)

const constellationName = ({ type }: Msm) =>
  (['GPS', 'GLONASS', 'Galileo', 'SBAS', 'QZSS', 'BeiDou', 'NavIC'] as const)[Math.floor(type / 10) - 107]

t.test(
  'finds a step of any size in real observations, given directions in whole degrees',
  { skip: noCaptures },
  async (t) => {
    const sizes_m = few(4, [0.01, 0.03, 0.05, 9, 0.5, 5, 100, 0.02, 0.1, 2, 4, 6, 15, 30])
    for (const { name, from, least } of few(1, [
      { name: 'pygnssutils_pygpsdata-rtcm3.log', from: 100, least: 0.9 },
      { name: 'swiftnav_dropped-packets-STR24.rtcm3', from: 110, least: 0.9 },
      { name: 'swiftnav_missing-beidou-STR17.rtcm3', from: 110, least: 0.75 },
    ])) {
      t.test(name, async (t) => {
        const observed = observedOf(name)
        const trials = sample(1, 20, 2)
        for (const size_m of sizes_m) {
          const row: string[] = []
          let [in3, in4, late_s] = [0, 0, 0]
          for (const [index, [direction, unit]] of Object.entries(directions).entries()) {
            let found = 0
            for (let trial = 0; trial < trials; trial++) {
              const at = from + Math.floor(((trial + index / 7) / trials) * (observed.length - from - 10))
              const after_s = timeToDetect(observed, at, times(unit, size_m), trial)
              if (after_s === undefined) continue
              late_s = Math.max(late_s, after_s)
              if (after_s <= 3) found++
              if (after_s <= 4) in4++
            }
            row.push(`${direction} ${Math.round((found / trials) * 100)} %`)
            // A height is three times as uncertain.
            if (Math.abs(unit.up) < 1) in3 += found
            if (size_m === 0.01) t.equal(found, 0, `1 cm ${direction} is no move`)
          }
          const all = trials * 7
          const level = trials * 5
          if (size_m === 0.03) t.ok(in3 >= least * level, `3 cm: ${in3} of ${level} within 3 s`)
          if (size_m >= 0.05) t.ok(in4 >= 0.99 * all, `${size_m} m: ${in4} of ${all} within 4 s`)
          t.comment(
            `${size_m * 100} cm, ${trials} trials each, within 3 s (all that are found, ${late_s} s): ${row.join(', ')}`,
          )
        }
      })
    }
  },
)

t.test('the clocks of GPS and GLONASS alone are no move', { skip: noCaptures }, async (t) => {
  for (const name of ['swiftnav_dropped-packets-STR24.rtcm3', 'swiftnav_missing-beidou-STR17.rtcm3'])
    for (const systems of few(1, [[107], [107, 108]]))
      for (const bands of few(1, [99, 7])) {
        const watch = new PhaseWatch()
        const held = observedOf(name).filter(({ epoch, sky }) => {
          const messages = epoch.messages
            .filter(({ type }) => systems.includes(Math.floor(type / 10)))
            .map((one) => ({ ...one, observations: one.observations.filter(({ signal }) => signal <= bands) }))
          return messages.length > 0 && watch.take({ ...epoch, messages }, sky)?.moved
        })
        t.equal(held.length, 0, `${name}, ${systems}, ${bands === 7 ? 'one band' : 'all bands'}`)
      }
})

/** Seconds from a step before epoch `at` (it happens up to one interval earlier) to the verdict. */
function timeToDetect(observed: Observed[], at: number, offset: Enu, seed: number): number | undefined {
  const watch = new PhaseWatch()
  const given = observed[at].sky
  const truth = given && within(given, seed)
  for (let epoch = Math.max(0, at - 105); epoch < Math.min(observed.length, at + 10); epoch++) {
    const { epoch: seen, sky } = epoch < at ? observed[epoch] : displaced(observed[epoch], offset, truth)
    if (watch.take(seen, sky)?.moved) return epoch - at + 1
  }
  return undefined
}

t.test('finds a step of 3 cm, of 5 cm in height, within 3 s, whatever the receiver sends', async (t) => {
  const receivers: [what: string, options: SceneOptions][] = [
    ['MSM7, two bands', {}],
    ['MSM4, two bands', { msm: 4 }],
    ['MSM7, L1 only', { signals: [2] }],
    ['MSM4, L1 only', { msm: 4, signals: [2] }],
    ['5 Hz', { interval_s: 0.2 }],
  ]
  for (const [what, options] of receivers) {
    t.test(what, async (t) => {
      for (const [direction, unit] of few(2, Object.entries(directions).reverse())) {
        const scene = new Scene({ seed: direction.length, ...options })
        const interval_s = options.interval_s ?? 1
        const at = 100 / interval_s
        // A height is three times as uncertain.
        const size_m = unit.up === 0 ? 0.03 : 0.05
        const reports = run(scene, at + 6 / interval_s, (epoch) => {
          if (epoch === at) scene.offset = times(unit, size_m)
        })
        const [first] = moves(reports)
        t.ok(first >= at && (first - at + 1) * interval_s <= 3, `${direction}: epoch ${first} for ${at}`)
        const { net } = reports[first]
        const error_m = Math.hypot(
          (net?.east_m ?? 1) - size_m * unit.east,
          (net?.north_m ?? 1) - size_m * unit.north,
          (net?.up_m ?? 1) - size_m * unit.up,
        )
        t.ok(error_m < 0.018, `${direction}: the displacement is right to ${mm(error_m)} mm`)
      }
    })
  }
})

t.test('what came at once is a move where the same drifted there in 10 s is none', async (t) => {
  const sigma_m = 0.0045
  const position = (east_m: number) => ({
    east_m,
    north_m: 0,
    up_m: 0,
    sigma: { east_m: sigma_m, north_m: sigma_m, up_m: sigma_m },
    covariance: [0, 0, 0, 0, 0, 0] as const,
    satellites: 20,
    steady: 10,
  })
  /** The epoch in which it is a move; `over` epochs until it is so far away. */
  const movedAt = (size_m: number, over: number): number | undefined => {
    const motion = new Motion(0.03)
    for (let epoch = 0; epoch < 50; epoch++) {
      const now = position(size_m * Math.min(1, Math.max(0, epoch - 29) / over))
      motion.add(epoch * 1000, now, 1, 0)
      if (motion.moved(epoch * 1000, now)) return epoch
    }
    return undefined
  }
  const cases: [size_sigmas: number, over: number, at: number | undefined][] = [
    [5.4, 1, undefined],
    [5.6, 1, 32],
    [5.95, 3, 34],
    [6.1, 10, undefined],
    [6.8, 10, undefined],
    // Seven standard deviations are beyond any drift.
    [8, 10, 39],
  ]
  for (const [sigmas, over, at] of cases)
    t.equal(movedAt(sigmas * sigma_m, over), at, `${sigmas} standard deviations over ${over} s`)
})

t.test('errors that come slowly do not bend the past, a swing does', async (t) => {
  const sigma_m = 0.004
  const position = (up_m: number) => ({
    east_m: 0,
    north_m: 0,
    up_m,
    sigma: { east_m: sigma_m, north_m: sigma_m, up_m: sigma_m },
    covariance: [0, 0, 0, 0, 0, 0] as const,
    satellites: 28,
    steady: 13,
  })
  /** Heights of the swung epochs, by epoch. */
  const swung = (height: (epoch: number) => number) => {
    const motion = new Motion(0.03)
    return Array.from({ length: 60 }, (_, epoch) => {
      const now = position(height(epoch))
      motion.add(epoch * 1000, now, 1, 0)
      motion.moved(epoch * 1000, now)
      return Math.round(1000 * (motion.swungOut(now)?.up ?? 0)) / 1000
    }).filter((up) => up !== 0)
  }
  t.same(
    swung((epoch) => 0.045 * Math.sin(Math.max(0, epoch - 20) / 12)),
    [],
    'errors of up to 4.5 cm within 19 s',
  )
  t.same(
    swung((epoch) => (epoch === 30 || epoch === 31 ? 0.05 : 0)),
    [0.05, 0.05],
    'a knock',
  )
})

t.test('a noisy satellite on which the height depends is not taken for a precise one', async (t) => {
  for (const from_s of [0, 20_000, 58_500, 68_600]) {
    const scene = new Scene({ seed: 3, signals: [2] })
    scene.time_s = from_s
    const watch = new PhaseWatch()
    const random = normal(4)
    let highest = ''
    let error_m = 0
    const errors: number[] = []
    for (let second = 0; second < 600; second++) {
      const { epoch, sky } = scene.next()
      const all = epoch.messages.flatMap((msm) =>
        msm.observations.map((observation) => {
          const direction = sky?.(constellationOf(msm.type) as Constellation, observation.satellite)
          return {
            msm,
            observation,
            name: `${msm.type} ${observation.satellite}`,
            at_deg: direction?.elevation_deg ?? 0,
          }
        }),
      )
      highest ||= all.reduce((high, other) => (other.at_deg > high.at_deg ? other : high)).name
      // Centimetres that last for 20 s.
      error_m = 0.95 * error_m + 0.004 * random()
      const messages = epoch.messages.map((of): Msm => {
        const observations = all.flatMap(({ msm, observation, name, at_deg }) => {
          if (msm !== of) return []
          if (name === highest) return [{ ...observation, phase_m: (observation.phase_m ?? 0) + error_m }]
          return at_deg < 40 ? [observation] : []
        })
        return { ...of, observations }
      })
      const net = watch.take({ ...epoch, messages }, sky)?.net
      if (second > 200 && net) errors.push(net.up_m / net.sigma.up_m)
    }
    t.ok(errors.length > 300)
    const worst = Math.max(...errors.map(Math.abs))
    t.ok(rms(errors) < 1.5 && worst < 5, `${rms(errors).toFixed(1)} standard deviations, ${worst.toFixed(1)} at most`)
  }
})

t.test('at long intervals it confirms a step with the second epoch', async (t) => {
  for (const interval_s of [2, 5, 10]) {
    const scene = new Scene({ interval_s })
    const at = 30
    const reports = run(scene, at + 4, (epoch) => {
      if (epoch === at) scene.offset = { east: 0.05, north: 0, up: 0 }
    })
    t.same(moves(reports)[0], at + 1, `${interval_s} s`)
  }
})

t.test('a mast that swings and comes back is no move, and its sway is reported', async (t) => {
  for (const frequency_hz of [0.3, 0.45, 1.3]) {
    const scene = new Scene()
    const reports = run(scene, 240, (epoch) => {
      const swings = epoch >= 100 && epoch < 160
      const phase = 2 * Math.PI * frequency_hz * (epoch - 100)
      scene.offset = { east: swings ? 0.05 * Math.sin(phase) : 0, north: 0, up: 0 }
    })
    t.same(moves(reports), [], `${frequency_hz} Hz`)
    const swaying = reports.slice(115, 160).map(({ sway_m }) => sway_m ?? 0)
    t.ok(Math.min(...swaying) > 0.025 && Math.max(...swaying) < 0.05, `${mm(Math.min(...swaying))} mm and more`)
    t.ok((reports[235].sway_m ?? 1) < 0.01, 'and ends')
  }
})

t.test('a knock that swings back within 2 s is no move', async (t) => {
  const scene = new Scene()
  const swing = [0.06, 0.05, -0.03, -0.02, 0.01]
  const reports = run(scene, 130, (epoch) => {
    scene.offset = { east: swing[epoch - 100] ?? 0, north: 0, up: 0 }
  })
  t.same(moves(reports), [])
})

t.test('an antenna that is knocked aside once and is back within 2 s has not moved', async (t) => {
  for (const away of [1, 2]) {
    for (const size_m of few(2, [0.05, 1, 0.1, 0.3, 5])) {
      for (const [seed, direction] of few(3, [
        directions.east,
        directions.north,
        directions.up,
        directions.down,
      ]).entries()) {
        for (const start of few(1, [60, 120])) {
          const scene = new Scene({ seed: seed + 1, msm: 4 })
          const reports = run(scene, start + 40, (epoch) => {
            scene.offset = times(direction, epoch >= start && epoch < start + away ? size_m : 0)
          })
          t.same(moves(reports), [], `${size_m} m for ${away} epochs, ${start} s after the start`)
        }
      }
    }
  }
})

t.test('a swaying mast that stays away is found', async (t) => {
  const scene = new Scene()
  const reports = run(scene, 180, (epoch) => {
    const swing = epoch >= 80 ? 0.03 * Math.sin(2 * Math.PI * 0.3 * epoch) : 0
    scene.offset = { east: swing + (epoch >= 150 ? 0.06 : 0), north: 0, up: 0 }
  })
  const [first] = moves(reports)
  t.ok(first >= 150 && first <= 160, `epoch ${first}`)
})

t.test('a walk is found before it is far, given directions in whole degrees', async (t) => {
  const walks: [size_m: number, for_s: number][] = [
    [0.05, 6],
    [0.1, 20],
    [0.5, 20],
    [5.7, 1],
    [9, 3],
    [30, 6],
    [100, 20],
  ]
  for (const [size_m, for_s] of walks) {
    for (const direction of few(1, ['diagonal', 'east', 'south'])) {
      const scene = new Scene({ seed: for_s })
      const begin = 150
      let away: number | undefined
      const reports = run(scene, begin + for_s + 10, (epoch) => {
        const part = Math.min(Math.max(0, epoch - begin + 1) / for_s, 1)
        scene.offset = times(directions[direction], size_m * part)
        if (away === undefined && size_m * part >= 0.0499) away = epoch
      })
      const [first] = moves(reports)
      const what = `${size_m} m in ${for_s} s ${direction}`
      t.ok(first >= begin && away !== undefined && first <= away + 3, `${what}: epoch ${first}, 5 cm away at ${away}`)
      // Every 10 s it starts afresh.
      if (for_s > 6) continue
      const largest_m = Math.max(
        ...reports.map(({ move }) => Math.hypot(move?.east_m ?? 0, move?.north_m ?? 0, move?.up_m ?? 0)),
      )
      t.ok(largest_m > 0.8 * size_m, `${what}: says ${largest_m.toFixed(2)} m`)
    }
  }
})

t.test('a push by 2 mm a second, which the quick polynomials follow, is found by the slow ones', async (t) => {
  for (const seed of [1, 2]) {
    const scene = new Scene({ seed })
    const reports = run(scene, 290, (epoch) => {
      scene.offset = times(directions.east, Math.min(0.002 * Math.max(0, epoch - 180), 0.12))
    })
    const [first] = moves(reports)
    t.ok(first > 190 && first <= 262, `sky ${seed}: epoch ${first}`)
  }
})

t.test('phases that contradict each other are evidence, slips of two fifths of the satellites are none', async (t) => {
  for (const [slipped, isReported] of [
    [2, false],
    [4, true],
  ] as const) {
    for (const seed of [1, 2, 3]) {
      const scene = new Scene({ seed })
      const reports = run(scene, 180, (epoch) => {
        if (epoch === 110) scene.slip((_, satellite) => satellite % 5 < slipped, false)
      })
      const events = reports.flatMap(({ contradiction }, epoch) => (contradiction ? epoch : []))
      t.same(events, isReported ? [111] : [], `${slipped} of 5, sky ${seed}`)
      t.same(moves(reports), [])
    }
  }
})

t.test(
  'seconds in which a line lets one constellation through are neither a move nor a loss',
  { skip: noCaptures },
  async (t) => {
    for (const { name, known } of captured) {
      if (known === undefined) continue
      for (const gap_s of few(1, [5, 2, 3])) {
        for (const index of few(1, [0, 1])) {
          const watch = new PhaseWatch()
          const reports = observedOf(name).map(({ epoch, sky }, number) => {
            const messages = number % 60 >= 30 && number % 60 < 30 + gap_s ? [epoch.messages[index]] : epoch.messages
            return watch.take({ ...epoch, messages }, sky) as PhaseReport
          })
          const what = `${name}: ${gap_s} s a minute, message ${index} is left`
          t.same(moves(reports), [], what)
          const plain = captured.find((each) => each.name === name)?.losses ?? 0
          t.equal(reports.filter(({ lossOfLock, contradiction }) => lossOfLock || contradiction).length, plain, what)
        }
      }
    }
  },
)

t.test(
  'real receivers: slips of 40 % of the satellites at once are no move and no contradiction',
  { skip: noCaptures },
  async (t) => {
    for (const name of ['swiftnav_dropped-packets-STR24.rtcm3', 'swiftnav_missing-beidou-STR17.rtcm3']) {
      const observed = observedOf(name)
      const trials = sample(3, 80, 5)
      for (let trial = 0; trial < trials; trial++) {
        const at = 25 + Math.floor(((observed.length - 60) * trial) / trials)
        const random = uniform(trial + 1)
        const seen = new Set(observed[at].epoch.messages.flatMap((msm) => msm.observations.map((o) => keyOf(msm, o))))
        const order = [...seen].map((key) => ({ key, rank: random() })).sort((p, q) => p.rank - q.rank)
        const slipped = new Map(order.slice(0, Math.floor(0.4 * seen.size)).map(({ key }) => [key, random()]))
        const watch = new PhaseWatch()
        for (let epoch = Math.max(0, at - 160); epoch < Math.min(observed.length, at + 100); epoch++) {
          const messages = observed[epoch].epoch.messages.map((msm) => ({
            ...msm,
            observations: msm.observations.map((o) => {
              const slip = epoch < at ? undefined : slipped.get(keyOf(msm, o))
              // Each signal by its own number of cycles.
              const cycles = slip && (slip < 0.5 ? -1 : 1) * Math.ceil(4 * ((slip * o.signal) % 1))
              return cycles && o.phase_m !== undefined ? { ...o, phase_m: o.phase_m + 0.19 * cycles } : o
            }),
          }))
          const report = watch.take({ ...observed[epoch].epoch, messages }, observed[epoch].sky)
          if (epoch >= at && (report?.moved || report?.contradiction)) t.fail(`${name}: slips at ${at}, epoch ${epoch}`)
        }
      }
      t.pass(`${name}: ${trials} trials`)
    }
  },
)
const keyOf = ({ type }: Msm, { satellite }: { satellite: number }) => `${type} ${satellite}`

t.test('small steps that add up to the threshold are a move', async (t) => {
  const scene = new Scene({ noise_m: 0.001, multipath_m: 0.0005 })
  const reports = run(scene, 200, (epoch) => {
    scene.offset = { east: epoch >= 160 ? 0.034 : epoch >= 130 ? 0.017 : 0, north: 0, up: 0 }
  })
  t.ok(moves(reports)[0] >= 160, `epoch ${moves(reports)[0]}`)
})

t.test('the receiver’s clock moves nothing', async (t) => {
  for (const step_s of [1e-3, -1e-3, 2.5e-5]) {
    const scene = new Scene()
    const reports = run(scene, 260, (epoch) => {
      if (epoch === 110 || epoch === 150) scene.stepClock(step_s)
    })
    t.same(moves(reports), [])
    t.notOk(reports.some(({ lossOfLock }) => lossOfLock))
    const nets = reports.slice(105).map(({ net }) => net?.distance_m ?? 1)
    t.ok(Math.max(...nets) < 0.018, `${mm(Math.max(...nets))} mm`)
  }
})

t.test('cycle slips on a third of the satellites move nothing', async (t) => {
  for (const flagged of [true, false]) {
    const scene = new Scene()
    const reports = run(scene, 160, (epoch) => {
      if (epoch === 110) scene.slip((_, satellite) => satellite % 3 === 0, flagged)
    })
    t.same(moves(reports), [], flagged ? 'flagged' : 'not flagged')
    t.notOk(reports.some(({ lossOfLock }) => lossOfLock))
    const { lostShare } = reports[110]
    t.ok(flagged ? lostShare > 0.2 : lostShare === 0, `a share of ${lostShare} lost lock`)
    t.ok(
      reports.slice(110).every(({ net }) => (net?.distance_m ?? 1) < 0.02),
      'the others go on',
    )
  }
})

t.test('a knock is found although a third of the satellites slips with it', async (t) => {
  const scene = new Scene()
  const reports = run(scene, 120, (epoch) => {
    if (epoch !== 110) return
    scene.slip((_, satellite) => satellite % 3 === 0, false)
    scene.offset = { east: 0.03, north: -0.02, up: 0.02 }
  })
  t.same(moves(reports)[0], 112)
})

t.test('slips of most satellites are no displacement', async (t) => {
  const scene = new Scene()
  const reports = run(scene, 116, (epoch) => {
    if (epoch === 110) scene.slip((_, satellite) => satellite % 4 !== 0, false)
  })
  t.same(moves(reports), [])
  t.equal(reports[110].net, undefined)
  t.equal(reports[110].moved, undefined, 'nothing is known')
})

t.test('loss of lock on most satellites at once is reported once', async (t) => {
  const lost: [what: string, change: (scene: Scene) => void, keep: (msm: Msm) => Msm | undefined][] = [
    ['by the lock indicators', (scene) => scene.slip((_, satellite) => satellite % 5 !== 0, true), (msm) => msm],
    [
      'their half cycles are unknown',
      () => {},
      (msm) => ({
        ...msm,
        observations: msm.observations.map((one) => ({ ...one, halfCycle: one.satellite % 5 !== 0 })),
      }),
    ],
    ['they vanish', () => {}, (msm) => ({ ...msm, observations: msm.observations.slice(0, 2) })],
    ['all vanish', () => {}, (msm) => ({ ...msm, observations: [] })],
    ['only one constellation is left', () => {}, (msm) => (msm.type === 1077 ? msm : undefined)],
  ]
  for (const [what, change, keep] of lost) {
    const scene = new Scene()
    const watch = new PhaseWatch()
    const reports: PhaseReport[] = []
    for (let epoch = 0; epoch < 60; epoch++) {
      if (epoch === 40) change(scene)
      const { epoch: seen, sky } = scene.next()
      const messages = epoch < 40 || epoch > 52 ? seen.messages : seen.messages.flatMap((msm) => keep(msm) ?? [])
      reports.push(watch.take({ ...seen, messages }, sky) as PhaseReport)
    }
    const events = reports.flatMap(({ lossOfLock }, epoch) => (lossOfLock ? epoch : []))
    t.equal(events.length, 1, what)
    // A constellation that does not come at all may be a dropped frame for some seconds.
    t.ok(events[0] >= 40 && events[0] <= (what.startsWith('only') ? 51 : 44), `${what}: epoch ${events[0]}`)
    t.same(moves(reports), [])
  }
})

t.test('where few satellites are left, a loss of some is one too', async (t) => {
  for (const [tracked, lost, isReported] of [
    [9, 4, true],
    [7, 2, true],
    [7, 1, false],
    [12, 4, false],
  ] as const) {
    const scene = new Scene({ constellations: ['GPS'] })
    const watch = new PhaseWatch()
    let first: readonly number[] | undefined
    const reports: PhaseReport[] = []
    for (let epoch = 0; epoch < 140; epoch++) {
      if (epoch === 120) {
        scene.slip((_, satellite) => first?.slice(0, lost).includes(satellite) ?? false, true)
        scene.offset = { east: 1, north: 0, up: 0 }
      }
      const { epoch: seen, sky } = scene.next()
      first ??= [...new Set(seen.messages[0].observations.map(({ satellite }) => satellite))].slice(0, tracked)
      const messages = seen.messages.map((msm) => ({
        ...msm,
        observations: msm.observations.filter(({ satellite }) => first?.includes(satellite)),
      }))
      reports.push(watch.take({ ...seen, messages }, sky) as PhaseReport)
    }
    const what = `${lost} of ${tracked}`
    t.ok(reports[119].net, `${what}: the position was known before`)
    const events = reports.flatMap(({ lossOfLock }, epoch) => (lossOfLock ? epoch : []))
    t.same(events, isReported ? [120] : [], what)
    t.equal(moves(reports).length > 0, !isReported, `${what}: else the move is seen`)
  }
})

t.test('signals lost one after another are a loss of lock once they leave no position', async (t) => {
  for (const [every_s, isReported] of [
    [1, true],
    [3, false],
  ] as const) {
    const scene = new Scene({ seed: 3, constellations: ['GPS', 'Galileo'] })
    const all = new Set<string>()
    const reports = run(scene, 260, (epoch) => {
      if (epoch === 119)
        scene.slip((constellation, satellite) => all.add(`${constellation} ${satellite}`) && false, true)
      const number = (epoch - 120) / every_s
      if (number < 0 || number >= 60 / every_s || !Number.isInteger(number)) return
      const lost = [...all][number % all.size]
      scene.slip((constellation, satellite) => `${constellation} ${satellite}` === lost, true)
    })
    const events = reports.flatMap(({ lossOfLock }, epoch) => (lossOfLock ? epoch : []))
    t.equal(events.length, isReported ? 1 : 0, `one every ${every_s} s: ${events}`)
    const [first] = events
    const blind = reports.findIndex(({ net }, epoch) => epoch >= 120 && !net)
    if (isReported)
      t.ok(first >= blind + 3 && first <= 150, `the position is unknown from ${blind} on, told at ${first}`)
    t.same(moves(reports), [])
    t.equal(reports.at(-1)?.moved, false, 'a verdict again')
  }
})

t.test('where epochs are 10 s or more apart there is no displacement within 10 s', async (t) => {
  for (const [interval_s, isKnown] of [
    [5, true],
    [10, false],
    [30, false],
  ] as const) {
    const reports = run(new Scene({ interval_s }), 60)
    t.equal(
      reports.some(({ net }) => net),
      isKnown,
      `${interval_s} s`,
    )
    t.same(moves(reports), [])
  }
})

t.test('a lost packet is no loss of lock, and a pause is no move', async (t) => {
  const pauses: [what: string, from: number, to: number, interrupted: number][] = [
    ['2 s', 110, 111, 0],
    ['10 s', 110, 119, 0],
    ['10 s behind a history of a minute', 60, 69, 1],
    ['60 s', 110, 170, 1],
  ]
  for (const [what, from, to, interrupted] of pauses) {
    const scene = new Scene()
    const watch = new PhaseWatch()
    const reports: PhaseReport[] = []
    for (let epoch = 0; epoch < 220; epoch++) {
      const { epoch: seen, sky } = scene.next()
      // One constellation's packet is lost now and then.
      const messages = seen.messages.filter(({ type }) => epoch % 7 !== 0 || type !== 1097)
      if (epoch < from || epoch >= to) reports.push(watch.take({ ...seen, messages }, sky) as PhaseReport)
    }
    t.same(moves(reports), [], what)
    t.equal(reports.filter((report) => report.interrupted).length, interrupted, what)
    t.notOk(
      reports.some(({ lossOfLock }) => lossOfLock),
      what,
    )
    t.equal(reports.at(-1)?.moved, false, `${what}: a verdict again`)
  }
})

t.test(
  'a pause of up to a tenth of the history is bridged: an antenna that moved meanwhile shows at once',
  async (t) => {
    for (const [history, pause_s] of [
      [45, 4],
      [75, 7],
      [110, 10],
    ] as const) {
      for (const [name, direction] of few(2, Object.entries(directions))) {
        for (const size_m of few(2, [0, 0.05, 0.1, 10])) {
          const scene = new Scene({ seed: history })
          const watch = new PhaseWatch()
          run(scene, history, () => {}, watch)
          for (let missed = 1; missed < pause_s; missed++) scene.next()
          scene.offset = times(direction, size_m)
          const reports = run(scene, 15, () => {}, watch)
          const what = `${pause_s} s behind ${history} s, ${size_m} m ${name}`
          t.notOk(reports[0].interrupted, what)
          const net_m = reports[0].net?.distance_m ?? Number.NaN
          t.ok(Math.abs(net_m - size_m) < 0.02 + 0.01 * size_m, `${what}: says ${net_m.toFixed(3)} m`)
          t.equal(moves(reports).length > 0, size_m > 0, what)
        }
      }
    }
  },
)

t.test('real receivers: pauses that are bridged are no move', { skip: noCaptures }, async (t) => {
  for (const name of ['swiftnav_dropped-packets-STR24.rtcm3', 'swiftnav_missing-beidou-STR17.rtcm3']) {
    const observed = observedOf(name)
    for (const [history, pause_s] of [
      [45, 4],
      [110, 10],
    ] as const) {
      const trials = sample(3, 100, 5)
      for (let trial = 0; trial < trials; trial++) {
        const at = history + Math.floor(((observed.length - history - 50) * trial) / trials)
        const watch = new PhaseWatch()
        const take = ({ epoch, sky }: Observed) => watch.take(epoch, sky) as PhaseReport
        observed.slice(at - history, at).forEach(take)
        const reports = observed.slice(at + pause_s - 1, at + pause_s + 30).map(take)
        const what = `${name}: ${pause_s} s behind epoch ${at}`
        t.ok((reports[0].net?.distance_m ?? 1) < 0.03, what)
        t.same(moves(reports), [], what)
      }
    }
  }
})

t.test('a break of lock during a pause is reported after it', async (t) => {
  const scene = new Scene()
  const watch = new PhaseWatch()
  run(scene, 60, () => {}, watch)
  scene.slip(() => true, true)
  for (let second = 0; second < 30; second++) scene.next()
  scene.slip(() => true, true)
  const { epoch, sky } = scene.next()
  t.match(watch.take(epoch, sky), { interrupted: true, lossOfLock: true })
})

t.test('without directions it says nothing of a move', async (t) => {
  const scene = new Scene({ noise_m: 0.001 })
  const watch = new PhaseWatch()
  const reports = Array.from({ length: 120 }, (_, epoch) => {
    if (epoch === 100) scene.offset = { east: 0.05, north: 0.03, up: 0 }
    return watch.take(scene.next().epoch) as PhaseReport
  })
  t.ok(reports.every(({ net, moved }) => net === undefined && moved === undefined))
})

t.test('MSM1-3 are refused', async (t) => {
  const { epoch, sky } = new Scene().next()
  const messages = epoch.messages.map((msm) => ({ ...msm, type: msm.type - 4 }))
  t.match(new PhaseWatch().take({ ...epoch, messages }, sky), { tracked: 0, net: undefined })
})

t.test('an epoch that comes twice or late is dropped, a clock that went back is a new start', async (t) => {
  const scene = new Scene()
  const watch = new PhaseWatch()
  run(scene, 30, () => {}, watch)
  const { epoch, sky } = scene.next()
  t.ok(watch.take(epoch, sky)?.net)
  t.equal(watch.take(epoch, sky), undefined)
  t.equal(watch.take({ ...epoch, time_ms: epoch.time_ms - 1000 }, sky), undefined)
  t.match(watch.take({ ...epoch, time_ms: epoch.time_ms + 604_800_000 - 20_000 }, sky), {
    interrupted: true,
    net: undefined,
  })
  t.equal(watch.take({ ...epoch, time_ms: Number.NaN }, sky), undefined)
})

t.test('goes on over the end of the week', async (t) => {
  const scene = new Scene()
  scene.time_s = 604_800 - 60
  const reports = run(scene, 120)
  t.notOk(reports.some(({ interrupted }) => interrupted))
  t.equal(reports.at(-1)?.moved, false)
})

t.test('never throws, whatever an epoch holds', async () => {
  const value = fc.oneof(fc.double(), fc.constant(Number.NaN), fc.integer({ min: -5, max: 70 }))
  const observation = fc.record({
    satellite: fc.integer({ min: 1, max: 64 }),
    signal: fc.integer({ min: 1, max: 32 }),
    phase_m: fc.option(value, { nil: undefined }),
    lock: fc.option(fc.integer({ min: -1, max: 1023 }), { nil: undefined }),
    halfCycle: fc.boolean(),
  })
  const msm = fc.record({
    type: fc.integer({ min: 1060, max: 1140 }),
    observations: fc.array(observation, { maxLength: 64 }),
  })
  const epoch = fc.record({ time_ms: fc.oneof(value, fc.nat(604_800_000)), messages: fc.array(msm, { maxLength: 6 }) })
  fc.assert(
    fc.property(fc.array(epoch, { maxLength: 40 }), value, value, (epochs, azimuth_deg, elevation_deg) => {
      const watch = new PhaseWatch()
      let time_ms = 0
      for (const { time_ms: step_ms, messages } of epochs) {
        time_ms += step_ms > 0 && step_ms < 2000 ? step_ms : 1000
        watch.take({ time_ms, messages: messages as Msm[] }, () => ({ azimuth_deg, elevation_deg }))
        watch.take({ time_ms: step_ms, messages: messages as Msm[] })
      }
    }),
    { numRuns: sample(100, 2000) },
  )
})

t.test('the value at an index of sorted ones is found without sorting', async () => {
  const values = fc.array(fc.double({ noNaN: true }), { minLength: 1, maxLength: 90 })
  fc.assert(
    fc.property(values, fc.nat(89), (values, at) => {
      const index = at % values.length
      const sorted = Float64Array.from(values).sort()
      return orderStatistic(Float64Array.from(values), values.length, index) === sorted[index]
    }),
  )
})

t.test('gives the same levels for the same seed, version after version', async (t) => {
  const scene = new Scene({ seed: 5, multipath_m: 0.004, slipsPerHour: 20 })
  const reports = run(scene, 400, (epoch) => {
    if (epoch === 200) scene.offset = { east: 0.02, north: -0.03, up: 0.01 }
    if (epoch === 250) scene.stepClock(1e-3)
    if (epoch === 350) scene.slip((_, satellite) => satellite % 3 === 0, false)
  })
  t.same(moves(reports), [202, 203, 204, 205, 206, 207, 208, 209, 210, 211])
  const hundredths = (metres = Number.NaN) => Math.round(metres * 1e5) / 100
  const levels = [102, 152, 202, 252, 302, 352].map((epoch) => {
    const { net, sway_m } = reports[epoch]
    return [net?.east_m, net?.north_m, net?.up_m, net?.sigma.up_m, sway_m].map(hundredths)
  })
  t.same(levels, [
    [1.66, -0.32, 6.53, 7.66, 6.79],
    [0.81, 6.53, 5.46, 6.64, 4.18],
    [17.07, -28.08, 14.2, 7.24, 17.32],
    [-4.42, 0.07, 6.87, 6.28, 4.36],
    [3.46, 2.83, -2.85, 5.59, 3.64],
    [-3.53, 0.73, -3.73, 9.5, 5.83],
  ])
})

t.test('raises no false alarm in simulated hours', { skip: gateOnly }, async (t) => {
  const surroundings: [what: string, options: SceneOptions, unknown: number][] = [
    ['quiet', {}, 0.06],
    ['multipath and slips', { multipath_m: 0.004, slipsPerHour: 2 }, 0.5],
  ]
  for (const [what, options, most] of surroundings) {
    const scene = new Scene({ seed: 11, ...options })
    const watch = new PhaseWatch()
    const epochs = sample(1, 24) * 3600
    let moved = 0
    let unknown = 0
    let lost = 0
    let watching_us = 0n
    for (let epoch = 0; epoch < epochs; epoch++) {
      if (epoch % 1500 === 750) scene.stepClock(epoch % 3000 === 750 ? 1e-3 : -1e-3)
      const { epoch: seen, sky } = scene.next()
      const begin = process.hrtime.bigint()
      const report = watch.take(seen, sky)
      watching_us += (process.hrtime.bigint() - begin) / 1000n
      if (report?.moved) moved++
      if (report?.moved === undefined) unknown++
      if (report?.lossOfLock) lost++
    }
    t.equal(moved, 0, `${what}: ${epochs / 3600} h`)
    t.equal(lost, 0, what)
    t.ok(unknown < epochs * most, `${what}: no verdict in ${((unknown / epochs) * 100).toFixed(1)} % of the epochs`)
    t.comment(`${what}: ${Number(watching_us) / epochs} µs an epoch`)
  }
})
