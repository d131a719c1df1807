/** Provided by the plugin of the cellular router: the router itself, and the modem inside it. */

import { defineErrors } from '../error-table.js'
import type { Event } from '../event.js'
import type { ModemNetwork, SimState } from '../info/modem.js'
import type { RouterLinkState } from '../info/router.js'
import { defineService } from '../token.js'

/** Why a call of the router failed. */
export const routerErrors = defineErrors({
  RTK_ERR_ROUTER_OFFLINE: {
    status: 503,
    help: 'The router does not answer: check its cable and power; it is retried automatically.',
  },
  RTK_ERR_ROUTER_LOGIN: {
    status: 503,
    help: 'Set `rtr-user` and `rtr-pswd` to the values on the label of the router. The station spaces its attempts so that the router does not block it.',
  },
  RTK_ERR_ROUTER_CERTIFICATE: {
    status: 503,
    help: 'The certificate of the router changed: confirm the new one if the router was replaced or reset.',
  },
  RTK_ERR_ROUTER_TIMEOUT: {
    status: 504,
    help: 'The router did not answer in time: try again later.',
  },
  RTK_ERR_ROUTER_ANSWER: {
    status: 502,
    help: 'The answer of the router cannot be read: see the log, and check whether its firmware is supported.',
  },
  RTK_ERR_ROUTER_REFUSED: {
    status: 502,
    help: 'The router refused the call: the message has its reason.',
  },
  RTK_ERR_ROUTER_UNSUPPORTED: {
    status: 503,
    help: 'This router or its firmware does not support the operation that the message names.',
  },
})

/** The router, for other plugins. Rejections have a code RTK_ERR_ROUTER_…; calls are not retried. */
export interface CellularRouter {
  readonly state: RouterLinkState
  /** `state` changed, or a different router answers. */
  readonly onState: Event<void>
  /** MAC address, upper case with colons; `''` until known. */
  readonly macaddr: string
  /** IP address. If it is the default gateway of the Ethernet port, the modem is the station's uplink. */
  readonly address: string
  /** Restarts the router. Resolves when the router has accepted the request. */
  reboot(): Promise<void>
}
export const cellularRouter = defineService<CellularRouter>('cellular-router')

/** Firmware of the router, for `POST /update-firmware?rut`. */
export interface RouterFirmware {
  /**
   * The router downloads (or is sent) the image at `url`, verifies it and restarts into it. Resolves with a line for a person when
   * the router has accepted the image. @throws RTK_ERR_ROUTER_…, RTK_ERR_FETCH_…, RTK_ERR_UPDATE_RUNNING
   */
  install(url: string, signal?: AbortSignal): Promise<string>
}
export const routerFirmware = defineService<RouterFirmware>('router-firmware')

export interface ModemIdentity {
  imei: string
  model: string
  manuf: string
  /** Firmware of the modem. */
  rev: string
  /** Can list and select operators. */
  operatorControl: boolean
}

/** Undefined: not reported by this modem or technology. */
export interface ModemSignal {
  rssi_dbm: number | undefined
  rsrp_dbm: number | undefined
  rsrq_db: number | undefined
  sinr_db: number | undefined
}

export interface ModemRegistration {
  network: ModemNetwork
  /** Name of the registered network, `''` without one. */
  operator: string
  /** Name of the SIM issuer or network operator, as reported by the modem. */
  carrier: string
  /** MCC and MNC as one number, 0 without one. */
  plmn: number
  /** e.g. `LTE`, `''` when unknown. */
  technology: string
  cellId: string
  /** Packet service: `attached`, `detached`, `''` when unknown. */
  packetService: 'attached' | 'detached' | ''
  /** A data connection is up; undefined if the router does not report it. */
  connected: boolean | undefined
}

export interface ModemSim {
  state: SimState
  /** `''` while unknown. */
  imsi: string
  iccid: string
}

export interface ScannedOperator {
  /** MCC and MNC as text, e.g. `24603`; leading zeros matter. */
  plmn: string
  name: string
  generation: '2G' | '3G' | '4G' | '5G' | ''
  status: 'available' | 'current' | 'forbidden' | 'unknown'
}

export interface ApnSettings {
  /** `''`: chosen automatically by the router. */
  apn: string
  user: string
  pswd: string
  auth: 'none' | 'pap' | 'chap'
}

/** Facts that are read of the modem. Settings are those of the SIM in use. */
export interface ModemFacts {
  modemIdentity: ModemIdentity
  signal: ModemSignal
  registration: ModemRegistration
  sim: ModemSim
  /** Bytes of the mobile connection, counted by the router. */
  traffic: { sent: number; recvd: number }
  /** Undefined if the modem has no sensor. */
  temperature: { celsius: number | undefined }
  /** Digits of the operator; undefined: automatic. */
  operatorSelection: { plmn: string | undefined }
  apn: ApnSettings
  /** The router restarts if this host does not answer pings. */
  pingReboot: { enabled: boolean; host: string }
}
export type ModemFact = keyof ModemFacts

/**
 * The modem of the router, independent of the router's generation and transport. One poller reads its facts for everybody, while the router
 * is online and nothing else is asked. A call ends in any case, and rejects with RTK_ERR_ROUTER_OFFLINE, _LOGIN, _TIMEOUT, _ANSWER,
 * _REFUSED, _UNSUPPORTED (not possible on this router; the message names the operation) or RTK_ERR_ABORTED.
 */
export interface CellularModem {
  /** As it was last read, also while the router is away; undefined: not yet of this router and this SIM. */
  fact<K extends ModemFact>(name: K): ModemFacts[K] | undefined
  /** Milliseconds since it was read; infinite if it never was. */
  age_ms(name: ModemFact): number
  /** A fact was read, or is not known any more. */
  readonly onFact: Event<ModemFact>
  /** Has these facts read at least so often. @returns undo */
  follow(every_ms: Readonly<Partial<Record<ModemFact, number>>>): () => void
  /** Has these facts read soon. */
  refresh(...names: readonly ModemFact[]): void
  /** Reads a fact now. */
  read<K extends ModemFact>(name: K, signal?: AbortSignal): Promise<ModemFacts[K]>
  /** Takes up to 210 s; the mobile connection is down meanwhile. */
  scanOperators(signal?: AbortSignal): Promise<ScannedOperator[]>
  /** @param plmn digits as scanned; undefined: automatic. Takes up to 210 s; resolves when the modem has accepted it. */
  selectOperator(plmn: string | undefined, signal?: AbortSignal): Promise<void>
  /** Writes and commits the settings; the mobile connection restarts. */
  setApn(settings: ApnSettings, signal?: AbortSignal): Promise<void>
  /** Facts of the modem are not read until it has started again. */
  reboot(signal?: AbortSignal): Promise<void>
}
export const cellularModem = defineService<CellularModem>('cellular-modem')

/** Provided by the plugin modem: state of the modem as an uplink. */
export interface CellularUplink {
  /** A mobile data connection is up; undefined while unknown. */
  readonly connected: boolean | undefined
  /** Running operations that interrupt the connection: `scan`, `operator`, `apn`, `reboot`. */
  readonly pending?: readonly string[]
  /** `connected` changed to another known value. */
  readonly onChange: Event<void>
}
export const cellularUplink = defineService<CellularUplink>('cellular-uplink')

/** Provided by the plugin simulated-router: its state and faults, for tests, the console and third-party tests. */
export interface SimulatedRouter {
  /** Address of the router: `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Credentials on its label. */
  readonly credentials: { readonly user: string; readonly pswd: string }
  /** Runs one line of the simulator's command language (plugins/simulated/simulated-router/README.md). @returns the answer */
  command(line: string): string
  /** The state as one line of text. */
  describe(): string
}
export const simulatedRouter = defineService<SimulatedRouter>('simulated-router', {
  shape: { url: 'value', credentials: 'value', command: 'function', describe: 'function' },
})
