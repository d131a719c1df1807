/** The topics of the specification, each described by its plugin. `{SN}` is the serial number. */
import Type, { type TSchema } from 'typebox'
import { InfoDocument } from '../info-document.js'
import { Change, ChangeAnswer, Command, StationSettings } from '../station.js'
import { CommandObject, OnlineStatus, RtcmSignature, StationState, UpdateBase } from './messages.js'

/** Argument of `ctx.mqtt.describe`: an entry of the AsyncAPI document. */
export interface MqttTopic {
  /** `{SN}` is the serial number; the wildcards `+` and `#` work. */
  readonly address: string
  /** Publisher: the station (or the broker on its behalf), or a client. */
  readonly from: 'station' | 'client'
  readonly summary: string
  /** Omitted: any bytes. */
  readonly payload?: TSchema
  /** Omitted: application/json. */
  readonly contentType?: string
  /** For publications of the station. */
  readonly retain?: boolean
  /** User properties on MQTT 5, each optional. */
  readonly userProperties?: TSchema
  /** Tells messages on one address apart; left out: the address. */
  readonly name?: string
  /** Address on which the station answers a message. */
  readonly replyOn?: string
}

const anything = Type.Unknown({ description: 'content is ignored; usually empty' })
const rtcm = Type.String({
  format: 'binary',
  description: 'RTCM 3 frames: the reference messages, then one whole epoch',
})
export const topics = {
  online: {
    address: 'base/{SN}/online',
    from: 'station',
    summary: 'Whether the station is online',
    payload: OnlineStatus,
    contentType: 'text/plain',
    retain: true,
  },
  state: {
    address: 'base/{SN}/state',
    from: 'station',
    summary: 'The verdict in less than 300 bytes: on connect and at every change',
    payload: StationState,
    retain: true,
  },
  info: {
    address: 'base/{SN}/info',
    from: 'station',
    summary:
      'The status document, at most 131,072 bytes: on connect, every 6 h, when the receiver is identified, on demand',
    payload: InfoDocument,
  },
  infoGet: {
    address: 'base/{SN}/info/get',
    from: 'client',
    summary: 'Requests the status document; any payload',
    payload: anything,
    contentType: 'text/plain',
    replyOn: 'base/{SN}/info',
  },
  settings: {
    address: 'base/{SN}/settings',
    from: 'station',
    summary: 'Every parameter and action with its schema, without values: once for each set of plugins, and on demand',
    payload: StationSettings,
    retain: true,
  },
  settingsGet: {
    address: 'base/{SN}/settings/get',
    from: 'client',
    summary: 'Requests the parameters and actions; any payload',
    payload: anything,
    contentType: 'text/plain',
    replyOn: 'base/{SN}/settings',
  },
  cmd: {
    address: 'base/{SN}/cmd',
    from: 'client',
    summary: 'A command as text, e.g. log=d. Not answered, unless MQTT 5 names a response topic below base/{SN}/',
    payload: Command,
    contentType: 'text/plain',
  },
  updateBase: {
    name: 'cmd-update-base',
    address: 'base/{SN}/cmd',
    from: 'client',
    summary: 'The command that updates the station, as JSON',
    payload: UpdateBase,
  },
  cmdObject: {
    name: 'cmd-action',
    address: 'base/{SN}/cmd',
    from: 'client',
    summary: 'An action with its input, as JSON',
    payload: CommandObject,
  },
  changePost: {
    address: 'base/{SN}/change/post',
    from: 'client',
    summary: 'A change of parameters, as POST /change',
    payload: Change,
    replyOn: 'base/{SN}/change/resp',
  },
  changeResp: {
    address: 'base/{SN}/change/resp',
    from: 'station',
    summary: 'The result of every message on change/post that is not retained, including malformed ones',
    payload: ChangeAnswer,
  },
  drtk: {
    address: 'base/{SN}/drtk',
    from: 'station',
    summary: 'RTCM corrections, every mqtt-rtcm-rate seconds while the reference is trusted',
    payload: rtcm,
    contentType: 'application/octet-stream',
    userProperties: RtcmSignature,
  },
  drtkSig: {
    address: 'base/{SN}/drtk/sig',
    from: 'station',
    summary: 'On MQTT 3.1.1: the signature of the preceding publication on drtk',
    payload: RtcmSignature,
  },
  drtkCert: {
    address: 'base/{SN}/drtk/cert',
    from: 'station',
    summary: 'The certificate for verifying the signatures, PEM, followed by its intermediates',
    payload: Type.String({ pattern: '^-----BEGIN CERTIFICATE-----' }),
    contentType: 'application/x-pem-file',
    retain: true,
  },
  drtkEph: {
    address: 'base/{SN}/drtk/eph',
    from: 'station',
    summary: 'The newest broadcast ephemeris of each satellite, as RTCM, every 10 min and at each connect',
    payload: rtcm,
    contentType: 'application/octet-stream',
  },
} as const satisfies Readonly<Record<string, MqttTopic>>
