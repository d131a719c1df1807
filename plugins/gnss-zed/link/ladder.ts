/** Waiting times of an attempt that is repeated: each twice the one before, with ±20 % so that a fleet does not march in step. */
export class Ladder {
  readonly #first_ms: number
  readonly #last_ms: number
  readonly #random: () => number
  #next_ms: number

  constructor(first_ms: number, last_ms: number, random: () => number = Math.random) {
    this.#first_ms = first_ms
    this.#last_ms = last_ms
    this.#random = random
    this.#next_ms = first_ms
  }

  next(): number {
    const wait_ms = this.#next_ms
    this.#next_ms = Math.min(this.#last_ms, wait_ms * 2)
    return wait_ms * (0.8 + 0.4 * this.#random())
  }

  reset(): void {
    this.#next_ms = this.#first_ms
  }
}
