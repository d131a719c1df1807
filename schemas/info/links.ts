/** The `links` block of the document: there where the plugin recovery runs. */
import Type, { type Static } from 'typebox'

export const LinkInfo = Type.Object({
  name: Type.String({ description: 'Plugin and peer (host:port); without user or password' }),
  state: Type.Union(
    [
      Type.Literal('idle', { description: 'it is not wanted now' }),
      Type.Literal('down', { description: 'the peer is not reached, or was lost' }),
      Type.Literal('refused', { description: 'the peer was reached, and said no' }),
      Type.Literal('up', { description: 'connected' }),
    ],
    { description: 'How it is' },
  ),
  reason: Type.String({ description: 'Why it is not up; empty while it is' }),
  since: Type.Integer({ minimum: 0, description: 'Seconds in this state' }),
  attempts: Type.Integer({ minimum: 0, description: 'Attempts that failed since it was up last' }),
  step: Type.Union(
    [
      Type.Literal('reconnect', { description: 'to the address that worked last, where the name still has it' }),
      Type.Literal('resolve', { description: 'to what the name resolves to now' }),
      Type.Literal('family', { description: 'by the other address family only, or the next address' }),
    ],
    { description: 'What the next attempt does' },
  ),
  family: Type.Integer({ description: '4 or 6: IP version of the connection or of the last attempt; 0 unknown' }),
  next: Type.Integer({ minimum: 0, description: 'Seconds until the next attempt; 0: under way, or none is made' }),
})
export type LinkInfo = Static<typeof LinkInfo>

export const RecoveryInfo = Type.Object({
  outage: Type.Integer({ minimum: 0, description: 'Seconds for which no link has come through; 0: at least one does' }),
  text: Type.String({ description: 'What is waited for, and what comes next; empty while nothing is wrong' }),
  uplink: Type.String({ description: 'Interface that was given the default route; empty: as the network has it' }),
  restarts: Type.Integer({ minimum: 0, description: 'Restarts of the modem in the last 24 h' }),
  steps: Type.Array(
    Type.Object({
      t: Type.Integer({ minimum: 0, description: 'UTC seconds' }),
      step: Type.Union([Type.Literal('uplink'), Type.Literal('modem'), Type.Literal('back')]),
      text: Type.String(),
      done: Type.Boolean({ description: 'false: it could not be done' }),
    }),
    { maxItems: 4, description: 'The last steps, newest last' },
  ),
})
export type RecoveryInfo = Static<typeof RecoveryInfo>

export const LinksInfo = Type.Object(
  {
    outputs: Type.Array(LinkInfo, { maxItems: 12, description: 'The first ones; each text is cut' }),
    recovery: RecoveryInfo,
  },
  { description: 'What leads out of the box, and what is done when none of it comes through' },
)
export type LinksInfo = Static<typeof LinksInfo>
