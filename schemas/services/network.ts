/**
 * The machine's network interfaces and uplinks, provided by the plugin `network` over NetworkManager or a simulation. `Network` is
 * for plugins that manage an interface (`eth`, `wap`, `sta`), `Uplinks` for plugins that depend on connectivity.
 */

import { defineErrors } from '../error-table.js'
import type { Event } from '../event.js'
import { defineService } from '../token.js'

/** State of an interface: NetworkManager's device states in groups. */
export type InterfaceState =
  | 'absent'
  | 'unmanaged'
  /** No cable, no firmware, or switched off by rfkill. */
  | 'unavailable'
  | 'disconnected'
  | 'connecting'
  | 'connected'
  | 'disconnecting'
  | 'failed'

/** Reach of an uplink. `portal`: a login page answers instead. `local`: the network is reachable, the internet is not. */
export type Reach = 'unknown' | 'none' | 'local' | 'portal' | 'internet'

export interface NetworkInterface {
  /** Kernel name: `eth0`, `wlan0`. */
  readonly name: string
  readonly kind: 'ethernet' | 'wifi'
  /** Lower case with colons; `''` unknown. */
  readonly mac: string
  readonly driver: string
  readonly state: InterfaceState
  /** The daemon's reason for the state, for a person; `''` if none. */
  readonly reason: string
  /** Carrier: a cable, or an association. */
  readonly carrier: boolean
  readonly ip4: readonly { readonly address: string; readonly prefix: number }[]
  readonly ip6: readonly { readonly address: string; readonly prefix: number }[]
  /** IPv4; `''` without one. */
  readonly gateway: string
  readonly dns: readonly string[]
  /** Metric of its default route; the lowest is used. Undefined without a default route. */
  readonly metric: number | undefined
  /** IPv6 default route of the interface; undefined without one. */
  readonly route6?: { readonly gateway: string; readonly metric: number }
  /** Result of the daemon's connectivity check; `unknown` without one. */
  readonly reach: Reach
  /** NetworkManager `id` of the active profile; `''` without one. */
  readonly profile: string
  /** WiFi state; undefined on Ethernet. */
  readonly wifi?: WifiState
}

export interface WifiState {
  readonly mode: 'ap' | 'station' | 'none'
  readonly canBeAp: boolean
  readonly ssid: string
  readonly bssid: string
  /** 1–14 (2.4 GHz), 36… (5 GHz); 0 unknown. */
  readonly channel: number
}

export interface ScannedNetwork {
  readonly ssid: string
  readonly bssid: string
  readonly channel: number
  /** dBm, from NetworkManager's 0–100 % (−100…−40 dBm). */
  readonly rssi: number
  readonly auth: 'open' | 'wep' | 'wpa-psk' | 'wpa2-psk' | 'wpa3-sae' | 'wpa-eap'
}

/** Settings of an access point. */
export interface AccessPointProfile {
  readonly ssid: string
  /** 8–63 characters, or 64 hexadecimal; `''`: open. */
  readonly password: string
  /** 1–13 */
  readonly channel: number
  /** IPv4 of the station on this network, e.g. `192.168.4.1/24`. */
  readonly address: string
}

/** An IPv4 address that no DHCP server assigns. */
export interface FixedAddress {
  /** e.g. `192.168.1.20` */
  readonly address: string
  /** 8–30 */
  readonly prefix: number
  /** `''`: no default route through this interface. */
  readonly gateway: string
  readonly dns: readonly string[]
}

/** A machine heard on an interface: an entry of the neighbour table. */
export interface Neighbour {
  readonly address: string
  /** Lower case with colons. */
  readonly mac: string
}

/** Cause of a failed call, for the caller's decision. The error message tells a person the same. */
export type NetworkFailure =
  | 'wrong password'
  /** No network with this name is in range. */
  | 'not found'
  /** No cable, or the association was lost. */
  | 'no carrier'
  /** No DHCP server answered, or its address is in use. */
  | 'no address'
  /** The interface does not exist, or the daemon does not manage it. */
  | 'no interface'
  /** Replaced by another call, or ended externally. */
  | 'superseded'
  /** The daemon does not allow it: see the polkit rule in plugins/network/network/README.md. */
  | 'not allowed'
  | 'timeout'
  | 'other'

/** Cause of an error from `Network`; undefined for any other error. */
export function networkFailureOf(error: unknown): NetworkFailure | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === 'object' && cause !== null && 'failure' in cause
    ? (cause.failure as NetworkFailure)
    : undefined
}

/** A WiFi network to join. */
export interface StationProfile {
  readonly ssid: string
  readonly password: string
  /** The network does not announce its name, so the station calls for it by name. Default: false. */
  readonly hidden?: boolean
}

/** Why the network daemon, or a tool of the radio, refused or failed. */
export const networkErrors = defineErrors({
  RTK_ERR_NETWORK: {
    status: 502,
    help: "The network daemon refused the call or could not complete it: the message has the daemon's reason.",
  },
})

/**
 * The operations of NetworkManager. A refused call rejects with RTK_ERR_NETWORK and the daemon's reason. While the daemon is absent, calls
 * reject with RTK_ERR_UNAVAILABLE. `networkFailureOf(error)` tells the cases apart. A rejected call leaves the stored profile unchanged; the
 * caller decides about the interface. A newer call for the same interface ends an older one (`superseded`). Only profiles with the id
 * `rtk-base-…` are ever changed.
 */
export interface Network {
  /** The daemon answers and the state below is complete. */
  readonly ready: boolean
  /** Why `ready` is false, for a person; else `''`. */
  readonly failure: string
  readonly interfaces: readonly NetworkInterface[]
  /** `interfaces`, `ready` or `failure` changed. At most once per turn of the event loop. */
  readonly onChange: Event<void>
  /**
   * Brings an Ethernet interface up with its profile, or takes it down. Resolves when the daemon has accepted the call; an address
   * follows later. A restarted daemon may bring the interface up again: call again to keep it down.
   */
  setEnabled(name: string, enabled: boolean): Promise<void>
  /**
   * Gives an Ethernet interface a fixed address; undefined: the settings that the machine has without it, otherwise DHCP. Does nothing if
   * the interface has this address already. An interface that is up is activated again. Resolves as `setEnabled` does. Not every provider
   * has it.
   */
  setAddress?(name: string, address: FixedAddress | undefined): Promise<void>
  /** Makes the interface an access point: stores and reactivates its profile. Resolves when it is up. */
  startAccessPoint(name: string, profile: AccessPointProfile): Promise<void>
  /** Joins a network. Resolves when the interface has an address, within 60 s. */
  join(name: string, profile: StationProfile): Promise<void>
  /** Deactivates the profile of a radio and disables its automatic activation. */
  disconnect(name: string): Promise<void>
  /** Scans, at most 15 s. */
  scan(name: string, signal?: AbortSignal): Promise<ScannedNetwork[]>
  /**
   * Gives this interface the default route, regardless of the metrics of the profiles; undefined: restores them. Nothing is stored: a new
   * activation of the interface ends it. Not every provider has it.
   */
  steer?(name: string | undefined): Promise<void>
  /** Machines heard on an interface, from the IPv4 neighbour table. */
  neighbours(name: string): readonly Neighbour[]
}
export const network = defineService<Network>('network')

export type UplinkKind = 'eth' | 'sta' | 'cellular'

/** A connection to the internet. */
export interface Uplink {
  readonly kind: UplinkKind
  /** The interface; for `cellular` the interface to the router. */
  readonly name: string
  /** Addresses of the uplink, IPv4 first: a socket bound to one of them uses this uplink. */
  readonly addresses: readonly string[]
  /** The uplink has an address and a gateway (cellular: the modem reports a data connection). */
  readonly up: boolean
  /** The default route goes through it. */
  readonly default: boolean
  /** Metric of its default route; undefined without one. */
  readonly metric: number | undefined
  /** Result of the last check; `unknown` until then. */
  readonly reach: Reach
  /** Reason, for a person. */
  readonly text: string
}

/** The uplinks. A plugin with a connection reconnects at `onUp` instead of waiting for a timeout. */
export interface Uplinks {
  readonly list: readonly Uplink[]
  /** The list changed. */
  readonly onChange: Event<void>
  /** An uplink appeared or became the default route. */
  readonly onUp: Event<Uplink>
  /** An uplink disappeared or changed its address. The value is the previous state, with the old addresses. */
  readonly onDown: Event<Uplink>
  /** Gives this uplink the default route; undefined: the network decides again. See `Network.steer`. Not every provider has it. */
  prefer?(name: string | undefined): Promise<void>
  /** Reports evidence from a user of an uplink: the broker answered, a caster is unreachable, a name does not resolve. */
  report(evidence: { who: string; localAddress?: string; reached: boolean; text?: string }): void
}
export const uplinks = defineService<Uplinks>('uplinks')

/** Provided by the plugin simulated-machine: a simulated network and its faults, for tests, the console and third-party tests. */
export interface SimulatedNetwork {
  /** The backend of the plugin `network` with `backend: "simulator"`. */
  readonly backend: Network
  /** Runs one line of the simulator's command language (plugins/simulated/simulated-machine/README.md). @returns the answer */
  command(line: string): string
}
export const simulatedNetwork = defineService<SimulatedNetwork>('simulated-network', {
  shape: { backend: 'value', command: 'function' },
})
