/** A person's word that the antenna is at the reference, against the evidence: kept until there is another reference. */
import { type Enu, moveText, roundTo } from 'rtk-base/gnss'
import type { AntennaMove, Ecef, LivePosition, PositionComparison, ReferencePosition } from 'rtk-base/services'
import { type Reference, signatureOf } from './reference.js'

export interface Override {
  /** The reference it is about (`signatureOf`). */
  reference: string
  /** UTC seconds; 0 unknown. */
  t: number
  /** Surface of the command: `http`, `mqtt`, `console` or `plugin`. */
  by: string
  /** Offset of the antenna from the reference at that time: by carrier phases, or else by positions, which may be metres off. */
  distance_m: number
  offset: Enu
  /** Why the station had not believed it. */
  evidence: string
  /** The move that the evidence measured: suspected again if the person takes the word back. */
  move?: AntennaMove
  /**
   * Where positions saw the antenna: it is recognised there after a restart. Omitted where they agreed with the reference: then this
   * is compared, for the errors of that moment are no place.
   */
  place?: { arp: Ecef; acc_m: number; corr: boolean }
}

/** Phases measure a move to millimetres; positions may be metres off. Undefined: only positions say where the antenna is. */
const measuredOf = (move: AntennaMove | undefined) => (move?.by === 'phases' && !move.isLeast ? move.vector : undefined)

/** Where the antenna seemed to be, by the best evidence there is, as the override has it. */
export function whereText(comparison: PositionComparison, move: AntennaMove | undefined): string {
  return move && measuredOf(move)
    ? `the carrier phases showed a move of ${moveText(move)}`
    : `by positions the antenna is ${comparison.distance_m.toFixed(2)} m (${comparison.text}) from it`
}

export function overrideOf(
  reference: Reference,
  seen: { live: LivePosition; comparison: PositionComparison; move: AntennaMove | undefined },
  said: { by: string; t: number; evidence: string },
): Override {
  const { live, comparison, move } = seen
  const vector = measuredOf(move)
  const { east, north, up } = vector
    ? { east: vector.east_m, north: vector.north_m, up: vector.up_m }
    : comparison.offset
  return {
    reference: signatureOf(reference),
    ...said,
    distance_m: roundTo(Math.hypot(east, north, up), 3),
    offset: { east: roundTo(east, 3), north: roundTo(north, 3), up: roundTo(up, 3) },
    ...(move && { move }),
    ...(comparison.agrees !== true && { place: { arp: live.position, acc_m: live.acc_m, corr: live.corrected } }),
  }
}

/** Where the antenna is expected: a person may have confirmed another place than that of the reference. */
export const placeOf = (reference: Reference, override: Override | undefined): ReferencePosition =>
  override?.place ?? reference
