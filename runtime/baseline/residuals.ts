/** How well a solution fits its equations: the size of the noise, its correlation in time, and outliers. */
import { type Block, Clocks, type Factors, isPhase, kinds } from './equations.js'
import { product } from './linear.js'

/** An observation beyond this many times the usual residual is left out. */
const outlier = 4.5
/** Correlation of the errors of consecutive epochs: even without a sign of it there is some. */
const correlations = { least: 0.3, most: 0.98 }

/** How well a solution fits. Pairs: code, phase. */
export class Residuals {
  readonly #unknowns: number
  readonly #satellites = new Set<string>()
  readonly #kinds: Readonly<[KindOfResidual, KindOfResidual]> = [new KindOfResidual(), new KindOfResidual()]
  readonly #largest: { id: string; of: 0 | 1; size: number }[] = []

  constructor(unknowns: number) {
    this.#unknowns = unknowns
  }

  add(rows: Block, solution: Float64Array): void {
    const clocks = new Clocks()
    const left = rows.map(({ columns, design, observed, weight }) => {
      const rest = observed.slice()
      for (let kind = 0; kind < kinds; kind++) {
        for (const [k, column] of columns.entries()) rest[kind] -= design[kind * columns.length + k] * solution[column]
      }
      clocks.add(weight, rest)
      return rest
    })
    const seen = new Set<number>()
    for (const [n, row] of rows.entries()) {
      const { id, index, weight } = row
      this.#satellites.add(id)
      const weighted = product(
        weight,
        left[n].map((value, kind) => value - clocks.values[kind]),
        kinds,
      )
      // Without both phases the ionosphere is in the residual too.
      if (weight[10] === 0 || weight[15] === 0) continue
      let worst: { id: string; of: 0 | 1; size: number } | undefined
      for (let kind = 0; kind < kinds; kind++) {
        const w = weight[kind * kinds + kind]
        if (w === 0) continue
        // Of what the other observations of the satellite leave open.
        const value = weighted[kind] / Math.sqrt(w)
        const of = isPhase(kind) ? 1 : 0
        this.#kinds[of].add(`${id} ${kind}`, index, value)
        seen.add(kind)
        if (Math.abs(value) > (worst?.size ?? 0)) worst = { id: `${id} ${index} ${kind}`, of, size: Math.abs(value) }
      }
      if (worst && worst.size > 2) this.#largest.push(worst)
    }
    for (const kind of seen) this.#kinds[isPhase(kind) ? 1 : 0].unknowns += 1
  }

  /** Of each satellite and epoch the worst observation. */
  get outliers(): string[] {
    const { misfit } = this
    return this.#largest.flatMap(({ id, of, size }) => (size > outlier * misfit[of] ? [id] : []))
  }

  get satellites(): number {
    return this.#satellites.size
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
  readonly #last = new Map<string, { index: number; value: number }>()

  add(id: string, index: number, value: number): void {
    this.count += 1
    this.#squares += value ** 2
    const last = this.#last.get(id)
    this.#last.set(id, { index, value })
    if (last?.index !== index - 1) {
      this.#runs += 1
      return
    }
    this.#products += last.value * value
    this.#pairs += (value ** 2 + last.value ** 2) / 2
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
