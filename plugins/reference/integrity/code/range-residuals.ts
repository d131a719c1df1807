/** Pseudorange residuals of the station's own observations, for receivers that give none. */
import {
  carrier_hz,
  type Ephemeris,
  ecefToGeodetic,
  expectedRange,
  type MsmEpoch,
  type ObservedSatellite,
  observedIn,
  troposphere_m,
} from 'rtk-base/gnss'
import type { ConstellationName, Ecef, SatelliteResidual } from 'rtk-base/services'

/**
 * Constellations whose satellite clocks refer to a pair of signals without the ionosphere, and the pairs by preference
 * (IS-GPS-200, 20.3.3.3.3; Galileo OS SIS ICD 2.1, 5.1.5). With L1 and L5 the clock of each GPS satellite is wrong by some
 * metres, for which RTCM has no correction. The clocks of BeiDou and GLONASS refer to one signal: their
 * pairs also have the group delays of each satellite in them.
 */
const pairs = {
  GPS: {
    name: 'gps',
    signals: [
      ['L1', 'L2'],
      ['L1', 'L5'],
    ],
  },
  Galileo: {
    name: 'galileo',
    signals: [
      ['E1', 'E5b'],
      ['E1', 'E5a'],
    ],
  },
} as const satisfies Record<string, { name: ConstellationName; signals: readonly (readonly [string, string])[] }>

type Paired = keyof typeof pairs

/** Below this elevation the troposphere and multipath are too large. */
const mask_deg = 10

/** The ephemeris of a satellite for the time of the epoch. */
export type EphemerisOf = (constellation: Paired, satellite: number) => Ephemeris | undefined

/**
 * For each satellite with two frequencies and an ephemeris: its range without the ionosphere, less the one that its orbit
 * and a standard troposphere give for this place. The receiver's clock is in all of them.
 * @param arp where the antenna should be, ECEF metres
 * @param at_s time of the epoch, `gpsSeconds`
 */
export function rangeResiduals(
  epoch: MsmEpoch,
  arp: Ecef,
  at_s: number,
  ephemerisOf: EphemerisOf,
): SatelliteResidual[] {
  const { alt } = ecefToGeodetic(arp)
  const all = observedIn(epoch, at_s, ['GPS', 'Galileo']).satellites
  const pair = { GPS: pairOf('GPS', all), Galileo: pairOf('Galileo', all) }
  return all.flatMap((measured) => {
    const { constellation, satellite } = measured
    const measured_m = withoutIonosphere_m(measured, pair[constellation])
    const ephemeris = ephemerisOf(constellation, satellite)
    if (measured_m === undefined || !ephemeris?.healthy) return []
    const expected = expectedRange(arp, ephemeris, at_s, measured_m)
    if (!expected || expected.elevation_deg < mask_deg) return []
    const { azimuth_deg, elevation_deg, pseudorange_m } = expected
    const residual_m = measured_m - pseudorange_m - troposphere_m(elevation_deg, alt)
    return [{ constellation: pairs[constellation].name, satellite, azimuth_deg, elevation_deg, residual_m, used: true }]
  })
}

type Pair = (typeof pairs)[Paired]['signals'][number]

/** The one that most satellites have: a receiver measures each pair with a delay of its own, which the clock of the constellation takes up. */
function pairOf(constellation: Paired, all: readonly ObservedSatellite<Paired>[]): Pair {
  const own = all.filter((measured) => measured.constellation === constellation)
  const count = (pair: Pair) =>
    own.filter((measured) => pair.every((name) => range_m(measured, name) !== undefined)).length
  const [first, second] = pairs[constellation].signals
  return count(second) > count(first) ? second : first
}

/** The delay in the ionosphere goes with the inverse square of the frequency. */
function withoutIonosphere_m(measured: ObservedSatellite<Paired>, [first, second]: Pair): number | undefined {
  const [p, q] = [range_m(measured, first), range_m(measured, second)]
  const carrier = (band: string) => carrier_hz(measured.constellation, band) ?? Number.NaN
  if (p === undefined || q === undefined) return undefined
  const ratio = (carrier(first) / carrier(second)) ** 2
  return (ratio * p - q) / (ratio - 1)
}

/** The range by the first of several signals in one band. */
const range_m = ({ signals }: ObservedSatellite<Paired>, name: string): number | undefined =>
  signals.find(({ band }) => band === name)?.code_m
