/** RTCM of an epoch, in the order of a ZED-F9P: GPS, GLONASS, Galileo, BeiDou, 1230, 1005. */
import {
  type Constellation,
  encodeMsm,
  encodeRtcm,
  knownLeap_s,
  type MsmObservation,
  msmEpochTime,
  msmType,
} from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import type { Epoch, Track } from './model.js'
import { type ConstellationModel, constellations, type MsmSignal } from './sky.js'

const light_mps = 299_792_458
const l1_hz = 1575.42e6

/** Inputs that determine the output of one epoch. */
export interface RtcmRequest {
  epoch: Epoch
  stationId: number
  /** Undefined: no 1005. */
  arp: Ecef | undefined
  /** Whether a message number is to be sent now. */
  due(type: number): boolean
  /** Pads each MSM to the length of its full grid of satellites and signals, as a ZED-F9P does. Default: true. */
  padToGrid?: boolean
}

/** The messages that are due, whole frames: MSM4 and MSM7 of every constellation, 1230, 1005 (RTCM 10403.3). */
export function rtcmMessages({ epoch, stationId, arp, due, padToGrid = true }: RtcmRequest): Uint8Array[] {
  const planned: { constellation: ConstellationModel; type: number; tracks: Track[] }[] = []
  for (const constellation of constellations) {
    const tracks = epoch.tracks.filter(({ sight }) => sight.constellation === constellation)
    for (const msm of [4, 7] as const) {
      const type = msmType(constellation.name, msm)
      if (tracks.length > 0 && due(type)) planned.push({ constellation, type, tracks })
    }
  }
  const frames = planned.map(({ constellation, type, tracks }, i) =>
    encodeMsm(
      {
        type,
        stationId,
        epochTime: msmEpochTime(constellation.name, epoch.tow_ms, knownLeap_s),
        multiple: i < planned.length - 1,
        iods: 0,
        clockSteering: 0,
        externalClock: 0,
        smoothing: false,
        smoothingInterval: 0,
        observations: tracks.flatMap((track) => msmObservations(track, epoch, type % 10 === 7)),
        info: constellation.name === 'GLONASS' ? glonassInfo(tracks) : {},
      },
      { padToGrid },
    ),
  )
  if (due(1230)) {
    // As an F9P: the two signals that it tracks, aligned, so no bias.
    const biases_m = { l1ca: 0, l2ca: 0 }
    frames.push(encodeRtcm({ type: 1230, stationId, biasesAligned: false, biases_m }))
  }
  if (arp && due(1005)) frames.push(referenceFrame(stationId, arp))
  return frames
}

/** Inputs for the MSM of receivers with more signals than fit into one message. */
export interface MsmRequest {
  readonly epoch: Epoch
  readonly tracks: readonly Track[]
  readonly stationId: number
  /** Constellations in the order of sending. One without satellites is sent as an empty message. */
  readonly order: readonly Constellation[]
  readonly models: readonly ConstellationModel[]
  /** Clock steering indicator of the MSM header (DF411). */
  readonly clockSteering: number
  due(type: number): boolean
  /** Changes the observations of a satellite before they are sent. */
  cells?(observations: MsmObservation[]): MsmObservation[]
}

/** The most pairs of an MSM: satellites times signals. */
const mostPairs = 64

/** MSM4 and MSM7 with all signals of a constellation, split into as many messages as necessary. */
export function msmFrames(request: MsmRequest): Uint8Array[] {
  const { epoch, tracks, stationId, order, models, clockSteering, due, cells = (same) => same } = request
  const masks = new Map(order.map((name) => [name, maskOf(models, name)]))
  const planned = order.flatMap((name) => {
    const own = tracks.filter(({ sight }) => sight.constellation.name === name)
    return ([4, 7] as const).flatMap((kind) => {
      const type = msmType(name, kind)
      return due(type) ? inParts(own, masks.get(name)?.length ?? 1).map((part) => ({ name, type, part })) : []
    })
  })
  return planned.map(({ name, type, part }, i) =>
    encodeMsm(
      {
        type,
        stationId,
        epochTime: msmEpochTime(name, epoch.tow_ms, knownLeap_s),
        multiple: i < planned.length - 1,
        clockSteering,
        observations: part.flatMap((track) => cells(msmObservations(track, epoch, type % 10 === 7))),
        // The others have 0, not the 15 of "unknown".
        info: {
          ...Object.fromEntries(part.map(({ sight }) => [sight.svId, 0])),
          ...(name === 'GLONASS' && glonassInfo(part)),
        },
      },
      { signals: part.length > 0 ? (masks.get(name) ?? []) : [], outOfRange: 'invalid' },
    ),
  )
}

function maskOf(models: readonly ConstellationModel[], name: Constellation): number[] {
  const own = models.filter((model) => model.name === name)
  return [...new Set(own.flatMap((model) => model.signals.map(({ msm }) => msm)))]
}

/** As many satellites in each as fit into the mask with all signals of the constellation, in ascending order. */
function inParts(tracks: readonly Track[], signals: number): Track[][] {
  const most = Math.floor(mostPairs / Math.max(1, signals))
  const rest = tracks.toSorted((p, q) => p.sight.svId - q.sight.svId)
  const parts: Track[][] = []
  do parts.push(rest.splice(0, most))
  while (rest.length > 0)
  return parts
}

/** A ZED-F9P cuts off digits below 0.1 mm: its 1005 has …8028 where NAV-SVIN has …8029. */
const truncated = (metres: number) => Math.trunc(metres * 10_000) / 10_000

/** A 1005 frame with this reference position. */
export function referenceFrame(stationId: number, arp: Ecef): Uint8Array {
  return encodeRtcm({
    type: 1005,
    stationId,
    itrfYear: 0,
    gps: true,
    glonass: true,
    galileo: true,
    virtual: false,
    singleOscillator: true,
    quarterCycle: 0,
    x: truncated(arp.x),
    y: truncated(arp.y),
    z: truncated(arp.z),
  })
}

/** The observations of one satellite. @param fine true: the lock indicator of MSM6 and 7 (DF407), false: that of MSM4 and 5 (DF402) */
export function msmObservations(
  { sight, noise_m, otherNoise_m, signals }: Track,
  { clock_m }: Epoch,
  fine: boolean,
): MsmObservation[] {
  const { constellation } = sight
  return signals.map(({ cno_dbhz, lock_s, ambiguity, halfCycle, phaseNoise_m }, i) => {
    const signal = constellation.signals[i]
    const frequency_hz = frequency(signal, sight.svId, constellation)
    const wavelength_m = light_mps / frequency_hz
    const ionosphere_m = sight.ionosphere_m * (l1_hz / frequency_hz) ** 2
    const range_m = sight.range_m + clock_m
    return {
      satellite: sight.svId,
      signal: signal.msm,
      pseudorange_m: range_m + ionosphere_m + (i === 0 ? noise_m : otherNoise_m),
      phase_m: range_m - ionosphere_m + ambiguity * wavelength_m + phaseNoise_m,
      rate_mps: sight.rate_mps,
      lock: fine ? lockIndicator407(lock_s * 1000) : lockIndicator402(lock_s * 1000),
      halfCycle,
      cnr_dbhz: Math.max(1, cno_dbhz),
    }
  })
}

/** Frequency channel of a GLONASS slot, −5 to 6, of the simulated constellation. Slots 12 apart share a channel. */
export function glonassChannel(slot: number): number {
  return ((slot - 1) % 12) - 5
}

function frequency({ frequency_hz }: MsmSignal, svId: number, { name }: ConstellationModel): number {
  if (name !== 'GLONASS') return frequency_hz
  const step_hz = frequency_hz > 1500e6 ? 562_500 : 437_500
  return frequency_hz + glonassChannel(svId) * step_hz
}

/** The frequency channel + 7 of each GLONASS slot, as MSM5 and MSM7 carry it. */
export function glonassInfo(tracks: readonly Track[]): Record<number, number> {
  return Object.fromEntries(tracks.map(({ sight }) => [sight.svId, glonassChannel(sight.svId) + 7]))
}

/** DF402: the power of two below the lock time, 0 under 32 ms. */
function lockIndicator402(lock_ms: number): number {
  return lock_ms < 32 ? 0 : Math.min(15, Math.floor(Math.log2(lock_ms)) - 4)
}

/** DF407: 32 steps to each power of two, from milliseconds up to 18.6 hours. */
function lockIndicator407(lock_ms: number): number {
  if (lock_ms < 64) return Math.floor(lock_ms)
  const power = Math.floor(Math.log2(lock_ms / 32))
  return Math.min(704, Math.floor(lock_ms / 2 ** power) + 32 * power)
}
