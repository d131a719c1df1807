/** Steps of RTK-fixed positions: whether the ambiguities were, or are, wrong. Pure. */
import { distance } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'

const step_m = 0.05
const stepEpochs = 3
/** Weight of an epoch in the level that a step is seen against: a drift is followed, a jump is not. */
const levelWeight = 0.1

export class StepWatch {
  #level: Ecef | undefined
  #apart = 0

  /** @param level of before a restart of the service */
  constructor(level?: Ecef) {
    this.#level = level
  }

  /** Where the positions are; undefined before the first. */
  get level(): Ecef | undefined {
    return this.#level
  }

  /** `wild`: a single epoch apart from the level. `step`: a few in a row are. */
  see(position: Ecef): 'near' | 'wild' | 'step' {
    if (!this.#level || distance(position, this.#level) <= step_m) {
      this.#apart = 0
      return 'near'
    }
    this.#apart++
    return this.#apart < stepEpochs ? 'wild' : 'step'
  }

  /** An epoch counts. */
  follow({ x, y, z }: Ecef): void {
    const level = this.#level
    const to = (before: number, now: number) => before + levelWeight * (now - before)
    this.#level = level ? { x: to(level.x, x), y: to(level.y, y), z: to(level.z, z) } : { x, y, z }
  }
}
