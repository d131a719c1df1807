/** A reading that comes and goes: a bad one counts when it lasts, and until it was away for some time. Pure. */
export class Steady<T> {
  readonly #isBad: (value: T) => boolean
  readonly #lasts_ms: number
  readonly #over_ms: number
  #good: T | undefined
  #bad: T | undefined
  /** Since when it is bad, and when it was bad last. */
  #since_ms: number | undefined
  #seen_ms = 0
  #counts = false

  constructor(isBad: (value: T) => boolean, lasts_ms: number, over_ms: number) {
    this.#isBad = isBad
    this.#lasts_ms = lasts_ms
    this.#over_ms = over_ms
  }

  /** @returns the reading that counts: without a good one before it, a bad one does at once */
  see(value: T, now_ms: number): T {
    if (this.#isBad(value)) {
      this.#since_ms ??= now_ms
      this.#seen_ms = now_ms
      this.#bad = value
      if (this.#good === undefined || now_ms - this.#since_ms >= this.#lasts_ms) this.#counts = true
    } else {
      this.#since_ms = undefined
      this.#good = value
      if (now_ms - this.#seen_ms >= this.#over_ms) this.#counts = false
    }
    return (this.#counts ? this.#bad : this.#good) as T
  }
}
