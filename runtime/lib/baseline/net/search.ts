/**
 * The fewest faults that explain a net. Data snooping (Baarda 1968, A testing procedure for use in geodetic networks)
 * on stations and vectors, three axes at once, and a search of alternatives for each faulty base, since faults can be
 * confused (Teunissen 2018, Distributional theory for the DIA method, J. Geodesy 92).
 */
import { invert } from '../../gnss/linear.js'
import type { Steps } from '../steps.js'
import { type BaseNetwork, type Explanation, fault } from './network.js'
import { square } from './pairs.js'

/** Changes of each kind that are tried in a step: the most promising. */
const tried = 4
/** Only changes that promise this part of the price of a fault. */
const promising = 0.7
/** Bases this many pairs away, and faults more, in which an alternative may differ. */
const elsewhere = { hops: 2, most: 40, steps: 3 }
const rounds = 2
/** Faults that the search finds at most: a net with more has no majority. */
const most = 300

/** The best explanation, starting with no faults. */
export function* explained(net: BaseNetwork): Steps<Explanation> {
  let best = yield* improved(net, net.sound(), { steps: most })
  // Where faults were found late, the first changes were judged in a net that these distorted.
  for (let round = 0; round < rounds && best.faulty.size + best.leftOut.size > 0; round++) {
    const settled = net.settled(best)
    best = yield* improved(net, yield* pruned(net, settled, settled), { steps: most })
  }
  return best
}

/** The best explanation found in which this base is sound, near one in which it is faulty. */
export function* withoutFault(net: BaseNetwork, best: Explanation, base: number): Steps<Explanation> {
  const faulty = new Set(best.faulty)
  faulty.delete(base)
  const start = net.changed(best, { faulty, leftOut: best.leftOut }, [base])
  const near = new Set(net.near([base], elsewhere.hops, elsewhere.most))
  return yield* improved(net, start, { steps: elsewhere.steps, sound: base, near })
}

interface Limits {
  readonly steps: number
  /** A base that must not be faulty. */
  readonly sound?: number
  /** Bases that may change; default: all. */
  readonly near?: ReadonlySet<number>
}

/** Bases that become faulty, or a pair that is left out. */
interface Change {
  readonly bases: readonly number[]
  readonly pair?: number
  readonly gain: number
}

/** Adds the fault that lowers the cost most, removes those that became needless, and repeats. */
function* improved(net: BaseNetwork, start: Explanation, { steps, sound, near }: Limits): Steps<Explanation> {
  let best = start
  for (let step = 0; step < steps; step++) {
    const isOpen = (base: number) => base !== sound && !best.faulty.has(base) && (!near || near.has(base))
    let next: Explanation | undefined
    yield
    for (const change of changes(net, best, isOpen)) {
      yield
      const found = applied(net, best, change)
      if (!next || found.cost < next.cost) next = found
    }
    if (!next || !(next.cost < best.cost)) return best
    best = yield* pruned(net, next, best)
  }
  return best
}

function changes(net: BaseNetwork, at: Explanation, isOpen: (base: number) => boolean): Change[] {
  const bases: Change[] = []
  const both: Change[] = []
  const pairs: Change[] = []
  const gains = net.pairs.map((_, pair) => gainOfPair(net, at, pair))
  // No base gains more than its vectors do together.
  const isSuspect = net.at.map(
    (own, base) => isOpen(base) && own.reduce((sum, pair) => sum + gains[pair], 0) > promising * fault,
  )
  for (const [base, suspect] of isSuspect.entries()) {
    if (suspect) bases.push({ bases: [base], gain: gainOfBase(net, at, base) })
  }
  for (const [pair, { i, j }] of net.pairs.entries()) {
    if (at.leftOut.has(pair) || !(isOpen(i) || isOpen(j))) continue
    pairs.push({ bases: [], pair, gain: gains[pair] })
    // A precise vector holds each of two bases with the same fault where the other is: they only move together.
    if (!isSuspect[i] || !isSuspect[j]) continue
    both.push({ bases: [i, j], gain: Math.min(gainOfBase(net, at, i, j), gainOfBase(net, at, j, i)) })
  }
  return [bases, both, pairs].flatMap((some) =>
    some
      .filter(({ gain }) => gain > promising * fault)
      .sort((p, q) => q.gain - p.gain)
      .slice(0, tried),
  )
}

/** About how much χ² falls if the base is faulty and the vectors to it, but for those to `except`, are used. */
function gainOfBase(net: BaseNetwork, at: Explanation, base: number, except?: number): number {
  const { free, held, right } = scratch
  free.fill(0)
  right.fill(0)
  for (const pair of net.at[base]) {
    const other = net.other(pair, base)
    if (other === except) continue
    const weight = net.weights[pair][1]
    const { j, offset } = net.pairs[pair]
    const sign = base === j ? 1 : -1
    const isFree = at.faulty.has(other) ? 1 : 0
    const x = sign * offset[0] + isFree * at.corrections[3 * other]
    const y = sign * offset[1] + isFree * at.corrections[3 * other + 1]
    const z = sign * offset[2] + isFree * at.corrections[3 * other + 2]
    for (let k = 0; k < 9; k++) free[k] += weight[k]
    for (let k = 0; k < 3; k++) right[k] += weight[3 * k] * x + weight[3 * k + 1] * y + weight[3 * k + 2] * z
  }
  held.set(free)
  const prior = 1 / (net.tolerance_m * net.tolerance_m)
  for (let axis = 0; axis < 3; axis++) held[4 * axis] += prior
  if (!invert(free, 3) || !invert(held, 3)) return 0
  return square(free, right[0], right[1], right[2]) - square(held, right[0], right[1], right[2])
}

/** Scratch for one base at a time: most of the search is this. */
const scratch = { free: new Float64Array(9), held: new Float64Array(9), right: new Float64Array(3) }

function gainOfPair(net: BaseNetwork, { corrections, faulty }: Explanation, pair: number): number {
  const { i, j, offset } = net.pairs[pair]
  const iFree = faulty.has(i) ? 1 : 0
  const jFree = faulty.has(j) ? 1 : 0
  const left = (axis: number) => offset[axis] + iFree * corrections[3 * i + axis] - jFree * corrections[3 * j + axis]
  return square(net.weights[pair][2], left(0), left(1), left(2))
}

/** The correction of a base that follows from one pair: a sound neighbour is right, a faulty one has its correction. */
export function word(
  net: BaseNetwork,
  { corrections, faulty }: Pick<Explanation, 'corrections' | 'faulty'>,
  pair: number,
  base: number,
): Float64Array {
  const { j, offset } = net.pairs[pair]
  const other = net.other(pair, base)
  const sign = base === j ? 1 : -1
  return offset.map((value, axis) => sign * value + (faulty.has(other) ? corrections[3 * other + axis] : 0))
}

function applied(net: BaseNetwork, at: Explanation, { bases, pair }: Change): Explanation {
  const leftOut = new Set(at.leftOut)
  // Vectors that were left out may be right if the base is faulty.
  for (const base of bases) for (const own of net.at[base]) leftOut.delete(own)
  if (pair !== undefined) leftOut.add(pair)
  const around = pair === undefined ? bases : [net.pairs[pair].i, net.pairs[pair].j]
  return net.changed(at, { faulty: new Set([...at.faulty, ...bases]), leftOut }, around)
}

/** Without the faults that the newest ones made needless; without newest ones, each fault is tried. */
function* pruned(net: BaseNetwork, next: Explanation, before: Explanation): Steps<Explanation> {
  const added = [...next.faulty].filter((base) => !before.faulty.has(base))
  for (const pair of next.leftOut) if (!before.leftOut.has(pair)) added.push(net.pairs[pair].i, net.pairs[pair].j)
  const near = added.length > 0 ? new Set(net.near(added, elsewhere.hops, elsewhere.most)) : undefined
  const isNear = (base: number) => near === undefined || near.has(base)
  let best = next
  const keep = (found: Explanation) => {
    if (found.cost < best.cost) best = found
  }
  for (const base of next.faulty) {
    // The only new fault was just found to be worth its price.
    if (!isNear(base) || (added.length === 1 && added[0] === base)) continue
    const faulty = new Set(best.faulty)
    faulty.delete(base)
    yield keep(net.changed(best, { faulty, leftOut: best.leftOut }, [base]))
  }
  for (const pair of next.leftOut) {
    const { i, j } = net.pairs[pair]
    if (near !== undefined && (!before.leftOut.has(pair) || !(isNear(i) || isNear(j)))) continue
    const leftOut = new Set(best.leftOut)
    leftOut.delete(pair)
    yield keep(net.changed(best, { faulty: best.faulty, leftOut }, [i, j]))
  }
  return best
}
