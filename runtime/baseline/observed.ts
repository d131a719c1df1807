/** The observations of one station: epochs of a stream of MSM, at the times that a baseline uses. */
import {
  constellationOf,
  type LockTime,
  lockTime,
  type MsmEpoch,
  msmSignalName,
  type OrbitConstellation,
} from '../gnss/index.js'

/** Constellations that a baseline uses. */
export const constellations = ['GPS', 'GLONASS', 'Galileo', 'BeiDou'] as const
export type BaselineConstellation = (typeof constellations)[number] & OrbitConstellation
const names = { GPS: 'gps', GLONASS: 'glonass', Galileo: 'galileo', BeiDou: 'beidou' } as const
const isUsed = (name: string | undefined): name is BaselineConstellation => constellations.some((one) => one === name)

/** One signal of a satellite. */
export interface ObservedSignal {
  /** Name of its frequency, as in `msmSignalName`. */
  readonly band: string
  /** Signal ID of MSM (DF395): receivers of different makes may track a band differently. */
  readonly signal: number
  readonly code_m: number
  /** Undefined: none, or half a cycle of it is unknown. */
  readonly phase_m: number | undefined
  readonly lock: LockTime
}

export interface ObservedSatellite {
  readonly constellation: BaselineConstellation
  readonly satellite: number
  /** Frequency channel of a GLONASS satellite; undefined: the message does not have it. */
  readonly channel: number | undefined
  readonly signals: readonly ObservedSignal[]
}

export interface ObservedEpoch {
  /** By the receiver's clock, `gpsSeconds`. */
  readonly at_s: number
  readonly satellites: readonly ObservedSatellite[]
}

/** Signals of one satellite: more are not kept. */
const mostSignals = 6

/**
 * The observations with whole ranges (MSM4 to 7). BeiDou's geostationary satellites are left out: they hardly move, and
 * receivers of different makes differ by half a cycle on them.
 * @param at_s time of the epoch, `gpsSeconds`
 */
export function observedIn({ messages }: MsmEpoch, at_s: number): ObservedEpoch {
  const found = new Map<string, ObservedSatellite & { signals: ObservedSignal[] }>()
  for (const { type, observations, info } of messages) {
    const constellation = constellationOf(type)
    if (!isUsed(constellation) || type % 10 <= 3) continue
    for (const { satellite, signal, pseudorange_m, phase_m, lock, halfCycle } of observations) {
      const band = msmSignalName(names[constellation], signal)
      if (pseudorange_m === undefined || !band || isGeostationary(constellation, satellite)) continue
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

/** The extended satellite information of GLONASS is its channel + 7. */
const channelOf = (info: number | undefined) => (info !== undefined && info <= 13 ? info - 7 : undefined)

const isGeostationary = (constellation: BaselineConstellation, satellite: number) =>
  constellation === 'BeiDou' && (satellite <= 5 || satellite >= 59)

/** Carriers by band. */
const carriers_hz: Readonly<Record<string, number>> = {
  ...{ L1: 1575.42e6, L2: 1227.6e6, L5: 1176.45e6 },
  ...{ E1: 1575.42e6, E6: 1278.75e6, E5b: 1207.14e6, E5a: 1176.45e6 },
  ...{ B1C: 1575.42e6, B1I: 1561.098e6, B3I: 1268.52e6, B2I: 1207.14e6, B2a: 1176.45e6 },
}
/** Of GLONASS: that of channel 0, and the step from channel to channel. */
const channels_hz: Readonly<Record<string, readonly [zero: number, step: number]>> = {
  L1: [1602e6, 562_500],
  L2: [1246e6, 437_500],
}

/** The carrier of a signal; undefined if it is not known. @param channel of a GLONASS satellite */
export function carrier_hz(constellation: BaselineConstellation, band: string, channel = 0): number | undefined {
  if (constellation !== 'GLONASS') return carriers_hz[band]
  const frequencies = channels_hz[band]
  return frequencies && frequencies[0] + frequencies[1] * channel
}
