/** MQTT payloads besides the status document and RTCM. */
import Type, { type Static } from 'typebox'
import { Fitness } from '../info/base.js'

/** `base/{SN}/online`: one byte. Lower case from the device, upper case from the broker. */
export const OnlineStatus = Type.Union(
  [
    Type.Literal('y', { description: 'online: a session is established' }),
    Type.Literal('r', { description: 'restarting: a planned reconnect, `y` follows within about 5 s' }),
    Type.Literal('q', { description: 'quitting: a graceful stop' }),
    Type.Literal('L', { description: 'lost: the last will, published by the broker' }),
  ],
  { description: 'Whether the station is online' },
)
export type OnlineStatus = Static<typeof OnlineStatus>

/** `base/{SN}/state`: the verdict in less than 300 bytes. */
export const StationState = Type.Object(
  {
    verdict: Fitness,
    cause: Type.String({ description: 'Code of the deciding rule; `ok` if nothing is wrong' }),
    since: Type.Integer({ minimum: 0, description: 'Since when, UTC seconds; 0 without a credible clock' }),
    reference: Type.String({
      description: 'Eight hexadecimal digits that change with the announced position; empty while none is announced',
    }),
    arp: Type.Optional(
      Type.Array(Type.Number(), {
        minItems: 3,
        maxItems: 3,
        description:
          'The announced position as in its 1005 or 1006: ECEF x, y, z, metres; missing while none is announced',
      }),
    ),
    version: Type.String({ description: '`esp.version` of the document' }),
  },
  { description: 'Whether the station can serve rovers, and why not' },
)
export type StationState = Static<typeof StationState>

/** The JSON form of a message on `base/{SN}/cmd`. */
export const UpdateBase = Type.Object(
  {
    cmd_type: Type.Literal('updateBase'),
    cmd_param: Type.Object({ url: Type.String({ minLength: 1, description: 'the image, as for `firmware=<url>`' }) }),
  },
  { description: 'Downloads and installs firmware' },
)

/** An action with its input, as a message on `base/{SN}/cmd`. */
export const CommandObject = Type.Object(
  {
    cmd_type: Type.String({ description: 'Name of the action' }),
    cmd_param: Type.Record(Type.String(), Type.Unknown(), { description: 'Its input' }),
  },
  { description: 'Runs an action, as POST /actions/NAME; the answer is its text' },
)
export type CommandObject = Static<typeof CommandObject>

/**
 * The signature of an RTCM publication: user properties of that publication on MQTT 5, the same as JSON on `…/drtk/sig` on
 * 3.1.1. Signed are the bytes: topic in UTF-8, 0x00, `sig-seq` and `sig-time` as unsigned 64 bit big-endian, payload.
 */
export const RtcmSignature = Type.Object({
  'sig-alg': Type.Union(
    [
      Type.Literal('ECDSA-SHA256', { description: 'signature in DER (RFC 3279, section 2.2.3)' }),
      Type.Literal('ECDSA-SHA384', { description: 'for keys on P-384; DER' }),
      Type.Literal('RSA-SHA256', { description: 'PKCS #1 v1.5' }),
      Type.Literal('Ed25519'),
    ],
    { description: 'signature algorithm' },
  ),
  sig: Type.String({ description: 'the signature, base64' }),
  'sig-cert': Type.String({ description: 'serial number of the certificate, hexadecimal' }),
  'sig-seq': Type.String({
    pattern: '^[0-9]+$',
    description: 'increases by one per publication; may jump ahead to the current time',
  }),
  'sig-time': Type.String({
    pattern: '^[0-9]+$',
    description: 'UTC, milliseconds; 0 while the time is unknown',
  }),
})
export type RtcmSignature = Static<typeof RtcmSignature>
