/**
 * The public schemas by name. They are the components of OpenAPI and AsyncAPI, the `$defs` of the schema files, and the types of
 * `rtk-base/contract`. A schema is recognised by its content, wherever it is used.
 */
import { ErrorAnswer, NvsNamespaces, NvsValues, NvsWritten, UpdateAnswer } from './http.js'
import { BaseInfo, BaseStateName, Fitness, UpdateStateName, Verdict } from './info/base.js'
import {
  ClientState,
  NtripBase,
  NtripInfo,
  NtripRover,
  PushState,
  RtcmSerialInfo,
  RtcmTcpInfo,
} from './info/corrections.js'
import { EspInfo } from './info/esp.js'
import {
  GnssInfo,
  GnssNeighbours,
  GnssPos,
  GnssRef,
  GnssRtcm,
  GnssState,
  GnssStatus,
  GpsFixName,
  RfInfo,
} from './info/gnss.js'
import { LinkInfo, LinksInfo } from './info/links.js'
import { ModemInfo, ModemNetwork, SimState } from './info/modem.js'
import { MqttFailureCause, MqttInfo, MqttLinkState } from './info/mqtt.js'
import { EthInfo, StaInfo, UdpInfo, WapInfo } from './info/network.js'
import { RouterInfo, RouterLinkState } from './info/router.js'
import { InfoDocument, InfoDocumentPart, infoDocumentPart } from './info-document.js'
import { CommandObject, OnlineStatus, RtcmSignature, StationState, UpdateBase } from './mqtt/messages.js'
import { RecordEntry } from './record.js'
import { PasswordRequest, SessionRequest, SessionState } from './session.js'
import {
  ActionAnswer,
  ActionEntry,
  Change,
  ChangeAnswer,
  Command,
  InputErrors,
  ParameterEntry,
  PluginReport,
  PluginStateName,
} from './station.js'

export const named: Readonly<Record<string, object>> = {
  InfoDocument,
  InfoDocumentPart,
  EspInfo,
  GnssInfo,
  GnssState,
  GnssStatus,
  GpsFixName,
  RfInfo,
  GnssPos,
  GnssRef,
  GnssRtcm,
  GnssNeighbours,
  BaseInfo,
  BaseStateName,
  UpdateStateName,
  Verdict,
  Fitness,
  EthInfo,
  WapInfo,
  StaInfo,
  UdpInfo,
  MqttInfo,
  MqttLinkState,
  MqttFailureCause,
  RouterInfo,
  RouterLinkState,
  ModemInfo,
  ModemNetwork,
  SimState,
  LinksInfo,
  LinkInfo,
  NtripInfo,
  NtripRover,
  NtripBase,
  PushState,
  ClientState,
  RtcmTcpInfo,
  RtcmSerialInfo,
  Change,
  ChangeAnswer,
  Command,
  ActionEntry,
  ActionAnswer,
  InputErrors,
  ParameterEntry,
  PluginReport,
  PluginStateName,
  RecordEntry,
  ErrorAnswer,
  SessionRequest,
  SessionState,
  PasswordRequest,
  NvsNamespaces,
  NvsValues,
  NvsWritten,
  UpdateAnswer,
  OnlineStatus,
  UpdateBase,
  CommandObject,
  RtcmSignature,
  StationState,
}

type Json = Record<string, unknown>

/** Plain JSON: TypeBox's own properties of a schema are not enumerable, so serialising drops them. */
export const plain = <T>(value: unknown): T => JSON.parse(JSON.stringify(value)) as T

/** A copy of plain JSON with `change` made to each object in it, the inner ones first. */
export function rewritten<T>(json: T, change: (node: Json) => unknown): T {
  if (Array.isArray(json)) return json.map((item) => rewritten(item, change)) as T
  if (typeof json !== 'object' || json === null) return json
  return change(Object.fromEntries(Object.entries(json).map(([name, value]) => [name, rewritten(value, change)]))) as T
}

/** A plugin may add fields to the answers of another. */
const extensible = (schema: Json): Json =>
  rewritten(schema, ({ additionalProperties, ...rest }) =>
    additionalProperties === undefined || additionalProperties === false ? rest : { ...rest, additionalProperties },
  )

/**
 * Replaces every named schema in `part` with a reference.
 * @param at location of the definitions, e.g. `#/components/schemas/`
 * @param own schemas that replace some names, e.g. `Change` with the parameters of a station
 * @returns the part, and the definitions it references
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
  // The loop also visits names added while it runs.
  for (const name of found) {
    const schema = own[name] ?? (name === 'InfoDocumentPart' ? infoDocumentPart() : named[name])
    definitions.set(name, extensible(replaced(plain(schema), name) as Json))
  }
  return { part: result, definitions: Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1))) }
}
