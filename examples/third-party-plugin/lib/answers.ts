/** What the routes and topics of the meter say; their types are also those of the page. */
import { type Static, Type } from 'typebox'

export const Totals = Type.Object({
  epochs: Type.Integer(),
  poor: Type.Integer({ description: 'Epochs with fewer satellites than wanted' }),
  frames: Type.Integer(),
  bytes: Type.Integer(),
})
export type Totals = Static<typeof Totals>

export const RecentEpochs = Type.Array(
  Type.Object({ messages: Type.Array(Type.Integer()), satellites: Type.Integer(), complete: Type.Boolean() }),
  { description: 'Oldest first' },
)
export type RecentEpochs = Static<typeof RecentEpochs>
