/** The observation equations: each satellite's codes and phases of an epoch, with their weight, and the clocks that they share. */
import { observedConstellations } from '../gnss/index.js'
import type { Arc, DifferencedEpoch, DifferencedSatellite } from './differences.js'
import { inverse, type Matrix, product } from './linear.js'
import type { Steps } from './steps.js'

/** Standard deviations of the model. */
export interface NoiseModel {
  /** Of the wet zenith delay between both stations, metres. */
  readonly zenith_m: number
  /** Of the delay by the ionosphere above both stations, on the first frequency in the zenith, metres. */
  readonly above_m: number
  /** The same of the difference between both, for one epoch of the window. */
  readonly ionosphere_m: number
}

/** Of the standard deviations of code and phase. */
export type Factors = readonly [code: number, phase: number]

/** Of one phase at one station in the zenith, and of a code, as many times as large, metres. */
const phase_m = 0.003
const codes = 150
/** Of a clock before the observations, metres. */
const clock_m = 1_000
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

const unused = -1
const datum = -2

/** Which arcs have an ambiguity: in each set of arcs that are connected by epochs, that of the longest is zero. */
export function number(epochs: readonly DifferencedEpoch[], arcs: readonly Arc[]): Numbering {
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
export const kinds = 4
export const isPhase = (kind: number) => kind >= 2

/** The observations of one satellite in one epoch. */
export interface Row {
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
export type Block = readonly Row[]

export interface Weighting extends NoiseModel {
  readonly factors: Factors
}

export function* blocksOf(
  epochs: readonly DifferencedEpoch[],
  numbering: Numbering,
  weighting: Weighting,
  excluded: ReadonlySet<string>,
): Steps<Block[]> {
  const blocks: Block[] = []
  for (const [index, { satellites }] of epochs.entries()) {
    for (const constellation of observedConstellations) {
      const block = satellites
        .filter((one) => one.constellation === constellation)
        .flatMap((one) => rowOf(one, index, numbering, weighting, excluded) ?? [])
      if (block.length > 1) blocks.push(block)
      yield
    }
  }
  return blocks
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
  const [first_m, second_m] = [0, 1].map((frequency) => signals[frequency]?.wavelength_m ?? 1)
  const ratio = (second_m / first_m) ** 2
  // A thin layer at 350 km. Codes are late by it, phases early.
  const slant = slantAt(to.elevation_deg)
  const delays = [slant, slant * ratio, -slant, -slant * ratio]
  // The same ionosphere is above both, but they see a satellite through it at different angles: without it, vectors are too short
  // (Beutler et al. 1988, Atmospheric refraction and other important biases in GPS carrier phase observations).
  const angle = 1 - slantAt(from.elevation_deg) / slant
  const weight = weightOf(from.elevation_deg, to.elevation_deg, delays, has, weighting)
  if (!weight) return undefined
  const width = geometry + ambiguities.length
  const design = new Float64Array(kinds * width)
  for (let kind = 0; kind < kinds; kind++) {
    for (let axis = 0; axis < 3; axis++) design[kind * width + axis] = -to.sight[axis]
    design[kind * width + 3] = to.mapping
    design[kind * width + 4] = angle * delays[kind]
  }
  for (const [k, { kind, wavelength_m }] of ambiguities.entries()) design[kind * width + geometry + k] = wavelength_m
  return { id, index, columns: [0, 1, 2, 3, 4, ...ambiguities.map(({ column }) => column)], design, observed, weight }
}

/** Way through a thin layer at 350 km, in parts of that from the zenith. */
export const slantAt = (elevation_deg: number): number => (1 - (0.948 * Math.cos(elevation_deg * radians)) ** 2) ** -0.5

const radians = Math.PI / 180

/** The inverse of the covariance of the kinds: noise by elevation, and the ionosphere that they share. Undefined: there are none. */
function weightOf(
  from_deg: number,
  to_deg: number,
  delays: readonly number[],
  has: readonly boolean[],
  { ionosphere_m, factors }: Weighting,
): Matrix | undefined {
  const variance = (elevation_deg: number) => phase_m ** 2 * (1 + Math.sin(elevation_deg * radians) ** -2)
  const phases = variance(from_deg) + variance(to_deg)
  const kept = [0, 1, 2, 3].filter((kind) => has[kind])
  const covariance = new Float64Array(kept.length ** 2)
  for (const [i, p] of kept.entries()) {
    for (const [j, q] of kept.entries()) covariance[i * kept.length + j] = ionosphere_m ** 2 * delays[p] * delays[q]
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

/** The clocks of a block, one for each kind. */
export class Clocks {
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
