import type { Enu } from 'rtk-base/gnss'
import type { SatelliteResidual } from 'rtk-base/services'
import type { OffsetEvidence } from './evidence.js'
import { OffsetWatch, type Prior } from './offset-watch.js'
import { offsetOf } from './residual-offset.js'

/** The pseudorange residuals beside the position that the base holds. */
export class ResidualEvidence implements OffsetEvidence<readonly SatelliteResidual[]> {
  readonly #offsets: OffsetWatch

  constructor(prior: Prior, baseline: Enu | undefined) {
    this.#offsets = new OffsetWatch(prior, baseline, true)
  }

  hear(residuals: readonly SatelliteResidual[], now_ms: number): string | undefined {
    const offset = offsetOf(residuals)
    const away_m = offset && this.#offsets.add(offset, now_ms)
    return away_m === undefined ? undefined : `the ranges say ${away_m.toFixed(1)} m`
  }

  newest(now_ms: number): Enu | undefined {
    return this.#offsets.newest(now_ms)
  }

  confirms(now_ms: number): boolean | undefined {
    return this.#offsets.confirms(now_ms)
  }

  doubtful(now_ms: number): Enu | undefined {
    return this.#offsets.doubtful(now_ms)
  }

  get baseline(): Enu | undefined {
    return this.#offsets.baseline
  }
}
