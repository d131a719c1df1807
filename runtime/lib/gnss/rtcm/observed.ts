/** The observations of an epoch by satellite, with whole ranges. */
import { msmSignalName } from '../signals.js'
import { type LockTime, lockTime } from './lock-time.js'
import { constellationOf } from './msm.js'
import type { MsmEpoch } from './msm-epochs.js'

const names = { GPS: 'gps', GLONASS: 'glonass', Galileo: 'galileo', BeiDou: 'beidou' } as const
export type ObservedConstellation = keyof typeof names
export const observedConstellations: readonly ObservedConstellation[] = ['GPS', 'GLONASS', 'Galileo', 'BeiDou']

/** The band of an MSM signal (DF395), e.g. `L1` or `E5a`; undefined for one without a name here. */
export const msmBandOf = (constellation: ObservedConstellation, signal: number): string | undefined =>
  msmSignalName(names[constellation], signal)

/** One signal of a satellite. */
export interface ObservedSignal {
  /** As in `msmBandOf`. */
  readonly band: string
  /** Signal ID of MSM (DF395): receivers of different makes may track a band differently. */
  readonly signal: number
  readonly code_m: number
  /** Undefined: none, or half a cycle of it is unknown. */
  readonly phase_m: number | undefined
  /** How long the phase was tracked. */
  readonly lock: LockTime
}

export interface ObservedSatellite<C extends ObservedConstellation = ObservedConstellation> {
  readonly constellation: C
  readonly satellite: number
  /** Frequency channel of a GLONASS satellite; undefined: the message does not have it. */
  readonly channel: number | undefined
  readonly signals: readonly ObservedSignal[]
}

export interface ObservedEpoch<C extends ObservedConstellation = ObservedConstellation> {
  /** By the receiver's clock, `gpsSeconds`. */
  readonly at_s: number
  readonly satellites: readonly ObservedSatellite<C>[]
}

/** Signals of one satellite: more are not kept. */
const mostSignals = 8

/**
 * MSM1 to 3 have ranges modulo a light millisecond: they are left out, as are signals whose carrier is not known.
 * @param at_s time of the epoch, `gpsSeconds`
 * @param constellations the wanted ones
 */
export function observedIn<C extends ObservedConstellation>(
  { messages }: MsmEpoch,
  at_s: number,
  constellations: readonly C[],
): ObservedEpoch<C> {
  const found = new Map<string, ObservedSatellite<C> & { signals: ObservedSignal[] }>()
  for (const { type, observations, info } of messages) {
    const constellation = constellations.find((one) => one === constellationOf(type))
    if (!constellation || type % 10 <= 3) continue
    for (const { satellite, signal, pseudorange_m, phase_m, lock, halfCycle } of observations) {
      const band = msmBandOf(constellation, signal) ?? ''
      if (pseudorange_m === undefined || carrier_hz(constellation, band) === undefined) continue
      const id = `${constellation} ${satellite}`
      const one = found.get(id) ?? { constellation, satellite, channel: channelOf(info?.[satellite]), signals: [] }
      found.set(id, one)
      if (one.signals.length === mostSignals || one.signals.some((known) => known.signal === signal)) continue
      const whole_m = halfCycle ? undefined : phase_m
      one.signals.push({ band, signal, code_m: pseudorange_m, phase_m: whole_m, lock: lockTime(type, lock) })
    }
  }
  return { at_s, satellites: [...found.values()] }
}

/** The extended satellite information of GLONASS is its channel + 7 (RTCM 10403.3, DF419). */
const channelOf = (info: number | undefined) => (info !== undefined && info <= 13 ? info - 7 : undefined)

/** Carriers by band. */
const carriers_hz: Readonly<Record<string, number>> = {
  ...{ L1: 1575.42e6, L2: 1227.6e6, L5: 1176.45e6 },
  ...{ E1: 1575.42e6, E6: 1278.75e6, E5b: 1207.14e6, E5a: 1176.45e6 },
  ...{ B1C: 1575.42e6, B1I: 1561.098e6, B3I: 1268.52e6, B2I: 1207.14e6, B2a: 1176.45e6 },
}
/** The frequencies of GLONASS: that of channel 0, and the step from channel to channel. */
const channels_hz: Readonly<Record<string, readonly [zero: number, step: number]>> = {
  L1: [1602e6, 562_500],
  L2: [1246e6, 437_500],
}

/** The carrier of a band, as named by `msmBandOf`; undefined if it is unknown. @param channel of a GLONASS satellite */
export function carrier_hz(constellation: ObservedConstellation, band: string, channel = 0): number | undefined {
  if (constellation !== 'GLONASS') return carriers_hz[band]
  const frequencies = channels_hz[band]
  return frequencies && frequencies[0] + frequencies[1] * channel
}
