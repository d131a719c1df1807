/** The state of the simulated radio: clients, settings, faults. */
import type { NetworkInterface } from 'rtk-base/services'

export interface Client {
  rssi_dbm: number
  /** `''`: it asked for no address. */
  ip: string
  /** Monotonic time of its last frame. */
  heardAt_ms: number
  /** The client keeps sending. */
  talks: boolean
}

export interface SimulatedState {
  readonly clients: Map<string, Client>
  country: string
  txPower_dbm: number
  maxStations: number
  beacon_tu: number
  /** Channels on which the driver can be access point and station at once; 0: unsupported. */
  bothChannels: number
  /** Interfaces added to the radio; the simulated network daemon does not show them on its own. */
  readonly added: Set<string>
  /** The driver announces a switch of channel. */
  announces: boolean
  /** Programs that are not installed. */
  readonly missing: Set<string>
  /** Replacement output of a program, with its exit code. */
  readonly faults: Map<string, { code: number; stdout: string; stderr: string }>
  /** Programs that need so long. */
  readonly slow_ms: Map<string, number>
  readonly files: Map<string, string>
  /** Default routes of the machine that were added by hand: `via dev metric`. */
  readonly routes: Map<string, string>
  /** DNS servers by interface. */
  readonly dns: Map<string, string>
  /** Signals that the DHCP server got. */
  dhcpReloads: number
  leases: 'written' | 'garbage' | 'missing'
}

export const initialState = (): SimulatedState => ({
  clients: new Map(),
  country: '00',
  txPower_dbm: 20,
  maxStations: 128,
  beacon_tu: 0,
  bothChannels: 0,
  added: new Set(),
  announces: true,
  missing: new Set(),
  faults: new Map(),
  slow_ms: new Map(),
  files: new Map(),
  routes: new Map(),
  dns: new Map(),
  dhcpReloads: 0,
  leases: 'written',
})

/** The radio, as seen by the programs. */
export interface RadioView {
  readonly state: SimulatedState
  /** A WiFi interface of the machine. */
  interface(name: string): NetworkInterface | undefined
  /** Monotonic time. */
  now_ms(): number
}
