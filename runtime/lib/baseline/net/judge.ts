/** Which base of a net announces a wrong position, by the majority of its neighbours. */
import type { Ecef, Enu } from '../../../../schemas/services.js'
import { distance, enu } from '../../gnss/index.js'
import { inverse, isPositiveDefinite, type Matrix, plus, product } from '../../gnss/linear.js'
import { allAtOnce, inSteps, type Steps } from '../steps.js'
import { type Camps, campsOf } from './majority.js'
import { BaseNetwork, type Explanation } from './network.js'
import { type NetVector, pairsOf, square } from './pairs.js'
import { explained, withoutFault, word } from './search.js'

export interface NetBase {
  readonly id: string
  /** Announced position of the antenna, ECEF metres. */
  readonly arp: Ecef
}

/** Why a base is judged as it is. */
export type NetReason =
  /** At least one sound base confirms the position. */
  | 'confirmed'
  /** At least two sound bases agree with each other against the position, and they are more than those that confirm it. */
  | 'outvoted'
  /** No usable vector leads to another base. */
  | 'no-vectors'
  /** The vectors are not precise enough to tell. */
  | 'imprecise'
  /** Fewer than two sound bases contradict the position, or not more than those that confirm it. */
  | 'too-few'
  /** A different base or a vector may be wrong instead: two explanations are nearly equally good. */
  | 'ambiguous'
  /** The bases that agree with this one are not more than those that agree with each other against them. */
  | 'no-majority'
  /** All vectors lead to bases that are wrong or unknown, or were left out. */
  | 'no-reference'
  /** Only the height is off, by less than two antenna models can differ. */
  | 'antennas'

export interface NetJudgement {
  readonly state: 'agrees' | 'contradicts' | 'unknown'
  readonly reason: NetReason
  /** True minus announced position, east, north and up at the base, metres; zero when unknown. */
  readonly offset: Enu
  /** Standard deviations of the offset; infinite when unknown. */
  readonly sigma: Enu
  /** Neighbours whose vectors the offset is computed from; when unknown, all with a usable vector. */
  readonly vectors: number
  /** Neighbours whose vectors were left out, because vectors of other bases contradict them. */
  readonly leftOut: readonly string[]
}

export interface NetOptions {
  /** Announced positions are right to this, relative to each other (three standard deviations). Default: 0.03, at least 0.006. */
  readonly tolerance_m?: number
}

const tolerance = { default_m: 0.03, least_m: 0.006, most_m: 10 }
/** Bases that are nearer to each other, metres, have one antenna, or one owner and one error: they have one vote. */
export const samePlace_m = 20
/** Bases beyond are not judged. */
const most = 2_000
/** An explanation that costs so much more than the best (−2 ln of the likelihoods' ratio) is no longer an alternative. */
const margin = 5
/** A pair agrees with the announced positions: χ² of three axes at 0.1 %. */
const agreement = 16.3
/** A neighbour speaks for or against a base if one is better than the other by this much χ². */
const clear = 2
/** Three standard deviations of an offset that still tells something. */
const precise_m = 0.25
/** The sigma up to which a vector connects two bases, so that the faults of groups of bases show. */
const connecting_m = 0.5

/**
 * Judges each base by the measured vectors between them. Bases that are not connected by vectors are judged
 * separately. A base contradicts if the fewest faults that explain all vectors include it in every good explanation,
 * and at least two sound neighbours speak against it, more than for it. Vectors that are unusable (not finite, an
 * unknown base, a covariance that is not positive definite) are ignored. An error that all bases share cannot be seen:
 * vectors are relative. Bases within 20 m of each other neither confirm each other nor count twice.
 *
 * Adjustment with statistical tests of stations: Baarda 1968 (A testing procedure for use in geodetic networks);
 * alternatives: Teunissen 2018 (doi 10.1007/s00190-017-1045-7).
 * @returns the judgement of each base with a finite position, by its ID; of equal IDs, the first counts
 * @example judgeNet([{ id: 'A', arp }, …], [{ from: 'A', to: 'B', offset, covariance }, …]).get('A')?.state
 */
export function judgeNet(
  bases: Iterable<NetBase>,
  vectors: Iterable<NetVector>,
  options: NetOptions = {},
): Map<string, NetJudgement> {
  return allAtOnce(stepsOf(bases, vectors, options))
}

/**
 * `judgeNet` for a process that has other work: a net of hundreds of bases takes seconds.
 * @param pause called after every few milliseconds of work
 */
export function judgeNetInSteps(
  bases: Iterable<NetBase>,
  vectors: Iterable<NetVector>,
  pause: () => Promise<void>,
  options: NetOptions = {},
): Promise<Map<string, NetJudgement>> {
  return inSteps(stepsOf(bases, vectors, options), pause)
}

function* stepsOf(
  bases: Iterable<NetBase>,
  vectors: Iterable<NetVector>,
  options: NetOptions,
): Steps<Map<string, NetJudgement>> {
  const places = new Map<string, number>()
  const known: NetBase[] = []
  for (const base of bases) {
    const { x, y, z } = base.arp
    if (known.length >= most || places.has(base.id) || !Number.isFinite(x + y + z)) continue
    places.set(base.id, known.length)
    known.push(base)
  }
  const wanted_m = options.tolerance_m ?? tolerance.default_m
  const tolerance_m = Math.min(tolerance.most_m, Math.max(tolerance.least_m, wanted_m || tolerance.default_m))
  // Two positions share it, and it is three standard deviations.
  const net = new BaseNetwork(known.length, yield* pairsOf(places, vectors), tolerance_m / 3 / Math.SQRT2)
  const best = yield* explained(net)
  const ambiguous = new Set<number>()
  for (const base of best.faulty) {
    const other = yield* withoutFault(net, best, base)
    if (other.cost >= best.cost + margin) continue
    ambiguous.add(base)
    for (const instead of other.faulty) if (!best.faulty.has(instead)) ambiguous.add(instead)
  }
  const judge = new Judge({ net, bases: known, tolerance_m, best, ambiguous })
  const judged = new Map<string, NetJudgement>()
  for (const [base, { id }] of known.entries()) {
    yield
    judged.set(id, judge.judgement(base))
  }
  return judged
}

/** How the net is explained. */
interface Found {
  readonly net: BaseNetwork
  readonly bases: readonly NetBase[]
  readonly tolerance_m: number
  readonly best: Explanation
  readonly ambiguous: ReadonlySet<number>
}

class Judge {
  readonly #net: BaseNetwork
  readonly #bases: readonly NetBase[]
  readonly #tolerance_m: number
  readonly #best: Explanation
  /** Bases that only one of several good explanations calls faulty. */
  readonly #ambiguous: ReadonlySet<number>
  readonly #camps: Camps

  constructor({ net, bases, tolerance_m, best, ambiguous }: Found) {
    this.#net = net
    this.#bases = bases
    this.#tolerance_m = tolerance_m
    this.#best = best
    this.#ambiguous = ambiguous
    const connects = (pair: number) => isWithin(net.pairs[pair].covariance, connecting_m + tolerance_m)
    this.#camps = campsOf(net, best, this.#ambiguous, tolerance_m, connects)
  }

  judgement(base: number): NetJudgement {
    const { leftOut, faulty } = this.#best
    const own = this.#net.at[base]
    const left = own.filter((pair) => leftOut.has(pair)).map((pair) => this.#bases[this.#net.other(pair, base)].id)
    const unknown = (reason: NetReason): NetJudgement => ({
      ...{ state: 'unknown', reason, vectors: own.length, leftOut: left },
      ...{ offset: { east: 0, north: 0, up: 0 }, sigma: { east: Infinity, north: Infinity, up: Infinity } },
    })
    if (own.length === 0) return unknown('no-vectors')
    if (!own.some((pair) => this.#isPrecise(this.#net.pairs[pair].covariance))) return unknown('imprecise')
    if (this.#ambiguous.has(base)) return unknown('ambiguous')
    if (!this.#camps.hasMajority(base)) return unknown('no-majority')
    const references = own.filter((pair) => !leftOut.has(pair) && this.#isSound(this.#net.other(pair, base)))
    return faulty.has(base)
      ? this.#contradicting(base, references, left, unknown)
      : this.#agreeing(base, references, left, unknown)
  }

  #isSound(base: number): boolean {
    return !this.#best.faulty.has(base) && !this.#ambiguous.has(base) && this.#camps.hasMajority(base)
  }

  #agreeing(
    base: number,
    references: readonly number[],
    leftOut: readonly string[],
    unknown: (reason: NetReason) => NetJudgement,
  ): NetJudgement {
    const net = this.#net
    const confirming = references.filter((pair) => {
      if (this.#isSamePlace(base, net.other(pair, base))) return false
      const [x, y, z] = net.pairs[pair].offset
      return square(net.weights[pair][2], x, y, z) <= agreement
    })
    const said = this.#said(base, confirming)
    if (!said) return unknown('no-reference')
    if (!this.#isPrecise(said.covariance)) return unknown('imprecise')
    return { state: 'agrees', reason: 'confirmed', ...this.#local(base, said), vectors: confirming.length, leftOut }
  }

  #contradicting(
    base: number,
    references: readonly number[],
    leftOut: readonly string[],
    unknown: (reason: NetReason) => NetJudgement,
  ): NetJudgement {
    const said = this.#said(base, references)
    if (!said) return unknown('too-few')
    const against: number[] = []
    const inFavour: number[] = []
    for (const pair of this.#net.at[base]) {
      const neighbour = this.#net.other(pair, base)
      if (this.#isSamePlace(base, neighbour)) continue
      // A faulty neighbour, too, speaks for a base with the same fault.
      const better = this.#better(base, pair, said.offset)
      if (better < -clear) inFavour.push(neighbour)
      else if (better > clear && references.includes(pair)) against.push(neighbour)
    }
    const votes = this.#places(against)
    if (votes < 2 || votes <= this.#places(inFavour)) return unknown('too-few')
    const { offset, sigma } = this.#local(base, said)
    const doubt_m = Math.min(...references.map((pair) => this.#net.pairs[pair].heightDoubt_m))
    const isLevel =
      Math.hypot(offset.east, offset.north) <= Math.max(this.#tolerance_m, 3 * Math.hypot(sigma.east, sigma.north))
    if (isLevel && Math.abs(offset.up) <= doubt_m) return unknown('antennas')
    // Smaller differences are within the tolerance, yet the base is no reference for others.
    if (!(Math.hypot(...said.offset) > this.#tolerance_m)) return unknown('ambiguous')
    return { state: 'contradicts', reason: 'outvoted', offset, sigma, vectors: references.length, leftOut }
  }

  #isSamePlace(one: number, other: number): boolean {
    return distance(this.#bases[one].arp, this.#bases[other].arp) < samePlace_m
  }

  /** How many of these bases are at places of their own. */
  #places(bases: readonly number[]): number {
    return bases.filter((base, at) => !bases.slice(0, at).some((other) => this.#isSamePlace(base, other))).length
  }

  /** How much better, in χ², this correction of a base fits a pair than none does. */
  #better(base: number, pair: number, correction: Float64Array): number {
    const [x, y, z] = word(this.#net, { corrections: correction, faulty: new Set() }, pair, base)
    const weight = this.#net.weights[pair][2]
    return square(weight, x, y, z) - square(weight, x - correction[0], y - correction[1], z - correction[2])
  }

  /** The correction of a base by its neighbours, each of which is right within the tolerance. */
  #said(base: number, pairs: readonly number[]): { offset: Float64Array; covariance: Matrix } | undefined {
    const normal = new Float64Array(9)
    const right = new Float64Array(3)
    for (const pair of pairs) {
      const weight = this.#net.weights[pair][1]
      const weighted = product(weight, word(this.#net, this.#best, pair, base), 3)
      for (let k = 0; k < 9; k++) normal[k] += weight[k]
      for (let k = 0; k < 3; k++) right[k] += weighted[k]
    }
    const covariance = pairs.length > 0 ? inverse(normal, 3) : undefined
    return covariance && { offset: product(covariance, right, 3), covariance }
  }

  #isPrecise(covariance: Matrix): boolean {
    return isWithin(covariance, precise_m + this.#tolerance_m)
  }

  #local(base: number, { offset, covariance }: { offset: Float64Array; covariance: Matrix }) {
    const { arp } = this.#bases[base]
    const along = (x: number, y: number, z: number) => enu(arp, plus(arp, { x, y, z }))
    const axes = [along(1, 0, 0), along(0, 1, 0), along(0, 0, 1)]
    const sigmaOf = (name: keyof Enu) => Math.sqrt(square(covariance, axes[0][name], axes[1][name], axes[2][name]))
    return {
      offset: along(offset[0], offset[1], offset[2]),
      sigma: { east: sigmaOf('east'), north: sigmaOf('north'), up: sigmaOf('up') },
    }
  }
}

/** Whether three standard deviations are less than this in every direction. */
function isWithin(covariance: Matrix, limit_m: number): boolean {
  const left = covariance.map((value) => -value)
  for (let axis = 0; axis < 3; axis++) left[4 * axis] += (limit_m / 3) ** 2
  return isPositiveDefinite(left, 3)
}
