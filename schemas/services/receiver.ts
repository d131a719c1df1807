/** Provided by the plugin of the receiver: it brings this service and nothing else, see receiver.md. */
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

/** A verified RTCM 3 frame. Owns its bytes; never changed by anyone. */
export interface RtcmFrame {
  /** Message number, 0-4095. */
  readonly type: number
  /** From the 0xD3 to the last CRC byte. */
  readonly bytes: Uint8Array
  /** Monotonic milliseconds at which its last byte arrived. */
  readonly arrival_ms: number
}

export type GpsFix = 'none' | 'dead-reckoning' | '2d' | '3d' | '3d-dr' | 'time' | 'rtk-float' | 'rtk-fixed'

/** One navigation epoch as the receiver reports it. In fixed mode the position is an echo of the reference. */
export interface ReceiverFix {
  /** UTC seconds; 0 until the receiver's time is fully resolved. */
  t: number
  fix: GpsFix
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
  /** Corrections went into this epoch. */
  corrected: boolean
  arrival_ms: number
}

/** `offline`: no port or nothing on it. `stalled`: open, but silent. `up`: valid frames arrive. */
export type ReceiverLink = 'offline' | 'stalled' | 'up'

/** `listening`: someone else configured it and it is trusted. `fixed`: it holds a reference position. Else it is a `rover`. */
export type ReceiverMode = 'listening' | 'fixed' | 'rover' | 'unknown'

/** What a receiver can. The station expects nothing beyond it: what it cannot say is `unknown`, never a default. */
export interface ReceiverCapabilities {
  /** It determines its position by itself when it is told to, and says how far it is. */
  readonly ownSurvey: boolean
  /** How it takes a reference: as ECEF coordinates, or as latitude, longitude and height above the ellipsoid or above the sea; not at all. */
  readonly fixedPosition: 'ecef' | 'height-above-ellipsoid' | 'height-above-sea' | 'none'
  /** Where it keeps what `configure` writes: until its power goes, or in a flash memory that wears. */
  readonly settings: 'volatile' | 'flash'
  /** It restarts to bring a configuration into force. */
  readonly restarts: boolean
  /** It sends the station ID that it is told to. */
  readonly stationId: boolean
  /** It sends an antenna descriptor (1008, 1033) of its own. */
  readonly antennaDescriptor: boolean
  /** What it reports beside fixes and RTCM. */
  readonly reports: ReadonlySet<ReceiverReport>
  /** Raw observations that it can send beside RTCM, by the name of their message: `RXM-RAWX`, `MeasEpoch`, `OBSVM`. */
  readonly rawObservations: readonly string[]
  /** Seconds between two observations that it can be told to. */
  readonly intervals_s: readonly number[]
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
  /** `u-blox`; '' where the plugin does not say. */
  maker?: string
  module: string
  firmware: string
  hardware: string
  software: string
  /** '' until it is known, or for good where a receiver has none. */
  serial: string
}

/**
 * A GNSS receiver that can be a base: all that the rest of the station knows of it. What is optional here is optional: whoever uses
 * it works without.
 */
export interface Receiver {
  /** What it can; left out: nothing of what is optional. */
  readonly can?: ReceiverCapabilities
  readonly link: ReceiverLink
  /** For people: where it is (`/dev/ttyACM0`), why the link is as it is, and what helps. */
  readonly place?: { readonly port: string; readonly reason: string; readonly advice: string }
  /** There where it is no receiver but a recording of one: its time is not the time of now. */
  readonly recording?: { readonly ended: boolean; readonly isEmpty: boolean }
  readonly mode: ReceiverMode
  /** Empty strings until identified. */
  readonly identity: ReceiverIdentity
  readonly fix: ReceiverFix | undefined
  /** Corrupt RTCM frames seen on the link since the service started. */
  readonly corruptRtcm: number
  /** `corruptRtcm` begins at 0 again. */
  resetCounters?(): void
  /** Every verified RTCM frame, not gated: for the gate alone. Everybody else uses `rtcmStream`. */
  readonly onRtcm: Event<RtcmFrame>
  readonly onFix: Event<ReceiverFix>
  /** Link, mode or identity changed. */
  readonly onState: Event<void>
  /** Hands whole RTCM frames to the receiver as corrections; false when it cannot accept them now. */
  sendCorrections(frames: Uint8Array): boolean
  /**
   * Puts the receiver into a mode with everything that a base needs configured: writes only what differs, verifies by
   * reading back. `refused` names keys that it rejects. Rejects with RTK_ERR_UNAVAILABLE when it does not answer, is
   * only listened to, or does not hold what was written. A receiver that restarts by itself loses all of it: `configured`
   * turns false and `onState` is emitted.
   */
  configure(target: ReceiverTarget): Promise<{ written: number; refused: string[] }>
  /** It holds what the last `configure` wrote. */
  readonly configured: boolean
  /** The mode that it holds right now, read from it; undefined when it does not answer. */
  readTarget(): Promise<ReceiverTarget | { mode: 'survey-in' } | undefined>
  /** Restarts it; it keeps what it has stored and knows. Rejects with RTK_ERR_UNAVAILABLE. */
  restart?(): Promise<void>
  /** Milliseconds since its own start or reset; undefined while unknown. */
  readonly sinceReset_ms: number | undefined
  /** By the receiver; undefined while it does not say. */
  readonly startTimes?: { readonly uptime_s: number; readonly timeToFirstFix_s: number } | undefined
  /** The station ID that it is to send: `onState` reports another one, and `configure` writes it. */
  readonly stationId: number
  /** The seconds between two MSM of a constellation and between two 1005 that it is configured to; 1 each where the plugin does not say. */
  readonly intervals_s?: { readonly observations: number; readonly reference: number }
  /**
   * As a rover: gives up the RTK fix and determines the carrier ambiguities again, so that a wrong fix shows. Resolves when it searches
   * again, seconds later; rejects with RTK_ERR_UNAVAILABLE where it cannot. Not every receiver has it.
   */
  resetAmbiguities?(): Promise<void>
  /** Its time, UTC seconds, once it knows date, time and leap seconds. */
  readonly onTime?: Event<number>
  /** Once an epoch, for the movement check: what the ranges say beside the position that it holds. */
  readonly onResiduals?: Event<readonly SatelliteResidual[]>
  /** A second position solution that goes on in fixed mode, where the firmware has one. */
  readonly onSecondFix?: Event<ReceiverFix>
  /** Warnings of the receiver in its own words. */
  readonly onWarning?: Event<string>
  /** Once an epoch: every satellite that the receiver knows of, with its direction and its signals. */
  readonly onSatellites?: Event<SatelliteEpoch>
  /** The newest of these; undefined when it is older than 5 s. */
  readonly satellites?: SatelliteEpoch | undefined
  /** The signals that it is set to track, by constellation; undefined while that is not known. */
  readonly expectedSignals?: ReadonlyMap<ConstellationName, readonly string[]> | undefined
  /** What its supervisor says of the antenna, each time it does. */
  readonly onAntenna?: Event<AntennaReading>
  /** Interference of each band, each time it reports it. */
  readonly onInterference?: Event<readonly BandReading[]>
  /** Whether somebody feigns satellites, each time it reports that. */
  readonly onSpoofing?: Event<Spoofing>
  /** Corrections as it reports them itself, one event a message: so those of a radio at another of its ports show as well. */
  readonly onCorrection?: Event<{ readonly stationId: number }>
  /** Its own survey-in, where it has one. */
  readonly ownSurvey?: OwnSurvey | undefined
}

/** The survey-in that the receiver runs by itself. */
export interface OwnSurvey {
  readonly mean: Ecef
  /** 1 sigma by the receiver, metres. */
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
  /** Whether it has its voltage; undefined while that is not known. */
  readonly isPowered: boolean | undefined
}

/** From the best to the worst, behind `unknown`. */
export const jammingStates = ['unknown', 'ok', 'warning', 'critical'] as const
export type Jamming = (typeof jammingStates)[number]
export const spoofingStates = ['unknown', 'none', 'indicated', 'multiple'] as const
export type Spoofing = (typeof spoofingStates)[number]

/** The air in one band, as the receiver sees it. */
export interface BandReading {
  /** `L1`, `L2`, `L5`, `L6`. */
  readonly band: string
  readonly jamming: Jamming
  /** Tones in the band, 0 to 255. */
  readonly indicator: number
  /** Gain of the input amplifier, %. */
  readonly agc: number
  readonly noise: number
}

export type ConstellationName = 'gps' | 'sbas' | 'galileo' | 'beidou' | 'qzss' | 'glonass' | 'navic'

/** The satellites of one epoch. */
export interface SatelliteEpoch {
  /** GPS time of week, as in the MSM of the same epoch (but for the leap seconds of BeiDou and GLONASS), milliseconds. */
  readonly tow_ms: number
  readonly arrival_ms: number
  /** `signals` are known; false: this receiver, or this epoch, says nothing about them. */
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
  /** Of the strongest signal; 0: not received. */
  readonly cno_dbhz: number
  /** Code and carrier are locked. */
  readonly locked: boolean
  /** In the position. */
  readonly used: boolean
  readonly signals: readonly SatelliteSignal[]
}

export interface SatelliteSignal {
  /** By its band: `L1`, `L2`, `L5`, `E1`, `E5b`, `E5a`, `E6`, `B1I`, `B2I`, `B3I`, `B1C`, `B2a`. */
  readonly signal: string
  readonly cno_dbhz: number
  /** Pseudorange residual, metres. */
  readonly residual_m: number
  readonly locked: boolean
  readonly used: boolean
}

/** What the receiver is to be: one that finds its position, or a base at a given reference (ECEF to 0.1 mm). */
export type ReceiverTarget = { mode: 'rover' } | { mode: 'fixed'; arp: Ecef; acc_m: number }

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
