/** A reference position, and how it compares with where the antenna is. Pure. */
import { distance, type Enu, enu } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { LivePosition } from '../watch/live-position.js'
import type { Datum } from './datum.js'

/** A position that can be used as the reference of the base. */
export interface Reference {
  method: 'survey' | 'manual'
  /** To 0.1 mm. */
  arp: Ecef
  /** 3D, 1 sigma, metres; 0 unknown. */
  acc_m: number
  /** Determined with RTK corrections. */
  corr: boolean
  /** UTC seconds; 0 unknown. */
  t: number
  /** `survey`, `http`, `mqtt`, `console` or `plugin`. */
  by: string
  samples: number
  elapsed_s: number
  /** Of one that was stored by an earlier release it is not known. */
  datum?: Datum
  /** Who sent the corrections of a corrected survey-in. */
  source?: string
}

export interface Comparison {
  distance_m: number
  /** Horizontally and vertically. */
  limits_m: readonly [number, number]
  offset: Enu
  /** `doubt`: farther than the accuracies explain, but not farther than is allowed at most. */
  verdict: 'agrees' | 'doubt' | 'elsewhere'
}

export interface CompareLimits {
  maxDelta_m: number
  maxDeltaCorr_m: number
}

/** So many sigma of both accuracies together are explained by them. */
const sigmas = 4
/** The parts of a 3D accuracy that are horizontal and vertical, as satellites stand above the horizon only. */
const horizontally = { share: 0.55, least_m: 2.5 }
/** Closer than this, horizontally, code positions say nothing. */
export const leastLimit_m = horizontally.least_m
const vertically = { share: 0.85, least_m: 3.5 }
/** What an unknown accuracy of a reference is taken for. */
const unknown_m = 1

/**
 * Compares a live position with a reference, horizontally and vertically apart. The limits come from the evidence: four times
 * the accuracies of both together, capped by `maxDelta_m`; where both are RTK-corrected `maxDeltaCorr_m` alone counts.
 */
export function compare(
  live: LivePosition,
  reference: Pick<Reference, 'arp' | 'corr' | 'acc_m'>,
  { maxDelta_m, maxDeltaCorr_m }: CompareLimits,
): Comparison {
  const bothCorrected = live.corrected && reference.corr
  const most_m = bothCorrected ? maxDeltaCorr_m : maxDelta_m
  const sigma_m = Math.hypot(live.acc_m, reference.acc_m || unknown_m)
  // Code positions err by more than their accuracies say: closer than the least nothing is concluded.
  const limit = ({ share, least_m }: typeof horizontally) =>
    bothCorrected ? most_m : Math.max(least_m, sigmas * share * sigma_m)
  const offset = enu(reference.arp, live.position)
  const distance_m = distance(live.position, reference.arp)
  const isExplained =
    Math.hypot(offset.east, offset.north) <= limit(horizontally) && Math.abs(offset.up) <= limit(vertically)
  const verdict = distance_m > most_m ? 'elsewhere' : isExplained ? 'agrees' : 'doubt'
  return { distance_m, limits_m: [limit(horizontally), limit(vertically)], offset, verdict }
}

/** `E +30.0 / N -0.2 / U +1.4 m` */
export function offsetText({ east, north, up }: Enu): string {
  const part = (name: string, value: number) => `${name} ${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(1)}`
  return `${part('E', east)} / ${part('N', north)} / ${part('U', up)} m`
}
