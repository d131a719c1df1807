/** The movement check of a base in fixed mode: its own position is an echo, so other evidence is needed. Pure. */
import { type Enu, enu } from 'rtk-base/gnss'
import { EcefShape, EnuShape } from 'rtk-base/schemas'
import type { ReceiverFix, ReferencePosition, SatelliteResidual } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { unknownAccuracy_m } from '../limits.js'
import { ResidualEvidence, SecondFixEvidence, type Suspect, warningEvidence } from './evidence.js'
import type { OffsetWatch, Prior } from './offset-watch.js'

/** A position that the antenna was seen at. */
export const Seen = Type.Object({ position: EcefShape, acc_m: Type.Number({ minimum: 0 }) })
export type Seen = Static<typeof Seen>

/** Where each kind of evidence saw the antenna in its first 10 min: for the next watch of the same base. */
export const Baselines = Type.Object({ residuals: Type.Optional(EnuShape), second: Type.Optional(EnuShape) })
export type Baselines = Static<typeof Baselines>

/** All evidence together. `residuals`, `secondFix` and `warning` return undefined while nothing speaks for a move. */
export class MovementWatch {
  readonly #residuals: ResidualEvidence
  readonly #second: SecondFixEvidence

  /**
   * @param reference that the base holds
   * @param live where the antenna was when that was last known otherwise; without it, at the reference
   */
  constructor(reference: Omit<ReferencePosition, 'corr'>, live: Seen | undefined, baselines: Baselines = {}) {
    const { arp, acc_m, seenAt } = reference
    // Ranges and the second fix are compared with the coordinates that the receiver holds, which may be 2 m from its frame.
    const expected = enu(arp, seenAt ?? arp)
    const prior: Prior = live
      ? { offset: enu(arp, live.position), sigma_m: Math.max(unknownAccuracy_m, live.acc_m), reference: expected }
      : {
          offset: expected,
          sigma_m: Math.hypot(acc_m || unknownAccuracy_m, unknownAccuracy_m),
          reference: expected,
        }
    this.#residuals = new ResidualEvidence(prior, baselines.residuals)
    this.#second = new SecondFixEvidence(arp, prior, baselines.second)
  }

  get baselines(): Baselines {
    const { baseline: residuals } = this.#residuals
    const { baseline: second } = this.#second
    return { ...(residuals && { residuals }), ...(second && { second }) }
  }

  residuals(residuals: readonly SatelliteResidual[], now_ms: number): Suspect | undefined {
    return this.#residuals.hear(residuals, now_ms)
  }

  secondFix(fix: ReceiverFix, now_ms: number): Suspect | undefined {
    return this.#second.hear(fix, now_ms)
  }

  warning(text: string): Suspect | undefined {
    return warningEvidence(text)
  }

  /** Distance to the reference by the best evidence of the last seconds, metres; undefined without any. */
  delta_m(now_ms: number): number | undefined {
    const offset = this.#best((evidence) => {
      const newest = evidence.newest(now_ms)
      return newest && evidence.fromReference(newest)
    })
    return offset && Math.hypot(offset.east, offset.north, offset.up)
  }

  /** Whether the last seconds confirm the antenna position; undefined without evidence. */
  confirms(now_ms: number): boolean | undefined {
    const found = [this.#second.confirms(now_ms), this.#residuals.confirms(now_ms)]
    if (found.includes(false)) return false
    return found.includes(true) ? true : undefined
  }

  /** The offset of the last 30 min from the reference, when it is larger than the accuracies explain. */
  doubtful(now_ms: number, stands: boolean): Enu | undefined {
    return this.#best((evidence) => evidence.doubtful(now_ms, stands))
  }

  #best<V>(of: (evidence: OffsetWatch) => V | undefined): V | undefined {
    return of(this.#second) ?? of(this.#residuals)
  }
}
