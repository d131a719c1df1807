import type { ThirdDifference } from './third-difference.js'

/** Beyond so many times what is usual at this station, and this much, something moved or all phases are bad. */
const times = 2.5
const least_m = 0.015
/** Epochs that make up what is usual. */
const memory = 60
const warmUp = 5
/** Fewer signals say nothing about all of them. */
const minSignals = 8

/** Knows the usual third difference of a station, and says when one is not. */
export class Calm {
  #usual_m = 0
  #epochs = 0

  restart(): void {
    this.#epochs = 0
  }

  /** @returns undefined when there are too few signals or too short a history to tell */
  disturbed({ scale_m, signals }: ThirdDifference): boolean | undefined {
    if (signals < minSignals) return undefined
    const known = this.#epochs >= warmUp
    const disturbed = known && scale_m > Math.max(least_m, times * this.#usual_m)
    if (!disturbed) {
      this.#epochs++
      this.#usual_m += (scale_m - this.#usual_m) / Math.min(this.#epochs, memory)
    }
    return known ? disturbed : undefined
  }
}
