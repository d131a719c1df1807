import type { Enu } from 'rtk-base/gnss'
import { type Displacement, doubtOf } from './displacement.js'

/** Minimum duration, with a minimum number of samples. */
const confirm_ms = 3_000
const fewest = 3
/**
 * The errors of these positions last for many seconds. In three simulated days of typical surroundings, 34 minutes had a peak above 5 and one had
 * a peak above 6. The rest is a margin for the troposphere and for clocks that wander more.
 */
const significance = 15
/** The part of the displacement that the samples may differ from the newest. */
const steadiness = 0.5

interface Sample extends Enu {
  readonly at_ms: number
}

/** A slow push: positions that are held against what was more than a quarter of a minute ago. */
export class Creep {
  readonly #least_m: number
  /** Samples beyond the limit that agree with each other, one after the other. */
  #beyond: Sample[] = []

  constructor(threshold_m: number) {
    this.#least_m = threshold_m
  }

  restart(): void {
    this.#beyond = []
  }

  /**
   * Takes a position of an epoch.
   * @param from where the antenna was before, in the same frame
   * @returns the displacement, once it is sure
   */
  take(at_ms: number, position: Displacement, from: Enu): Enu | undefined {
    const { east_m, north_m, up_m, sigma } = position
    const [east, north, up] = [east_m - from.east, north_m - from.north, up_m - from.up]
    const size_m = Math.hypot(east, north, up)
    const sigmas = Math.hypot(east / sigma.east_m, north / sigma.north_m, up / sigma.up_m)
    if (size_m < this.#least_m || sigmas < significance * doubtOf(position)) {
      this.restart()
      return undefined
    }
    const newest = { east, north, up, at_ms }
    const isNear = ({ east, north, up }: Sample) =>
      Math.hypot(east - newest.east, north - newest.north, up - newest.up) <= steadiness * size_m
    this.#beyond = this.#beyond.every(isNear) ? [...this.#beyond, newest] : [newest]
    const lasts = this.#beyond.length >= fewest && at_ms - this.#beyond[0].at_ms >= 0.99 * confirm_ms
    return lasts ? newest : undefined
  }
}
