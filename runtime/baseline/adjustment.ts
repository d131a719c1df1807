/**
 * Least squares over the differences of one window: the place of the second station, the wet zenith delay between both, and the
 * real-valued ambiguities. The clocks of each epoch, one for each frequency of a constellation in code and in phase, are eliminated,
 * which is the same as double differences with their correlations.
 */
import type { Arc, DifferencedEpoch, DifferencedSatellite } from './differences.js'
import { inverse, type Matrix, product } from './linear.js'
import { constellations } from './observed.js'

/** Standard deviations of the model. */
export interface NoiseModel {
  /** Of the wet zenith delay between both stations, metres. */
  readonly zenith_m: number
  /** Of the ionosphere between both stations on the first frequency in the zenith, for one epoch of the window, metres. */
  readonly ionosphere_m: number
}

/** Of one phase at one station in the zenith, and of a code, as many times as large, metres. */
const phase_m = 0.003
const codes = 150
/** The noise is not taken for smaller than this part of the assumed. */
const leastFactor = 0.5
/** Of the adjustment: the noise and the outliers of one count in the next. */
const rounds = 4
/** Unknown before the observations: the place, an ambiguity (cycles), a clock. */
const place_m = 1_000
const ambiguity = 1_000
const clock_m = 1_000
/** East, north and up are not separated here: x, y, z and the zenith delay. */
const geometry = 4
/** An arc of fewer epochs says less than its ambiguity costs. */
const leastArc = 4
/** More ambiguities would take too long: the shortest arcs are left out. */
const mostAmbiguities = 160

export interface Floats {
  /** Correction of the assumed place of the second station, ECEF metres, then the zenith delay, metres. */
  readonly geometry: Float64Array
  /** Of the arcs with an ambiguity of their own, cycles. */
  readonly ambiguities: Float64Array
  readonly arcs: readonly number[]
  /** Of all, geometry first. */
  readonly covariance: Matrix
  /** How much larger than assumed the noise of code and of phase is. */
  readonly noise: Factors
  readonly satellites: number
}

/** Of the standard deviations of code and phase. */
type Factors = readonly [code: number, phase: number]

interface Numbering {
  /** Column of each arc; −1: not used; −2: its ambiguity is zero. */
  readonly columns: Int32Array
  readonly arcs: readonly number[]
  /** Integers to begin with, cycles. */
  readonly starts: Float64Array
}

const unused = -1
const datum = -2

/** @returns undefined: too few observations */
export function adjust(
  epochs: readonly DifferencedEpoch[],
  arcs: readonly Arc[],
  noise: NoiseModel,
): Floats | undefined {
  const numbering = number(epochs, arcs)
  const n = geometry + numbering.arcs.length
  let factors: Factors = [1, 1]
  let floats: Floats | undefined
  const excluded = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const blocks = blocksOf(epochs, numbering, { ...noise, factors }, excluded)
    const normal = new Normal(n)
    for (let axis = 0; axis < 3; axis++) normal.matrix[axis * n + axis] = place_m ** -2
    normal.matrix[3 * n + 3] = noise.zenith_m ** -2
    for (let k = geometry; k < n; k++) normal.matrix[k * n + k] = ambiguity ** -2
    for (const block of blocks) normal.add(block)
    const covariance = inverse(normal.matrix, n)
    if (!covariance) return undefined
    const solution = product(covariance, normal.right, n)
    const residuals = new Residuals(n)
    for (const block of blocks) residuals.add(block, solution)
    const { misfit, alike, redundancy, satellites } = residuals
    const noiseOf = (of: 0 | 1) => misfit[of] * factors[of]
    if (redundancy <= 0) return undefined
    floats = {
      geometry: solution.slice(0, geometry),
      ambiguities: Float64Array.from(numbering.arcs, (arc, k) => solution[geometry + k] + numbering.starts[arc]),
      arcs: numbering.arcs,
      covariance,
      noise: [noiseOf(0), noiseOf(1)],
      satellites,
    }
    factors = [Math.max(leastFactor, noiseOf(0)) * alike[0], Math.max(leastFactor, noiseOf(1)) * alike[1]]
    for (const id of residuals.outliers) excluded.add(id)
  }
  return floats
}

/** Which arcs have an ambiguity: in each set of arcs that are connected by epochs, that of the longest is zero. */
function number(epochs: readonly DifferencedEpoch[], arcs: readonly Arc[]): Numbering {
  const lengths = new Int32Array(arcs.length)
  const starts = new Float64Array(arcs.length).fill(Number.NaN)
  const groups = Int32Array.from(arcs, (_, arc) => arc)
  const root = (arc: number): number => (groups[arc] === arc ? arc : root(groups[arc]))
  for (const { satellites } of epochs) {
    const first = new Map<string, number>()
    for (const { constellation, signals } of satellites) {
      for (const [frequency, signal] of signals.entries()) {
        if (signal?.phase_m === undefined) continue
        const { arc, code_m, wavelength_m } = signal
        lengths[arc] += 1
        if (Number.isNaN(starts[arc])) starts[arc] = Math.round((signal.phase_m - code_m) / wavelength_m)
        const key = `${constellation} ${frequency}`
        const other = first.get(key)
        if (other === undefined) first.set(key, arc)
        else groups[root(arc)] = root(other)
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
    if (withDatum.has(root(arc))) columns[arc] = geometry + own.push(arc) - 1
    else {
      withDatum.add(root(arc))
      columns[arc] = datum
    }
  }
  return { columns, arcs: own, starts }
}

/** Code and phase of both frequencies: code, code, phase, phase. */
const kinds = 4
const isPhase = (kind: number) => kind >= 2

/** The observations of one satellite in one epoch. */
interface Row {
  readonly id: string
  readonly index: number
  /** The unknowns that it has, and the change of each kind by each of them. */
  readonly columns: readonly number[]
  readonly design: Float64Array
  /** Observed minus computed by kind; those that are missing have no weight. */
  readonly observed: Float64Array
  readonly weight: Matrix
}

/** Satellites of one constellation in one epoch, which share their clocks. */
type Block = readonly Row[]

interface Weighting extends NoiseModel {
  readonly factors: Factors
}

function blocksOf(
  epochs: readonly DifferencedEpoch[],
  numbering: Numbering,
  weighting: Weighting,
  excluded: ReadonlySet<string>,
): Block[] {
  return epochs
    .flatMap(({ satellites }, index) =>
      constellations.map((constellation) =>
        satellites
          .filter((one) => one.constellation === constellation)
          .flatMap((one) => rowOf(one, index, numbering, weighting, excluded) ?? []),
      ),
    )
    .filter((block) => block.length > 1)
}

function rowOf(
  { constellation, satellite, from, to, signals }: DifferencedSatellite,
  index: number,
  { columns, starts }: Numbering,
  weighting: Weighting,
  excluded: ReadonlySet<string>,
): Row | undefined {
  const id = `${constellation} ${satellite}`
  const observed = new Float64Array(kinds)
  const has = [false, false, false, false]
  const ambiguities: { column: number; kind: number; wavelength_m: number }[] = []
  for (const [frequency, signal] of signals.entries()) {
    if (!signal) continue
    const { code_m, phase_m, arc, wavelength_m } = signal
    observed[frequency] = code_m
    has[frequency] = !excluded.has(`${id} ${index} ${frequency}`)
    const kind = 2 + frequency
    const column = phase_m === undefined ? unused : columns[arc]
    if (phase_m === undefined || column === unused || excluded.has(`${id} ${index} ${kind}`)) continue
    observed[kind] = phase_m - starts[arc] * wavelength_m
    has[kind] = true
    if (column !== datum) ambiguities.push({ column, kind, wavelength_m })
  }
  const weight = weightOf(from.elevation_deg, to.elevation_deg, wavelengthsOf(signals), has, weighting)
  if (!weight) return undefined
  const width = geometry + ambiguities.length
  const design = new Float64Array(kinds * width)
  for (let kind = 0; kind < kinds; kind++) {
    for (let axis = 0; axis < 3; axis++) design[kind * width + axis] = -to.sight[axis]
    design[kind * width + 3] = to.mapping
  }
  for (const [k, { kind, wavelength_m }] of ambiguities.entries()) design[kind * width + geometry + k] = wavelength_m
  return { id, index, columns: [0, 1, 2, 3, ...ambiguities.map(({ column }) => column)], design, observed, weight }
}

const wavelengthsOf = (signals: DifferencedSatellite['signals']) =>
  [signals[0]?.wavelength_m ?? 1, signals[1]?.wavelength_m ?? 1] as const

const radians = Math.PI / 180

/** The inverse of the covariance of the kinds: noise by elevation, and the ionosphere that they share. Undefined: there are none. */
function weightOf(
  from_deg: number,
  to_deg: number,
  [first_m, second_m]: readonly [number, number],
  has: readonly boolean[],
  { ionosphere_m, factors }: Weighting,
): Matrix | undefined {
  const variance = (elevation_deg: number) => phase_m ** 2 * (1 + Math.sin(elevation_deg * radians) ** -2)
  const phases = variance(from_deg) + variance(to_deg)
  // A thin layer at 350 km.
  const level = 0.948 * Math.cos(to_deg * radians)
  const ionosphere = ionosphere_m ** 2 / (1 - level * level)
  const ratio = (second_m / first_m) ** 2
  const delays = [1, ratio, -1, -ratio]
  const kept = [0, 1, 2, 3].filter((kind) => has[kind])
  const covariance = new Float64Array(kept.length ** 2)
  for (const [i, p] of kept.entries()) {
    for (const [j, q] of kept.entries()) covariance[i * kept.length + j] = ionosphere * delays[p] * delays[q]
    covariance[i * kept.length + i] += phases * (isPhase(p) ? factors[1] : codes * factors[0]) ** 2
  }
  const inverted = kept.length > 0 ? inverse(covariance, kept.length) : undefined
  if (!inverted) return undefined
  const weight = new Float64Array(kinds * kinds)
  for (const [i, p] of kept.entries()) {
    for (const [j, q] of kept.entries()) weight[p * kinds + q] = inverted[i * kept.length + j]
  }
  return weight
}

/** Normal equations without the clocks. */
class Normal {
  readonly matrix: Matrix
  readonly right: Float64Array
  readonly #n: number

  constructor(n: number) {
    this.#n = n
    this.matrix = new Float64Array(n * n)
    this.right = new Float64Array(n)
  }

  add(rows: Block): void {
    const columns = [...new Set(rows.flatMap((row) => row.columns))]
    const place = new Map(columns.map((column, k) => [column, k]))
    const clocks = new Clocks()
    const cross = new Float64Array(kinds * columns.length)
    for (const { columns: own, design, observed, weight } of rows) {
      clocks.add(weight, observed)
      const width = own.length
      for (let p = 0; p < kinds; p++) {
        for (let q = 0; q < kinds; q++) {
          const w = weight[p * kinds + q]
          if (w === 0) continue
          for (let k = 0; k < width; k++) {
            const d = w * design[p * width + k]
            if (d === 0) continue
            cross[q * columns.length + (place.get(own[k]) ?? 0)] += d
            this.right[own[k]] += d * observed[q]
            for (let m = 0; m < width; m++) this.matrix[own[k] * this.#n + own[m]] += d * design[q * width + m]
          }
        }
      }
    }
    this.#eliminate(columns, cross, clocks)
  }

  #eliminate(columns: readonly number[], cross: Float64Array, clocks: Clocks): void {
    const width = columns.length
    for (let p = 0; p < kinds; p++) {
      for (let k = 0; k < width; k++) {
        const c = cross[p * width + k]
        if (c === 0) continue
        this.right[columns[k]] -= c * clocks.values[p]
        for (let q = 0; q < kinds; q++) {
          const d = c * clocks.covariance[p * kinds + q]
          for (let m = 0; m < width; m++) this.matrix[columns[k] * this.#n + columns[m]] -= d * cross[q * width + m]
        }
      }
    }
  }
}

/** The clocks of a block, one for each kind. */
class Clocks {
  readonly #weights = new Float64Array(kinds * kinds)
  readonly #right = new Float64Array(kinds)
  #solved: { covariance: Matrix; values: Float64Array } | undefined

  constructor() {
    for (let kind = 0; kind < kinds; kind++) this.#weights[kind * kinds + kind] = clock_m ** -2
  }

  add(weight: Matrix, values: Float64Array): void {
    for (let p = 0; p < kinds; p++) {
      for (let q = 0; q < kinds; q++) {
        this.#weights[p * kinds + q] += weight[p * kinds + q]
        this.#right[p] += weight[p * kinds + q] * values[q]
      }
    }
  }

  get #result() {
    if (!this.#solved) {
      const covariance = inverse(this.#weights, kinds) ?? new Float64Array(kinds * kinds)
      this.#solved = { covariance, values: product(covariance, this.#right, kinds) }
    }
    return this.#solved
  }

  get covariance(): Matrix {
    return this.#result.covariance
  }

  get values(): Float64Array {
    return this.#result.values
  }
}

/** An observation beyond this many times the usual residual is left out. */
const outlier = 4.5
/** Correlation of the errors of consecutive epochs: even without a sign of it there is some. */
const correlations = { least: 0.3, most: 0.98 }

/** How well a solution fits. Pairs: code, phase. */
class Residuals {
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
