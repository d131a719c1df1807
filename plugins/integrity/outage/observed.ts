/** Satellites with orbits, as they were observed before and after an outage. Pure. */
import {
  constellationOf,
  type Ephemeris,
  ecefToGeodetic,
  expectedRange,
  lockTime,
  type MsmEpoch,
  msmSignalName,
} from 'rtk-base/gnss'
import type { Ecef } from 'rtk-base/services'
import { frequency_hz, troposphere_m, troposphereMapping } from '../code/range-residuals.js'

/**
 * GLONASS takes no part: its broadcast orbits are used for 30 min at most, and change by decimetres meanwhile. Group delays are
 * constant, so signals need not be those that the clock of a satellite refers to.
 */
export const bridging = ['GPS', 'Galileo', 'BeiDou'] as const
export type Bridging = (typeof bridging)[number]
const names = { GPS: 'gps', Galileo: 'galileo', BeiDou: 'beidou' } as const
const isBridging = (name: string | undefined): name is Bridging => bridging.some((one) => one === name)

/** Carrier frequency of a signal (DF395); undefined if it is not used. */
export function frequencyOf(constellation: Bridging, signal: number): number | undefined {
  const name = msmSignalName(names[constellation], signal) ?? ''
  return (frequency_hz as Readonly<Record<string, number>>)[name]
}

const apart_hz = 200e6

/** Two signals whose frequencies are far enough apart to show the ionosphere. */
export const areApart = (constellation: Bridging, p: number, q: number): boolean =>
  Math.abs((frequencyOf(constellation, p) ?? 0) - (frequencyOf(constellation, q) ?? 0)) >= apart_hz

/** One signal of a satellite. */
export interface ObservedSignal {
  /** Signal ID of MSM (DF395). */
  readonly signal: number
  readonly code_m: number
  /** Undefined: none, or half a cycle of it is unknown. */
  readonly phase_m: number | undefined
  /** The phase was tracked for at least and less than this long. */
  readonly lock_ms: readonly [from: number, below: number]
}

export interface ObservedSatellite {
  readonly constellation: Bridging
  readonly satellite: number
  readonly signals: readonly ObservedSignal[]
}

export interface ObservedEpoch {
  /** By the receiver's clock, `gpsSeconds`. */
  readonly at_s: number
  readonly satellites: readonly ObservedSatellite[]
}

export type EphemerisOf = (constellation: Bridging, satellite: number) => Ephemeris | undefined

/** MSM1-3 have ranges modulo a light millisecond: they are left out. @param at_s time of the epoch, `gpsSeconds` */
export function observedIn({ messages }: MsmEpoch, at_s: number): ObservedEpoch {
  const found = new Map<string, ObservedSatellite & { signals: ObservedSignal[] }>()
  for (const { type, observations } of messages) {
    const constellation = constellationOf(type)
    if (!isBridging(constellation) || type % 10 <= 3) continue
    for (const { satellite, signal, pseudorange_m, phase_m, lock, halfCycle } of observations) {
      if (pseudorange_m === undefined || frequencyOf(constellation, signal) === undefined) continue
      const id = `${constellation} ${satellite}`
      const one = found.get(id) ?? { constellation, satellite, signals: [] }
      found.set(id, one)
      if (one.signals.some((known) => known.signal === signal)) continue
      const { from_ms, below_ms } = lockTime(type, lock)
      const whole_m = halfCycle ? undefined : phase_m
      one.signals.push({ signal, code_m: pseudorange_m, phase_m: whole_m, lock_ms: [from_ms, below_ms] })
    }
  }
  return { at_s, satellites: [...found.values()] }
}

export type Pair = readonly [ObservedSignal, ObservedSignal]

/** Two signals on frequencies far apart: the first that has both among those that are `usable`. */
export function pairOf(
  { constellation, signals }: ObservedSatellite,
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

/** What an antenna at a place should measure of a satellite. */
export interface Expected {
  /** With a standard troposphere, without ionosphere and the receiver's clock. */
  readonly range_m: number
  readonly elevation_deg: number
  /** Unit vector towards the satellite: east, north, up. */
  readonly sight: readonly [number, number, number]
  /** Of the troposphere. */
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
    mapping: troposphereMapping(elevation_deg),
  }
}
