/** Displacements of the past that were neither held as a move nor taken as a step: the extrapolation follows them. Pure. */
import type { Enu } from 'rtk-base/gnss'
import type { Displacement } from './displacement.js'
import { kept, type SignalTracks } from './signal-tracks.js'

/** Standard deviations of the least displacement that counts, also where the clock of a satellite is its cause: that bends a past as well. */
const significance = 5
export const none: Enu = { east: 0, north: 0, up: 0 }

export class Excursions {
  readonly #tracks: SignalTracks
  /** East, north, up by slot of the history; zero: none. */
  readonly #away = new Float64Array(kept * 3)

  constructor(tracks: SignalTracks) {
    this.#tracks = tracks
  }

  /** @param level where the antenna is taken to be */
  keep(slot: number, position: Displacement | undefined, level: Enu): void {
    this.forget(slot)
    if (!position) return
    const { east_m, north_m, up_m, sigma } = position
    const [east, north, up] = [east_m - level.east, north_m - level.north, up_m - level.up]
    const sigmas = Math.hypot(east / sigma.east_m, north / sigma.north_m, up / sigma.up_m)
    if (sigmas >= significance) this.#away.set([east, north, up], slot * 3)
  }

  forget(slot: number): void {
    this.#away.fill(0, slot * 3, slot * 3 + 3)
  }

  /** The farthest of those that lasted for two epochs. */
  farthest(from_ms: number, until_ms: number): Enu {
    const { next, first, times_ms } = this.#tracks
    let farthest = none
    let most_m = 0
    let before = 0
    for (let number = next - 1; number >= Math.max(first, next - kept); number--) {
      const slot = number % kept
      if (times_ms[slot] < from_ms) break
      if (times_ms[slot] > until_ms) continue
      const [east, north, up] = this.#away.subarray(slot * 3, slot * 3 + 3)
      const size_m = Math.hypot(east, north, up)
      const lasting_m = Math.min(before, size_m)
      before = size_m
      if (lasting_m <= most_m) continue
      most_m = lasting_m
      const share = lasting_m / size_m
      farthest = { east: share * east, north: share * north, up: share * up }
    }
    return farthest
  }
}
