/** The `links` block of the document, present while the plugin recovery runs. */
import Type, { type Static } from 'typebox'

export const LinkInfo = Type.Object({
  name: Type.String({ description: 'Plugin and peer (host:port); without user or password' }),
  state: Type.Union(
    [
      Type.Literal('idle', { description: 'not wanted now' }),
      Type.Literal('down', { description: 'the peer is unreachable, or the connection was lost' }),
      Type.Literal('refused', { description: 'the peer was reached and refused' }),
      Type.Literal('up', { description: 'connected' }),
    ],
    { description: 'State of the link' },
  ),
  reason: Type.String({ description: 'Why the link is not up; empty while it is up' }),
  since: Type.Integer({ minimum: 0, description: 'Seconds in this state' }),
  attempts: Type.Integer({ minimum: 0, description: 'Failed attempts since the link was last up' }),
  step: Type.Union(
    [
      Type.Literal('reconnect', {
        description: 'connects to the last working address if the name still resolves to it',
      }),
      Type.Literal('resolve', { description: 'resolves the name again' }),
      Type.Literal('family', { description: 'uses only the other address family, or the next address' }),
    ],
    { description: 'Strategy of the next attempt' },
  ),
  family: Type.Integer({ description: '4 or 6: IP version of the connection or of the last attempt; 0 unknown' }),
  next: Type.Integer({ minimum: 0, description: 'Seconds until the next attempt; 0: in progress, or none is planned' }),
})
export type LinkInfo = Static<typeof LinkInfo>

export const RecoveryInfo = Type.Object({
  outage: Type.Integer({
    minimum: 0,
    description: 'Seconds for which every link has been down; 0: at least one is up',
  }),
  text: Type.String({ description: 'Current wait and next step; empty while nothing is wrong' }),
  uplink: Type.String({ description: 'Interface that recovery gave the default route; empty: the network decides' }),
  restarts: Type.Integer({ minimum: 0, description: 'Restarts of the modem in the last 24 h' }),
  steps: Type.Array(
    Type.Object({
      t: Type.Integer({ minimum: 0, description: 'Time of the step, UTC seconds' }),
      step: Type.Union([Type.Literal('uplink'), Type.Literal('modem'), Type.Literal('back')], {
        description:
          'uplink: another uplink got the default route. back: the usual uplink got it back. modem: the modem restarted',
      }),
      text: Type.String({ description: 'The step and its reason' }),
      done: Type.Boolean({ description: 'false: the step failed' }),
    }),
    { maxItems: 4, description: 'The last steps, newest last' },
  ),
})
export type RecoveryInfo = Static<typeof RecoveryInfo>

export const LinksInfo = Type.Object(
  {
    outputs: Type.Array(LinkInfo, { maxItems: 12, description: 'The first 12 links; texts are truncated' }),
    recovery: RecoveryInfo,
  },
  { description: 'Outbound connections, and the recovery when every one of them is down' },
)
export type LinksInfo = Static<typeof LinksInfo>
