/** The movement check of a base in fixed mode: its own position is an echo, so other evidence is needed. Pure. */
import { type Enu, enu } from 'rtk-base/gnss'
import type { Ecef, ReceiverFix, SatelliteResidual } from 'rtk-base/services'
import { type Evidence, ResidualEvidence, SecondFixEvidence, WarningEvidence } from './evidence/index.js'

/** Where each kind of evidence saw the antenna in its first 10 min: for the next watch of the same base. */
export interface Baselines {
  residuals?: Enu
  second?: Enu
}

/** All evidence together. `residuals`, `secondFix` and `warning` return why the antenna is suspected to have moved, or undefined. */
export class MovementWatch {
  readonly #residuals: Evidence<readonly SatelliteResidual[]>
  readonly #second: Evidence<ReceiverFix>
  readonly #warning: Evidence<string> = new WarningEvidence()

  /**
   * @param arp the reference that the base holds
   * @param live where the antenna was when that was last known otherwise
   */
  constructor(arp: Ecef, live: Ecef | undefined, baselines: Baselines = {}) {
    const prior = live && enu(arp, live)
    this.#residuals = new ResidualEvidence(prior, baselines.residuals)
    this.#second = new SecondFixEvidence(arp, prior, baselines.second)
  }

  get baselines(): Baselines {
    const { baseline: residuals } = this.#residuals
    const { baseline: second } = this.#second
    return { ...(residuals && { residuals }), ...(second && { second }) }
  }

  residuals(residuals: readonly SatelliteResidual[], now_ms: number): string | undefined {
    return this.#residuals.hear(residuals, now_ms)
  }

  secondFix(fix: ReceiverFix, now_ms: number): string | undefined {
    return this.#second.hear(fix, now_ms)
  }

  warning(text: string, now_ms: number): string | undefined {
    return this.#warning.hear(text, now_ms)
  }

  /** Distance to the reference by the best evidence of the last seconds, metres; undefined without any. */
  delta_m(now_ms: number): number | undefined {
    const offset = this.#second.newest(now_ms) ?? this.#residuals.newest(now_ms)
    return offset && Math.hypot(offset.east, offset.north, offset.up)
  }
}
