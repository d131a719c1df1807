/**
 * The public schemas by name. They are the components of OpenAPI and AsyncAPI, the `$defs` of the schema files, and the types of
 * `rtk-base/contract`. A schema is recognised by what it says, wherever it stands.
 */
import { ErrorAnswer, NvsNamespaces, NvsValues, NvsWritten, UpdateAnswer } from './http.js'
import { BaseStateName, Fitness, UpdateStateName, Verdict } from './info/base.js'
import { GnssPos, GnssRef, GnssRtcm, GnssState, GnssStatus, GpsFixName, RfInfo } from './info/gnss.js'
import { LinkInfo } from './info/links.js'
import { ModemNetwork, SimState } from './info/modem.js'
import { MqttFailureCause, MqttLinkState } from './info/mqtt.js'
import { ClientState, NtripBase, NtripRover, PushState } from './info/ntrip.js'
import { RouterLinkState } from './info/router.js'
import { extensible, InfoDocument, InfoDocumentPart, infoBlocks } from './info-document.js'
import { OnlineStatus, RtcmSignature, UpdateBase } from './mqtt/messages.js'
import { RecordEntry } from './record.js'
import { SessionRequest, SessionState } from './session.js'
import {
  Change,
  ChangeAnswer,
  Command,
  CommandEntry,
  ParameterEntry,
  PluginReport,
  PluginStateName,
} from './station.js'

export const named: Readonly<Record<string, object>> = {
  InfoDocument,
  InfoDocumentPart,
  EspInfo: infoBlocks.esp,
  GnssInfo: infoBlocks.gnss,
  GnssState: extensible(GnssState),
  GnssStatus,
  GpsFixName,
  RfInfo: extensible(RfInfo),
  GnssPos: extensible(GnssPos),
  GnssRef: extensible(GnssRef),
  GnssRtcm: extensible(GnssRtcm),
  BaseInfo: infoBlocks.base,
  BaseStateName,
  UpdateStateName,
  Verdict,
  Fitness,
  EthInfo: infoBlocks.eth,
  WapInfo: infoBlocks.wap,
  StaInfo: infoBlocks.sta,
  UdpInfo: infoBlocks.udp,
  MqttInfo: infoBlocks.mqtt,
  MqttLinkState,
  MqttFailureCause,
  RouterInfo: infoBlocks.router,
  RouterLinkState,
  ModemInfo: infoBlocks.modem,
  ModemNetwork,
  SimState,
  LinksInfo: infoBlocks.links,
  LinkInfo,
  NtripInfo: infoBlocks.ntrip,
  NtripRover,
  NtripBase,
  PushState,
  ClientState,
  RtcmTcpInfo: infoBlocks.rtcm_tcp,
  RtcmSerialInfo: infoBlocks.rtcm_serial,
  Change,
  ChangeAnswer,
  Command,
  CommandEntry,
  ParameterEntry,
  PluginReport,
  PluginStateName,
  RecordEntry,
  ErrorAnswer,
  SessionRequest,
  SessionState,
  NvsNamespaces,
  NvsValues,
  NvsWritten,
  UpdateAnswer,
  OnlineStatus,
  UpdateBase,
  RtcmSignature,
}

type Json = Record<string, unknown>

/** Plain JSON: what TypeBox keeps beside a schema is not enumerable, and goes with the serialisation. */
export const plain = <T>(value: unknown): T => JSON.parse(JSON.stringify(value)) as T

/**
 * Replaces every named schema in `part` by a reference.
 * @param at where the definitions are, e.g. `#/components/schemas/`
 * @param own what some of the names mean here, e.g. `Change` with the parameters of a station
 * @returns the part, and the definitions that it needs
 */
export function withReferences<T>(
  part: T,
  at: string,
  own: Readonly<Record<string, object>> = {},
): { part: T; definitions: Record<string, Json> } {
  const names = new Map(Object.entries(named).map(([name, schema]) => [JSON.stringify(schema), name]))
  const found = new Set<string>()
  const replaced = (json: unknown, inside = ''): unknown => {
    if (Array.isArray(json)) return json.map((item) => replaced(item))
    if (typeof json !== 'object' || json === null) return json
    const name = names.get(JSON.stringify(json))
    if (name === undefined || name === inside)
      return Object.fromEntries(Object.entries(json).map(([key, value]) => [key, replaced(value)]))
    found.add(name)
    return { $ref: `${at}${name}` }
  }
  const result = replaced(plain(part)) as T
  const definitions = new Map<string, Json>()
  // A set that grows is walked to its end.
  for (const name of found) definitions.set(name, replaced(plain(own[name] ?? named[name]), name) as Json)
  return { part: result, definitions: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))) }
}
