/** Provided by the plugin of the receiver, gnss-zed as shipped. */
import type { Event } from '../event.js'
import { defineService } from '../token.js'
import type { Ecef, RtcmFrame } from './gnss.js'

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

/** A GNSS receiver that can be a base. gnss-zed provides it; another receiver's plugin could. */
export interface Receiver {
  readonly link: ReceiverLink
  readonly mode: ReceiverMode
  /** Empty strings until identified. */
  readonly identity: { module: string; firmware: string; hardware: string; software: string; serial: string }
  readonly fix: ReceiverFix | undefined
  /** Corrupt RTCM frames seen on the link since the service started. */
  readonly corruptRtcm: number
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
  /** Milliseconds since its own start or reset; undefined while unknown. */
  readonly sinceReset_ms: number | undefined
  /** The station ID that it is to send: `onState` reports another one, and `configure` writes it. */
  readonly stationId: number
  /** The seconds between two MSM of a constellation and between two 1005 that it is configured to; 1 each where the plugin does not say. */
  readonly intervals_s?: { readonly observations: number; readonly reference: number }
  /**
   * As a rover: gives up the RTK fix and determines the carrier ambiguities again, so that a wrong fix shows. Resolves when it searches
   * again, seconds later; rejects with RTK_ERR_UNAVAILABLE where it cannot. Not every receiver has it.
   */
  resetAmbiguities?(): Promise<void>
  /** Once an epoch, for the movement check: what the ranges say beside the position that it holds. */
  readonly onResiduals: Event<readonly SatelliteResidual[]>
  /** A second position solution that goes on in fixed mode, where the firmware has one. */
  readonly onSecondFix: Event<ReceiverFix>
  /** Warnings of the receiver in its own words. */
  readonly onWarning: Event<string>
  /** Once an epoch: every satellite that the receiver knows of, with its direction and its signals. Not every receiver has it. */
  readonly onSatellites?: Event<SatelliteEpoch>
  /** The newest of these; undefined when it is older than 5 s. */
  readonly satellites?: SatelliteEpoch | undefined
  /** What its supervisor says of the antenna; not every receiver has one. */
  readonly antenna?: AntennaStatus
  /** Interference, and whether somebody feigns satellites; where the receiver says so. */
  readonly radio?: ReceiverRadio
  /** `radio` changed: a state, not a figure. */
  readonly onRadio?: Event<ReceiverRadio>
}

export type AntennaStatus = 'init' | 'unknown' | 'ok' | 'short' | 'open'

/** The air around the antenna, as the receiver sees it. The states last: a moment of interference does not change them. */
export interface ReceiverRadio {
  /** Interference is so strong that the receiver cannot work with it. */
  readonly jammed: boolean
  /** Several epochs in a row showed signs of feigned satellites; over after a minute without. */
  readonly spoofed: boolean
  /** The operator wants no RTCM to go out while `spoofed` (option `spoofedHold`). The plugin itself hands none on then. */
  readonly holdsWhenSpoofed: boolean
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
  /** As u-blox numbers them: GPS 1-32, GLONASS slot 1-32 (255: unknown), Galileo 1-36, BeiDou 1-63, QZSS 1-10. */
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
export const receiver = defineService<Receiver>('receiver')

/** The limits of the receiver's plugin that others go by. */
export interface ReceiverLimits {
  /** `gnss-recvrtcm-max-age`: how old corrections may be. */
  correctionMaxAge_s(): number
}
export const receiverLimits = defineService<ReceiverLimits>('receiver-limits')
