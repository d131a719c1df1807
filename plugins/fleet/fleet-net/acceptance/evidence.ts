/** The evidence of an acceptance test, from the vectors of its time. Pure. */
import { type NetJudgement, samePlace_m, sigmaAt } from 'rtk-base/baseline'
import { distance, enu, median } from 'rtk-base/gnss'
import type { Ecef, Enu } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import type { Reference } from '../judgement/reference.js'
import type { StoredVector } from '../store/store.js'

const Enu3 = Type.Object({ east: Type.Number(), north: Type.Number(), up: Type.Number() })
const states = ['agrees', 'contradicts', 'unknown'] as const
const method = { description: 'How the position was determined, by the document of the station; empty: unknown' }

export const Evidence = Type.Object({
  reference: Type.Object({
    method: Type.Enum(['manual', 'survey', ''], method),
    frame: Type.String({ description: 'Frame of the announced coordinates; empty: unknown' }),
    epoch: Type.Number({ description: 'Their epoch, decimal year; 0: unknown' }),
    plate: Type.String({ description: 'Tectonic plate; empty: unknown' }),
    accuracy: Type.Number({ description: 'Stated accuracy, 3D 1 sigma, metres; 0: unknown' }),
    antenna: Type.Object({
      descriptor: Type.String({ description: 'IGS name; empty: unknown' }),
      serial: Type.String(),
      height: Type.Number({ description: 'Reference point above the marker, metres; 0: unknown or none' }),
    }),
  }),
  neighbours: Type.Array(
    Type.Object({
      serial: Type.String(),
      distance: Type.Number({ description: 'Between the announced positions, metres' }),
      windows: Type.Integer({ description: 'Windows with a vector' }),
      first: Type.Integer({ description: 'End of the first of them, UTC seconds' }),
      last: Type.Integer({ description: 'End of the last of them, UTC seconds' }),
      fixed: Type.Number({ description: 'Share of the windows with fixed ambiguities, 0 to 1' }),
      epochs: Type.Integer({ description: 'Epochs of all windows' }),
      satellites: Type.Number({ description: 'Median of the windows' }),
      offset: Type.Object(Enu3.properties, {
        description: 'Measured minus announced position, mean of the fixed windows, metres',
      }),
      sigma: Type.Object(Enu3.properties, {
        description: 'Standard deviation of the mean, metres',
      }),
      change: Type.Object(Enu3.properties, {
        description:
          'Median of the fixed windows of the last 3 h minus that of the earlier ones, metres; 0: there are no others',
      }),
      repeatability: Type.Object(Enu3.properties, {
        description:
          'Median deviation of the windows × 1.4826, metres: their standard deviation, without single wrong windows',
      }),
      antennas: Type.Number({
        description: 'Up to this, the height may be off because the antennas are of different models, metres',
      }),
      steady: Type.Boolean({
        description: 'The vectors of the windows are the same. Otherwise this neighbour confirms nothing',
      }),
      verdict: Type.Enum([...states], {
        description:
          'Of this neighbour about the station; unknown within 20 m of it, or of a neighbour that counts in its place',
      }),
      state: Type.Enum([...states], { description: "Judgement of the neighbour's own position" }),
    }),
  ),
  offset: Type.Object(Enu3.properties, { description: 'True minus announced position by all neighbours, metres' }),
  sigma: Type.Object(Enu3.properties, {
    description: 'Standard deviation of this offset, metres; 0: unknown',
  }),
  epochs: Type.Integer({ description: 'Epochs of all windows with all neighbours' }),
  covered: Type.Number({ description: 'Time with fixed windows of neighbours that count, hours' }),
  cause: Type.String({ description: 'Reason of a rejection, in words' }),
})
export type Evidence = Static<typeof Evidence>

/** Announced positions are right to this, relative to each other, metres. */
const tolerance_m = 0.03
/** Fixed windows of a neighbour that counts. */
export const leastWindows = 2
/** Windows of the same pair share satellites and surroundings: many are not better than this many. */
const independent = 3
const leastSigma_m = 0.002
/** Vectors of a station that does not move repeat to this, or to three formal standard deviations if these are more, metres. */
const steady_m = { east: 0.03, north: 0.03, up: 0.06 }
/** The median of the newest windows repeats to this, or to three formal standard deviations, metres. */
const change_m = { east: 0.03, north: 0.03, up: 0.04 }
/** The median deviation × this is the standard deviation of a normal distribution. */
const byDeviation = 1.4826
/** The newest windows by themselves must agree with the earlier ones. */
const newest_s = 3 * 3_600
const axes = ['east', 'north', 'up'] as const
const each = (of: (axis: keyof Enu) => number): Enu => ({ east: of('east'), north: of('north'), up: of('up') })
const rounded = (value: number) => (Number.isFinite(value) ? Number(value.toFixed(4)) : 0)

export interface EvidenceFacts {
  readonly serial: string
  readonly arp: Ecef
  /** The vectors from the time of the test, with the announced position of the station, the oldest first. */
  readonly vectors: readonly StoredVector[]
  /** The judgement of all stations by the vectors of the test. */
  readonly judged: ReadonlyMap<string, NetJudgement>
  readonly judgement: NetJudgement
  readonly reference: Reference
  /** In words; `''`: the position is not contradicted. */
  readonly cause: string
  /** UTC seconds. */
  readonly begun_s: number
  /** A window counts for the time until the next one, seconds. */
  readonly every_s: number
}

export function evidenceOf(facts: EvidenceFacts): Evidence {
  const { serial, arp, vectors, judged, judgement, reference, cause } = facts
  const byNeighbour = new Map<string, StoredVector[]>()
  for (const vector of vectors) {
    if (vector.one !== serial && vector.other !== serial) continue
    const neighbour = vector.one === serial ? vector.other : vector.one
    byNeighbour.set(neighbour, [...(byNeighbour.get(neighbour) ?? []), vector])
  }
  const found = [...byNeighbour]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([neighbour, all]) => {
      const [{ one, oneArp, otherArp }] = all as [StoredVector]
      return { ...neighbourOf(serial, neighbour, arp, all), place: one === neighbour ? oneArp : otherArp }
    })
  const witnesses = witnessesOf(arp, found)
  const neighbours = found.map(({ place: _, ...one }) => ({
    ...one,
    verdict: witnesses.has(one.serial) ? one.verdict : ('unknown' as const),
    state: judged.get(one.serial)?.state ?? ('unknown' as const),
  }))
  const { method, frame, epoch, plate, accuracy_m, antenna } = reference
  const { descriptor, serial: antennaSerial, height_m } = antenna
  return {
    reference: {
      ...{ method, frame, epoch, plate, accuracy: accuracy_m },
      antenna: { descriptor, serial: antennaSerial, height: height_m },
    },
    neighbours,
    offset: each((axis) => rounded(judgement.offset[axis])),
    sigma: each((axis) => rounded(judgement.sigma[axis])),
    epochs: neighbours.reduce((sum, { epochs }) => sum + epochs, 0),
    covered: coveredBy(
      neighbours.filter(isCounted).flatMap(({ serial: one }) => byNeighbour.get(one) ?? []),
      facts,
    ),
    cause,
  }
}

type Windows = Pick<Evidence['neighbours'][number], 'windows' | 'fixed'>
const fixedOf = ({ windows, fixed }: Windows) => Math.round(windows * fixed)
export const isCounted = (one: Windows) => fixedOf(one) >= leastWindows

/**
 * Bases at one place have one antenna, or one owner and one error: they are one witness. It is the one with most fixed windows. A base
 * without a verdict is none.
 */
function witnessesOf(arp: Ecef, found: readonly (ReturnType<typeof neighbourOf> & { place: Ecef })[]): Set<string> {
  const witnesses = new Set<string>()
  const places = [arp]
  const able = found.filter(({ verdict }) => verdict !== 'unknown')
  for (const { serial, place } of able.toSorted((one, other) => fixedOf(other) - fixedOf(one))) {
    if (places.some((other) => distance(other, place) < samePlace_m)) continue
    witnesses.add(serial)
    places.push(place)
  }
  return witnesses
}

/** Hours with a fixed window. */
function coveredBy(vectors: readonly StoredVector[], { begun_s, every_s }: EvidenceFacts): number {
  let [covered_s, until_s] = [0, begun_s]
  const fixed = vectors.filter(({ status }) => status === 'fixed').toSorted((one, next) => one.t_s - next.t_s)
  for (const { t_s } of fixed) {
    covered_s += Math.max(0, t_s - Math.max(until_s, t_s - every_s))
    until_s = Math.max(until_s, t_s)
  }
  return Number((covered_s / 3_600).toFixed(1))
}

function neighbourOf(serial: string, neighbour: string, arp: Ecef, all: readonly StoredVector[]) {
  const fixed = all.filter(({ status }) => status === 'fixed')
  const offsets = fixed.map(({ one, measured, oneArp, otherArp }) => {
    const [sign, there] = one === serial ? [-1, otherArp] : [1, oneArp]
    return enu(arp, {
      x: there.x + sign * measured.x,
      y: there.y + sign * measured.y,
      z: there.z + sign * measured.z,
    })
  })
  const sigmas = fixed.map(({ covariance }) => sigmaAt(arp, covariance))
  const formal = each((axis) => median(sigmas.map((one) => one[axis])))
  const count = offsets.length
  const mean = each((axis) => offsets.reduce((sum, offset) => sum + offset[axis], 0) / Math.max(1, count))
  const middle = (some: readonly Enu[], axis: keyof Enu) => median(some.map((offset) => offset[axis]))
  const spread = each((axis) =>
    count < 2 ? 0 : byDeviation * median(offsets.map((offset) => Math.abs(offset[axis] - middle(offsets, axis)))),
  )
  const sigma = each((axis) =>
    Math.max(leastSigma_m, Math.max(formal[axis], spread[axis]) / Math.sqrt(Math.min(independent, Math.max(1, count)))),
  )
  const boundary_s = Math.max(...all.map(({ t_s }) => t_s)) - newest_s
  const part = (isNewest: boolean) => offsets.filter((_, at) => (fixed[at]?.t_s ?? 0) > boundary_s === isNewest)
  const [earlier, newer] = [part(false), part(true)]
  const isChangeKnown = earlier.length > 0 && newer.length > 0
  const change = each((axis) => (isChangeKnown ? middle(newer, axis) - middle(earlier, axis) : 0))
  // A move just before the end is in no median: the last window must be like the others by itself.
  const last = each((axis) => (count < 2 ? 0 : (offsets.at(-1)?.[axis] ?? 0) - middle(offsets.slice(0, -1), axis)))
  const isSteady = axes.every((axis) => {
    const least_m = Math.max(change_m[axis], 3 * formal[axis])
    return (
      spread[axis] <= Math.max(steady_m[axis], 3 * formal[axis]) &&
      Math.abs(change[axis]) <= least_m &&
      Math.abs(last[axis]) <= Math.max(least_m, 3 * spread[axis])
    )
  })
  const antennas = Math.max(0, ...fixed.map(({ heightDoubt_m }) => heightDoubt_m))
  const isWithin = axes.every(
    (axis) => Math.abs(mean[axis]) <= tolerance_m + 3 * sigma[axis] + (axis === 'up' ? antennas : 0),
  )
  const [first] = all
  const ends = all.map(({ t_s }) => Math.floor(t_s))
  return {
    serial: neighbour,
    distance: first ? Math.round(distance(first.oneArp, first.otherArp)) : 0,
    ...{ windows: all.length, first: Math.min(...ends), last: Math.max(...ends) },
    fixed: rounded(count / Math.max(1, all.length)),
    epochs: all.reduce((sum, { epochs }) => sum + epochs, 0),
    satellites: median(all.map(({ satellites }) => satellites)),
    offset: each((axis) => rounded(mean[axis])),
    sigma: each((axis) => rounded(sigma[axis])),
    repeatability: each((axis) => rounded(spread[axis])),
    change: each((axis) => rounded(change[axis])),
    steady: isSteady,
    antennas: rounded(antennas),
    verdict:
      count < leastWindows || !isSteady
        ? ('unknown' as const)
        : isWithin
          ? ('agrees' as const)
          : ('contradicts' as const),
  }
}
