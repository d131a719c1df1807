import { type Static, Type } from 'typebox'
import { mostNeighbours } from './setting.js'
import { mostVectors, Place, Vector } from './vector.js'

/** Evidence that the next instance takes over, after a reload or a restart. */
export const Kept = Type.Object({
  arp: Place,
  confirmation: Type.Optional(Type.Object({ since_ms: Type.Number(), isConfirmed: Type.Boolean() })),
  vectors: Type.Array(
    Type.Object({ source: Type.String(), arp: Place, vectors: Type.Array(Vector, { maxItems: mostVectors }) }),
    { maxItems: mostNeighbours },
  ),
})
export type Kept = Static<typeof Kept>
