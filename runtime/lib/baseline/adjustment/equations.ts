/** The observation equations: each satellite's codes and phases of an epoch, with their weight. */
import { observedConstellations } from '../../gnss/index.js'
import type { DifferencedEpoch, DifferencedSatellite } from '../differences.js'
import type { Steps } from '../steps.js'
import { geometry, type Numbering, unused } from './numbering.js'

/** Standard deviations of the model. */
export interface NoiseModel {
  /** The wet zenith delay between both stations, metres. */
  readonly zenith_m: number
  /** The delay by the ionosphere above both stations, on the first frequency in the zenith, metres. */
  readonly above_m: number
  /** The difference of the ionospheric delay between both stations, in one epoch of the window, as `above_m`. */
  readonly ionosphere_m: number
}

/** Factors of the standard deviations of code and phase. */
export type Factors = readonly [code: number, phase: number]

/** The noise of one phase at one station in the zenith, metres, and that of a code, as many times as large. */
const phase_m = 0.003
const codes = 150

/** Code and phase of both frequencies: code, code, phase, phase. */
export const kinds = 4
export const isPhase = (kind: number) => kind >= 2
const none = 0b1111

/**
 * The observations of one satellite in one epoch.
 *
 * The weight of its kinds is the inverse of their covariance `N + i² d dᵀ`: noise by elevation, and the ionosphere that they share, with
 * their delays `d`. It is `A − b bᵀ` with `A = N⁻¹` and `b = A d / √(i⁻² + dᵀ A d)` (Sherman and Morrison 1950, Ann. Math. Stat. 21:124).
 */
export interface Row {
  /** Number of the satellite in the window, and of the epoch. */
  readonly satellite: number
  readonly epoch: number
  /** Observed minus computed by kind, metres. */
  readonly observed: readonly number[]
  /** A bit for each kind that is missing or left out. */
  missing: number
  /** Change of each kind by x, y, z and the wet zenith delay: the same for all kinds. */
  readonly geometry: readonly number[]
  /** Delay of each kind by a metre of ionosphere in the zenith of the second station, and the part of it that is due to both stations'. */
  readonly delays: readonly number[]
  readonly above: number
  /** For both phases: the ambiguity's place among the columns of the block, −1: none; and the wavelength. */
  readonly places: readonly [number, number]
  readonly wavelengths_m: readonly [number, number]
  /** Variance of a phase by elevation, m². */
  readonly variance_m2: number
  /** `A` and `b`; those of missing kinds are zero. */
  readonly own: Float64Array
  readonly shared: Float64Array
}

/** Satellites of one constellation in one epoch, which share their clocks. */
export interface Block {
  readonly rows: readonly Row[]
  /** The unknowns that they have, in ascending order. */
  readonly columns: Int32Array
}

export interface Equations {
  readonly blocks: readonly Block[]
  /** Number of satellites. */
  readonly satellites: number
}

export function* equationsOf(epochs: readonly DifferencedEpoch[], numbering: Numbering): Steps<Equations> {
  const blocks: Block[] = []
  const numbers = new Map<number, number>()
  for (const [epoch, { satellites }] of epochs.entries()) {
    for (const [n, constellation] of observedConstellations.entries()) {
      const own = satellites.filter((one) => one.constellation === constellation)
      if (own.length < 2) continue
      const columns = columnsOf(own, numbering)
      const rows = own.map((one) => {
        const key = 256 * n + one.satellite
        const satellite = numbers.get(key) ?? numbers.size
        numbers.set(key, satellite)
        return rowOf(one, satellite, epoch, columns, numbering)
      })
      blocks.push({ rows, columns })
    }
    yield
  }
  return { blocks, satellites: numbers.size }
}

function columnsOf(satellites: readonly DifferencedSatellite[], { columns }: Numbering): Int32Array {
  const own = Array.from({ length: geometry }, (_, column) => column)
  for (const { signals } of satellites) {
    for (const signal of signals) {
      if (signal?.phase_m !== undefined && columns[signal.arc] >= geometry) own.push(columns[signal.arc])
    }
  }
  return Int32Array.from(own).sort()
}

function rowOf(
  { from, to, signals }: DifferencedSatellite,
  satellite: number,
  epoch: number,
  blockColumns: Int32Array,
  { columns, starts }: Numbering,
): Row {
  let missing = none
  const observed = [0, 0, 0, 0]
  const places: [number, number] = [unused, unused]
  const wavelengths_m: [number, number] = [1, 1]
  for (let frequency = 0; frequency < 2; frequency++) {
    const signal = signals[frequency]
    if (!signal) continue
    const { code_m, phase_m, arc, wavelength_m } = signal
    wavelengths_m[frequency] = wavelength_m
    observed[frequency] = code_m
    missing &= ~(1 << frequency)
    if (phase_m === undefined || columns[arc] === unused) continue
    observed[2 + frequency] = phase_m - starts[arc] * wavelength_m
    missing &= ~(1 << (2 + frequency))
    places[frequency] = blockColumns.indexOf(columns[arc])
  }
  const ratio = (wavelengths_m[1] / wavelengths_m[0]) ** 2
  // A thin layer at 350 km. Codes are late by it, phases early.
  const slant = slantAt(to.elevation_deg)
  const [x, y, z] = to.sight
  return {
    satellite,
    epoch,
    observed,
    missing,
    geometry: [-x, -y, -z, to.mapping],
    delays: [slant, slant * ratio, -slant, -slant * ratio],
    // The same ionosphere is above both, but they see a satellite through it at different angles: without it, vectors are too short
    // (Beutler et al. 1988, Atmospheric refraction and other important biases in GPS carrier phase observations).
    above: 1 - slantAt(from.elevation_deg) / slant,
    places,
    wavelengths_m,
    variance_m2: varianceAt(from.elevation_deg) + varianceAt(to.elevation_deg),
    own: new Float64Array(kinds),
    shared: new Float64Array(kinds),
  }
}

/** Way through a thin layer at 350 km, in parts of that from the zenith. */
export function slantAt(elevation_deg: number): number {
  const part = 0.948 * Math.cos(elevation_deg * radians)
  return 1 / Math.sqrt(1 - part * part)
}

const radians = Math.PI / 180

function varianceAt(elevation_deg: number): number {
  const sine = Math.sin(elevation_deg * radians)
  return phase_m * phase_m * (1 + 1 / (sine * sine))
}

/** Sets the weights of a block's rows. @returns false: fewer than two satellites are left, and their clocks take up all of them */
export function weigh({ rows }: Block, ionosphere_m: number, factors: Factors): boolean {
  const code = 1 / (codes * factors[0]) ** 2
  const phase = 1 / factors[1] ** 2
  let count = 0
  for (const { missing, delays, variance_m2, own, shared } of rows) {
    if (missing !== none) count += 1
    let sum = 1 / (ionosphere_m * ionosphere_m)
    for (let kind = 0; kind < kinds; kind++) {
      own[kind] = (missing >> kind) & 1 ? 0 : (isPhase(kind) ? phase : code) / variance_m2
      sum += own[kind] * delays[kind] * delays[kind]
    }
    const scale = 1 / Math.sqrt(sum)
    for (let kind = 0; kind < kinds; kind++) shared[kind] = own[kind] * delays[kind] * scale
  }
  return count > 1
}

/** Whether all of its observations are missing or left out. */
export const isEmpty = ({ missing }: Row): boolean => missing === none

/** The weight of two kinds. */
export const weightOf = ({ own, shared }: Row, p: number, q: number): number =>
  (p === q ? own[p] : 0) - shared[p] * shared[q]

/** `result = W · values` */
export function weighted({ own, shared }: Row, values: ArrayLike<number>, result: Float64Array): void {
  let sum = 0
  for (let kind = 0; kind < kinds; kind++) sum += shared[kind] * values[kind]
  for (let kind = 0; kind < kinds; kind++) result[kind] = own[kind] * values[kind] - shared[kind] * sum
}
