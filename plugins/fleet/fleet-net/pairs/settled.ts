/** Which position of a station counts for the pairs. Pure: a station that jumps must not change the pairs of others again and again. */
import type { Ecef } from 'rtk-base/services'
import type { NetPlace } from './pairs.js'

/** A position counts once it stayed the same for this time. */
export const settle_ms = 30 * 60_000

interface Place {
  /** Announced now; undefined: none. */
  readonly arp: Ecef | undefined
  readonly since_ms: number
  /** That counts. */
  readonly settled: Ecef | undefined
}

const isSame = (one: Ecef | undefined, other: Ecef | undefined) =>
  one?.x === other?.x && one?.y === other?.y && one?.z === other?.z

export class SettledPlaces {
  readonly #places = new Map<string, Place>()

  /**
   * The station announces this position. Until it has settled, the last settled one counts.
   * @param arp ECEF metres; undefined: none
   * @param now_ms monotonic
   */
  heard(serial: string, arp: Ecef | undefined, now_ms: number): void {
    const known = this.#places.get(serial)
    if (known && isSame(known.arp, arp)) return
    this.#places.set(serial, { arp, since_ms: now_ms, settled: known && this.#settled(known, now_ms) })
  }

  /** The fleet does not know the station any more. */
  forget(serial: string): void {
    this.#places.delete(serial)
  }

  /** All positions of now count: there are no pairs yet that a jump could change. */
  settleAll(): void {
    for (const [serial, place] of this.#places) this.#places.set(serial, { ...place, settled: place.arp })
  }

  /** The positions that count, and whether others will. */
  at(now_ms: number): { places: NetPlace[]; isSettling: boolean } {
    const places: NetPlace[] = []
    let isSettling = false
    for (const [serial, place] of this.#places) {
      const arp = this.#settled(place, now_ms)
      if (arp) places.push({ serial, arp })
      if (!isSame(arp, place.arp)) isSettling = true
    }
    return { places, isSettling }
  }

  #settled({ arp, since_ms, settled }: Place, now_ms: number): Ecef | undefined {
    return now_ms - since_ms >= settle_ms ? arp : settled
  }
}
