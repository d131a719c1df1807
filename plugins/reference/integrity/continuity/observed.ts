/** Satellites with orbits, as they were observed before and after an outage. Pure. */
import {
  carrier_hz,
  type Ephemeris,
  ecefToGeodetic,
  expectedRange,
  msmBandOf,
  type ObservedSatellite,
  type ObservedSignal,
  troposphere_m,
  wetMapping,
} from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'

/**
 * GLONASS takes no part: its broadcast orbits are used for 30 min at most, and change by decimetres meanwhile. Group delays are
 * constant, so signals need not be those that the clock of a satellite refers to.
 */
export const bridging = ['GPS', 'Galileo', 'BeiDou'] as const
export type Bridging = (typeof bridging)[number]

/** Carrier frequency of a signal (DF395); undefined if it is not used. */
const frequencyOf = (constellation: Bridging, signal: number): number | undefined =>
  carrier_hz(constellation, msmBandOf(constellation, signal) ?? '')

const apart_hz = 200e6

/** Two signals whose frequencies are far enough apart to show the ionosphere. */
export const areApart = (constellation: Bridging, p: number, q: number): boolean =>
  Math.abs((frequencyOf(constellation, p) ?? 0) - (frequencyOf(constellation, q) ?? 0)) >= apart_hz

export type EphemerisOf = (constellation: Bridging, satellite: number) => Ephemeris | undefined

export type Pair = readonly [ObservedSignal, ObservedSignal]

/** Two signals on frequencies far apart: the first that has both among those that are `usable`. */
export function pairOf(
  { constellation, signals }: ObservedSatellite<Bridging>,
  usable: (signal: ObservedSignal) => boolean,
): Pair | undefined {
  const able = signals.filter(usable)
  for (const [i, first] of able.entries()) {
    const second = able.slice(i + 1).find(({ signal }) => areApart(constellation, first.signal, signal))
    if (second) return [first, second]
  }
  return undefined
}

/** The square of the ratio of their frequencies: the ionosphere on the second is larger than on the first by this. */
export function dispersion(constellation: Bridging, [first, second]: readonly [number, number]): number {
  return ((frequencyOf(constellation, first) ?? 0) / (frequencyOf(constellation, second) ?? Number.NaN)) ** 2
}

/** Below this elevation the troposphere and multipath are too large. */
const mask_deg = 10
const radians = Math.PI / 180

/** Expected measurement of a satellite by an antenna at a given place. */
export interface Expected {
  /** With a standard troposphere, without ionosphere and the receiver's clock. */
  readonly range_m: number
  readonly elevation_deg: number
  /** Unit vector towards the satellite: east, north, up. */
  readonly sight: readonly [number, number, number]
  /** The wet mapping of the troposphere. */
  readonly mapping: number
}

/** @param code_m its measured range @returns undefined below the mask, and if the ephemeris is unhealthy or not for this time */
export function expectedOf(
  arp: Ecef,
  ephemeris: Ephemeris | undefined,
  at_s: number,
  code_m: number,
): Expected | undefined {
  const expected = ephemeris?.healthy ? expectedRange(arp, ephemeris, at_s, code_m) : undefined
  if (!expected || !(expected.elevation_deg >= mask_deg)) return undefined
  const { azimuth_deg, elevation_deg, pseudorange_m } = expected
  const level = Math.cos(elevation_deg * radians)
  const [azimuth, elevation] = [azimuth_deg * radians, elevation_deg * radians]
  return {
    range_m: pseudorange_m + troposphere_m(elevation_deg, ecefToGeodetic(arp).alt),
    elevation_deg,
    sight: [level * Math.sin(azimuth), level * Math.cos(azimuth), Math.sin(elevation)],
    mapping: wetMapping(elevation_deg),
  }
}
