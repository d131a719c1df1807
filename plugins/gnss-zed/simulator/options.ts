/** What a simulated receiver is, what it does wrong, and what is handed over on a reload. */
import type { PortName } from '../ubx/index.js'
import type { ConfigSnapshot } from './firmware/config-store.js'
import type { ModelOptions, ModelSnapshot } from './physics/model.js'
import type { NavigationState } from './physics/solution.js'

export interface SimulatorOptions extends ModelOptions {
  /** `fixed`: someone set it up as a base at its position. `rover`: as it leaves the factory. */
  boot: 'fixed' | 'rover'
  module: 'ZED-F9P' | 'ZED-X20P'
  /** The port of the receiver that the host is wired to. */
  wiring: PortName
  uniqueId: string
  geoidSeparation_m: number
  /** False: older firmware without the second solution. */
  nav2?: boolean
  /** At most so many satellites are received, from so high. */
  satellites?: number
  mask_deg?: number
  /** A flight record that is played on it, and when that begins. */
  record?: string
  recordDelay_s?: number
  /** Also NMEA GGA. */
  nmea: boolean
}

/** Survives a reload of the plugin that holds it. */
export interface SimulatorSnapshot {
  config: ConfigSnapshot
  model: ModelSnapshot
  navigation: NavigationState
  /** Monotonic; when it was started. */
  bootedAt_ms: number
  ttff_ms: number
}

/** Faults of the receiver as a device, beside those of the model. */
export interface Faults {
  silent: boolean
  /** Metres in X that its 1005 is wrong by. */
  wrongReference_m: number
  /** RTCM frames that are still to be damaged. */
  corruptFrames: number
  /** Every n-th ACK or NAK is lost; 0: none. */
  dropAcks: number
  /** As NAV-STATUS.spoofDetState: 0 unknown, 1 none, 2 indicated, 3 in several ways. */
  spoofing: number
}
