/** The operations on a router, for all generations and transports. */
import type {
  ApnSettings,
  ModemIdentity,
  ModemRegistration,
  ModemSignal,
  ModemSim,
  ScannedOperator,
} from 'rtk-base/services'
import type { Call } from '../transport/call.js'
import type { Dialect } from './dialect.js'

export interface SystemState {
  uptime_s: number
  /** Clock of the router, epoch seconds. */
  time_s: number
}

export interface BoardFacts {
  serial: string
  /** Upper case with colons. */
  macaddr: string
  /** Product code. */
  hw: string
  hwver: string
  hwbatch: string
}

export interface RouterAccessPoint {
  bssid: string
  ssid: string
  pswd: string
}

export interface PingReboot {
  enabled: boolean
  host: string
  /** The router has a list of hosts (7.10 and later): a single value in its place is not read by its scripts. */
  isList?: true
}

export interface IpBlock {
  enabled: boolean
  attempts: number
  /** Blocks are cleared when the router restarts; undefined where it has no such setting. */
  clearedAtReboot: boolean | undefined
}

export interface ModemCount {
  count: number
  used: string
}

export interface Exec {
  command: string
  params: readonly string[]
}
export interface ExecAnswer {
  code: number
  stdout: string
  stderr: string
}

export interface UciPlace {
  config: string
  section?: string
  option?: string
}
export interface UciValues {
  config: string
  section: string
  values: Readonly<Record<string, string>>
}

/** Operation → input and result; `true`: accepted. */
export interface Operations {
  system: [undefined, SystemState]
  version: [undefined, string]
  board: [undefined, BoardFacts]
  deviceName: [undefined, string]
  accessPoint: [undefined, RouterAccessPoint]
  reboot: [undefined, true]
  factory: [undefined, true]
  exec: [Exec, ExecAnswer]
  uciGet: [UciPlace, unknown]
  uciState: [UciPlace, unknown]
  uciSet: [UciValues, true]
  uciCommit: [{ config: string }, true]
  modemIdentity: [undefined, ModemIdentity]
  signal: [undefined, ModemSignal]
  registration: [undefined, ModemRegistration]
  sim: [undefined, ModemSim]
  traffic: [undefined, { sent: number; recvd: number }]
  temperature: [undefined, { celsius: number | undefined }]
  scanOperators: [undefined, ScannedOperator[]]
  operatorSelection: [undefined, { plmn: string | undefined }]
  selectOperator: [{ plmn: string | undefined }, true]
  apn: [undefined, ApnSettings]
  setApn: [ApnSettings, true]
  rebootModem: [undefined, true]
  pingReboot: [undefined, PingReboot]
  setPingReboot: [PingReboot, true]
  /** Number of modems, and the name of the one in use. */
  modems: [undefined, ModemCount]
  ipBlock: [undefined, IpBlock]
  setIpBlock: [{ attempts: number }, true]
  installFirmware: [{ url: string }, true]
  /** Facts that other operations need: names of the modem and of sections. `''`: there is none. */
  modemId: [undefined, string]
  simId: [undefined, string]
  mobileDevice: [undefined, string]
  /** `1` or `2`: slot of the SIM in use. */
  simSlot: [undefined, string]
  pingSection: [undefined, string]
  ipBlockSection: [undefined, string]
}

export type OperationName = keyof Operations
export type Input<K extends OperationName> = Operations[K][0]
export type Output<K extends OperationName> = Operations[K][1]

export type FactName = 'modemId' | 'simId' | 'simSlot' | 'mobileDevice' | 'pingSection' | 'ipBlockSection'
export type RouterFactIds = Readonly<Record<FactName, string>>

/** One way to do an operation. The ways of an operation are tried in their order until the router has one. */
export interface Way<I, O> {
  /** Facts required first: read once per connection, unless they can change at runtime. */
  readonly needs?: readonly FactName[]
  calls(input: I, facts: RouterFactIds): readonly Call[]
  /** The answer out of the calls' answers (undefined: an optional one failed); undefined when they make no sense. */
  read(answers: readonly unknown[], input: I, facts: RouterFactIds): O | undefined
  /** The operation continues in the background: these calls are repeated until `read` accepts their answers. */
  readonly poll?: { readonly calls: readonly Call[]; readonly every_ms: number; readonly most_ms: number }
  /** The calls are independent: they go out in one request where the router takes that. */
  readonly together?: boolean
  /** The way writes: an alternative is only tried if the router lacks this operation. */
  readonly writes?: boolean
  /** Not every router understands it: it is not tried again where another way worked after it had failed. */
  readonly isTrial?: boolean
  /** The router may go away before it answers: that counts as accepted. */
  readonly mayBreakOff?: boolean
}

/** A row of the table: an operation in each dialect; left out where it cannot be done. */
export type Row<K extends OperationName> = { readonly [D in Dialect]?: readonly Way<Input<K>, Output<K>>[] }
export type Rows<K extends OperationName> = { readonly [Name in K]: Row<Name> }
