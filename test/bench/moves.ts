/**
 * Whether the move that is shown is the move that was made: the watch with the bytes of simulated skies and of captures. Seeded; `MOVES_FROM`
 * and `MOVES_COUNT` choose a part of the lives.
 */
import { AntennaPhases } from '../../plugins/integrity/antenna-phases.js'
import type { KnownSatellite } from '../../plugins/integrity/phase/sky.js'
import { type MoveSum, ShownMove } from '../../plugins/integrity/shown-move.js'
import { type Constellation, type Enu, encodeMsm, type Msm } from '../../runtime/gnss/index.js'
import { type Observed, observedOf } from '../gnss/support/phase-captures.js'
import { displaced, Scene, type SceneOptions, uniform, within } from '../gnss/support/phase-scenes.js'
import { noCaptures } from '../harness/captures.js'
import { atLeast, figure, none } from './measurement.js'
import { liveStation, stationLifeOf, stationSigmas } from './moves-station.js'
import { definePart, progress } from './part.js'

interface Size {
  readonly watches: number
  readonly stations: number
}

/** A part of the way; it begins so many seconds after the watch. */
interface Leg {
  readonly begin_s: number
  readonly over_s: number
  readonly way: Enu
}

export interface Life {
  readonly kind: string
  readonly legs: readonly Leg[]
  /** A constellation that is gone, from the first leg on. */
  readonly without: Constellation | undefined
  /** Of the watch, until the last look. */
  readonly seconds: number
  /** A capture, from this epoch on; undefined: a simulated sky. */
  readonly capture: { readonly name: string; readonly from: number } | undefined
  readonly scene: SceneOptions
  readonly start_s: number
}

/** So long after the first observations RTCM goes out, and the watch has a history of 19 s. */
const out_s = 22
/** More history than this changes nothing. */
const history_s = 160
const look_s = 60
/** Where satellites stand is known in steps of a degree, or of 20 s: the error of a displacement of 1 m are millimetres. */
const captures = [
  { name: 'pygnssutils_pygpsdata-rtcm3.log', most_m: 0.3 },
  { name: 'swiftnav_dropped-packets-STR24.rtcm3', most_m: 2 },
  { name: 'swiftnav_week-rollover-STR24.rtcm3', most_m: 2 },
]
const scenes: readonly SceneOptions[] = [
  {},
  {},
  { multipath_m: 0.004, slipsPerHour: 2 },
  { msm: 4, signals: [2] },
  { interval_s: 0.2 },
]

const logUniform = (random: () => number, low: number, high: number) => low * (high / low) ** random()
function way(random: () => number, size_m: number): Enu {
  const [up, azimuth] = [2 * random() - 1, 2 * Math.PI * random()]
  const level = Math.sqrt(1 - up * up)
  return { east: size_m * level * Math.sin(azimuth), north: size_m * level * Math.cos(azimuth), up: size_m * up }
}
const plus = (one: Enu, other: Enu): Enu => ({
  east: one.east + other.east,
  north: one.north + other.north,
  up: one.up + other.up,
})
const times = ({ east, north, up }: Enu, by: number): Enu => ({ east: east * by, north: north * by, up: up * by })

/** The life of a number: moves of 1.5 cm to 20 m in all directions, 5 s to 3 h after RTCM goes out, walked and at once, in pairs. */
export function lifeOf(number: number, long = !noCaptures): Life {
  const random = uniform(number + 1)
  random()
  const after_s = logUniform(random, 5, 10_800)
  const begin_s = Math.round(out_s + Math.min(after_s, history_s))
  const legs: Leg[] = []
  const kind = ['at once', 'at once', 'walked', 'pair', 'constellation gone'][number % 5]
  const over_s = kind === 'walked' || (kind === 'pair' && random() < 0.3) ? Math.round(logUniform(random, 1, 20)) : 0
  const { name, most_m } = captures[Math.floor(random() * captures.length)]
  const isReal = long && random() < 0.4
  const most = isReal ? most_m : 20
  legs.push({ begin_s, over_s, way: way(random, logUniform(random, 0.015, most)) })
  let end_s = begin_s + over_s
  if (kind === 'pair') {
    end_s += Math.round(logUniform(random, 4, 120))
    // A second move must be seen by itself.
    legs.push({ begin_s: end_s, over_s: 0, way: way(random, logUniform(random, 0.05, most)) })
  }
  const seconds = end_s + look_s
  const gone: Constellation[] = ['GPS', 'GLONASS', 'Galileo', 'BeiDou']
  const without = kind === 'constellation gone' ? gone[Math.floor(random() * 4)] : undefined
  const length = isReal ? observedOf(name).length : 0
  return {
    kind: isReal ? `${kind}, real` : kind,
    legs,
    without,
    seconds,
    capture: length > seconds ? { name, from: Math.floor(random() * (length - seconds)) } : undefined,
    scene: { ...scenes[Math.floor(random() * scenes.length)], seed: number + 1 },
    start_s: Math.floor(random() * 86_400),
  }
}

/** Where the antenna is. */
function offsetAt(legs: readonly Leg[], second: number): Enu {
  return legs.reduce(
    (sum, { begin_s, over_s, way }) =>
      plus(sum, times(way, Math.min(Math.max(0, second - begin_s + 1) / Math.max(1, over_s), 1))),
    { east: 0, north: 0, up: 0 },
  )
}

const names = {
  GPS: 'gps',
  GLONASS: 'glonass',
  Galileo: 'galileo',
  BeiDou: 'beidou',
  SBAS: 'sbas',
  QZSS: 'qzss',
} as const
function knownOf({ sky }: Observed): KnownSatellite[] {
  const known: KnownSatellite[] = []
  for (const [constellation, name] of Object.entries(names) as [Constellation, string][])
    for (let satellite = 1; satellite <= 64; satellite++) {
      const direction = sky?.(constellation, satellite)
      if (direction) known.push({ constellation: name, satellite, ...direction })
    }
  return known
}

const isOf = ({ type }: Msm, constellation: Constellation | undefined) =>
  constellation !== undefined &&
  ['GPS', 'GLONASS', 'Galileo', 'SBAS', 'QZSS', 'BeiDou', 'NavIC'][Math.floor(type / 10) - 107] === constellation

const distance = ({ east_m, north_m, up_m }: MoveSum, { east, north, up }: Enu): number =>
  Math.hypot(east_m - east, north_m - north, up_m - up)

export interface Seen {
  readonly shown: MoveSum | undefined
  readonly truth: Enu
  readonly told: string[]
}

/** Runs a life: every epoch as the bytes of the receiver. */
export function live(life: Life): Seen {
  const phases = new AntennaPhases({ enabled: true, threshold_m: 0.03 })
  const move = new ShownMove()
  let shown: MoveSum | undefined
  const told: string[] = []
  const held = new Set<number>()
  const { capture, legs, seconds, without } = life
  const scene = new Scene(life.scene)
  scene.time_s = life.start_s
  const observed = capture && observedOf(capture.name)
  const interval_s = life.scene.interval_s && !capture ? life.scene.interval_s : 1
  const [first] = legs
  for (let epoch = 0; epoch < seconds / interval_s; epoch++) {
    const second = epoch * interval_s
    const offset = offsetAt(legs, second)
    let one: Observed
    if (capture && observed) {
      const own = observed[capture.from + epoch]
      one = second < first.begin_s ? own : displaced(own, offset, own.sky && within(own.sky, life.scene.seed ?? 1))
    } else {
      scene.offset = offset
      one = scene.next()
    }
    const now_ms = 1000 * second
    if (Number.isInteger(second)) phases.look(knownOf(one), now_ms)
    const messages = one.epoch.messages.filter((msm) => second < first.begin_s || !isOf(msm, without))
    for (const [index, msm] of messages.entries()) {
      const bytes = encodeMsm({ ...msm, multiple: index < messages.length - 1 })
      const frame = { type: msm.type, bytes, arrival_ms: now_ms, stationId: msm.stationId }
      for (const { report } of phases.hear(frame as never, msm.stationId)) {
        if (!report?.move) continue
        shown = move.take(report.move, now_ms)
        held.add(legs.findLastIndex(({ begin_s }) => begin_s <= second))
        const cm = [shown.east_m, shown.north_m, shown.up_m].map((value) => (100 * value).toFixed(1)).join(' ')
        const text = `${cm}${shown.isLeast ? ' at least' : ''}${shown.moves > 1 ? ` in ${shown.moves}` : ''}`
        if (told.at(-1)?.replace(/^.*: /, '') !== text) told.push(`${second - first.begin_s} s: ${text}`)
      }
    }
  }
  // What was not held is not shown, but for a move below the threshold that adds to the next.
  const all = offsetAt(legs, seconds)
  const those = legs.filter((_, leg) => held.has(leg))
  const seen = offsetAt(those, seconds)
  const isNearer = shown && distance(shown, all) < distance(shown, seen)
  return { shown, truth: isNearer ? all : seen, told }
}

/** The largest deviation of an axis in its standard deviations, and whether a sign that is known is wrong. */
export function judge({ shown, truth }: Seen): { sigmas: number; isSignWrong: boolean } {
  if (!shown) return { sigmas: Number.NaN, isSignWrong: false }
  const [ee, , , nn, , uu] = shown.covariance
  const axes = [
    [shown.east_m, truth.east, Math.sqrt(ee)],
    [shown.north_m, truth.north, Math.sqrt(nn)],
    [shown.up_m, truth.up, Math.sqrt(uu)],
  ]
  return {
    sigmas: Math.max(...axes.map(([one, other, sigma]) => Math.abs(one - other) / sigma)),
    isSignWrong: axes.some(([one, other, sigma]) => Math.abs(one) > 3 * sigma && one * other < 0),
  }
}

/** What is shown as «at least» is no more than the way that was made. */
function isAtMost({ shown, truth }: Seen): boolean {
  if (!shown) return true
  const [ee, , , nn, , uu] = shown.covariance
  const [size_m, way_m] = [
    Math.hypot(shown.east_m, shown.north_m, shown.up_m),
    Math.hypot(truth.east, truth.north, truth.up),
  ]
  return size_m <= way_m + 3 * Math.sqrt(ee + nn + uu)
}

export const part = definePart<Size>({
  sizes: {
    full: { watches: Number(process.env.MOVES_COUNT ?? 1_700), stations: Number(process.env.MOVES_STATIONS ?? 300) },
    smoke: { watches: 10, stations: 1 },
  },
  notComparable: 'its figures are counts under seeded skies: a round says nothing that the one before has not said',
  async run({ watches, stations }) {
    const from = Number(process.env.MOVES_FROM ?? 0)
    const kinds = new Map<string, { lives: number; shown: number; least: number; good: number; signs: number }>()
    for (let number = from; number < from + watches; number++) {
      const life = lifeOf(number)
      const seen = live(life)
      const { sigmas, isSignWrong } = judge(seen)
      const counted = kinds.get(life.kind) ?? { lives: 0, shown: 0, least: 0, good: 0, signs: 0 }
      kinds.set(life.kind, counted)
      counted.lives++
      if (!seen.shown) continue
      counted.shown++
      if (seen.shown.isLeast) counted.least++
      else if (sigmas <= 3) counted.good++
      if (isSignWrong) counted.signs++
      if (isSignWrong || (seen.shown.isLeast ? !isAtMost(seen) : sigmas > 3)) {
        const cm = ({ east, north, up }: Enu) => [east, north, up].map((value) => (100 * value).toFixed(1)).join(' ')
        const legs = life.legs.map(({ begin_s, over_s, way }) => `${begin_s} s over ${over_s} s: ${cm(way)}`)
        progress(
          `${number} ${life.kind}${life.without ? ` ${life.without}` : ''} ${JSON.stringify(life.capture ?? life.scene)} ${legs.join('; ')}; told ${seen.told.join(', ')}; ${sigmas.toFixed(1)} sigmas${isSignWrong ? ' WRONG SIGN' : ''}`,
        )
      }
    }
    const ofStations = { shown: 0, least: 0, good: 0, signs: 0, differing: 0 }
    for (let number = from; number < from + stations; number++) {
      const seen = await liveStation(stationLifeOf(number))
      if (!seen.shown) continue
      ofStations.shown++
      if (seen.differs.length > 0) ofStations.differing++
      const sigmas = stationSigmas(seen)
      if (seen.shown.at_least) ofStations.least++
      else if (sigmas <= 3) ofStations.good++
      if (seen.differs.length > 0 || (!seen.shown.at_least && sigmas > 3))
        progress(`station ${number} ${JSON.stringify(stationLifeOf(number))} ${JSON.stringify(seen)}`)
    }
    const all = [...kinds.values()]
    const sum = (of: 'lives' | 'shown' | 'least' | 'good' | 'signs') => all.reduce((total, one) => total + one[of], 0)
    return [
      atLeast(
        `${sum('shown')} moves of ${sum('lives')} that are shown: within three of their sigmas`,
        (100 * sum('good')) / (sum('shown') - sum('least')),
        99,
        '%',
      ),
      none('a sign that the sigma says is known is wrong', sum('signs')),
      figure('shown as «at least»', sum('least'), ''),
      atLeast(
        `${ofStations.shown} moves of ${stations} on the whole station: within three of their sigmas`,
        (100 * ofStations.good) / (ofStations.shown - ofStations.least),
        99,
        '%',
      ),
      none('stations whose error, verdict, alert, fleet row or history say something else', ofStations.differing),
      ...[...kinds].map(([kind, one]) =>
        figure(
          `${kind}: ${one.good} of ${one.shown} shown, ${one.least} «at least», ${one.lives} made, within three sigmas`,
          (100 * one.good) / (one.shown - one.least),
          '%',
        ),
      ),
    ]
  },
})
