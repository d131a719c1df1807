import type { GpsTime } from 'rtk-base/gnss'
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
