/** How well a solution fits its equations: the size of the noise, its correlation in time, and outliers. */
import { Clocks } from './clocks.js'
import {
  type Block,
  type Equations,
  type Factors,
  isEmpty,
  isPhase,
  kinds,
  type Row,
  weighted,
  weightOf,
} from './equations.js'

/** An observation beyond this many times the usual residual is left out. */
const outlier = 4.5
/** Smaller residuals are no outliers, whatever is usual. */
const leastOutlier = 2
/** Correlation of the errors of consecutive epochs: even without a sign of it there is some. */
const correlations = { least: 0.3, most: 0.98 }

/** How well a solution fits. Pairs: code, phase. */
export class Residuals {
  readonly #unknowns: number
  readonly #isSeen: Uint8Array
  readonly #kinds: Readonly<[KindOfResidual, KindOfResidual]>
  readonly #largest: { row: Row; kind: number; size: number }[] = []
  readonly #clocks = new Clocks()
  /** The residuals of the rows of a block, by kind: observed minus computed. */
  #left = new Float64Array(32 * kinds)
  readonly #own = new Float64Array(kinds)
  readonly #weighted = new Float64Array(kinds)

  constructor(unknowns: number, { satellites }: Equations) {
    this.#unknowns = unknowns
    this.#isSeen = new Uint8Array(satellites)
    this.#kinds = [new KindOfResidual(satellites), new KindOfResidual(satellites)]
  }

  add({ rows, columns }: Block, solution: Float64Array): void {
    this.#subtract(rows, columns, solution)
    const { values } = this.#clocks
    let seen = 0
    for (let n = 0; n < rows.length; n++) {
      const row = rows[n]
      if (isEmpty(row)) continue
      this.#isSeen[row.satellite] = 1
      // Without both phases the ionosphere is in the residual too.
      if (row.own[2] === 0 || row.own[3] === 0) continue
      for (let kind = 0; kind < kinds; kind++) this.#own[kind] = this.#left[n * kinds + kind] - values[kind]
      weighted(row, this.#own, this.#weighted)
      let worst = 0
      let size = 0
      for (let kind = 0; kind < kinds; kind++) {
        if (row.own[kind] === 0) continue
        // Of what the other observations of the satellite leave open.
        const value = this.#weighted[kind] / Math.sqrt(weightOf(row, kind, kind))
        this.#kinds[isPhase(kind) ? 1 : 0].add(row, kind, value)
        seen |= 1 << kind
        if (Math.abs(value) <= size) continue
        worst = kind
        size = Math.abs(value)
      }
      if (size > leastOutlier) this.#largest.push({ row, kind: worst, size })
    }
    for (let kind = 0; kind < kinds; kind++) this.#kinds[isPhase(kind) ? 1 : 0].unknowns += (seen >> kind) & 1
  }

  /** Residuals of the observations of a block after a solution, and its clocks. */
  #subtract(rows: readonly Row[], columns: Int32Array, solution: Float64Array): void {
    if (this.#left.length < rows.length * kinds) this.#left = new Float64Array(rows.length * kinds)
    this.#clocks.begin()
    for (let n = 0; n < rows.length; n++) {
      const { observed, geometry, delays, above, places, wavelengths_m } = rows[n]
      let same = 0
      for (let k = 0; k < geometry.length; k++) same += geometry[k] * solution[k]
      for (let kind = 0; kind < kinds; kind++) {
        const place = isPhase(kind) ? places[kind - 2] : -1
        const ambiguity = place < 0 ? 0 : wavelengths_m[kind - 2] * solution[columns[place]]
        this.#own[kind] = observed[kind] - same - above * delays[kind] * solution[geometry.length] - ambiguity
      }
      this.#left.set(this.#own, n * kinds)
      this.#clocks.add(rows[n], this.#own)
    }
    this.#clocks.solve()
  }

  /** Leaves the outliers out from now on: of each satellite and epoch the worst observation. */
  leaveOut(): void {
    const { misfit } = this
    for (const { row, kind, size } of this.#largest) {
      if (size > outlier * misfit[isPhase(kind) ? 1 : 0]) row.missing |= 1 << kind
    }
  }

  get satellites(): number {
    return this.#isSeen.reduce((sum, is) => sum + is, 0)
  }

  /** Phases beyond the unknowns. */
  get redundancy(): number {
    return this.#kinds[1].count - this.#kinds[1].unknowns - this.#unknowns
  }

  /** RMS of the normalised residuals. */
  get misfit(): Factors {
    const [code, phase] = this.#kinds
    return [code.rms(code.count - code.unknowns), phase.rms(this.redundancy)]
  }

  /** By how much standard deviations are larger, because errors of consecutive epochs are alike. */
  get alike(): Factors {
    return [this.#kinds[0].alike, this.#kinds[1].alike]
  }
}

class KindOfResidual {
  count = 0
  unknowns = 0
  #squares = 0
  #products = 0
  #pairs = 0
  #runs = 0
  /** The last epoch of each satellite and kind, and its residual. */
  readonly #epochs: Int32Array
  readonly #values: Float64Array

  constructor(satellites: number) {
    this.#epochs = new Int32Array(satellites * kinds).fill(-2)
    this.#values = new Float64Array(satellites * kinds)
  }

  add({ satellite, epoch }: Row, kind: number, value: number): void {
    const at = satellite * kinds + kind
    const last = this.#values[at]
    const isRun = this.#epochs[at] === epoch - 1
    this.count += 1
    this.#squares += value * value
    this.#epochs[at] = epoch
    this.#values[at] = value
    if (!isRun) {
      this.#runs += 1
      return
    }
    this.#products += last * value
    this.#pairs += (value * value + last * last) / 2
  }

  rms(redundancy: number): number {
    return Math.sqrt(this.#squares / Math.max(1, redundancy))
  }

  get alike(): number {
    const measured = this.#pairs > 0 ? this.#products / this.#pairs : 0
    // Each run lost its mean to an ambiguity, so it looks less alike than it is (Kendall 1954, Biometrika 41:403-404).
    const found = measured + ((1 + 4 * measured) * this.#runs) / Math.max(1, this.count)
    const correlation = Math.min(Math.max(found, correlations.least), correlations.most)
    return Math.sqrt((1 + correlation) / (1 - correlation))
  }
}
