/** Observations of a base in use: what is compared with after an outage, and whether its code shows a move over the last one. */
import { moveText, type ObservedEpoch } from 'rtk-base/gnss'
import type { AntennaMove, ReferencePosition } from 'rtk-base/services'
import type { Suspect } from '../code/evidence.js'
import type { OrbitSky } from '../orbit-sky.js'
import type { Anchor, Unchecked } from './carry.js'
import { type CodeLevel, CodeLevels, compareLevels } from './code-levels.js'
import type { Fitted } from './fit.js'
import { type Bridging, bridging, type EphemerisOf } from './observed.js'

/** A move shows some seconds after it began: only an epoch with this long without evidence behind it is one of the reference. */
const settled_s = 10
/** Samples of code after an outage, every 5 s, at which it is compared: after 5, 10 and 15 min. */
const looks = [60, 120, 180] as const
/** A displacement by code beyond this many sigmas, and beyond the least, is a move. */
const codeMove = { sigmas: 5, level_m: 2.5, up_m: 3.5 } as const

/** Observations of one trusted base, with which later ones are compared. */
export interface Observations {
  /** The receiver, see `whoIs`. */
  readonly who: string
  /** The last epoch of which it is known that the antenna was at the reference. */
  readonly anchor: Anchor
  readonly levels: readonly CodeLevel[]
}

export interface BaseEpoch {
  readonly at_s: number
  readonly who: string
  readonly base: ReferencePosition
  /** The carrier phases show that the antenna stands still. */
  readonly isStill: boolean
  /** Most epochs are not needed. */
  observe(): ObservedEpoch<Bridging>
  readonly newest: EphemerisOf
}

export class ObservedBase {
  readonly #orbits: OrbitSky
  /** An epoch without evidence of a move so far. */
  #candidate: Anchor | undefined
  /** Undefined until the antenna stood still for long enough. */
  observations: Observations | undefined
  /** Displacement over the outages that phases bridged, until positions are compared. */
  unchecked: Unchecked | undefined
  #levels = new CodeLevels()
  /** Where an outage broke the phases: the levels from before, until those of now are compared. */
  #before: readonly CodeLevel[] = []
  #looked = 0

  constructor(orbits: OrbitSky) {
    this.#orbits = orbits
  }

  /** The code is compared with that before an outage that broke the phases. */
  compareWith(before: readonly CodeLevel[]): void {
    this.#before = before
    this.#levels = new CodeLevels()
    this.#looked = 0
  }

  /** The base is no longer in use, or the antenna may move: an epoch that has not proved itself does not count. */
  pause(): void {
    this.#candidate = undefined
  }

  /** @returns a move that the code of the same satellites shows */
  take({ at_s, who, base, isStill, observe, newest }: BaseEpoch): Suspect | undefined {
    const age_s = at_s - (this.#candidate?.at_s ?? Number.NEGATIVE_INFINITY)
    if (!isStill) this.pause()
    // Levels that were still to be compared are those of the last long stay.
    else if (this.#candidate && age_s >= settled_s) {
      const { settled } = this.#levels
      this.observations = { who, anchor: this.#candidate, levels: settled.length > 0 ? settled : this.#before }
    }
    const isCandidate = isStill && !(age_s >= 0 && age_s < settled_s)
    if (!isCandidate && !this.#levels.isDue(at_s)) return undefined
    const observed = observe()
    if (isCandidate) this.#candidate = this.#anchorOf(observed, base)
    this.#levels.take(observed, base.arp, newest)
    return this.#compared()
  }

  /** Undefined without ephemerides. */
  #anchorOf(observed: ObservedEpoch<Bridging>, { acc_m, arp }: ReferencePosition): Anchor | undefined {
    const ephemerides = freshOf(this.#orbits, observed.at_s).map(({ ephemeris }) => ephemeris)
    if (ephemerides.length === 0) return undefined
    return { ...observed, arp, acc_m, ephemerides, ...(this.unchecked && { unchecked: this.unchecked }) }
  }

  #compared(): Suspect | undefined {
    if (this.#before.length === 0 || this.#levels.samples < (looks[this.#looked] ?? Number.POSITIVE_INFINITY))
      return undefined
    this.#looked++
    const fitted = compareLevels(this.#before, this.#levels.settled)
    if (this.#looked === looks.length) this.#before = []
    if (!fitted) return undefined
    const { level_m, up_m } = fitted.sigma
    const isMoved =
      Math.hypot(fitted.east, fitted.north) > Math.max(codeMove.level_m, codeMove.sigmas * level_m) ||
      Math.abs(fitted.up) > Math.max(codeMove.up_m, codeMove.sigmas * up_m)
    return isMoved
      ? suspectOf('code', 'the ranges of the same satellites before and after an outage show', fitted)
      : undefined
  }
}

/** Ephemerides of the satellites that can bridge an outage. */
export const freshOf = (orbits: OrbitSky, at_s: number) =>
  orbits.fresh(at_s).filter(({ ephemeris }) => bridging.some((name) => name === ephemeris.constellation))

export function suspectOf(
  by: AntennaMove['by'],
  what: string,
  { east, north, up, sigma: { level_m, up_m } }: Fitted,
): Suspect {
  const covariance = [level_m ** 2, 0, 0, level_m ** 2, 0, up_m ** 2] as const
  const vector = { east_m: east, north_m: north, up_m: up, covariance }
  const move = { by, size_m: Math.hypot(east, north, up), isLeast: false, moves: 1, vector }
  return { text: `${what} a move of ${moveText({ ...move, t: 0 })}`, move }
}
