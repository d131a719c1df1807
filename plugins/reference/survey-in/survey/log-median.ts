import { type Static, Type } from 'typebox'

/** Values are distinguished to 1 %, from 0.1 mm to 100 km. */
const perBin = Math.log(1.01)
const smallest = 1e-4
const bins = Math.ceil(Math.log(1e5 / smallest) / perBin)

/** How often a value fell into each bin, as pairs: for the store. */
export const MedianSnapshot = Type.Array(
  Type.Tuple([Type.Integer({ minimum: 0, maximum: bins - 1 }), Type.Integer({ minimum: 1 })]),
  { maxItems: bins },
)
export type MedianSnapshot = Static<typeof MedianSnapshot>

/** The median of any number of positive values in bounded memory: a histogram with bins of 1 %. */
export class LogMedian {
  readonly #counts = new Uint32Array(bins)
  #total = 0

  add(value: number): void {
    this.#counts[binOf(value)]++
    this.#total++
  }

  /** 0 without any value. */
  get value(): number {
    if (this.#total === 0) return 0
    const half = this.#total / 2
    let below = 0
    for (let bin = 0; bin < bins; bin++) {
      below += this.#counts[bin]
      if (below >= half) return smallest * Math.exp((bin + 0.5) * perBin)
    }
    return 0
  }

  snapshot(): MedianSnapshot {
    return [...this.#counts.entries()].filter(([, count]) => count > 0)
  }

  restore(snapshot: MedianSnapshot): void {
    for (const [bin, count] of snapshot) {
      if (!(bin >= 0 && bin < bins && count > 0)) continue
      this.#counts[bin] += count
      this.#total += count
    }
  }
}

function binOf(value: number): number {
  const bin = Math.floor(Math.log(Math.max(value, smallest) / smallest) / perBin)
  return Math.min(bin, bins - 1)
}
