import { type Enu, enu } from 'rtk-base/gnss'
import type { Ecef, ReceiverFix } from 'rtk-base/services'
import { isPosition } from '../live-position.js'
import type { OffsetEvidence } from './evidence.js'
import { OffsetWatch, type Prior } from './offset-watch.js'

/** A second position solution of the receiver that goes on in fixed mode. */
export class SecondFixEvidence implements OffsetEvidence<ReceiverFix> {
  readonly #arp: Ecef
  readonly #offsets: OffsetWatch

  constructor(arp: Ecef, prior: Prior, baseline: Enu | undefined) {
    this.#arp = arp
    this.#offsets = new OffsetWatch(prior, baseline, false)
  }

  hear(fix: ReceiverFix, now_ms: number): string | undefined {
    // In firmware whose second solution only echoes the first it is of kind `time`, and says nothing.
    if (!isPosition(fix)) return undefined
    const away_m = this.#offsets.add({ ...enu(this.#arp, fix.position), sigma_m: fix.acc_m }, now_ms)
    return away_m === undefined ? undefined : `the second position solution says ${away_m.toFixed(1)} m`
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
