/**
 * Whether the move that is shown is the move that was made: the watch with the bytes of simulated skies and of captures, and the whole
 * station. Seeded: a life has a number.
 */
import { AntennaPhases } from '../../plugins/reference/integrity/antenna-phases.js'
import type { KnownSatellite, Sky } from '../../plugins/reference/integrity/phase/sky.js'
import { type MoveSum, ShownMove } from '../../plugins/reference/integrity/shown-move.js'
import { type Constellation, type Enu, encodeMsm, type Msm } from '../../runtime/lib/gnss/index.js'
import { type Observed, observedOf } from '../gnss/support/phase-captures.js'
import { displaced, Scene, type SceneOptions, uniform, wholeDegrees } from '../gnss/support/phase-scenes.js'
import { SmoothSky } from '../gnss/support/smooth-sky.js'
import { noCaptures } from '../harness/captures.js'
import { atLeast, figure, type Measurement, none } from './measurement.js'
import { fleetForMoves, liveStation, stationLifeOf, stationSigmas } from './moves-station.js'
import { definePart, leaveOut, progress, sliceOf } from './part.js'

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

interface Fault {
  readonly begin_s: number
  readonly for_s: number
}

export interface Life {
  readonly kind: string
  readonly legs: readonly Leg[]
  /** A constellation that is gone, from the first leg on. */
  readonly without: Constellation | undefined
  /** The antenna is disconnected, or the receiver restarts: nothing is observed for so long, and all signals begin afresh. */
  readonly fault: Fault | undefined
  /** Of the watch, until the last look. */
  readonly seconds: number
  /** A capture, from this epoch on; undefined: a simulated sky. */
  readonly capture: { readonly name: string; readonly from: number } | undefined
  readonly scene: SceneOptions
  readonly start_s: number
}

/** So long after the first observations RTCM goes out, and the watch has a history of 19 s. */
const out_s = 22
const faultAt_s = 30
const longest_s = 10_800
const largest_m = 20
const look_s = 60
/** With these the limits of the watch were chosen: they are no evidence. */
const firstLife = 10_000
const captures = [
  'pygnssutils_pygpsdata-rtcm3.log',
  'swiftnav_dropped-packets-STR24.rtcm3',
  'swiftnav_week-rollover-STR24.rtcm3',
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
  const after_s = logUniform(random, 5, longest_s)
  const legs: Leg[] = []
  const kind = ['at once', 'at once', 'walked', 'pair', 'constellation gone'][number % 5]
  const over_s = kind === 'walked' || (kind === 'pair' && random() < 0.3) ? Math.round(logUniform(random, 1, 20)) : 0
  const name = captures[Math.floor(random() * captures.length)]
  // A capture goes on behind a fault of the antenna.
  const length = long && random() < 0.4 ? observedOf(name).length : 0
  const hasFault = length === 0 && random() < 0.3
  const fault = hasFault ? { begin_s: faultAt_s, for_s: Math.round(logUniform(random, 3, 60)) } : undefined
  const begin_s = Math.round(out_s + after_s + (fault ? fault.begin_s + fault.for_s : 0))
  legs.push({ begin_s, over_s, way: way(random, logUniform(random, 0.015, largest_m)) })
  let end_s = begin_s + over_s
  if (kind === 'pair') {
    end_s += Math.round(logUniform(random, 4, 120))
    // A second move must be seen by itself.
    legs.push({ begin_s: end_s, over_s: 0, way: way(random, logUniform(random, 0.05, largest_m)) })
  }
  const seconds = end_s + look_s
  const gone: Constellation[] = ['GPS', 'GLONASS', 'Galileo', 'BeiDou']
  const without = kind === 'constellation gone' ? gone[Math.floor(random() * 4)] : undefined
  const isReal = length > seconds
  return {
    kind: isReal ? `${kind}, real` : kind,
    legs,
    without,
    fault,
    seconds,
    capture: isReal ? { name, from: Math.floor(random() * (length - seconds)) } : undefined,
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
function knownOf(sky: Sky | undefined): KnownSatellite[] {
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
  const { capture, fault, legs, seconds, without } = life
  const scene = new Scene(life.scene)
  scene.time_s = life.start_s
  const observed = capture && observedOf(capture.name).slice(capture.from, capture.from + seconds)
  const smooth = observed && new SmoothSky(observed)
  const interval_s = life.scene.interval_s && !capture ? life.scene.interval_s : 1
  const [first] = legs
  for (let epoch = 0; epoch < seconds / interval_s; epoch++) {
    const second = epoch * interval_s
    const offset = offsetAt(legs, second)
    let one: Observed
    if (observed && smooth) {
      const sky = smooth.at(epoch)
      const own = { ...observed[epoch], sky: wholeDegrees(sky) }
      one = second < first.begin_s ? own : displaced(own, offset, sky)
    } else {
      scene.offset = offset
      one = scene.next()
    }
    if (fault && second >= fault.begin_s && second < fault.begin_s + fault.for_s) {
      scene.slip(() => true, true)
      continue
    }
    const now_ms = 1000 * second
    if (Number.isInteger(second)) phases.look(knownOf(one.sky), now_ms)
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

/** Of a size without a direction: of these no covariance tells the error. */
const sizeError_m = 0.01

/** What is shown as «at least» is no more than the way that was made. */
export function isAtMost({ shown, truth }: Seen): boolean {
  if (!shown) return true
  const [ee, , , nn, , uu] = shown.covariance
  const [size_m, way_m, sigma_m] = [
    Math.hypot(shown.east_m, shown.north_m, shown.up_m),
    Math.hypot(truth.east, truth.north, truth.up),
    Math.sqrt(ee + nn + uu),
  ]
  return size_m <= way_m + (sigma_m < size_m ? 3 * sigma_m : sizeError_m)
}

interface Counted {
  lives: number
  shown: number
  least: number
  /** Of those: no more than the way. */
  least_good: number
  good: number
  signs: number
}

/** Below it is broken, however few the lives. */
const brokenBelow = 90

/** A share of none is no evidence. */
function shareOfGood(name: string, good: number, of: number): Measurement[] {
  if (of === 0) {
    leaveOut(`${name}: none`)
    return []
  }
  const value = (100 * good) / of
  return [{ ...atLeast(name, value, 99, '%'), isAbsurd: value < brokenBelow }]
}

export const part = definePart<Size>({
  sizes: {
    full: { watches: 1_700, stations: 300 },
    smoke: { watches: 10, stations: 1 },
  },
  notComparable: 'its figures are counts under seeded skies: a round says nothing that the one before has not said',
  isDivisible: true,
  async run({ watches, stations }, share) {
    const kinds = new Map<string, Counted>()
    const [first, end] = sliceOf(watches, share)
    for (let number = firstLife + first; number < firstLife + end; number++) {
      const life = lifeOf(number)
      const seen = live(life)
      const { sigmas, isSignWrong } = judge(seen)
      const counted = kinds.get(life.kind) ?? { lives: 0, shown: 0, least: 0, least_good: 0, good: 0, signs: 0 }
      kinds.set(life.kind, counted)
      counted.lives++
      if (!seen.shown) continue
      counted.shown++
      if (seen.shown.isLeast) {
        counted.least++
        if (isAtMost(seen)) counted.least_good++
      } else if (sigmas <= 3) counted.good++
      if (isSignWrong) counted.signs++
      if (isSignWrong || (seen.shown.isLeast ? !isAtMost(seen) : sigmas > 3)) {
        const cm = ({ east, north, up }: Enu) => [east, north, up].map((value) => (100 * value).toFixed(1)).join(' ')
        const legs = life.legs.map(({ begin_s, over_s, way }) => `${begin_s} s over ${over_s} s: ${cm(way)}`)
        progress(
          `${number} ${life.kind}${life.without ? ` ${life.without}` : ''} ${JSON.stringify(life.capture ?? life.scene)} ${legs.join('; ')}; told ${seen.told.join(', ')}; ${sigmas.toFixed(1)} sigmas${isSignWrong ? ' WRONG SIGN' : ''}`,
        )
      }
    }
    const ofStations = { lives: 0, shown: 0, least: 0, good: 0, signs: 0, differing: 0 }
    const [firstStation, endOfStations] = sliceOf(stations, share)
    const fleet = await fleetForMoves()
    try {
      for (let number = firstLife + firstStation; number < firstLife + endOfStations; number++) {
        const life = stationLifeOf(number)
        const seen = await liveStation(life, { fleet, serial: `MOVES${number}` })
        ofStations.lives++
        if (!seen.shown) continue
        ofStations.shown++
        if (seen.differs.length > 0) ofStations.differing++
        const { sigmas, isSignWrong } = stationSigmas(seen)
        if (isSignWrong) ofStations.signs++
        if (seen.shown.at_least) ofStations.least++
        else if (sigmas <= 3) ofStations.good++
        if (seen.differs.length > 0 || isSignWrong || (!seen.shown.at_least && sigmas > 3))
          progress(`station ${number} ${JSON.stringify(life)} ${JSON.stringify(seen)}`)
      }
    } finally {
      await fleet.stop()
    }
    const all = [...kinds.values()]
    const sum = (of: keyof Counted) => all.reduce((total, one) => total + one[of], 0)
    const within = 'within three of their sigmas'
    const { shown, least } = ofStations
    return [
      ...shareOfGood(
        `${sum('shown')} moves of ${sum('lives')} that are shown: ${within}`,
        sum('good'),
        sum('shown') - sum('least'),
      ),
      figure('shown as «at least»', sum('least'), ''),
      ...shareOfGood('of those: no more than the way', sum('least_good'), sum('least')),
      ...shareOfGood(
        `${shown} moves of ${ofStations.lives} on the whole station: ${within}`,
        ofStations.good,
        shown - least,
      ),
      figure('on the station as «at least»', least, ''),
      none('a sign that the sigma says is known is wrong', sum('signs') + ofStations.signs),
      none('stations with an error, verdict, alert, record or fleet that says something else', ofStations.differing),
      ...[...kinds]
        .filter(([, one]) => one.shown > one.least)
        .map(([kind, one]) =>
          figure(
            `${kind}: ${one.good} of ${one.shown} shown, ${one.least} «at least», ${one.lives} made, within three sigmas`,
            (100 * one.good) / (one.shown - one.least),
            '%',
          ),
        ),
    ]
  },
})
