/** Clocks of receivers as they are: most are not steered, but kept within a millisecond of GPS time, or left to themselves. */
import { GaussMarkov, type Random } from 'rtk-base/simulation'

export const receiverClocks = ['wandering', 'jumping', 'steered'] as const

/**
 * `steered`: right to 100 ns. `wandering`: within 0.5 ms. `jumping`: it runs away by a part in a million, and is set by a millisecond
 * whenever it is off by half of one. A number: off by so many milliseconds.
 */
export type ReceiverClockKind = (typeof receiverClocks)[number] | number

const half_s = 0.0005
const wave_s = 2_900
/** Of the jumping one, seconds a second. */
const drift = 8e-7

export class ReceiverClock {
  readonly #kind: ReceiverClockKind
  readonly #noise: GaussMarkov
  /** Where in its wave or between its jumps it begins, 0 to 1. */
  readonly #begin: number

  constructor(kind: ReceiverClockKind, random: Random) {
    this.#kind = kind
    this.#begin = random.uniform()
    this.#noise = new GaussMarkov(random, 600)
  }

  /** Advances it. @param at_s of GPS @param dt_s since the last step @returns by how much it is ahead of GPS time, seconds */
  step(at_s: number, dt_s: number): number {
    const noise = this.#noise.step(dt_s)
    if (typeof this.#kind === 'number') return this.#kind / 1_000
    if (this.#kind === 'steered') return 0
    if (this.#kind === 'wandering') {
      const off_s = 0.8 * half_s * Math.sin(2 * Math.PI * (at_s / wave_s + this.#begin)) + 0.1 * half_s * noise
      return Math.max(-half_s, Math.min(half_s, off_s))
    }
    const ahead_s = drift * (at_s % 86_400) + 2 * half_s * this.#begin
    return (ahead_s % (2 * half_s)) - half_s
  }
}
