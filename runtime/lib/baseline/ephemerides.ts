/** The ephemerides of a window: for each epoch the one whose reference time is nearest. */
import { type Ephemeris, isPlausible, type OrbitConstellation } from '../gnss/index.js'
import type { EphemerisOf } from './geometry.js'

/**
 * Seconds from the reference time for which an ephemeris is used. That is longer than it is valid, as the window may have begun
 * before the newest one was sent: its orbit is wrong by some metres more then, which a baseline of 10 km shows as a
 * millimetre. The change from one ephemeris to the next shows as little.
 */
const limits_s: Readonly<Record<OrbitConstellation, number>> = {
  ...{ GPS: 9_900, QZSS: 9_900, Galileo: 14_400, BeiDou: 9_900, GLONASS: 2_700 },
}

export class Ephemerides {
  readonly #all = new Map<string, Ephemeris[]>()

  take(ephemeris: Ephemeris): void {
    if (!isPlausible(ephemeris)) return
    const id = idOf(ephemeris.constellation, ephemeris.satellite)
    const known = this.#all.get(id) ?? []
    if (!known.some(({ toe_s }) => toe_s === ephemeris.toe_s)) this.#all.set(id, [...known, ephemeris])
  }

  /** @param at_s the same for both stations: their satellite clocks must be the same */
  at(at_s: number): EphemerisOf {
    return (constellation, satellite) => {
      let nearest: Ephemeris | undefined
      for (const one of this.#all.get(idOf(constellation, satellite)) ?? []) {
        if (!nearest || Math.abs(at_s - one.toe_s) < Math.abs(at_s - nearest.toe_s)) nearest = one
      }
      return nearest && Math.abs(at_s - nearest.toe_s) <= limits_s[constellation] ? nearest : undefined
    }
  }
}

const idOf = (constellation: OrbitConstellation, satellite: number) => `${constellation} ${satellite}`
