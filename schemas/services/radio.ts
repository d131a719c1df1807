/**
 * Provided by the plugin `radio`: the WiFi radio that the access point (`wap`) and the uplink (`sta`) share, and the programs of
 * the machine that do what the network daemon does not.
 */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { AccessPointProfile, ScannedNetwork, StationProfile } from './network.js'

/**
 * `absent`: there is no radio for it. `off`: not wanted. `waiting`: the other side has the radio, or the next attempt is due later.
 * `starting`: under way. `up`: in use; the uplink has an address. `failed`: the daemon refused, it is tried again.
 */
export type RadioSideState = 'absent' | 'off' | 'waiting' | 'starting' | 'up' | 'failed'

export interface RadioSide {
  /** The interface that carries it or would carry it; `''` without one. */
  readonly name: string
  readonly state: RadioSideState
  /** Why it is in that state, for a person. */
  readonly text: string
  /** How often it came up: what the driver forgets at each start is set again when this changes. */
  readonly starts: number
}

export interface Radio {
  readonly accessPoint: RadioSide
  readonly station: RadioSide
  readonly onChange: Event<void>
  /**
   * The access point that is wanted from now on; undefined: none. Resolves when it is up, or at once where it is not its turn (no
   * radio, the uplink uses it). Rejects with RTK_ERR_NETWORK when the daemon refuses; it is tried again all the same.
   */
  setAccessPoint(profile: AccessPointProfile | undefined): Promise<void>
  /** The network that the station joins from now on; undefined: none. The attempt follows. */
  setStation(profile: StationProfile | undefined): void
  /** Activates the profile of the access point again: its clients are dropped. @throws RTK_ERR_UNAVAILABLE while it is not up */
  restartAccessPoint(): Promise<void>
  /** What others are on the air, at most 15 s. @throws RTK_ERR_UNAVAILABLE where the driver cannot scan now, with the reason */
  scan(signal?: AbortSignal): Promise<ScannedNetwork[]>
  /** Clients of the access point, as whoever counts them says: while there are some, the radio is not taken from them lightly. */
  reportClients(count: number): void
  readonly tools: RadioTools
  /** Programs and files of the machine, or of the simulated one. */
  readonly machine: RadioMachine
}
export const radio = defineService<Radio>('radio')

/** An interface as the driver has it. */
export interface RadioInterface {
  readonly mac: string
  readonly type: 'AP' | 'managed' | string
  readonly ssid: string
  /** 0: none */
  readonly channel: number
  readonly frequency_mhz: number
  readonly width_mhz: number
  /** Middle of the whole width, 0 unknown. */
  readonly centre_mhz: number
  /** 0: off or not reported */
  readonly txPower_dbm: number
  /** `phy0` */
  readonly phy: string
}

export interface RadioStation {
  readonly mac: string
  readonly rssi_dbm: number
  readonly inactive_ms: number
  readonly authorized: boolean
}

/** The joined network as the driver has it. */
export interface RadioLink {
  readonly bssid: string
  readonly ssid: string
  readonly frequency_mhz: number
  readonly rssi_dbm: number
}

/** What the law in force allows in the 2.4 GHz band. */
export interface Regulatory {
  /** ISO 3166, `00`: the rules of all countries together. */
  readonly country: string
  /** Highest channel on which an access point may send. */
  readonly maxChannel: number
  readonly maxTxPower_dbm: number
}

/**
 * `iw`, wpa_supplicant's D-Bus object and its control program. Every call rejects with RTK_ERR_NETWORK: what was refused, why, and what
 * a person can do.
 */
export interface RadioTools {
  interface(name: string): Promise<RadioInterface>
  /** Clients of an access point. */
  stations(name: string): Promise<RadioStation[]>
  /** Undefined while the station is not joined. */
  link(name: string): Promise<RadioLink | undefined>
  /** How long ago a frame of the joined access point was received. */
  silence_ms(name: string): Promise<number>
  /** @param phy rules of a radio that brings its own go before the common ones */
  regulatory(phy?: string): Promise<Regulatory>
  /** Not kept over a restart of the machine. Resolves when the rules of the country are in force. */
  setCountry(country: string): Promise<void>
  setTxPower(name: string, dbm: number): Promise<void>
  removeStation(name: string, mac: string): Promise<void>
  /** Announces a switch of channel to the clients, which stay. @returns who did it */
  announceChannel(name: string, channel: number): Promise<string>
  /** 0: as the daemon has it by default. */
  limits(name: string): Promise<{ maxStations: number; beacon_tu: number }>
  /** Counts from the next start of the access point. */
  setMaxStations(name: string, count: number): Promise<void>
}

export interface RadioMachine {
  /** As `ctx.process.execFile`: a program that is missing rejects with RTK_ERR_PROCESS_NOT_FOUND. */
  execFile(
    file: string,
    args: readonly string[],
    options?: { timeout_ms?: number; input?: string },
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  /** At most 256 KiB of it; undefined where there is no such file. */
  readFile(path: string): Promise<string | undefined>
  writeFile(path: string, text: string): Promise<void>
  removeFile(path: string): Promise<void>
}

/** Provided by the plugin simulated-machine: programs and files around the simulated radio, and what happens to it. */
export interface SimulatedRadio {
  /** What stands behind the plugin `radio` with `backend: "simulator"`. */
  readonly machine: RadioMachine
  /** One line of the simulator's own language (plugins/simulated-machine/README.md). @returns what it says to that */
  command(line: string): string
}
export const simulatedRadio = defineService<SimulatedRadio>('simulated-radio', {
  shape: { machine: 'value', command: 'function' },
})
