/** The `mqtt` block of the document. */
import Type, { type Static } from 'typebox'

/** `mqtt.state.link` */
export const MqttLinkState = Type.Union(
  [
    Type.Literal('disabled', { description: '`mqtt-en` is 0' }),
    Type.Literal('connecting', { description: 'connecting' }),
    Type.Literal('up', { description: 'the broker accepted the session' }),
    Type.Literal('down', { description: 'no session; the link retries automatically' }),
    Type.Literal('renewing', { description: 'a planned reconnect: `r` was published' }),
  ],
  { description: 'State of the link to the broker' },
)
export type MqttLinkState = Static<typeof MqttLinkState>

/** `mqtt.state.error.cause` */
export const MqttFailureCause = Type.Union(
  [
    Type.Literal('', { description: 'nothing is wrong' }),
    Type.Literal('config', { description: 'no broker is set' }),
    Type.Literal('held', {
      description: 'closed on purpose before the uplink is cut; the link reconnects automatically',
    }),
    Type.Literal('identity', { description: 'the certificate or the key cannot be used' }),
    Type.Literal('dns', { description: 'the host name does not resolve' }),
    Type.Literal('refused', { description: 'the port is closed, or the broker refused the session' }),
    Type.Literal('unreachable', { description: 'no route to the host' }),
    Type.Literal('timeout', { description: 'no answer in time' }),
    Type.Literal('tls', { description: 'the broker or this device is not trusted' }),
    Type.Literal('protocol', { description: 'the broker speaks neither MQTT 5 nor 3.1.1' }),
    Type.Literal('auth', { description: 'the broker does not accept this client' }),
    Type.Literal('closed', { description: 'the connection ended' }),
    Type.Literal('ping', { description: 'the connection went silent without being closed' }),
  ],
  { description: 'Why the link is down' },
)
export type MqttFailureCause = Static<typeof MqttFailureCause>

/** `mqtt.rtcm`, built by mqtt-rtcm. */
export const MqttRtcmInfo = Type.Object({
  enabled: Type.Boolean({
    description: 'mqtt-rtcm runs and `mqtt-en` is 1: RTCM is sent while the reference is trusted and the link is up',
  }),
  active: Type.Boolean({ description: 'RTCM flows, and the newest publication was sent' }),
  topic: Type.String({ description: '`base/{SN}/drtk`' }),
  rate: Type.Integer({ minimum: 1, maximum: 3_600, description: 'seconds between publications' }),
  sign: Type.Boolean({ description: 'publications are signed' }),
})

/** `mqtt.stat`, each counted since its plugin was loaded: `sessions` by mqtt-link, the others by mqtt-api. */
export const MqttStat = Type.Object({
  sessions: Type.Integer({ description: 'sessions that a broker accepted' }),
  missed: Type.Optional(
    Type.Integer({ description: 'publications of the status document that were due but not sent' }),
  ),
  retained: Type.Optional(Type.Integer({ description: 'retained requests that were dropped' })),
  malformed: Type.Optional(Type.Integer({ description: 'invalid messages on `cmd` and `change/post`' })),
})

export const MqttInfo = Type.Object({
  via: Type.String({ description: 'uplink that reaches the broker: `eth`, `sta` (WiFi), `cellular` or empty' }),
  host: Type.String({ description: 'broker in use; empty: none' }),
  port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'port of the broker in use' }),
  state: Type.Object({
    link: MqttLinkState,
    cert: Type.Object({
      from: Type.Integer({ description: 'start of validity, UTC seconds; 0 without a certificate' }),
      until: Type.Integer({ description: 'expiry, UTC seconds; 0 without a certificate' }),
      serial: Type.String({ description: 'serial number, hexadecimal; empty without a certificate' }),
    }),
    error: Type.Object({ cause: MqttFailureCause, text: Type.String({ description: 'the cause as a sentence' }) }),
  }),
  stat: Type.Optional(MqttStat),
  rtcm: Type.Optional(MqttRtcmInfo),
})
export type MqttInfo = Static<typeof MqttInfo>
