/** The move that people are told: what one watch after the other has measured. Pure. */
import type { AntennaMove, MoveVector } from 'rtk-base/services'
import { plus } from './phase/departure.js'
import type { Move } from './phase/report.js'

export type MoveSum = MoveVector & Pick<AntennaMove, 'isLeast' | 'moves'>

/** Moves from one place to the next; their errors are independent. */
function sum(one: MoveSum | undefined, { east_m, north_m, up_m, covariance, isLeast, moves }: MoveSum): MoveSum {
  if (!one) return { east_m, north_m, up_m, covariance, isLeast, moves }
  return {
    east_m: one.east_m + east_m,
    north_m: one.north_m + north_m,
    up_m: one.up_m + up_m,
    covariance: plus(one.covariance, covariance),
    moves: one.moves + moves,
    isLeast: one.isLeast || isLeast,
  }
}

/** For the next instance of the plugin. */
export interface ShownSnapshot {
  readonly earlier?: MoveSum
  readonly present?: MoveSum
  readonly told_ms: number
  readonly isBlind: boolean
}

export class ShownMove {
  /** To the place that the present watch measures from. */
  #earlier: MoveSum | undefined
  #present: MoveSum | undefined
  #told_ms: number
  #isBlind: boolean

  constructor({ earlier, present, told_ms, isBlind }: ShownSnapshot = { told_ms: -Infinity, isBlind: false }) {
    this.#earlier = earlier
    this.#present = present
    this.#told_ms = told_ms
    this.#isBlind = isBlind
  }

  snapshot(): ShownSnapshot {
    const [earlier, present] = [this.#earlier, this.#present]
    return { ...(earlier && { earlier }), ...(present && { present }), told_ms: this.#told_ms, isBlind: this.#isBlind }
  }

  /** Nothing is known of the antenna for a moment: another move may have gone unseen. */
  blind(): void {
    this.#isBlind = true
  }

  /**
   * A statement from the same place takes the place of the last one: the watch makes one only after a motion. An antenna that left later
   * than that was told left another place.
   */
  take(move: Move, now_ms: number): MoveSum {
    if (now_ms - 1000 * move.age_s > this.#told_ms) {
      if (this.#present) this.#earlier = sum(this.#earlier, this.#present)
      if (this.#earlier && this.#isBlind) this.#earlier = { ...this.#earlier, isLeast: true }
      this.#isBlind = false
    }
    this.#told_ms = now_ms
    this.#present = sum(undefined, move)
    return sum(this.#earlier, this.#present)
  }
}
