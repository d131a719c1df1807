/** Provided by the plugin of the cellular router: the router itself, and the modem inside it. */
import type { Event } from '../event.js'
import type { ModemNetwork, SimState } from '../info/modem.js'
import type { RouterLinkState } from '../info/router.js'
import { defineService } from '../token.js'

/** The router as other plugins use it. Rejections are coded RTK_ERR_ROUTER_…; none is retried for the caller. */
export interface CellularRouter {
  readonly state: RouterLinkState
  /** `state` changed, or another router answers now. */
  readonly onState: Event<void>
  /** Its MAC address, upper case with colons; `''` until it is known. */
  readonly macaddr: string
  /** Its IP address: where that is the default gateway of the Ethernet port, the station reaches the world through its modem. */
  readonly address: string
  /** Restarts the router. Resolves when it has accepted that. */
  reboot(): Promise<void>
}
export const cellularRouter = defineService<CellularRouter>('cellular-router')

/** Firmware of the router, for `POST /update-firmware?rut`. */
export interface RouterFirmware {
  /**
   * The router fetches (or is sent) the image behind `url`, checks it and restarts into it. Resolves with a line for a person when
   * it has accepted the image. @throws RTK_ERR_ROUTER_…, RTK_ERR_FETCH_…, RTK_ERR_UPDATE_RUNNING
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
  /** It can list operators and select one. */
  operatorControl: boolean
}

/** Undefined: not reported, by this modem or with this technology. */
export interface ModemSignal {
  rssi_dbm: number | undefined
  rsrp_dbm: number | undefined
  rsrq_db: number | undefined
  sinr_db: number | undefined
}

export interface ModemRegistration {
  network: ModemNetwork
  /** Name of the network that it is registered with, `''` without one. */
  operator: string
  /** Name of the company whose SIM it is, or that operates the network, as the modem says it. */
  carrier: string
  /** MCC and MNC as one number, 0 without one. */
  plmn: number
  /** e.g. `LTE`, `''` when unknown. */
  technology: string
  cellId: string
  /** Packet service: `attached`, `detached`, `''` when unknown. */
  packetService: 'attached' | 'detached' | ''
  /** A data connection stands; undefined where the router does not say. */
  connected: boolean | undefined
}

export interface ModemSim {
  state: SimState
  /** `''` while unknown. */
  imsi: string
  iccid: string
}

export interface ScannedOperator {
  /** MCC and MNC as they are written, e.g. `24603`; leading zeros count. */
  plmn: string
  name: string
  generation: '2G' | '3G' | '4G' | '5G' | ''
  status: 'available' | 'current' | 'forbidden' | 'unknown'
}

export interface ApnSettings {
  /** `''`: the router chooses by itself. */
  apn: string
  user: string
  pswd: string
  auth: 'none' | 'pap' | 'chap'
}

/**
 * The modem behind the router, whatever the router's generation and transport. Every call waits for its turn in the router's
 * one queue. Each rejects with RTK_ERR_ROUTER_OFFLINE, _LOGIN, _TIMEOUT, _ANSWER, _REFUSED, _UNSUPPORTED (this router cannot
 * do it: the message names the operation) or RTK_ERR_ABORTED.
 */
export interface CellularModem {
  identity(signal?: AbortSignal): Promise<ModemIdentity>
  signal(signal?: AbortSignal): Promise<ModemSignal>
  registration(signal?: AbortSignal): Promise<ModemRegistration>
  sim(signal?: AbortSignal): Promise<ModemSim>
  /** Bytes of the mobile connection since the router counts them. */
  traffic(signal?: AbortSignal): Promise<{ sent: number; recvd: number }>
  /** Degrees Celsius; undefined where the modem has no sensor. */
  temperature(signal?: AbortSignal): Promise<number | undefined>
  /** Takes up to 210 s, and the mobile connection is lost meanwhile. */
  scanOperators(signal?: AbortSignal): Promise<ScannedOperator[]>
  /** Undefined: automatic. */
  operatorSelection(signal?: AbortSignal): Promise<string | undefined>
  /** @param plmn digits as scanned; undefined: automatic. Takes up to 210 s; resolves when the modem has accepted it. */
  selectOperator(plmn: string | undefined, signal?: AbortSignal): Promise<void>
  apn(signal?: AbortSignal): Promise<ApnSettings>
  /** Written and committed; the mobile connection restarts. */
  setApn(settings: ApnSettings, signal?: AbortSignal): Promise<void>
  /** The host whose silence makes the router restart; `''` while that is off. */
  pingHost(signal?: AbortSignal): Promise<string>
  /** The station changed the host: `pingHost` tells another one now. */
  readonly onPingHost?: Event<void>
  reboot(signal?: AbortSignal): Promise<void>
}
export const cellularModem = defineService<CellularModem>('cellular-modem')

/** Provided by the plugin modem: whether the station reaches the world through the modem. */
export interface CellularUplink {
  /** A mobile data connection stands; undefined while that is not known. */
  readonly connected: boolean | undefined
  /** What cuts the connection and is under way: `scan`, `operator`, `apn`, `reboot`. */
  readonly pending?: readonly string[]
  /** `connected` changed to another known value. */
  readonly onChange: Event<void>
}
export const cellularUplink = defineService<CellularUplink>('cellular-uplink')

/** Provided by the plugin simulated-router: faults and facts of it, for tests, the console and third parties' own tests. */
export interface SimulatedRouter {
  /** Where it listens: `http://127.0.0.1:PORT`. */
  readonly url: string
  /** What its label says. */
  readonly credentials: { readonly user: string; readonly pswd: string }
  /** One line of the simulator's own language (plugins/simulated-router/README.md). @returns what it says to that */
  command(line: string): string
  /** The state as one line of text. */
  describe(): string
}
export const simulatedRouter = defineService<SimulatedRouter>('simulated-router', {
  shape: { url: 'value', credentials: 'value', command: 'function', describe: 'function' },
})
