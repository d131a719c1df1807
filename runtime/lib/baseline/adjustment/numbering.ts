/** Which arcs have an ambiguity of their own, and its column. */
import { observedConstellations } from '../../gnss/index.js'
import type { Arc, DifferencedEpoch } from '../differences.js'

/** Unknowns before the ambiguities: x, y, z, the wet zenith delay, and the ionosphere above both. */
export const geometry = 5
/** An arc of fewer epochs says less than its ambiguity costs. */
const leastArc = 4
/** More ambiguities would take too long: the shortest arcs are left out. */
const mostAmbiguities = 160

export interface Numbering {
  /** Column of each arc; −1: not used; −2: its ambiguity is zero. */
  readonly columns: Int32Array
  readonly arcs: readonly number[]
  /** Integers to begin with, cycles. */
  readonly starts: Float64Array
}

export const unused = -1
const datum = -2

/** In each set of arcs that are connected by epochs, the ambiguity of the longest is zero. */
export function number(epochs: readonly DifferencedEpoch[], arcs: readonly Arc[]): Numbering {
  const lengths = new Int32Array(arcs.length)
  const starts = new Float64Array(arcs.length).fill(Number.NaN)
  const sets = new Sets(arcs.length)
  // Arcs of one clock, that is one frequency of a constellation.
  const clocks = Int32Array.from(arcs, (arc) => 2 * observedConstellations.indexOf(arc.constellation) + arc.frequency)
  const first = new Int32Array(2 * observedConstellations.length)
  for (const { satellites } of epochs) {
    first.fill(unused)
    for (const { signals } of satellites) {
      for (const signal of signals) {
        if (signal?.phase_m === undefined) continue
        const { arc, code_m, wavelength_m } = signal
        lengths[arc] += 1
        if (Number.isNaN(starts[arc])) starts[arc] = Math.round((signal.phase_m - code_m) / wavelength_m)
        const other = first[clocks[arc]]
        if (other === unused) first[clocks[arc]] = arc
        else sets.join(arc, other)
      }
    }
  }
  const longest = [...lengths.keys()].filter((arc) => lengths[arc] >= leastArc)
  longest.sort((p, q) => lengths[q] - lengths[p])
  longest.length = Math.min(longest.length, mostAmbiguities)
  const columns = new Int32Array(arcs.length).fill(unused)
  const withDatum = new Set<number>()
  const own: number[] = []
  for (const arc of longest) {
    const set = sets.of(arc)
    if (withDatum.has(set)) columns[arc] = geometry + own.push(arc) - 1
    else {
      withDatum.add(set)
      columns[arc] = datum
    }
  }
  return { columns, arcs: own, starts }
}

/** Disjoint sets of the numbers from 0 (union–find). */
class Sets {
  readonly #parents: Int32Array

  constructor(size: number) {
    this.#parents = Int32Array.from({ length: size }, (_, one) => one)
  }

  /** The number that stands for the set of this one. */
  of(one: number): number {
    let root = one
    while (this.#parents[root] !== root) root = this.#parents[root]
    return root
  }

  join(one: number, other: number): void {
    this.#parents[this.of(one)] = this.of(other)
  }
}
