/** The place of a station by its own ranges: right to some metres, to begin with, and to find a wrong announced position. */
import type { Ecef } from '../../../schemas/services.js'
import { carrier_hz, median, observedConstellations } from '../gnss/index.js'
import { invert, product } from '../gnss/linear.js'
import { light_mps, Place, type Sent, type SentEpoch } from './geometry.js'
import type { Steps } from './steps.js'

const radians = Math.PI / 180
const mask_deg = 10
const rounds = 12
/** The first rounds, with satellites of any elevation and all ranges. */
const roundsFar = 3
const settled_m = 3
/** Farther from the median of its clock than this many times the median distance, each by its weight, a range is left out. */
const outlier = 6
const leastRows = 12
/** Ranges without a pause. */
const together = 256

/** Why the ranges of a station give no place. */
export type NoCodePosition = 'too-little' | 'one-frequency' | 'contradicts'

/** A range without the ionosphere. Those of one clock, that is one epoch and constellation, follow each other. */
interface Range {
  readonly sent: Sent
  readonly range_m: number
  readonly clock: number
}

/**
 * Least squares over all epochs, weighted by elevation, with a clock for each epoch and constellation.
 * @param start anywhere near the surface of the Earth, ECEF metres
 * @returns or why there is none
 */
export function* codePosition(epochs: readonly SentEpoch[], start: Ecef): Steps<Ecef | NoCodePosition> {
  const ranges = rangesOf(epochs)
  if (ranges.length < leastRows) {
    const all = epochs.reduce((sum, { satellites }) => sum + satellites.length, 0)
    return all < leastRows ? 'too-little' : 'one-frequency'
  }
  const rows = new Rows(ranges.length)
  let ecef = start
  for (let round = 0; round < rounds; round++) {
    const isFar = round < roundsFar
    yield* rows.fill(ranges, ecef, isFar)
    if (!isFar) rows.leaveOut()
    const step = rows.step()
    if (!step) return 'contradicts'
    const [x, y, z] = step
    ecef = { x: ecef.x + x, y: ecef.y + y, z: ecef.z + z }
    if (!isFar && Math.hypot(x, y, z) < settled_m) return ecef
  }
  return 'contradicts'
}

function rangesOf(epochs: readonly SentEpoch[]): Range[] {
  const ranges: Range[] = []
  for (const [index, { satellites }] of epochs.entries()) {
    for (const [n, constellation] of observedConstellations.entries()) {
      const clock = index * observedConstellations.length + n
      for (const sent of satellites) {
        if (sent.observed.constellation !== constellation) continue
        const range_m = withoutIonosphere(sent)
        if (range_m !== undefined) ranges.push({ sent, range_m, clock })
      }
    }
  }
  return ranges
}

/**
 * The combination of two frequencies without the ionosphere; undefined with one frequency. The clocks of GPS and Galileo are those of such a
 * combination, that of BeiDou is of one signal: what is left of the delays is `k T_GD1 / (k − 1)` of B1I and B3I, and
 * `(k T_GD1 − T_GD2) / (k − 1)` of B1I and B2I, k the square of the ratio of both frequencies. Those of B1C and B2a are not in RTCM.
 */
function withoutIonosphere({ observed: { constellation, signals }, groupDelays_s }: Sent): number | undefined {
  const [first] = signals
  const hz = (band: string) => carrier_hz(constellation, band) ?? 0
  const second = first && signals.find(({ band }) => Math.abs(hz(band) - hz(first.band)) > 200e6)
  if (!first || !second) return undefined
  const ratio = (hz(first.band) / hz(second.band)) ** 2
  const range_m = ({ band, code_m }: typeof first) => code_m - light_mps * (groupDelays_s[band] ?? 0)
  return (ratio * range_m(first) - range_m(second)) / (ratio - 1)
}

/** The equations of a round. */
class Rows {
  #count = 0
  readonly #clocks: Int32Array
  readonly #sights: Float64Array
  /** Observed minus computed, metres. */
  readonly #left: Float64Array
  /** Ranges near the horizon have several times the noise and multipath. */
  readonly #weights: Float64Array

  constructor(most: number) {
    this.#clocks = new Int32Array(most)
    this.#sights = new Float64Array(3 * most)
    this.#left = new Float64Array(most)
    this.#weights = new Float64Array(most)
  }

  /** @param isFar satellites of any elevation count: the directions are not known yet */
  *fill(ranges: readonly Range[], ecef: Ecef, isFar: boolean): Steps<void> {
    const place = new Place(ecef)
    this.#count = 0
    for (const [index, { sent, range_m, clock }] of ranges.entries()) {
      if (index % together === 0) yield
      const computed = place.computed(sent, isFar ? 0 : mask_deg)
      if (!computed) continue
      const row = this.#count++
      this.#clocks[row] = clock
      this.#sights.set(computed.sight, 3 * row)
      this.#left[row] = range_m - computed.range_m
      this.#weights[row] = isFar ? 1 : Math.sin(computed.elevation_deg * radians) ** 2
    }
  }

  /** Leaves the outliers out. */
  leaveOut(): void {
    const sizes = new Float64Array(this.#count)
    for (const [begin, end] of this.#runs()) {
      const middle = median(this.#left.subarray(begin, end))
      for (let row = begin; row < end; row++) {
        sizes[row] = Math.abs(this.#left[row] - middle) * Math.sqrt(this.#weights[row])
      }
    }
    const limit = outlier * Math.max(1, this.#count > 0 ? median(sizes) : 0)
    let kept = 0
    for (let row = 0; row < this.#count; row++) {
      if (!(sizes[row] <= limit)) continue
      this.#clocks[kept] = this.#clocks[row]
      this.#sights.copyWithin(3 * kept, 3 * row, 3 * row + 3)
      this.#left[kept] = this.#left[row]
      this.#weights[kept] = this.#weights[row]
      kept += 1
    }
    this.#count = kept
  }

  /** @returns the change of the place, ECEF metres; undefined: too few ranges, or all in one direction */
  step(): Float64Array | undefined {
    if (this.#count < leastRows) return undefined
    const [normal, right, mean] = [new Float64Array(9), new Float64Array(3), new Float64Array(3)]
    for (const [begin, end] of this.#runs()) {
      const middle_m = this.#meanOf(begin, end, mean)
      for (let row = begin; row < end; row++) {
        const weight = this.#weights[row]
        for (let p = 0; p < 3; p++) {
          const weighted = weight * (this.#sights[3 * row + p] - mean[p])
          right[p] -= weighted * (this.#left[row] - middle_m)
          for (let q = 0; q <= p; q++) normal[3 * p + q] += weighted * (this.#sights[3 * row + q] - mean[q])
        }
      }
    }
    return invert(normal, 3) ? product(normal, right, 3) : undefined
  }

  /** Weighted means of rows, which take the clock out. @returns that of what is left, metres @param mean that of the directions */
  #meanOf(begin: number, end: number, mean: Float64Array): number {
    mean.fill(0)
    let [all, left_m] = [0, 0]
    for (let row = begin; row < end; row++) {
      const weight = this.#weights[row]
      all += weight
      left_m += weight * this.#left[row]
      for (let axis = 0; axis < 3; axis++) mean[axis] += weight * this.#sights[3 * row + axis]
    }
    for (let axis = 0; axis < 3; axis++) mean[axis] /= all
    return left_m / all
  }

  /** The rows of each clock, from the first to behind the last. */
  *#runs(): Generator<readonly [begin: number, end: number], void> {
    for (let begin = 0, end = 0; begin < this.#count; begin = end) {
      while (end < this.#count && this.#clocks[end] === this.#clocks[begin]) end++
      yield [begin, end]
    }
  }
}
