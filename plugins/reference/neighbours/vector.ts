/** A measured vector from this station to a neighbour, and the times for which it counts. Pure. */
import type { Baseline, NetVector } from 'rtk-base/baseline'
import type { Ecef, Enu } from 'rtk-base/services'
import { type Static, Type } from 'typebox'

/** Evidence that is older says nothing about the present. */
export const valid_ms = 3 * 3_600_000
/** Vectors of a neighbour that are kept: one an hour. */
export const mostVectors = 4
/** More distant bases see another atmosphere: they are not compared. */
export const farthest_m = 100_000

const number = Type.Number()
/** ECEF, metres. */
export const Place = Type.Object({ x: number, y: number, z: number })
const enu = Type.Object({ east: number, north: number, up: number })

/** Plain, so that the next instance of the plugin can take it over. */
export const Vector = Type.Object({
  /** Monotonic milliseconds. */
  at_ms: number,
  status: Type.Union([Type.Literal('fixed'), Type.Literal('float')]),
  /** Measured, ECEF metres. */
  vector: Place,
  /** Measured minus announced, ECEF metres, and the same along east, north and up. */
  offset: Place,
  local: enu,
  sigma: enu,
  /** The covariance of the vector, ECEF, m², row by row. */
  covariance: Type.Array(number, { minItems: 9, maxItems: 9 }),
  length_m: number,
  heightDoubt_m: number,
  /** Positions by their own ranges, if they are more than 25 m from the announced ones. */
  displaced: Type.Object({ from: Type.Optional(Place), to: Type.Optional(Place) }),
})
export type Vector = Static<typeof Vector>

/** @returns undefined: nothing was measured */
export function vectorOf(found: Baseline, from: Ecef, to: Ecef, at_ms: number): Vector | undefined {
  const { status, vector, covariance, displaced, length_m, heightDoubt_m } = found
  if (status === 'none') return undefined
  return {
    ...{ at_ms, status, vector, covariance: [...covariance], length_m, heightDoubt_m },
    offset: { x: vector.x - (to.x - from.x), y: vector.y - (to.y - from.y), z: vector.z - (to.z - from.z) },
    ...{ local: { ...found.offset }, sigma: { ...found.sigma } },
    displaced: { ...(displaced.from && { from: displaced.from }), ...(displaced.to && { to: displaced.to }) },
  }
}

export const netVector = (from: string, to: string, { offset, covariance, heightDoubt_m }: Vector): NetVector => ({
  ...{ from, to, offset, heightDoubt_m, covariance: Float64Array.from(covariance) },
})

export const sizeOf = ({ east, north, up }: Enu): number => Math.hypot(east, north, up)
