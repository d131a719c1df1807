/** Code evidence for a move of a base: ranges, the second fix, receiver warnings. The base's own position only echoes its reference. */
import { type Enu, enu, isPosition } from 'rtk-base/gnss'
import type { Ecef, ReceiverFix, SatelliteResidual } from 'rtk-base/services'
import { OffsetWatch, type Prior } from './offset-watch.js'
import { offsetOf } from './residual-offset.js'

/** Why the antenna is suspected to have moved, and how far. */
export interface Suspect {
  /** For people. */
  readonly text: string
  /** Metres; the least where only that is known. */
  readonly size_m: number
}

const pooledEpochs = 3600

/** The pseudorange residuals beside the position that the base holds. */
export class ResidualEvidence extends OffsetWatch {
  constructor(prior: Prior, baseline: Enu | undefined) {
    super(prior, baseline, true)
  }

  /** @returns undefined while nothing speaks for a move */
  hear(residuals: readonly SatelliteResidual[], now_ms: number): Suspect | undefined {
    const offset = offsetOf(residuals)
    const away_m = offset && this.add({ ...offset, sigma_m: this.#pooled_m(offset.sigma_m) }, now_ms)
    return away_m === undefined ? undefined : { text: `the ranges show ${away_m.toFixed(1)} m`, size_m: away_m }
  }

  /** With few satellites the spread of an epoch may be small by chance, and reflections keep it so for minutes: that of an hour counts, too. */
  #pooled_m(sigma_m: number): number {
    this.#epochs = Math.min(this.#epochs + 1, pooledEpochs)
    this.#usual_m += (sigma_m - this.#usual_m) / this.#epochs
    return Math.max(sigma_m, this.#usual_m)
  }
  #usual_m = 0
  #epochs = 0
}

/** The second fix: a position that the receiver computes without corrections and that keeps running in fixed mode. */
export class SecondFixEvidence extends OffsetWatch {
  readonly #arp: Ecef

  constructor(arp: Ecef, prior: Prior, baseline: Enu | undefined) {
    super(prior, baseline, false)
    this.#arp = arp
  }

  /** @returns undefined while nothing speaks for a move */
  hear(fix: ReceiverFix, now_ms: number): Suspect | undefined {
    // In some firmware the second solution only echoes the first: its type is `time`, and it proves nothing.
    if (!isPosition(fix)) return undefined
    const away_m = this.add({ ...enu(this.#arp, fix.position), sigma_m: fix.acc_m }, now_ms)
    return away_m === undefined ? undefined : { text: `the second fix shows ${away_m.toFixed(1)} m`, size_m: away_m }
  }
}

/** The receiver's warning that its ranges do not fit its configured position. */
const warning = /base station position seems incorrect/i
/** The receiver detects about 50 m to 25 km. */
const warned_m = 50

/** The receiver's own judgement, in its own words. */
export function warningEvidence(text: string): Suspect | undefined {
  return warning.test(text) ? { text: `the receiver reports: ${text}`, size_m: warned_m } : undefined
}
