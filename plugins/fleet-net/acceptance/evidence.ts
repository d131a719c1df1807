/** The evidence of an acceptance test, from the vectors of its time. Pure. */
import { causesOf, type NetJudgement } from 'rtk-base/baseline'
import { enu } from 'rtk-base/gnss'
import type { Ecef, Enu } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { median } from '../judgement/days.js'
import type { StoredVector } from '../store/store.js'

const Enu3 = Type.Object({ east: Type.Number(), north: Type.Number(), up: Type.Number() })

export const Evidence = Type.Object({
  neighbours: Type.Array(
    Type.Object({
      serial: Type.String(),
      windows: Type.Integer({ description: 'Windows with a vector' }),
      fixed: Type.Number({ description: 'Share of the windows with fixed ambiguities, 0 to 1' }),
      offset: Type.Object(Enu3.properties, {
        description: 'Measured minus announced position, mean of the fixed windows, metres',
      }),
      sigma: Type.Object(Enu3.properties, { description: 'Standard deviation of the mean, metres' }),
      repeatability: Type.Object(Enu3.properties, { description: 'Standard deviation between windows, metres' }),
      verdict: Type.Enum(['agrees', 'contradicts', 'unknown']),
    }),
  ),
  offset: Type.Object(Enu3.properties, { description: 'True minus announced position by all neighbours, metres' }),
  sigma: Type.Object(Enu3.properties),
  cause: Type.String({ description: 'Of a rejection, in words' }),
})
export type Evidence = Static<typeof Evidence>

export type Outcome = 'accepted' | 'rejected' | 'undecided'

/** Announced positions are right to this, relative to each other, metres. */
const tolerance_m = 0.03
/** A station is accepted on the word of so many neighbours. */
const leastNeighbours = 2
/** Windows of a neighbour that counts. */
const leastWindows = 2
/** Windows of the same pair share satellites and surroundings: many are not better than this many. */
const independent = 3
const leastSigma_m = 0.002

const axes = ['east', 'north', 'up'] as const
const each = (of: (axis: keyof Enu) => number): Enu => ({ east: of('east'), north: of('north'), up: of('up') })
const rounded = (value: number) => (Number.isFinite(value) ? Number(value.toFixed(4)) : 0)

/**
 * @param vectors of the time of the test, with the announced position of the station
 * @param judgement of the station by them
 * @param now decimal year
 */
export function evidenceOf(
  serial: string,
  arp: Ecef,
  vectors: readonly StoredVector[],
  judgement: NetJudgement,
  now: number,
): Evidence {
  const byNeighbour = new Map<string, StoredVector[]>()
  for (const vector of vectors) {
    if (vector.one !== serial && vector.other !== serial) continue
    const neighbour = vector.one === serial ? vector.other : vector.one
    byNeighbour.set(neighbour, [...(byNeighbour.get(neighbour) ?? []), vector])
  }
  const neighbours = [...byNeighbour]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([neighbour, all]) => neighbourOf(serial, neighbour, arp, all))
  const isWrong = judgement.state === 'contradicts'
  const [cause] = isWrong ? causesOf({ id: serial, arp, offset: judgement.offset, sigma: judgement.sigma, now }) : []
  return {
    neighbours,
    offset: each((axis) => rounded(judgement.offset[axis])),
    sigma: each((axis) => rounded(judgement.sigma[axis])),
    cause: cause?.text ?? '',
  }
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
  const own_m = median(
    fixed.map(({ covariance }) => Math.sqrt(Math.max(0, covariance[0] + covariance[4] + covariance[8]) / 3)),
  )
  const count = offsets.length
  const mean = each((axis) => offsets.reduce((sum, offset) => sum + offset[axis], 0) / Math.max(1, count))
  const spread = each((axis) =>
    count < 2 ? 0 : Math.sqrt(offsets.reduce((sum, offset) => sum + (offset[axis] - mean[axis]) ** 2, 0) / (count - 1)),
  )
  const sigma = each((axis) =>
    Math.max(leastSigma_m, Math.max(own_m, spread[axis]) / Math.sqrt(Math.min(independent, Math.max(1, count)))),
  )
  const isWithin = axes.every((axis) => Math.abs(mean[axis]) <= tolerance_m + 3 * sigma[axis])
  return {
    ...{ serial: neighbour, windows: all.length, fixed: rounded(count / Math.max(1, all.length)) },
    offset: each((axis) => rounded(mean[axis])),
    sigma: each((axis) => rounded(sigma[axis])),
    repeatability: each((axis) => rounded(spread[axis])),
    verdict: count < leastWindows ? ('unknown' as const) : isWithin ? ('agrees' as const) : ('contradicts' as const),
  }
}

/** No evidence is neither an acceptance nor a rejection. */
export function outcomeOf(
  { neighbours }: Evidence,
  { state, reason }: NetJudgement,
): { outcome: Outcome; reason: string } {
  const agreeing = neighbours.filter(({ verdict }) => verdict === 'agrees').length
  const others = neighbours.filter(({ verdict }) => verdict === 'contradicts').length
  if (state === 'contradicts')
    return { outcome: 'rejected', reason: `${others} of ${neighbours.length} neighbours contradict the position` }
  if (state === 'agrees' && agreeing >= leastNeighbours && agreeing > others)
    return { outcome: 'accepted', reason: `${agreeing} of ${neighbours.length} neighbours confirm the position` }
  return {
    outcome: 'undecided',
    reason: `${agreeing} neighbours confirm the position in at least ${leastWindows} windows, and ${leastNeighbours} are needed (${state}: ${reason})`,
  }
}
