/**
 * Provided by the plugin `radio`: the WiFi radio shared by the access point (`wap`) and the uplink (`sta`), and system programs for
 * tasks beyond the network daemon.
 */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { AccessPointProfile, ScannedNetwork, StationProfile } from './network.js'

/**
 * `absent`: no radio. `off`: not wanted. `waiting`: the other side has the radio, or a retry is pending. `starting`: in progress.
 * `up`: in use; the uplink has an address. `failed`: the daemon refused; retried.
 */
export type RadioSideState = 'absent' | 'off' | 'waiting' | 'starting' | 'up' | 'failed'

export interface RadioSide {
  /** The interface for this side; `''` without one. */
  readonly name: string
  readonly state: RadioSideState
  /** Reason for the state, for a person. */
  readonly text: string
  /** Number of starts. When it changes, settings that the driver loses at a start must be set again. */
  readonly starts: number
}

export interface Radio {
  readonly accessPoint: RadioSide
  readonly station: RadioSide
  readonly onChange: Event<void>
  /**
   * Sets the wanted access point; undefined: none. Resolves when it is up, or at once if the radio is not available (no radio, or used by
   * the uplink). Rejects with RTK_ERR_NETWORK if the daemon refuses; retries follow anyway.
   */
  setAccessPoint(profile: AccessPointProfile | undefined): Promise<void>
  /** Sets the network to join; undefined: none. The attempt follows later. */
  setStation(profile: StationProfile | undefined): void
  /** Reactivates the profile of the access point, which drops its clients. @throws RTK_ERR_UNAVAILABLE while it is not up */
  restartAccessPoint(): Promise<void>
  /** Scans for networks, at most 15 s. @throws RTK_ERR_UNAVAILABLE with the reason if the driver cannot scan now */
  scan(signal?: AbortSignal): Promise<ScannedNetwork[]>
  /** Reports the number of access point clients. While there are any, the radio avoids taking the access point down. */
  reportClients(count: number): void
  readonly tools: RadioTools
  /** Programs and files of the real or simulated machine. */
  readonly machine: RadioMachine
}
export const radio = defineService<Radio>('radio')

/** An interface, as reported by the driver. */
export interface RadioInterface {
  readonly mac: string
  readonly type: 'AP' | 'managed' | string
  readonly ssid: string
  /** 0: none */
  readonly channel: number
  readonly frequency_mhz: number
  readonly width_mhz: number
  /** Centre frequency of the whole width; 0 unknown. */
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
}

/** The joined network, as reported by the driver. */
export interface RadioLink {
  readonly bssid: string
  readonly ssid: string
  readonly frequency_mhz: number
  readonly rssi_dbm: number
}

/** Current regulatory limits in the 2.4 GHz band. */
export interface Regulatory {
  /** ISO 3166; `00`: the world regulatory domain. */
  readonly country: string
  /** Highest channel allowed for an access point. */
  readonly maxChannel: number
  readonly maxTxPower_dbm: number
}

/**
 * `iw`, wpa_supplicant's D-Bus object and its control program. A failed call rejects with RTK_ERR_NETWORK, with the refused operation, the
 * reason and a remedy.
 */
export interface RadioTools {
  interface(name: string): Promise<RadioInterface>
  /** Clients of an access point. */
  stations(name: string): Promise<RadioStation[]>
  /** Undefined while the station is not joined. */
  link(name: string): Promise<RadioLink | undefined>
  /** Time since the last frame from the joined access point. */
  silence_ms(name: string): Promise<number>
  /** @param phy rules of this radio take precedence over the global ones */
  regulatory(phy?: string): Promise<Regulatory>
  /** Lost at a restart of the machine. Resolves when the rules of the country apply. */
  setCountry(country: string): Promise<void>
  setTxPower(name: string, dbm: number): Promise<void>
  removeStation(name: string, mac: string): Promise<void>
  /** Announces a channel switch to the clients, which stay connected. @returns the program that did it */
  announceChannel(name: string, channel: number): Promise<string>
  /** Limits of the access point, from wpa_supplicant. 0: its default. */
  limits(name: string): Promise<{ maxStations: number; beacon_tu: number }>
  /** Takes effect at the next start of the access point. */
  setMaxStations(name: string, count: number): Promise<void>
}

export interface RadioMachine {
  /** Like `ctx.process.execFile`: a missing program rejects with RTK_ERR_PROCESS_NOT_FOUND. */
  execFile(
    file: string,
    args: readonly string[],
    options?: { timeout_ms?: number; input?: string },
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  /** At most 256 KiB; undefined if the file does not exist. */
  readFile(path: string): Promise<string | undefined>
  writeFile(path: string, text: string): Promise<void>
  removeFile(path: string): Promise<void>
}

/** Provided by the plugin simulated-machine: programs and files of the simulated radio, and its faults. */
export interface SimulatedRadio {
  /** The machine behind the plugin `radio` with `backend: "simulator"`. */
  readonly machine: RadioMachine
  /** Runs one line of the simulator's command language (plugins/simulated/simulated-machine/README.md). @returns the answer */
  command(line: string): string
}
export const simulatedRadio = defineService<SimulatedRadio>('simulated-radio', {
  shape: { machine: 'value', command: 'function' },
})
