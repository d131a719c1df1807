/** Judges a net of any size: in regions, each with its surroundings. Pure. */
import { inSteps, judgeNetInSteps, type NetJudgement, type NetVector, type Steps } from 'rtk-base/baseline'
import type { Ecef } from 'rtk-base/services'

export interface JudgedBase {
  readonly id: string
  readonly arp: Ecef
}

/** Bases of a region. */
const most = 250
/** A base is judged together with all others within this number of vectors. */
const hops = 2
/** Bases of the surroundings of a region. */
const mostAround = 500

/**
 * @param pause after every few milliseconds: judging a region takes seconds
 * @returns the judgement of each base that has a vector
 */
export async function judgeRegions(
  bases: readonly JudgedBase[],
  vectors: readonly NetVector[],
  pause: () => Promise<void>,
): Promise<Map<string, NetJudgement>> {
  const { neighbours, byBase } = await inSteps(indexed(vectors), pause)
  const known = new Map(bases.filter(({ id }) => neighbours.has(id)).map((base) => [base.id, base]))
  const judged = new Map<string, NetJudgement>()
  for (const region of regionsOf([...known.values()])) {
    const around = surroundings(region, neighbours)
    const some = [...around].flatMap((id) => known.get(id) ?? [])
    const inside = [...around].flatMap((id) => (byBase.get(id) ?? []).filter(({ to }) => around.has(to)))
    const found = await judgeNetInSteps(some, inside, pause)
    for (const { id } of region) {
      const judgement = found.get(id)
      if (judgement) judged.set(id, judgement)
    }
    await pause()
  }
  return judged
}

function* indexed(
  vectors: readonly NetVector[],
): Steps<{ neighbours: Map<string, Set<string>>; byBase: Map<string, NetVector[]> }> {
  const neighbours = new Map<string, Set<string>>()
  const byBase = new Map<string, NetVector[]>()
  const add = (from: string, to: string) => {
    const known = neighbours.get(from)
    if (known) known.add(to)
    else neighbours.set(from, new Set([to]))
  }
  for (const vector of vectors) {
    yield
    add(vector.from, vector.to)
    add(vector.to, vector.from)
    const own = byBase.get(vector.from)
    if (own) own.push(vector)
    else byBase.set(vector.from, [vector])
  }
  return { neighbours, byBase }
}

/** Halves along the longest axis, until each is small enough. */
function regionsOf(bases: readonly JudgedBase[]): JudgedBase[][] {
  if (bases.length <= most) return bases.length > 0 ? [[...bases]] : []
  const extent = (axis: keyof Ecef) => {
    let [least, largest] = [Infinity, -Infinity]
    for (const { arp } of bases) {
      least = Math.min(least, arp[axis])
      largest = Math.max(largest, arp[axis])
    }
    return largest - least
  }
  const [longest = 'x'] = (['x', 'y', 'z'] as const).toSorted((one, other) => extent(other) - extent(one))
  const sorted = bases.toSorted((one, other) => one.arp[longest] - other.arp[longest])
  const middle = sorted.length >> 1
  return [...regionsOf(sorted.slice(0, middle)), ...regionsOf(sorted.slice(middle))]
}

function surroundings(
  region: readonly JudgedBase[],
  neighbours: ReadonlyMap<string, ReadonlySet<string>>,
): Set<string> {
  const found = new Set(region.map(({ id }) => id))
  let ring = [...found]
  for (let hop = 0; hop < hops; hop++) {
    const next: string[] = []
    for (const id of ring)
      for (const other of neighbours.get(id) ?? [])
        if (!found.has(other) && found.size < region.length + mostAround) {
          found.add(other)
          next.push(other)
        }
    ring = next
  }
  return found
}
