/** Every topic of a station, declared once: the AsyncAPI document is made of it. `{SN}` is the serial number. */
import Type, { type TSchema } from 'typebox'
import { MqttInfo } from '../info/mqtt.js'
import { ChangePost, ChangeResp, OnlineStatus, RtcmSignature, UpdateBase } from './messages.js'

export interface Topic {
  /** Key in the AsyncAPI document. */
  readonly name: string
  readonly address: string
  /** Who publishes: the station (the broker for it), or a client. */
  readonly from: 'station' | 'client'
  readonly summary: string
  readonly payload: TSchema
  readonly contentType: string
  /** Of what the station publishes. */
  readonly qos?: 0
  readonly retain?: boolean
  /** User properties on MQTT 5. */
  readonly userProperties?: TSchema
  /** Answers a message on this topic. */
  readonly replyOn?: string
}

const anything = Type.Unknown({ description: 'what it says does not matter; usually empty' })
const rtcm = Type.String({
  format: 'binary',
  description: 'RTCM 3 frames: the reference messages, then one whole epoch',
})
const command = Type.String({
  minLength: 1,
  maxLength: 4_096,
  description: 'a `/system` command: `name` or `name=value`',
})

export const topics: readonly Topic[] = [
  {
    name: 'online',
    address: 'base/{SN}/online',
    from: 'station',
    summary: 'Whether the station is online',
    payload: OnlineStatus,
    contentType: 'text/plain',
    qos: 0,
    retain: true,
  },
  {
    name: 'info',
    address: 'base/{SN}/info',
    from: 'station',
    summary:
      'The information document, at most 131,072 bytes: on connect, every 6 h, when the receiver is identified, on demand',
    payload: Type.Object(
      { mqtt: MqttInfo },
      { description: 'the same object as `GET /get-info`', additionalProperties: true },
    ),
    contentType: 'application/json',
    qos: 0,
    retain: false,
  },
  {
    name: 'info-get',
    address: 'base/{SN}/info/get',
    from: 'client',
    summary: 'Asks for the information document',
    payload: anything,
    contentType: 'text/plain',
    replyOn: 'info',
  },
  {
    name: 'cmd',
    address: 'base/{SN}/cmd',
    from: 'client',
    summary: 'A command. Not answered, unless MQTT 5 names a response topic below base/{SN}/',
    payload: Type.Union([UpdateBase, command]),
    contentType: 'application/json',
  },
  {
    name: 'change-post',
    address: 'base/{SN}/change/post',
    from: 'client',
    summary: 'A change of parameters, as POST /change',
    payload: ChangePost,
    contentType: 'application/json',
    replyOn: 'change-resp',
  },
  {
    name: 'change-resp',
    address: 'base/{SN}/change/resp',
    from: 'station',
    summary: 'The result of every message on change/post, also of a malformed one',
    payload: ChangeResp,
    contentType: 'application/json',
    qos: 0,
    retain: false,
  },
  {
    name: 'drtk',
    address: 'base/{SN}/drtk',
    from: 'station',
    summary: 'RTCM corrections, every mqtt-rtcm-rate seconds while the reference is trusted',
    payload: rtcm,
    contentType: 'application/octet-stream',
    qos: 0,
    retain: false,
    userProperties: RtcmSignature,
  },
  {
    name: 'drtk-sig',
    address: 'base/{SN}/drtk/sig',
    from: 'station',
    summary: 'On MQTT 3.1.1: the signature of the publication on drtk right before it',
    payload: RtcmSignature,
    contentType: 'application/json',
    qos: 0,
    retain: false,
  },
  {
    name: 'drtk-cert',
    address: 'base/{SN}/drtk/cert',
    from: 'station',
    summary: 'The certificate that the signatures are checked with, PEM, its intermediates behind it',
    payload: Type.String({ pattern: '^-----BEGIN CERTIFICATE-----' }),
    contentType: 'application/x-pem-file',
    qos: 0,
    retain: true,
  },
]
