/** A person's word that the antenna is at the reference, against the evidence: kept until there is another reference. */
import { moveText, roundTo } from 'rtk-base/gnss'
import { EcefShape, EnuShape } from 'rtk-base/schemas'
import type { AntennaMove, LivePosition, PositionComparison, ReferencePosition } from 'rtk-base/services'
import { type Static, Type } from 'typebox'
import { type Reference, signatureOf } from './reference.js'

const count = Type.Number({ minimum: 0 })
const number = Type.Number()

export const Move = Type.Unsafe<AntennaMove>(
  Type.Object({
    by: Type.Enum(['phases', 'code']),
    t: number,
    size_m: count,
    isLeast: Type.Boolean(),
    moves: count,
    vector: Type.Optional(
      Type.Object({
        ...{ east_m: number, north_m: number, up_m: number },
        covariance: Type.Tuple([count, number, number, count, number, count]),
      }),
    ),
  }),
)

export const Override = Type.Object({
  /** The reference it is about (`signatureOf`). */
  reference: Type.String(),
  /** UTC seconds; 0 unknown. */
  t: number,
  /** Surface of the command: `http`, `mqtt`, `console` or `plugin`. */
  by: Type.String(),
  /** Offset of the antenna from the reference at that time: by carrier phases, or else by positions, which may be metres off. */
  distance_m: count,
  offset: EnuShape,
  /** Why the station had not believed it. */
  evidence: Type.String(),
  /** The move that the evidence measured: suspected again if the person takes the word back. */
  move: Type.Optional(Move),
  /**
   * Where positions saw the antenna: it is recognised there after a restart. Omitted where they agreed with the reference: then this
   * is compared, for the errors of that moment are no place.
   */
  place: Type.Optional(Type.Object({ arp: EcefShape, acc_m: count, corr: Type.Boolean() })),
})
export type Override = Static<typeof Override>

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
  observed: { live: LivePosition; comparison: PositionComparison; move: AntennaMove | undefined },
  confirmation: { by: string; t: number; evidence: string },
): Override {
  const { live, comparison, move } = observed
  const vector = measuredOf(move)
  const { east, north, up } = vector
    ? { east: vector.east_m, north: vector.north_m, up: vector.up_m }
    : comparison.offset
  return {
    reference: signatureOf(reference),
    ...confirmation,
    distance_m: roundTo(Math.hypot(east, north, up), 3),
    offset: { east: roundTo(east, 3), north: roundTo(north, 3), up: roundTo(up, 3) },
    ...(move && { move }),
    ...(comparison.agrees !== true && { place: { arp: live.position, acc_m: live.acc_m, corr: live.corrected } }),
  }
}

/** Where the antenna is expected: a person may have confirmed another place than that of the reference. */
export const placeOf = (reference: Reference, override: Override | undefined): ReferencePosition =>
  override?.place ?? reference
