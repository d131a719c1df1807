/** A reference position, and how it compares with where the antenna is. Pure. */
import { distance, type Enu, enu } from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { LivePosition } from '../watch/live-position.js'

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
}

export interface Comparison {
  distance_m: number
  limit_m: number
  offset: Enu
  agrees: boolean
}

/** Compares a live position with a reference. The closer limit applies when both are RTK-corrected. */
export function compare(
  live: LivePosition,
  reference: Pick<Reference, 'arp' | 'corr'>,
  limits: { maxDelta_m: number; maxDeltaCorr_m: number },
): Comparison {
  const limit_m = live.corrected && reference.corr ? limits.maxDeltaCorr_m : limits.maxDelta_m
  const distance_m = distance(live.position, reference.arp)
  return { distance_m, limit_m, offset: enu(reference.arp, live.position), agrees: distance_m <= limit_m }
}

/** `E +30.0 / N -0.2 / U +1.4 m` */
export function offsetText({ east, north, up }: Enu): string {
  const part = (name: string, value: number) => `${name} ${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(1)}`
  return `${part('E', east)} / ${part('N', north)} / ${part('U', up)} m`
}
