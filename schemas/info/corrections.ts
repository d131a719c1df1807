/** The blocks of correction inputs and outputs: `ntrip.caster`, `ntrip.server`, `ntrip.client`, `rtcm_tcp`, `rtcm_serial`. Each is present while its plugin runs. Unknown is `''` or 0. */
import Type, { type Static } from 'typebox'

const count = (description: string) => Type.Integer({ minimum: 0, description })
const text = (description: string) => Type.String({ description })
const port = Type.Integer({ minimum: 0, maximum: 65_535 })
const version = Type.Union([Type.Literal(1), Type.Literal(2)], { description: 'NTRIP version' })

export const NtripRover = Type.Object({
  id: count('ID for `ntrip-kick`'),
  mount: text('mountpoint'),
  unverified: Type.Boolean({
    description: 'receives the stream of a third-party base, which this station does not check',
  }),
  user: text('login name, empty without login'),
  agent: text('User-Agent of the program'),
  ip: text('address'),
  since: count('start of the connection, UTC seconds'),
  lat: Type.Number({ description: "from the rover's GGA, degrees; 0 without a GGA" }),
  lon: Type.Number({ description: "from the rover's GGA, degrees; 0 without a GGA" }),
  quality: count('from the GGA: 1 single, 2 differential, 4 fixed, 5 float; 0 without a GGA'),
  dist: Type.Number({ description: 'distance to the base, metres; 0 without a GGA' }),
  age: Type.Number({ description: 's since the last GGA; 0 without a GGA' }),
})

export const NtripBase = Type.Object({
  mount: text('mountpoint'),
  unverified: Type.Literal(true, { description: 'always true: the station does not check this stream' }),
  connected: Type.Boolean({ description: 'a base is pushing now' }),
  ip: text('address; empty while no base is connected'),
  agent: text('User-Agent of the program'),
  since: count('start of the connection, UTC seconds'),
  silent: count('s since the last message'),
  frames: count('messages received'),
  bitrate: count('data received, bit/s'),
  rovers: count('rovers connected to this mountpoint'),
})

export const NtripCasterInfo = Type.Object({
  enabled: Type.Boolean({ description: '`ntrip-caster-en`' }),
  port: { ...port, description: 'port of the caster; 0 while closed' },
  tls: { ...port, description: 'port with TLS, 0 without' },
  mounts: Type.Array(Type.String(), { maxItems: 16, description: "mountpoints of the station's own stream" }),
  users: count('number of logins'),
  connected: count('number of connected rovers'),
  refused: count('number of refused requests'),
  rovers: Type.Array(NtripRover, { maxItems: 8, description: 'the newest 8' }),
  bases: Type.Array(NtripBase, { maxItems: 8, description: 'mountpoints of third-party bases' }),
})
export type NtripCasterInfo = Static<typeof NtripCasterInfo>

export const PushState = Type.Union(
  [
    Type.Literal('off', { description: 'not wanted now' }),
    Type.Literal('waiting', { description: 'waiting for the next attempt' }),
    Type.Literal('connecting', { description: 'connecting' }),
    Type.Literal('refused', { description: 'the caster refused the push' }),
    Type.Literal('accepted', { description: 'the caster accepted the push' }),
    Type.Literal('acknowledged', { description: 'the caster acknowledges the data over TCP' }),
    Type.Literal('proven', { description: 'the caster sent back a message of this station' }),
  ],
  { description: 'State of the push' },
)
export type PushState = Static<typeof PushState>

export const NtripServerInfo = Type.Array(
  Type.Object({
    host: Type.String(),
    port,
    mount: Type.String(),
    version,
    tls: Type.Boolean(),
    state: PushState,
    text: text('the error, or the proof of delivery, for a person'),
    next: count('s until the next attempt'),
    since: count('s since the caster accepted the push'),
    ip: text('address of the connected peer'),
    sent: count('number of writes sent'),
    dropped: count('number of writes dropped because the caster is slow'),
  }),
  { maxItems: 8, description: 'Casters to which the station pushes' },
)
export type NtripServerInfo = Static<typeof NtripServerInfo>

export const ClientState = Type.Union(
  [
    Type.Literal('off', { description: 'no caster is set' }),
    Type.Literal('idle', { description: 'no corrections are wanted' }),
    Type.Literal('connecting', { description: 'connecting' }),
    Type.Literal('streaming', { description: 'connected, messages arrive' }),
    Type.Literal('waiting', { description: 'waiting for the next attempt' }),
  ],
  { description: 'State of the connection' },
)
export type ClientState = Static<typeof ClientState>

export const NtripClientInfo = Type.Object({
  host: Type.String(),
  port,
  mount: Type.String(),
  state: ClientState,
  text: text('reason for waiting'),
  next: count('s until the next attempt'),
  frames: count('messages received'),
})
export type NtripClientInfo = Static<typeof NtripClientInfo>

/** The `ntrip` block. */
export const NtripInfo = Type.Object({
  caster: Type.Optional(NtripCasterInfo),
  server: Type.Optional(NtripServerInfo),
  client: Type.Optional(NtripClientInfo),
})
export type NtripInfo = Static<typeof NtripInfo>

export const RtcmTcpInfo = Type.Object({
  port: { ...port, description: 'port for clients; 0: closed' },
  connected: count('number of connected clients'),
  push: Type.Array(
    Type.Object({
      host: Type.String(),
      port,
      state: Type.Union([Type.Literal('connecting'), Type.Literal('connected'), Type.Literal('waiting')], {
        description: 'waiting: for the next attempt',
      }),
      text: text('reason for waiting'),
      dropped: count('number of dropped epochs'),
    }),
    { maxItems: 8, description: 'Addresses to which the station connects' },
  ),
})
export type RtcmTcpInfo = Static<typeof RtcmTcpInfo>

export const RtcmSerialInfo = Type.Object({
  port: text('device path or tcp://host:port'),
  baud: count('rate of the line, bit/s'),
  budget: count('capacity that may be used, bytes per second'),
  state: Type.Union([Type.Literal('off'), Type.Literal('open'), Type.Literal('waiting')], {
    description: 'off: no port is set. waiting: the port cannot be opened, and is tried again',
  }),
  text: text('reason for waiting'),
  sends: text('current reduction of the stream'),
  sent: count('bytes sent'),
  dropped: count('number of dropped epochs'),
})
export type RtcmSerialInfo = Static<typeof RtcmSerialInfo>
