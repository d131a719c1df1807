/**
 * Parts of a net that agree within themselves. Left-out vectors may separate a net into parts, and faulty bases may share
 * a fault: only the strictly largest of such groups is a reference for the others.
 */
import type { BaseNetwork, Explanation } from './network.js'

export interface Camps {
  /** Whether the part that the base belongs to has a majority of sound bases that agree. */
  readonly hasMajority: (base: number) => boolean
}

/**
 * @param ambiguous bases that are not counted as sound
 * @param connects whether a pair, by index, is precise enough to connect two bases
 */
export function campsOf(
  net: BaseNetwork,
  { corrections, faulty, leftOut }: Explanation,
  ambiguous: ReadonlySet<number>,
  tolerance_m: number,
  connects: (pair: number) => boolean,
): Camps {
  const parts = new Groups(net.size)
  for (const [pair, { i, j }] of net.pairs.entries()) if (!leftOut.has(pair) && connects(pair)) parts.join(i, j)
  const sound = new Map<number, number>()
  for (let base = 0; base < net.size; base++) {
    const part = parts.of(base)
    if (!faulty.has(base) && !ambiguous.has(base)) sound.set(part, (sound.get(part) ?? 0) + 1)
  }
  const outvoted = new Set<number>()
  for (const [part, size] of sharedFaults(parts, corrections, [...faulty], tolerance_m)) {
    if (size >= (sound.get(part) ?? 0)) outvoted.add(part)
  }
  // Parts between which a vector was left out contradict each other.
  const rivals = new Groups(net.size)
  for (const pair of leftOut) {
    const { i, j } = net.pairs[pair]
    rivals.join(parts.of(i), parts.of(j))
  }
  const largest = new Map<number, number>()
  for (const [part, size] of sound) {
    const side = rivals.of(part)
    const found = largest.get(side)
    if (found === undefined || size > (sound.get(found) ?? 0)) largest.set(side, part)
  }
  for (const [part, size] of sound) {
    const first = largest.get(rivals.of(part))
    if (first === undefined || first === part) continue
    outvoted.add(part)
    if (size === sound.get(first)) outvoted.add(first)
  }
  return { hasMajority: (base) => sound.has(parts.of(base)) && !outvoted.has(parts.of(base)) }
}

/** For each part, the number of faulty bases in the largest group with the same fault. */
function sharedFaults(
  parts: Groups,
  corrections: Float64Array,
  faulty: readonly number[],
  tolerance_m: number,
): Map<number, number> {
  const largest = new Map<number, number>()
  for (const one of faulty) {
    const part = parts.of(one)
    const alike = faulty.filter(
      (other) =>
        parts.of(other) === part &&
        Math.hypot(...[0, 1, 2].map((axis) => corrections[3 * one + axis] - corrections[3 * other + axis])) <=
          2 * tolerance_m,
    )
    largest.set(part, Math.max(largest.get(part) ?? 0, alike.length))
  }
  return largest
}

/** Disjoint sets of numbers. */
class Groups {
  readonly #parents: Int32Array

  constructor(size: number) {
    this.#parents = Int32Array.from({ length: size }, (_, index) => index)
  }

  of(index: number): number {
    let root = index
    while (this.#parents[root] !== root) {
      this.#parents[root] = this.#parents[this.#parents[root]]
      root = this.#parents[root]
    }
    return root
  }

  join(one: number, other: number): void {
    this.#parents[this.of(one)] = this.of(other)
  }
}
