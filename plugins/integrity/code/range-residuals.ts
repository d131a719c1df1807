/** Pseudorange residuals of the station's own observations, for receivers that give none. */
import {
  constellationOf,
  type Ephemeris,
  ecefToGeodetic,
  expectedRange,
  type MsmEpoch,
  msmSignalName,
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

/** Carriers by the name of the signal, as in `msmSignalName`. */
export const frequency_hz = {
  ...{ L1: 1575.42e6, L2: 1227.6e6, L5: 1176.45e6 },
  ...{ E1: 1575.42e6, E6: 1278.75e6, E5b: 1207.14e6, E5a: 1176.45e6 },
  ...{ B1C: 1575.42e6, B1I: 1561.098e6, B3I: 1268.52e6, B2I: 1207.14e6, B2a: 1176.45e6 },
}

/** Below this elevation the troposphere and multipath are too large. */
const mask_deg = 10
const radians = Math.PI / 180

interface Measured {
  readonly constellation: Paired
  readonly satellite: number
  /** By signal; of several in one band the first. */
  readonly ranges_m: Map<string, number>
}

/** The ephemeris of a satellite for the time of the epoch. */
export type EphemerisOf = (constellation: Paired, satellite: number) => Ephemeris | undefined

/**
 * Of each satellite with two frequencies and an ephemeris: its range without the ionosphere, less the one that its orbit
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
  const all = measuredOf(epoch)
  const pair = { GPS: pairOf('GPS', all), Galileo: pairOf('Galileo', all) }
  return all.flatMap((measured) => {
    const { constellation, satellite } = measured
    const range_m = withoutIonosphere_m(measured, pair[constellation])
    const ephemeris = ephemerisOf(constellation, satellite)
    if (range_m === undefined || !ephemeris?.healthy) return []
    const expected = expectedRange(arp, ephemeris, at_s, range_m)
    if (!expected || expected.elevation_deg < mask_deg) return []
    const { azimuth_deg, elevation_deg, pseudorange_m } = expected
    const residual_m = range_m - pseudorange_m - troposphere_m(elevation_deg, alt)
    return [{ constellation: pairs[constellation].name, satellite, azimuth_deg, elevation_deg, residual_m, used: true }]
  })
}

function measuredOf({ messages }: MsmEpoch): Measured[] {
  const found = new Map<string, Measured>()
  for (const { type, observations } of messages) {
    const constellation = constellationOf(type)
    // MSM1 to 3 have ranges modulo a light millisecond.
    if ((constellation !== 'GPS' && constellation !== 'Galileo') || type % 10 <= 3) continue
    for (const { satellite, signal, pseudorange_m } of observations) {
      const name = msmSignalName(pairs[constellation].name, signal)
      if (pseudorange_m === undefined || !name) continue
      const id = `${constellation} ${satellite}`
      const measured = found.get(id) ?? { constellation, satellite, ranges_m: new Map<string, number>() }
      found.set(id, measured)
      if (!measured.ranges_m.has(name)) measured.ranges_m.set(name, pseudorange_m)
    }
  }
  return [...found.values()]
}

type Pair = (typeof pairs)[Paired]['signals'][number]

/** The one that most satellites have: a receiver measures each pair with a delay of its own, which the clock of the constellation takes up. */
function pairOf(constellation: Paired, all: readonly Measured[]): Pair {
  const own = all.filter((measured) => measured.constellation === constellation)
  const count = (pair: Pair) => own.filter(({ ranges_m }) => pair.every((signal) => ranges_m.has(signal))).length
  const [first, second] = pairs[constellation].signals
  return count(second) > count(first) ? second : first
}

/** The delay in the ionosphere goes with the inverse square of the frequency. */
function withoutIonosphere_m({ ranges_m }: Measured, [first, second]: Pair): number | undefined {
  const [p, q] = [ranges_m.get(first), ranges_m.get(second)]
  if (p === undefined || q === undefined) return undefined
  const ratio = (frequency_hz[first] / frequency_hz[second]) ** 2
  return (ratio * p - q) / (ratio - 1)
}

/**
 * A standard atmosphere: 2.3 m in the zenith at sea level and a tenth of a metre for its water, by the mapping function
 * of RTCA DO-229 (appendix A.4.2.4), good to some decimetres above 10°.
 */
export function troposphere_m(elevation_deg: number, alt_m: number): number {
  const pressure = (1 - 2.2557e-5 * Math.min(Math.max(alt_m, -500), 9000)) ** 5.2568
  return (2.307 * pressure + 0.1) * troposphereMapping(elevation_deg)
}

/** The way through the troposphere at an elevation, in parts of that from the zenith. */
export function troposphereMapping(elevation_deg: number): number {
  const sine = Math.sin(elevation_deg * radians)
  return 1.001 / Math.sqrt(0.002001 + sine * sine)
}
