/** Code evidence for a move of a base: ranges, the second fix, receiver warnings. The base's own position only echoes its reference. */
import { type Enu, enu, isPosition, moveText } from 'rtk-base/gnss'
import type { AntennaMove, Ecef, ReceiverFix, SatelliteResidual } from 'rtk-base/services'
import { type Away, OffsetWatch, type Prior } from './offset-watch.js'
import { offsetOf } from './residual-offset.js'

/** Why the antenna is suspected to have moved, and how far. */
export interface Suspect {
  /** For people. */
  readonly text: string
  readonly move: CodeMove
}

type CodeMove = Omit<AntennaMove, 't'>

/** A level part of fewer sigmas says nothing about the direction. */
const knownDirection_sigmas = 3
/** Sigmas taken off the whole offset: the antenna went farther than the rest. */
const surely_sigmas = 2

/** @param isSigned false: the opposite direction is as likely */
function moveOf({ east, north, up, sigma }: Away, isSigned: boolean): CodeMove {
  const size_m = Math.hypot(east, north, up)
  const shown = { by: 'code', moves: 1 } as const
  const isKnown =
    isSigned && Math.max(Math.hypot(east, north) / sigma.level_m, Math.abs(up) / sigma.up_m) > knownDirection_sigmas
  if (!isKnown) {
    const [level, rise] = [Math.hypot(east, north) / size_m, up / size_m]
    const sigma_m = Math.hypot(level * sigma.level_m, rise * sigma.up_m)
    return { ...shown, size_m: Math.max(0, size_m - surely_sigmas * sigma_m), isLeast: true }
  }
  const covariance = [sigma.level_m ** 2, 0, 0, sigma.level_m ** 2, 0, sigma.up_m ** 2] as const
  return { ...shown, size_m, isLeast: false, vector: { east_m: east, north_m: north, up_m: up, covariance } }
}

const suspectOf = (what: string, move: CodeMove): Suspect => ({ text: `${what} ${moveText({ ...move, t: 0 })}`, move })

const pooledEpochs = 3600

/** The pseudorange residuals beside the position that the base holds. */
export class ResidualEvidence extends OffsetWatch {
  constructor(prior: Prior, baseline: Enu | undefined) {
    super(prior, baseline, true)
  }

  /** @returns undefined while nothing speaks for a move */
  hear(residuals: readonly SatelliteResidual[], now_ms: number): Suspect | undefined {
    const offset = offsetOf(residuals)
    const away = offset && this.add({ ...offset, sigma_m: this.#pooled_m(offset.sigma_m) }, now_ms)
    return away && suspectOf('the ranges show a move of', moveOf(away, false))
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
    const away = this.add({ ...enu(this.#arp, fix.position), sigma_m: fix.acc_m }, now_ms)
    return away && suspectOf('the second fix shows a move of', moveOf(away, true))
  }
}

/** The receiver's warning that its ranges do not fit its configured position. */
const warning = /base station position seems incorrect/i
/** The receiver detects about 50 m to 25 km. */
const warned_m = 50

/** The receiver's own judgement, in its own words. */
export function warningEvidence(text: string): Suspect | undefined {
  const move: CodeMove = { by: 'code', size_m: warned_m, isLeast: true, moves: 1 }
  return warning.test(text) ? { text: `the receiver reports: ${text}`, move } : undefined
}
