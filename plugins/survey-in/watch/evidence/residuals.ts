import type { Enu } from 'rtk-base/gnss'
import type { SatelliteResidual } from 'rtk-base/services'
import type { OffsetEvidence, Suspect } from './evidence.js'
import { OffsetWatch, type Prior } from './offset-watch.js'
import { offsetOf } from './residual-offset.js'

/** The pseudorange residuals beside the position that the base holds. */
export class ResidualEvidence extends OffsetWatch implements OffsetEvidence<readonly SatelliteResidual[]> {
  constructor(prior: Prior, baseline: Enu | undefined) {
    super(prior, baseline, true)
  }

  hear(residuals: readonly SatelliteResidual[], now_ms: number): Suspect | undefined {
    const offset = offsetOf(residuals)
    const away_m = offset && this.add(offset, now_ms)
    return away_m === undefined ? undefined : { text: `the ranges say ${away_m.toFixed(1)} m`, size_m: away_m }
  }
}
