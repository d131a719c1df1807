/** Provided by the plugin of the receiver, see receiver.md. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'

/** ECEF metres, WGS84 axes; coordinates are kept to 0.1 mm. */
export interface Ecef {
  x: number
  y: number
  z: number
}

/** East, north, up; metres. */
export interface Enu {
  east: number
  north: number
  up: number
}

/** A verified RTCM 3 frame. Owns its bytes; immutable. */
export interface RtcmFrame {
  /** Message number, 0-4095. */
  readonly type: number
  /** From the 0xD3 to the last CRC byte. */
  readonly bytes: Uint8Array
  /** Monotonic milliseconds at which its last byte arrived. */
  readonly arrival_ms: number
}

export type GpsFix = 'none' | 'dead-reckoning' | '2d' | '3d' | '3d-dr' | 'time' | 'rtk-float' | 'rtk-fixed'

/** One navigation epoch reported by the receiver. In fixed mode the position is an echo of the reference. */
export interface ReceiverFix {
  /** UTC seconds; 0 until the receiver's time is fully resolved. */
  t: number
  fix: GpsFix
  /** The receiver has a valid position. */
  ok: boolean
  position: Ecef
  lat: number
  lon: number
  /** Ellipsoidal height, metres. */
  alt: number
  /** 3D position accuracy estimate of the receiver (1 sigma), metres. */
  acc_m: number
  /** Height above ellipsoid minus height above mean sea level, metres. */
  geoidSeparation_m: number
  satellitesUsed: number
  /** This epoch used corrections. */
  corrected: boolean
  /** The corrections come from SBAS only, not from a base. */
  sbas?: boolean
  arrival_ms: number
}

/** `offline`: no port, or no receiver on it. `stalled`: open, but silent. `up`: valid frames arrive. */
export type ReceiverLink = 'offline' | 'stalled' | 'up'

/** `listening`: configured externally, and trusted. `fixed`: a base with a reference position. `rover`: finds its own position. */
export type ReceiverMode = 'listening' | 'fixed' | 'rover' | 'unknown'

/** Capabilities of a receiver. The station relies only on these: unreported values are `unknown`, never a default. */
export interface ReceiverCapabilities {
  /** Has its own survey-in, and reports its progress. */
  readonly ownSurvey: boolean
  /** Accepted form of a reference: ECEF coordinates, or latitude and longitude with ellipsoidal height or height above mean sea level, or none. */
  readonly fixedPosition: 'ecef' | 'height-above-ellipsoid' | 'height-above-sea' | 'none'
  /** Storage of the settings from `configure`: lost at power-off, or in flash memory, which wears out. */
  readonly settings: 'volatile' | 'flash'
  /** Restarts to apply a configuration: its link may be lost, and come back, while `configure` runs. */
  readonly restarts: boolean
  /** Sends the configured station ID. */
  readonly stationId: boolean
  /** Sends its own antenna descriptor (1008, 1033). */
  readonly antennaDescriptor: boolean
  /** Reports besides fixes and RTCM. */
  readonly reports: ReadonlySet<ReceiverReport>
  /** Message names of raw observations that it can send besides RTCM: `RXM-RAWX`, `MeasEpoch`, `OBSVM`. */
  readonly rawObservations: readonly string[]
  /** Supported observation intervals, seconds. */
  readonly intervals_s: readonly number[]
  /** Members of `ReceiverTarget.output` that `configure` takes; omitted: none. */
  readonly output?: ReadonlySet<keyof ReceiverOutput>
}

/** Constellations that a person can switch. QZSS goes with GPS. */
export const switchableConstellations = ['gps', 'glonass', 'galileo', 'beidou'] as const
export type SwitchableConstellation = (typeof switchableConstellations)[number]

/** Satellites and messages of a base. */
export interface ReceiverOutput {
  /** Tracked constellations. The MSM of all others, and without GLONASS also 1230, are not sent. */
  readonly constellations?: readonly SwitchableConstellation[]
  /** Elevation above which a satellite is used in the receiver's position, degrees. Some receivers also send no observations of lower ones. */
  readonly elevationMask_deg?: number
  /** MSM type of all constellations. */
  readonly msm?: 4 | 7
  /** Seconds between observations. */
  readonly observationInterval_s?: number
  /** Seconds between 1005 or 1006 messages. */
  readonly referenceInterval_s?: number
  /** Seconds between 1230 messages. */
  readonly biasInterval_s?: number
}

export type ReceiverReport =
  | 'antenna'
  | 'corrections'
  | 'interference'
  | 'residuals'
  | 'satellites'
  | 'second-fix'
  | 'signals'
  | 'spoofing'

export interface ReceiverIdentity {
  /** `u-blox`; '' if the plugin does not report it. */
  maker?: string
  module: string
  firmware: string
  hardware: string
  software: string
  /** '' until known, or if the receiver has none. */
  serial: string
}

/**
 * A GNSS receiver that can be a base: the only interface between receiver plugins and the rest of the station. Users must work without
 * the optional members.
 */
export interface Receiver {
  /** Capabilities of the receiver; omitted: none of the optional ones. */
  readonly can?: ReceiverCapabilities
  readonly link: ReceiverLink
  /** For people: its port (`/dev/ttyACM0`), the reason for the state of the link, and a remedy. */
  readonly place?: { readonly port: string; readonly reason: string; readonly advice: string }
  /** Present if this is a recording, not a receiver: its time is not the current time. */
  readonly recording?: { readonly ended: boolean; readonly isEmpty: boolean }
  readonly mode: ReceiverMode
  /** Empty strings until identified. */
  readonly identity: ReceiverIdentity
  /** Names of optional settings that this receiver does not take: it works without them. Changes are told by `onState`. */
  readonly rejected?: readonly string[]
  readonly fix: ReceiverFix | undefined
  /** Corrupt RTCM frames seen on the link since the service started. */
  readonly corruptRtcm: number
  /** Resets `corruptRtcm` to 0. */
  resetCounters?(): void
  /** Every verified RTCM frame, before the gate: for the gate itself and for observers. Outputs use `rtcmStream`. */
  readonly onRtcm: Event<RtcmFrame>
  readonly onFix: Event<ReceiverFix>
  /** Link, mode or identity changed. */
  readonly onState: Event<void>
  /** Sends whole RTCM frames to the receiver as corrections; false if it cannot accept them now. */
  sendCorrections(frames: Uint8Array): boolean
  /**
   * Sets the mode of the receiver and configures everything a base needs. Writes only the differences and verifies them by
   * reading back. `refused` names the settings that the receiver did not accept and that a base does not need. Rejects with
   * RTK_ERR_UNAVAILABLE if the receiver does not answer, is listen-only, or does not hold the written values. A receiver
   * that restarts unexpectedly loses the configuration: `configured` turns false and `onState` is emitted.
   */
  configure(target: ReceiverTarget): Promise<{ written: number; refused: string[] }>
  /** The receiver holds the settings of the last `configure`. */
  readonly configured: boolean
  /** Reads the current mode from the receiver; undefined if it does not answer. */
  readTarget(): Promise<ReceiverTarget | { mode: 'survey-in' } | undefined>
  /** Restarts the receiver, which keeps its stored settings and navigation data. Rejects with RTK_ERR_UNAVAILABLE. */
  restart?(): Promise<void>
  /** Milliseconds since the last start or reset of the receiver; undefined while unknown. */
  readonly sinceReset_ms: number | undefined
  /** Reported by the receiver; undefined until then. */
  readonly startTimes?: { readonly uptime_s: number; readonly timeToFirstFix_s: number } | undefined
  /** The station ID to send: `onState` reports a change, and `configure` writes it. */
  readonly stationId: number
  /** Satellites and messages as configured, by `output` of the last target or by the plugin's options; unknown members are omitted. */
  readonly output?: ReceiverOutput | undefined
  /** Configured intervals of the MSM of a constellation and of 1005, seconds; default 1 each. */
  readonly intervals_s?: { readonly observations: number; readonly reference: number }
  /**
   * As a rover: drops the RTK fix and resolves the carrier ambiguities again, to reveal a wrong fix. Resolves when the search has begun,
   * seconds later. Rejects with RTK_ERR_UNAVAILABLE on failure. Not every receiver has it.
   */
  resetAmbiguities?(): Promise<void>
  /** Receiver time, UTC seconds, once date, time and leap seconds are known. */
  readonly onTime?: Event<number>
  /** Once per epoch, for the movement check: range residuals relative to the held position. */
  readonly onResiduals?: Event<readonly SatelliteResidual[]>
  /** The second fix, which continues in fixed mode, if the firmware has one. */
  readonly onSecondFix?: Event<ReceiverFix>
  /** Warnings in the receiver's own words. */
  readonly onWarning?: Event<string>
  /** Once per epoch: every satellite known to the receiver, with its direction and signals. */
  readonly onSatellites?: Event<SatelliteEpoch>
  /** Ephemerides that do not come in `onRtcm`, as whole frames of 1019, 1020, 1042, 1044, 1045 or 1046, for exact directions. */
  readonly onEphemeris?: Event<Uint8Array>
  /** The newest satellite epoch; undefined if older than 5 s. */
  readonly satellites?: SatelliteEpoch | undefined
  /** The configured signals by constellation; undefined while unknown. */
  readonly expectedSignals?: ReadonlyMap<ConstellationName, readonly string[]> | undefined
  /** Each report of the antenna supervisor. */
  readonly onAntenna?: Event<AntennaReading>
  /** Each report of interference, by band. */
  readonly onInterference?: Event<readonly BandReading[]>
  /** Each report of the spoofing detection. */
  readonly onSpoofing?: Event<Spoofing>
  /** Each correction message reported by the receiver. Includes corrections from a radio on another of its ports. */
  readonly onCorrection?: Event<{ readonly stationId: number }>
  /** Survey-in of the receiver itself, where it has one. */
  readonly ownSurvey?: OwnSurvey | undefined
}

/** The receiver's own survey-in. */
export interface OwnSurvey {
  readonly mean: Ecef
  /** 1 sigma from the receiver, metres. */
  readonly meanAcc_m: number
  readonly active: boolean
  readonly valid: boolean
  readonly elapsed_s: number
  readonly observations: number
}

export const antennaStatuses = ['init', 'unknown', 'ok', 'short', 'open'] as const
export type AntennaStatus = (typeof antennaStatuses)[number]

export interface AntennaReading {
  readonly status: AntennaStatus
  /** Whether the antenna is powered; undefined while unknown. */
  readonly isPowered: boolean | undefined
}

/** `unknown`, then from best to worst. */
export const jammingStates = ['unknown', 'ok', 'warning', 'critical'] as const
export type Jamming = (typeof jammingStates)[number]
export const spoofingStates = ['unknown', 'none', 'indicated', 'multiple'] as const
export type Spoofing = (typeof spoofingStates)[number]

/** RF environment in one band, from the receiver. */
export interface BandReading {
  /** `L1`, `L2`, `L5`, `L6`. */
  readonly band: string
  readonly jamming: Jamming
  /** Continuous-wave interference, 0 to 255 (strong). NaN in this field, `agc` or `noise`: not reported. */
  readonly indicator: number
  /** Gain of the input amplifier, %. */
  readonly agc: number
  /** Noise level, in units of the receiver. */
  readonly noise: number
}

export type ConstellationName = 'gps' | 'sbas' | 'galileo' | 'beidou' | 'qzss' | 'glonass' | 'navic'

/** The satellites of one epoch. */
export interface SatelliteEpoch {
  /** GPS time of week, as in the MSM of the same epoch (except for the leap seconds of BeiDou and GLONASS), milliseconds. */
  readonly tow_ms: number
  readonly arrival_ms: number
  /** `signals` are known; false: this receiver, or this epoch, does not report them. */
  readonly hasSignals: boolean
  readonly satellites: readonly Satellite[]
}

export interface Satellite {
  readonly constellation: ConstellationName
  /** GPS 1-32, GLONASS slot 1-32 (255: unknown), Galileo 1-36, BeiDou 1-63, QZSS 1-10 or PRN from 193, SBAS PRN from 120. */
  readonly satellite: number
  /** 0-360 from north over east; undefined while the receiver does not know the orbit. */
  readonly azimuth_deg: number | undefined
  readonly elevation_deg: number | undefined
  /** C/N0 of the strongest signal; 0: not received. */
  readonly cno_dbhz: number
  /** Code and carrier are locked. */
  readonly locked: boolean
  /** Used in the position. */
  readonly used: boolean
  readonly signals: readonly SatelliteSignal[]
}

export interface SatelliteSignal {
  /** Name: `L1`, `L2`, `L5`, `E1`, `E5b`, `E5a`, `E6`, `B1I`, `B2I`, `B3I`, `B1C`, `B2a`. */
  readonly signal: string
  readonly cno_dbhz: number
  /** Pseudorange residual, metres. */
  readonly residual_m: number
  readonly locked: boolean
  readonly used: boolean
}

/**
 * Target mode: a rover that finds its position, or a base at a given reference (ECEF to 0.1 mm). `output`: the satellites and messages that a person chose, only
 * members of `can.output`. For missing members, the plugin's options or the receiver's own settings apply. `readTarget` omits `output`.
 */
export type ReceiverTarget = ({ mode: 'rover' } | { mode: 'fixed'; arp: Ecef; acc_m: number }) & {
  output?: ReceiverOutput
}

export interface SatelliteResidual {
  /** `gps`, `glonass`, `galileo`, `beidou`, `qzss`, `sbas`. */
  constellation: string
  satellite: number
  azimuth_deg: number
  elevation_deg: number
  /** Pseudorange residual, metres. */
  residual_m: number
  used: boolean
}
export const receiver = defineService<Receiver>('receiver', {
  shape: {
    link: 'value',
    mode: 'value',
    identity: 'value',
    fix: 'value',
    corruptRtcm: 'value',
    onRtcm: 'function',
    onFix: 'function',
    onState: 'function',
    sendCorrections: 'function',
    configure: 'function',
    configured: 'value',
    readTarget: 'function',
    sinceReset_ms: 'value',
    stationId: 'value',
  },
})
