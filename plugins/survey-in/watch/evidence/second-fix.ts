import { type Enu, enu } from 'rtk-base/gnss'
import type { Ecef, ReceiverFix } from 'rtk-base/services'
import { isPosition } from '../live-position.js'
import type { OffsetEvidence, Suspect } from './evidence.js'
import { OffsetWatch, type Prior } from './offset-watch.js'

/** A second position solution of the receiver that goes on in fixed mode. */
export class SecondFixEvidence extends OffsetWatch implements OffsetEvidence<ReceiverFix> {
  readonly #arp: Ecef

  constructor(arp: Ecef, prior: Prior, baseline: Enu | undefined) {
    super(prior, baseline, false)
    this.#arp = arp
  }

  hear(fix: ReceiverFix, now_ms: number): Suspect | undefined {
    // In firmware whose second solution only echoes the first it is of kind `time`, and says nothing.
    if (!isPosition(fix)) return undefined
    const away_m = this.add({ ...enu(this.#arp, fix.position), sigma_m: fix.acc_m }, now_ms)
    return away_m === undefined
      ? undefined
      : { text: `the second position solution says ${away_m.toFixed(1)} m`, size_m: away_m }
  }
}
