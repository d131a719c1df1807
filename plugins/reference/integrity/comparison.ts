/** Compares a live position with a reference position. Pure. */
import { distance, type Enu, enu, offsetText } from 'rtk-base/gnss'
import type { LivePosition, PositionComparison, ReferencePosition } from 'rtk-base/services'
import { explained, unknownAccuracy_m } from './limits.js'

/** The change parameters `gnss-initial-*`. */
export interface StartLimits {
  accuracy_m: number
  maxDelta_m: number
  maxDeltaCorr_m: number
}

/**
 * Compares a live position with a reference, separately in the horizontal and vertical. The limits come from the evidence: four times
 * the combined accuracy, capped by `maxDelta_m`. If both are RTK-corrected, only `maxDeltaCorr_m` applies. A position without
 * corrections is in the frame of the satellites, which may be 2 m from that of the reference.
 * @param geoidSeparation_m at the antenna; 0 or omitted: unknown
 */
export function compare(
  live: LivePosition,
  reference: ReferencePosition,
  { maxDelta_m, maxDeltaCorr_m }: Omit<StartLimits, 'accuracy_m'>,
  geoidSeparation_m?: number,
): PositionComparison {
  const bothCorrected = live.corrected && reference.corr
  const most_m = bothCorrected ? maxDeltaCorr_m : maxDelta_m
  const sigma_m = Math.hypot(live.acc_m, reference.acc_m || unknownAccuracy_m)
  const limit = ({ share, least_m }: { share: number; least_m: number }) =>
    bothCorrected ? most_m : Math.max(least_m, explained.sigmas * share * sigma_m)
  const limits_m = [limit(explained.level), limit(explained.up)] as const
  const expected = live.corrected ? reference.arp : (reference.seenAt ?? reference.arp)
  const offset = enu(expected, live.position)
  const distance_m = distance(live.position, expected)
  const isExplained = Math.hypot(offset.east, offset.north) <= limits_m[0] && Math.abs(offset.up) <= limits_m[1]
  const agrees = distance_m > most_m ? false : isExplained || undefined
  const hint = heightHint(offset, geoidSeparation_m)
  return { agrees, distance_m, limits_m, offset, text: offsetText(offset), hint, mistakenHeight: hint !== '' }
}

/** A height difference this close to the geoid separation is taken for it. */
const separation_m = 3

/** Hint if the difference is that between heights above mean sea level and above the ellipsoid, otherwise ''. */
export function heightHint({ east, north, up }: Enu, geoidSeparation_m = 0): string {
  const isHeight = Math.hypot(east, north) < Math.abs(up) / 2
  const isSeparation = Math.abs(Math.abs(up) - Math.abs(geoidSeparation_m)) <= separation_m
  if (geoidSeparation_m === 0 || !isHeight || !isSeparation) return ''
  const separation = `; the difference in height equals the geoid separation here (${geoidSeparation_m.toFixed(1)} m)`
  const cause =
    Math.sign(up) === Math.sign(geoidSeparation_m)
      ? 'a height above mean sea level was entered where one above the ellipsoid is needed'
      : 'it was added to a height that was one above the ellipsoid already'
  return `${separation}: ${cause}`
}
