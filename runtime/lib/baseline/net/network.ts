/**
 * The adjustment of a net under an assumption of its faults. The unknowns are the corrections `d` of the announced
 * positions, with `offset = d_j − d_i + error`. The correction of a sound base is normally distributed around zero with
 * the tolerance; that of a faulty base is free. A vector that is left out has no weight.
 */
import { inverse, type Matrix } from '../../gnss/linear.js'
import { type Pair, square, widened } from './pairs.js'

/** χ² that each fault has to explain: three axes at 0.2 %. */
export const fault = 15

/** Bases around a change that are adjusted anew: those farther away hardly notice. */
const region = { hops: 2, most: 40 }
/** The end of the adjustment: a sweep changes χ² by less. */
const adjusted = { sweeps: 200, change: 1e-2 }
/** A sound base pulled farther away belongs to a fault that is not found yet. */
const pulled_m = 0.1

/** Which bases and vectors are faulty. */
export interface Explanation {
  readonly faulty: ReadonlySet<number>
  /** Indices of pairs. */
  readonly leftOut: ReadonlySet<number>
  /** Corrections of all bases, ECEF metres. */
  readonly corrections: Float64Array
  /** χ² and the price of the faults. */
  readonly cost: number
}

/** The normal equations of one base while the others stay: `normal · d = fixed + Σ weight · d of the other`. */
interface System {
  readonly base: number
  /** Where the corrections of the other bases begin, and the weights of their vectors, 3 × 3 row by row. */
  readonly others: Int32Array
  readonly weights: Float64Array
  readonly fixed: Float64Array
  readonly normal: Matrix
  readonly inverted: Matrix | undefined
}

export class BaseNetwork {
  readonly size: number
  readonly pairs: readonly Pair[]
  /** Indices of the pairs of each base. */
  readonly at: readonly (readonly number[])[]
  /** Standard deviation of the announced position of a sound base, along each axis. */
  readonly tolerance_m: number
  /** Inverse covariances of the pairs: of the vector, with the tolerance of one base, of both. */
  readonly weights: readonly (readonly [Matrix, Matrix, Matrix])[]
  readonly #prior: number
  /** The systems of bases without a left-out pair: sound and faulty. */
  readonly #systems: readonly [(System | undefined)[], (System | undefined)[]] = [[], []]
  readonly #baseMarks: Int32Array
  readonly #pairMarks: Int32Array
  #mark = 0

  constructor(size: number, pairs: readonly Pair[], tolerance_m: number) {
    this.size = size
    this.tolerance_m = tolerance_m
    this.#prior = tolerance_m ** -2
    const weights: (readonly [Matrix, Matrix, Matrix])[] = []
    const usable: Pair[] = []
    for (const pair of pairs) {
      const found = [0, 1, 2].map((ends) => inverse(widened(pair.covariance, Math.sqrt(ends) * tolerance_m), 3))
      const [none, one, both] = found
      if (!none || !one || !both) continue
      usable.push(pair)
      weights.push([none, one, both])
    }
    this.pairs = usable
    this.weights = weights
    const at: number[][] = Array.from({ length: size }, () => [])
    for (const [index, { i, j }] of usable.entries()) {
      at[i].push(index)
      at[j].push(index)
    }
    this.at = at
    this.#baseMarks = new Int32Array(size)
    this.#pairMarks = new Int32Array(usable.length)
  }

  /** The other base of a pair. */
  other(pair: number, base: number): number {
    const { i, j } = this.pairs[pair]
    return i === base ? j : i
  }

  /** Everything is sound. */
  sound(): Explanation {
    const corrections = new Float64Array(3 * this.size)
    return this.settled({ faulty: new Set(), leftOut: new Set(), corrections, cost: 0 })
  }

  /** The explanation with the same faults, and all bases adjusted together. */
  settled({ faulty, leftOut, ...from }: Explanation): Explanation {
    const all = Array.from({ length: this.size }, (_, base) => base)
    const corrections = Float64Array.from(from.corrections)
    for (const base of all) if (!faulty.has(base)) corrections.fill(0, 3 * base, 3 * base + 3)
    const next = { faulty, leftOut, corrections, cost: 0 }
    this.#adjust(next, all)
    return { ...next, cost: this.#misfit(next, all) + fault * (faulty.size + leftOut.size) }
  }

  /** The explanation with other faults, which differ from it at and around these bases only. */
  changed(from: Explanation, to: Pick<Explanation, 'faulty' | 'leftOut'>, around: readonly number[]): Explanation {
    const bases = this.near(around, region.hops, region.most)
    const corrections = Float64Array.from(from.corrections)
    for (const base of bases) {
      const at = 3 * base
      const away_m = Math.hypot(corrections[at], corrections[at + 1], corrections[at + 2])
      if (!to.faulty.has(base) && (from.faulty.has(base) || away_m > pulled_m)) {
        corrections.fill(0, at, at + 3)
      }
    }
    const next = { faulty: to.faulty, leftOut: to.leftOut, corrections, cost: 0 }
    this.#adjust(next, bases)
    const faults = to.faulty.size + to.leftOut.size - from.faulty.size - from.leftOut.size
    return { ...next, cost: from.cost + fault * faults + this.#misfit(next, bases) - this.#misfit(from, bases) }
  }

  /** Bases within this number of pairs of these, the nearest first. */
  near(around: readonly number[], hops: number, most: number): number[] {
    const mark = ++this.#mark
    const found: number[] = []
    for (const base of around) {
      if (this.#baseMarks[base] !== mark) found.push(base)
      this.#baseMarks[base] = mark
    }
    let start = 0
    for (let hop = 0; hop < hops; hop++) {
      const end = found.length
      for (; start < end; start++) {
        for (const pair of this.at[found[start]]) {
          const other = this.other(pair, found[start])
          if (found.length >= most) return found
          if (this.#baseMarks[other] === mark) continue
          this.#baseMarks[other] = mark
          found.push(other)
        }
      }
    }
    return found
  }

  /** Gauss-Seidel: each base in turn, with the others as they are. */
  #adjust({ corrections, faulty, leftOut }: Explanation, bases: readonly number[]): void {
    const systems = bases.map((base) => this.#system(base, faulty.has(base), leftOut))
    // Numbers instead of small arrays: nearly all time is spent here.
    for (let sweep = 0; sweep < adjusted.sweeps; sweep++) {
      let change = 0
      for (const { base, others, weights, fixed, normal, inverted } of systems) {
        // A faulty base without vectors stays where it is.
        if (!inverted) continue
        let right0 = fixed[0]
        let right1 = fixed[1]
        let right2 = fixed[2]
        for (let n = 0, w = 0; n < others.length; n++, w += 9) {
          const x = corrections[others[n]]
          const y = corrections[others[n] + 1]
          const z = corrections[others[n] + 2]
          right0 += weights[w] * x + weights[w + 1] * y + weights[w + 2] * z
          right1 += weights[w + 3] * x + weights[w + 4] * y + weights[w + 5] * z
          right2 += weights[w + 6] * x + weights[w + 7] * y + weights[w + 8] * z
        }
        const x = inverted[0] * right0 + inverted[1] * right1 + inverted[2] * right2
        const y = inverted[3] * right0 + inverted[4] * right1 + inverted[5] * right2
        const z = inverted[6] * right0 + inverted[7] * right1 + inverted[8] * right2
        const at = 3 * base
        change += square(normal, x - corrections[at], y - corrections[at + 1], z - corrections[at + 2])
        corrections[at] = x
        corrections[at + 1] = y
        corrections[at + 2] = z
      }
      if (!(change > adjusted.change)) break
    }
  }

  #system(base: number, isFaulty: boolean, leftOut: ReadonlySet<number>): System {
    const isWhole = !this.at[base].some((pair) => leftOut.has(pair))
    const known = this.#systems[isFaulty ? 1 : 0]
    if (isWhole && known[base]) return known[base]
    const used = this.at[base].filter((pair) => !leftOut.has(pair))
    const others = Int32Array.from(used, (pair) => 3 * this.other(pair, base))
    const weights = new Float64Array(9 * used.length)
    const fixed = new Float64Array(3)
    const normal = new Float64Array(9)
    for (const [n, pair] of used.entries()) {
      const { j, offset } = this.pairs[pair]
      const weight = this.weights[pair][0]
      const sign = base === j ? 1 : -1
      weights.set(weight, 9 * n)
      for (let k = 0; k < 9; k++) {
        normal[k] += weight[k]
        fixed[Math.floor(k / 3)] += sign * weight[k] * offset[k % 3]
      }
    }
    if (!isFaulty) for (let axis = 0; axis < 3; axis++) normal[4 * axis] += this.#prior
    const system = { base, others, weights, fixed, normal, inverted: inverse(normal, 3) }
    if (isWhole) known[base] = system
    return system
  }

  /** χ² of these bases and of their pairs. */
  #misfit({ corrections, faulty, leftOut }: Explanation, bases: readonly number[]): number {
    const mark = ++this.#mark
    let sum = 0
    for (const base of bases) {
      const at = 3 * base
      if (!faulty.has(base)) {
        sum += this.#prior * (corrections[at] ** 2 + corrections[at + 1] ** 2 + corrections[at + 2] ** 2)
      }
      for (const pair of this.at[base]) {
        if (this.#pairMarks[pair] === mark || leftOut.has(pair)) continue
        this.#pairMarks[pair] = mark
        const { i, j, offset } = this.pairs[pair]
        const x = offset[0] - corrections[3 * j] + corrections[3 * i]
        const y = offset[1] - corrections[3 * j + 1] + corrections[3 * i + 1]
        const z = offset[2] - corrections[3 * j + 2] + corrections[3 * i + 2]
        sum += square(this.weights[pair][0], x, y, z)
      }
    }
    return sum
  }
}
