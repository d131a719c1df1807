import { type LockTime, lockBroken } from 'rtk-base/gnss'

/** When each phase was last seen, and for how long it had been tracked then. Its size is bounded by the satellites and codes that exist. */
export class PhaseTracker {
  readonly #seen = new Map<string, { readonly time_s: number; readonly lock: LockTime }>()

  /**
   * Whether the phase was lost since it was last seen. A first phase is broken if its tracking has just begun.
   * @param id satellite and code
   * @param time_s `gpsSeconds`
   */
  isBroken(id: string, time_s: number, lock: LockTime): boolean {
    const before = this.#seen.get(id)
    this.#seen.set(id, { time_s, lock })
    if (!before) return lock.from_ms === 0 && lock.below_ms !== Infinity
    return lockBroken(before.lock, lock, (time_s - before.time_s) * 1000)
  }
}
