/** The vector between two stations from what was recorded of both. */
import type { Ecef, Enu } from '../../../schemas/services.js'
import {
  decodeEphemeris,
  distance,
  ecefToGeodetic,
  enu,
  MsmEpochs,
  nearestTime,
  type ObservedEpoch,
  type ObservedSatellite,
  observedConstellations,
  observedIn,
  secondsPerWeek,
} from '../gnss/index.js'
import { type Matrix, minus, plus } from '../gnss/linear.js'
import { codePosition, type NoCodePosition } from './code-position.js'
import { differencesOf } from './differences.js'
import { Ephemerides } from './ephemerides.js'
import { Place, type SentEpoch, sentIn } from './geometry.js'
import { halfMinuteOf, isModel, type Station } from './recording.js'
import { type BaselineReason, solved } from './solution.js'
import { allAtOnce, inSteps, type Steps } from './steps.js'

export interface Baseline {
  readonly status: 'fixed' | 'float' | 'none'
  readonly reason: BaselineReason
  /** From the antenna of `from` to that of `to`, ECEF metres; the announced one with status `none`. */
  readonly vector: Ecef
  /** The covariance of the vector, ECEF, m², row by row. */
  readonly covariance: Matrix
  /** The vector minus the announced one, along the axes at `to`, metres, and its standard deviations. */
  readonly offset: Enu
  readonly sigma: Enu
  /** Up to this, the height may be off because the antennas are of different models, metres. */
  readonly heightDoubt_m: number
  /** Where a station is by its own ranges, right to metres, if that is more than 25 m from the announced position. */
  readonly displaced: { readonly from: Ecef | undefined; readonly to: Ecef | undefined }
  readonly length_m: number
  readonly satellites: number
  readonly epochs: number
  /** Ambiguities that were fixed, the ratio of the second-best integers to the best, and the probability of the fixing. */
  readonly fixed: number
  readonly ratio: number
  readonly success: number
}

/** Farther from its own ranges than this, an announced position is not used to compute with. */
const displaced_m = 25
/** Slips are told from the motion of the satellites only up to about this error of the vector to begin with. */
const rough_m = 3
/** Computes for about a second. */
export function baseline(from: Station, to: Station): Baseline {
  return allAtOnce(stepsOf(from, to))
}

/**
 * `baseline` for a process that has other work.
 * @param pause called after every few milliseconds of work; the work is resumed after it
 * @throws whatever `pause` rejects with, to give up
 */
export function baselineInSteps(from: Station, to: Station, pause: () => Promise<void>): Promise<Baseline> {
  return inSteps(stepsOf(from, to), pause)
}

function* stepsOf(from: Station, to: Station): Steps<Baseline> {
  const ephemerides = new Ephemerides()
  const own = yield* observed(from, ephemerides)
  const others = yield* observed(to, ephemerides)
  const sent: { from: SentEpoch[]; to: SentEpoch[] } = { from: [], to: [] }
  for (const epoch of own) yield void sent.from.push(sentIn(epoch, ephemerides.at(Math.round(epoch.at_s))))
  for (const epoch of others) yield void sent.to.push(sentIn(epoch, ephemerides.at(Math.round(epoch.at_s))))
  const here = yield* codePosition(sent.from, from.arp)
  const there = yield* codePosition(sent.to, to.arp)
  if (typeof here === 'string' || typeof there === 'string') {
    const hasOrbits = sent.from.some(({ satellites }) => satellites.length > 0)
    const reason = typeof here === 'string' ? here : (there as NoCodePosition)
    return unknown(from.arp, to.arp, hasOrbits ? reason : 'no-orbits')
  }
  const displaced = {
    from: distance(from.arp, here) > displaced_m ? here : undefined,
    to: distance(to.arp, there) > displaced_m ? there : undefined,
  }
  const start = displaced.from ?? from.arp
  const byCode = plus(start, minus(there, here))
  const announced = plus(start, minus(to.arp, from.arp))
  // Obstructed stations have ranges that are wrong by tens of metres, so only the phases correct less.
  let end = distance(byCode, announced) > displaced_m ? byCode : announced
  const solve = function* () {
    const differences = yield* differencesOf(sent.from, sent.to, { from: new Place(start), to: new Place(end) })
    return { ...(yield* solved(differences, start, end)), epochs: differences.epochs.length }
  }
  let found = yield* solve()
  const correction = found.solution?.correction
  if (correction && Math.hypot(correction.x, correction.y, correction.z) > rough_m) {
    end = plus(end, correction)
    found = yield* solve()
  }
  if (!found.solution) return unknown(from.arp, to.arp, found.reason)
  const { status, reason, solution, epochs } = found
  const vector = plus(minus(end, start), solution.correction)
  const length_m = Math.hypot(vector.x, vector.y, vector.z)
  const antennas = antennasOf(from, to)
  const hidden_m = length_m * hiddenPerLength(distance(start, here))
  const covariance = withHeight(withHidden(solution.covariance, hidden_m), to.arp, antennas?.sigma_m ?? 0)
  return {
    ...{ status, reason, vector, covariance, displaced, length_m },
    offset: enu(to.arp, plus(from.arp, vector)),
    sigma: sigmaAt(to.arp, covariance),
    heightDoubt_m: antennas?.most_m ?? 0,
    ...{ satellites: solution.satellites, epochs },
    ...{ fixed: solution.fixed, ratio: solution.ratio, success: solution.success },
  }
}

/** The epochs of a station. Its ephemerides are added to `all`. */
function* observed({ frames }: Station, all: Ephemerides): Steps<ObservedEpoch[]> {
  const stream = new MsmEpochs()
  const epochs: ObservedEpoch[] = []
  for (const { frame, now_s } of frames) {
    const ephemeris = decodeEphemeris(frame, now_s)
    if (ephemeris) all.take(ephemeris)
    for (const epoch of stream.push(frame)) {
      const at_s = nearestTime(epoch.time_ms / 1_000, secondsPerWeek, now_s)
      if (halfMinuteOf(at_s) === undefined) continue
      const found = usable(observedIn(epoch, at_s, observedConstellations))
      const last = epochs.at(-1)
      // Some receivers say of each message that it is the last of its epoch.
      if (last?.at_s === at_s) epochs[epochs.length - 1] = joined(last, found)
      else if (!last || at_s > last.at_s) epochs.push(found)
    }
    yield
  }
  return epochs
}

const joined = ({ at_s, satellites }: ObservedEpoch, more: ObservedEpoch): ObservedEpoch => {
  const isKnown = (one: ObservedSatellite) =>
    satellites.some(
      ({ constellation, satellite }) => constellation === one.constellation && satellite === one.satellite,
    )
  return { at_s, satellites: [...satellites, ...more.satellites.filter((one) => !isKnown(one))] }
}

/**
 * Without BeiDou's geostationary satellites: they hardly move, and receivers of different makes differ by half a cycle on
 * them.
 */
const usable = ({ at_s, satellites }: ObservedEpoch): ObservedEpoch => ({
  at_s,
  satellites: satellites.filter(
    ({ constellation, satellite }) => constellation !== 'BeiDou' || (satellite > 5 && satellite < 59),
  ),
})

/** Broadcast orbits are wrong by a metre of 20,000 km, the slant of the air by as much again. */
const perLength = 1e-7
const satellites_m = 2e7
/** Smaller differences may be errors of the ranges. */
const ranges_m = 5

/**
 * Errors that grow with the length and do not show in the residuals: both stations shifted by the same turns the directions to the
 * satellites.
 * @param off_m how far the first station is from its own ranges
 * @returns standard deviation for each metre of length
 */
const hiddenPerLength = (off_m: number) => Math.hypot(perLength, off_m > ranges_m ? off_m / satellites_m : 0)

/** Errors that last longer than the arcs in which they show: without it, variances of rough streams are too small by this. */
const hidden = 1.4

function withHidden(covariance: Matrix, hidden_m: number): Matrix {
  const sum = covariance.map((value) => hidden * value)
  for (let axis = 0; axis < 3; axis++) sum[4 * axis] += hidden_m ** 2
  return sum
}

/** In height: two calibrated antennas of different models, and one beside an announced phase centre. Metres, and up to how many. */
const phaseCentres = { both: { sigma_m: 0.03, most_m: 0.12 }, one: { sigma_m: 0.06, most_m: 0.15 } }

/** Positions are those of antenna reference points: two antenna types differ by up to this in height, metres. */
export const mostAntennas_m = phaseCentres.one.most_m

/**
 * The vector is that between the phase centres. They are 5 to 13 cm above the announced reference points of two antennas, and in one
 * plane only if the antennas are of the same model. Unknown antennas are taken for equal. Undefined: they are equal.
 */
function antennasOf(from: Station, to: Station): { readonly sigma_m: number; readonly most_m: number } | undefined {
  const known = [from, to].filter(({ antenna }) => isModel(antenna)).length
  if (known === 0 || (known === 2 && from.antenna === to.antenna)) return undefined
  return known === 2 ? phaseCentres.both : phaseCentres.one
}

function withHeight(covariance: Matrix, at: Ecef, up_m: number): Matrix {
  const { lat, lon } = ecefToGeodetic(at)
  const radians = Math.PI / 180
  const level = Math.cos(lat * radians)
  const up = [level * Math.cos(lon * radians), level * Math.sin(lon * radians), Math.sin(lat * radians)]
  return covariance.map((value, k) => value + up_m ** 2 * up[Math.floor(k / 3)] * up[k % 3])
}

/** Standard deviations along east, north and up at a place. @param covariance ECEF, m², row by row */
export function sigmaAt(origin: Ecef, covariance: Matrix): Enu {
  const axes = (
    [
      { x: 1, y: 0, z: 0 },
      { x: 0, y: 1, z: 0 },
      { x: 0, y: 0, z: 1 },
    ] as const
  ).map((axis) => enu(origin, plus(origin, axis)))
  const along = (name: keyof Enu) => {
    let sum = 0
    for (let p = 0; p < 3; p++) for (let q = 0; q < 3; q++) sum += axes[p][name] * covariance[3 * p + q] * axes[q][name]
    return Math.sqrt(Math.max(0, sum))
  }
  return { east: along('east'), north: along('north'), up: along('up') }
}

function unknown(from: Ecef, to: Ecef, reason: BaselineReason): Baseline {
  const infinite = { east: Infinity, north: Infinity, up: Infinity }
  return {
    ...{ status: 'none', reason, vector: minus(to, from), covariance: new Float64Array(9).fill(Infinity) },
    ...{ offset: { east: 0, north: 0, up: 0 }, sigma: infinite, displaced: { from: undefined, to: undefined } },
    ...{ heightDoubt_m: 0, length_m: distance(from, to), satellites: 0, epochs: 0, fixed: 0, ratio: 0, success: 0 },
  }
}
