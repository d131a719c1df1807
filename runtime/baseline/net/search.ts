/**
 * The fewest faults that explain a net. Data snooping (Baarda 1968, A testing procedure for use in geodetic networks)
 * on stations and vectors, three axes at once, and a search of alternatives for each faulty base, since faults can be
 * confused (Teunissen 2018, Distributional theory for the DIA method, J. Geodesy 92).
 */
import { inverse, product } from '../linear.js'
import { type Explanation, fault, type Network } from './network.js'
import { square } from './pairs.js'

/** Changes of each kind that are tried in a step: the most promising. */
const tried = 4
/** Only changes that promise this part of the price of a fault. */
const promising = 0.4
/** Bases this many pairs away, and faults more, in which an alternative may differ. */
const elsewhere = { hops: 2, most: 40, steps: 3 }
/** Faults that the search finds at most: a net with more has no majority. */
const most = 300

/** The best explanation, starting with no faults. */
export function explained(net: Network): Explanation {
  return improved(net, net.sound(), { steps: most })
}

/** The best explanation found in which this base is sound, near one in which it is faulty. */
export function withoutFault(net: Network, best: Explanation, base: number): Explanation {
  const faulty = new Set(best.faulty)
  faulty.delete(base)
  const start = net.changed(best, { faulty, leftOut: best.leftOut }, [base])
  const near = new Set(net.near([base], elsewhere.hops, elsewhere.most))
  return improved(net, start, { steps: elsewhere.steps, sound: base, near })
}

interface Limits {
  readonly steps: number
  /** A base that must not be faulty. */
  readonly sound?: number
  /** Bases that may change; default: all. */
  readonly near?: ReadonlySet<number>
}

interface Change {
  readonly base?: number
  readonly pair?: number
  readonly gain: number
}

/** Adds the fault that lowers the cost most, removes those that became needless, and repeats. */
function improved(net: Network, start: Explanation, { steps, sound, near }: Limits): Explanation {
  let best = start
  for (let step = 0; step < steps; step++) {
    const isOpen = (base: number) => base !== sound && !best.faulty.has(base) && (!near || near.has(base))
    let next: Explanation | undefined
    for (const change of changes(net, best, isOpen)) {
      const found = applied(net, best, change)
      if (!next || found.cost < next.cost) next = found
    }
    if (!next || !(next.cost < best.cost)) return best
    best = pruned(net, next, best)
  }
  return best
}

function changes(net: Network, at: Explanation, isOpen: (base: number) => boolean): Change[] {
  const bases: Change[] = []
  for (let base = 0; base < net.size; base++) if (isOpen(base)) bases.push({ base, gain: gainOfBase(net, at, base) })
  const pairs = net.pairs.flatMap(({ i, j }, pair) =>
    at.leftOut.has(pair) || !(isOpen(i) || isOpen(j)) ? [] : [{ pair, gain: gainOfPair(net, at, pair) }],
  )
  return [bases, pairs].flatMap((some) =>
    some
      .filter(({ gain }) => gain > promising * fault)
      .sort((p, q) => q.gain - p.gain)
      .slice(0, tried),
  )
}

/** About how much χ² falls if the base is faulty and the vectors to it are used. */
function gainOfBase(net: Network, { corrections, faulty }: Explanation, base: number): number {
  const normal = new Float64Array(9)
  const right = new Float64Array(3)
  for (const pair of net.at[base]) {
    const weight = net.weights[pair][1]
    const said = word(net, { corrections, faulty }, pair, base)
    const weighted = product(weight, said, 3)
    for (let k = 0; k < 9; k++) normal[k] += weight[k]
    for (let k = 0; k < 3; k++) right[k] += weighted[k]
  }
  const free = inverse(normal, 3)
  if (!free) return 0
  for (let axis = 0; axis < 3; axis++) normal[4 * axis] += net.tolerance_m ** -2
  const held = inverse(normal, 3)
  return held ? square(free, right[0], right[1], right[2]) - square(held, right[0], right[1], right[2]) : 0
}

function gainOfPair(net: Network, at: Explanation, pair: number): number {
  const { j } = net.pairs[pair]
  const [x, y, z] = word(net, at, pair, j)
  const own = at.faulty.has(j) ? at.corrections.subarray(3 * j, 3 * j + 3) : [0, 0, 0]
  return square(net.weights[pair][2], x - own[0], y - own[1], z - own[2])
}

/** The correction of a base that follows from one pair: a sound neighbour is right, a faulty one has its correction. */
export function word(
  net: Network,
  { corrections, faulty }: Pick<Explanation, 'corrections' | 'faulty'>,
  pair: number,
  base: number,
): Float64Array {
  const { j, offset } = net.pairs[pair]
  const other = net.other(pair, base)
  const sign = base === j ? 1 : -1
  return offset.map((value, axis) => sign * value + (faulty.has(other) ? corrections[3 * other + axis] : 0))
}

function applied(net: Network, at: Explanation, { base, pair }: Change): Explanation {
  const leftOut = new Set(at.leftOut)
  if (pair !== undefined) {
    const { i, j } = net.pairs[pair]
    return net.changed(at, { faulty: at.faulty, leftOut: leftOut.add(pair) }, [i, j])
  }
  if (base === undefined) return at
  // Vectors that were left out may be right if the base is faulty.
  for (const own of net.at[base]) leftOut.delete(own)
  return net.changed(at, { faulty: new Set(at.faulty).add(base), leftOut }, [base])
}

/** Without the faults that the newest one made needless. */
function pruned(net: Network, next: Explanation, before: Explanation): Explanation {
  const added = [...next.faulty].filter((base) => !before.faulty.has(base))
  for (const pair of next.leftOut) if (!before.leftOut.has(pair)) added.push(net.pairs[pair].i, net.pairs[pair].j)
  const near = new Set(net.near(added, elsewhere.hops, elsewhere.most))
  let best = next
  const keep = (found: Explanation) => {
    if (found.cost < best.cost) best = found
  }
  for (const base of before.faulty) {
    if (!near.has(base)) continue
    const faulty = new Set(best.faulty)
    faulty.delete(base)
    keep(net.changed(best, { faulty, leftOut: best.leftOut }, [base]))
  }
  for (const pair of before.leftOut) {
    const { i, j } = net.pairs[pair]
    if (!best.leftOut.has(pair) || !(near.has(i) || near.has(j))) continue
    const leftOut = new Set(best.leftOut)
    leftOut.delete(pair)
    keep(net.changed(best, { faulty: best.faulty, leftOut }, [i, j]))
  }
  return best
}
