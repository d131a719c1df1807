/** The move that people are told: what one watch after the other has measured. Pure. */
import { moveText } from 'rtk-base/gnss'
import type { AntennaMove, MoveEvidence } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { plus } from './phase/departure.js'
import type { Move } from './phase/report.js'
import { Measured, Vector } from './suspicion.js'

const { isLeast, moves } = Measured.properties
const Sum = Type.Object({ ...Vector.properties, isLeast, moves })
export type MoveSum = Static<typeof Sum>

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
export const ShownSnapshot = Type.Object({
  earlier: Type.Optional(Sum),
  present: Type.Optional(Sum),
  /** Missing: nothing was told yet. */
  told_ms: Type.Optional(Type.Number()),
  isBlind: Type.Boolean(),
})
type ShownSnapshot = Static<typeof ShownSnapshot>

export class ShownMove {
  /** To the place that the present watch measures from. */
  #earlier: MoveSum | undefined
  #present: MoveSum | undefined
  #told_ms: number | undefined
  #isBlind: boolean

  constructor({ earlier, present, told_ms, isBlind }: ShownSnapshot = { isBlind: false }) {
    this.#earlier = earlier
    this.#present = present
    this.#told_ms = told_ms
    this.#isBlind = isBlind
  }

  /** In a new instance: what was suspected before, and nothing is known of the time since. */
  static after({ isLeast = false, moves = 1, vector }: Partial<AntennaMove> = {}): ShownMove {
    return new ShownMove({ ...(vector && { earlier: { ...vector, isLeast, moves } }), isBlind: true })
  }

  snapshot(): ShownSnapshot {
    const [earlier, present, told_ms] = [this.#earlier, this.#present, this.#told_ms]
    return {
      ...(earlier && { earlier }),
      ...(present && { present }),
      ...(told_ms !== undefined && { told_ms }),
      isBlind: this.#isBlind,
    }
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
    if (this.#told_ms === undefined || now_ms - 1000 * move.age_s > this.#told_ms) {
      if (this.#present) this.#earlier = sum(this.#earlier, this.#present)
      if (this.#earlier && this.#isBlind) this.#earlier = { ...this.#earlier, isLeast: true }
      this.#isBlind = false
    }
    this.#told_ms = now_ms
    this.#present = sum(undefined, move)
    return sum(this.#earlier, this.#present)
  }

  /** @param before the suspected move, which this one adds to @param utc_s 0: unknown */
  evidence(move: Move, before: AntennaMove | undefined, now_ms: number, utc_s: number): MoveEvidence {
    const { isLeast, moves, ...vector } = this.take(move, now_ms)
    const size_m = Math.hypot(vector.east_m, vector.north_m, vector.up_m)
    const t = before?.t ?? Math.max(0, Math.round(utc_s - move.age_s))
    const found: AntennaMove = { by: before?.by ?? 'phases', t, size_m, isLeast, moves, vector }
    const text = `the carrier phases show a move of ${moveText(found)}`
    return { moved: true, by: 'phases', text, size_m, move: found }
  }
}
