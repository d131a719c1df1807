/**
 * The machine's network interfaces (provided by the plugin `network`, over NetworkManager or a simulated one) and the uplinks
 * that follow from them. Plugins that manage an interface (`eth`, `wap`, `sta`) use the first, whoever depends on being
 * connected uses the second.
 */
import type { Event } from '../event.js'
import { defineService } from '../token.js'

/** NetworkManager's device states, drawn together. */
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

/** How far a way out leads. `portal`: a login page answers instead. `local`: the network is there, the internet is not reached. */
export type Reach = 'unknown' | 'none' | 'local' | 'portal' | 'internet'

export interface NetworkInterface {
  /** As the kernel names it: `eth0`, `wlan0`. */
  readonly name: string
  readonly kind: 'ethernet' | 'wifi'
  /** Lower case with colons; `''` unknown. */
  readonly mac: string
  readonly driver: string
  readonly state: InterfaceState
  /** Why it is in that state, for a person: the daemon's reason; `''` where there is none. */
  readonly reason: string
  /** Carrier: a cable, or an association. */
  readonly carrier: boolean
  readonly ip4: readonly { readonly address: string; readonly prefix: number }[]
  readonly ip6: readonly { readonly address: string; readonly prefix: number }[]
  /** IPv4; `''` without one. */
  readonly gateway: string
  readonly dns: readonly string[]
  /** Metric of its default route, the lowest is used; undefined without such a route. */
  readonly metric: number | undefined
  /** Its IPv6 default route; undefined without one. */
  readonly route6?: { readonly gateway: string; readonly metric: number }
  /** What the daemon's own connectivity check says about its way out; `unknown` where it makes none. */
  readonly reach: Reach
  /** The profile in force, `''` without one: `id` is NetworkManager's name of it. */
  readonly profile: string
  /** Of a radio; undefined on Ethernet. */
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

/** What an access point is told to be. */
export interface AccessPointProfile {
  readonly ssid: string
  /** 8–63 characters, or 64 hexadecimal; `''`: open. */
  readonly password: string
  /** 1–13 */
  readonly channel: number
  /** IPv4 of the station on this network, e.g. `192.168.4.1/24`. */
  readonly address: string
}

/** A machine that was heard on an interface: an entry of the neighbour table. */
export interface Neighbour {
  readonly address: string
  /** Lower case with colons. */
  readonly mac: string
}

/** Why a call was not completed: what a caller decides by. The message of the error says the same to a person. */
export type NetworkFailure =
  | 'wrong password'
  /** No network of this name is in reach. */
  | 'not found'
  /** No cable, or the association was lost. */
  | 'no carrier'
  /** No DHCP server answered, or its address is in use. */
  | 'no address'
  /** The interface is not there, or is not managed by the daemon. */
  | 'no interface'
  /** Another call took its place, or someone else ended it. */
  | 'superseded'
  /** The daemon does not allow it: see the polkit rule in plugins/network/README.md. */
  | 'not allowed'
  | 'timeout'
  | 'other'

/** What an error of `Network` was about; undefined for any other error. */
export function networkFailureOf(error: unknown): NetworkFailure | undefined {
  const cause = error instanceof Error ? error.cause : undefined
  return typeof cause === 'object' && cause !== null && 'failure' in cause
    ? (cause.failure as NetworkFailure)
    : undefined
}

/** What a station joins. */
export interface StationProfile {
  readonly ssid: string
  readonly password: string
}

/**
 * What NetworkManager does for us. A call rejects with RTK_ERR_NETWORK and the daemon's reason when it is refused, with
 * RTK_ERR_UNAVAILABLE while the daemon is not there; `networkFailureOf(error)` tells the cases apart. A call that rejects leaves the
 * stored profile as it was; what the interface does then is the caller's decision. A newer call for the same interface ends an older one
 * (`superseded`). Profiles are ours by their id (`rtk-base-…`); others are never changed.
 */
export interface Network {
  /** The daemon answers and the state below is complete. */
  readonly ready: boolean
  /** Why it is not, for a person; `''` while it is. */
  readonly failure: string
  readonly interfaces: readonly NetworkInterface[]
  /** Something in `interfaces`, `ready` or `failure` changed. At most once in a turn of the event loop. */
  readonly onChange: Event<void>
  /**
   * Brings an Ethernet interface up with its profile, or takes it down. Resolves when the daemon has accepted it: an address
   * follows later. After its restart the daemon may bring it up by itself: who wants it down says so again.
   */
  setEnabled(name: string, enabled: boolean): Promise<void>
  /** Makes the interface an access point with these settings: stored and activated again. Resolves when it is up. */
  startAccessPoint(name: string, profile: AccessPointProfile): Promise<void>
  /** Joins a network. Resolves when the interface has an address, which takes up to 60 s. */
  join(name: string, profile: StationProfile): Promise<void>
  /** Ends whatever profile is in force on a radio, and keeps it from coming back by itself. */
  disconnect(name: string): Promise<void>
  /** Scans, at most 15 s. */
  scan(name: string, signal?: AbortSignal): Promise<ScannedNetwork[]>
  /**
   * Gives this interface the default route, whatever the metrics of the profiles say; undefined: by them again. Nothing is stored: it
   * ends when the interface is activated again. Not every provider has it.
   */
  steer?(name: string | undefined): Promise<void>
  /** Who was heard on an interface, from the neighbour table of the machine (IPv4). */
  neighbours(name: string): readonly Neighbour[]
}
export const network = defineService<Network>('network')

export type UplinkKind = 'eth' | 'sta' | 'cellular'

/** A way out of the box. */
export interface Uplink {
  readonly kind: UplinkKind
  /** The interface; of a cellular one that which leads to the router. */
  readonly name: string
  /** Its addresses, IPv4 first: a socket with one of them as its local address goes through it. */
  readonly addresses: readonly string[]
  /** It has an address and a gateway (cellular: the modem reports a data connection). */
  readonly up: boolean
  /** The default route goes through it. */
  readonly default: boolean
  /** Metric of its default route; undefined without one. */
  readonly metric: number | undefined
  /** What was found when it was tried last; `unknown` until then. */
  readonly reach: Reach
  /** Why, for a person. */
  readonly text: string
}

/** The ways out of the box: who depends on one reconnects at `onUp` instead of waiting for a time-out. */
export interface Uplinks {
  readonly list: readonly Uplink[]
  /** The list changed. */
  readonly onChange: Event<void>
  /** A way out appeared or another one became the default route. */
  readonly onUp: Event<Uplink>
  /** A way out went away, or has another address now. The value is as it was before, with the addresses that are gone. */
  readonly onDown: Event<Uplink>
  /** Gives this uplink the default route; undefined: as the network has it again. See `Network.steer`. Not every provider has it. */
  prefer?(name: string | undefined): Promise<void>
  /** Evidence from whoever talks through an uplink: a broker that answered, a caster that was not reached, a name not resolved. */
  report(evidence: { who: string; localAddress?: string; reached: boolean; text?: string }): void
}
export const uplinks = defineService<Uplinks>('uplinks')

/** Provided by the plugin simulated-machine: a network to work with, and what happens to it, for tests, the console and third parties' own tests. */
export interface SimulatedNetwork {
  /** What stands behind the plugin `network` with `backend: "simulator"`. */
  readonly backend: Network
  /** One line of the simulator's own language (plugins/simulated-machine/README.md). @returns what it says to that */
  command(line: string): string
}
export const simulatedNetwork = defineService<SimulatedNetwork>('simulated-network', {
  shape: { backend: 'value', command: 'function' },
})
