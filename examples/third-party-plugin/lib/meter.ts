import type { RtcmEpoch, RtcmFrame } from 'rtk-base/services'
import type { RecentEpochs, Totals } from './answers.js'

/** Length of `recent` in epochs: a minute at 1 Hz. */
const mostKept = 60

const nothing: Totals = { epochs: 0, poor: 0, frames: 0, bytes: 0 }

/** Counts, and nothing else: it can be tested without a station. */
export class Meter {
  readonly #leastSatellites: () => number
  #totals: Totals = { ...nothing }
  #recent: RecentEpochs = []

  constructor(leastSatellites: () => number) {
    this.#leastSatellites = leastSatellites
  }

  /** On the hot path: adds up, keeps no frame. */
  frame({ bytes }: RtcmFrame): void {
    this.#totals.frames += 1
    this.#totals.bytes += bytes.length
  }

  epoch({ frames, satellites, complete }: RtcmEpoch): void {
    this.#totals.epochs += 1
    if (satellites < this.#leastSatellites()) this.#totals.poor += 1
    this.#recent.push({ messages: frames.map(({ type }) => type), satellites, complete })
    if (this.#recent.length > mostKept) this.#recent.shift()
  }

  totals(): Totals {
    return { ...this.#totals }
  }

  /** The newest epoch has fewer satellites than wanted. */
  get isPoor(): boolean {
    const newest = this.#recent.at(-1)
    return newest !== undefined && newest.satellites < this.#leastSatellites()
  }

  /** The newest epochs, oldest first. */
  recent(): RecentEpochs {
    return this.#recent
  }

  reset(): void {
    this.#totals = { ...nothing }
    this.#recent = []
  }

  resetPoor(): void {
    this.#totals.poor = 0
  }

  /** @param totals handed over by the previous instance */
  restore(totals: Totals | undefined): void {
    if (totals) this.#totals = totals
  }
}
