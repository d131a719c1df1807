/** Common parts of all sources of observations: collecting signals into epochs, and noticing phases that were lost. */
import { type GpsTime, type LockTime, lockBroken } from 'rtk-base/gnss'
import type { ObservationEpoch, SignalObservation, SystemLetter } from '../observations.js'

/** Collects signals into the satellites of an epoch. The first of two observations of a signal counts. */
export class EpochBuilder {
  readonly time: Readonly<GpsTime>
  readonly #satellites = new Map<string, { system: SystemLetter; number: number; signals: SignalObservation[] }>()
  readonly #channels = new Map<number, number>()

  constructor(time: Readonly<GpsTime>) {
    this.time = time
  }

  /** The frequency channel of a GLONASS satellite. */
  channel(slot: number, channel: number): void {
    this.#channels.set(slot, channel)
  }

  add(system: SystemLetter, number: number, signal: SignalObservation): void {
    const id = `${system}${number}`
    const satellite = this.#satellites.get(id) ?? { system, number, signals: [] }
    this.#satellites.set(id, satellite)
    if (!satellite.signals.some(({ code }) => code === signal.code)) satellite.signals.push(signal)
  }

  get epoch(): ObservationEpoch {
    return { ...this.time, satellites: [...this.#satellites.values()], channels: this.#channels }
  }
}

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
