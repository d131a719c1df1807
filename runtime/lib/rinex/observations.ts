/**
 * Observations with the names of RINEX: by system letter, satellite and observation code (RINEX 3.05, tables A1 and
 * 4-11).
 */

import type { GpsTime } from 'rtk-base/gnss'

/** RINEX letters: GPS, GLONASS, Galileo, BeiDou, QZSS, SBAS, NavIC. */
export type SystemLetter = 'G' | 'R' | 'E' | 'C' | 'J' | 'S' | 'I'

/** The order in files. */
export const systemOrder: readonly SystemLetter[] = ['G', 'R', 'E', 'C', 'J', 'S', 'I']

/** One signal of one satellite at one time. Unknown and invalid values are undefined. */
export interface SignalObservation {
  /** Band and attribute, e.g. `1C`: the code of an observation without its first letter. */
  readonly code: string
  readonly range_m: number | undefined
  readonly phase_cycles: number | undefined
  /** Positive while the satellite approaches. */
  readonly doppler_hz: number | undefined
  readonly cno_dbhz: number | undefined
  /** The phase was not tracked without a break since the last observation of this signal. */
  readonly isBroken: boolean
  /** The phase may be wrong by half a cycle. */
  readonly isHalf: boolean
}

export interface SatelliteObservations {
  readonly system: SystemLetter
  /** As in RINEX: PRN, slot or number; SBAS PRN − 100. */
  readonly number: number
  readonly signals: readonly SignalObservation[]
}

/**
 * All observations of one time by the receiver's clock. The time has week and time of week, because a single number
 * resolves only 0.24 µs.
 */
export interface ObservationEpoch extends Readonly<GpsTime> {
  readonly satellites: readonly SatelliteObservations[]
  /** GLONASS frequency channels by slot, as far as the source has them. */
  readonly channels: ReadonlyMap<number, number>
}

const mega = 1e6
/** Carrier frequencies, Hz, by system and band. GLONASS: of channel 0. */
const carriers: Readonly<Record<SystemLetter, Readonly<Record<string, number>>>> = {
  G: { 1: 1575.42 * mega, 2: 1227.6 * mega, 5: 1176.45 * mega },
  R: { 1: 1602 * mega, 2: 1246 * mega, 3: 1202.025 * mega },
  E: { 1: 1575.42 * mega, 5: 1176.45 * mega, 7: 1207.14 * mega, 8: 1191.795 * mega, 6: 1278.75 * mega },
  C: {
    2: 1561.098 * mega,
    1: 1575.42 * mega,
    5: 1176.45 * mega,
    7: 1207.14 * mega,
    8: 1191.795 * mega,
    6: 1268.52 * mega,
  },
  J: { 1: 1575.42 * mega, 2: 1227.6 * mega, 5: 1176.45 * mega, 6: 1278.75 * mega },
  S: { 1: 1575.42 * mega, 5: 1176.45 * mega },
  I: { 5: 1176.45 * mega, 9: 2492.028 * mega },
}
/** Distance of two GLONASS channels, Hz, by band. */
const channelSteps: Readonly<Record<string, number>> = { 1: 0.5625 * mega, 2: 0.4375 * mega }

/**
 * The carrier frequency of a signal, Hz.
 * @param channel GLONASS frequency channel; without it the frequency of L1 and L2 of GLONASS is undefined
 */
export function codeCarrier_hz(system: SystemLetter, code: string, channel?: number): number | undefined {
  const [band = ''] = code
  const centre = carriers[system][band]
  const step = system === 'R' ? channelSteps[band] : undefined
  if (centre === undefined || step === undefined) return centre
  return channel === undefined ? undefined : centre + channel * step
}

/** `G05`. */
export const satelliteName = (system: SystemLetter, number: number): string => system + String(number).padStart(2, '0')

const lastNumbers: Readonly<Record<SystemLetter, number>> = { G: 32, R: 32, E: 36, C: 63, J: 10, S: 58, I: 14 }

/** Whether RINEX has the satellite: PRN, slot or number, SBAS PRN − 100. */
export const isSatelliteNumber = (system: SystemLetter, number: number): boolean =>
  number >= (system === 'S' ? 20 : 1) && number <= lastNumbers[system]
