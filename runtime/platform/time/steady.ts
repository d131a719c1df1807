/** A reading that comes and goes: a bad one counts when it lasts or comes again and again, and until it was away for some time. Pure. */
export class Steady<T> {
  readonly #isBad: (value: T) => boolean
  readonly #lasts_ms: number
  readonly #over_ms: number
  #good: T | undefined
  #bad: T | undefined
  #seen_ms = 0
  #badSeen_ms = 0
  #wasBad = false
  /** For so long it was bad. It falls while all is well, as slowly as a bad one ends to count. */
  #bad_ms = 0
  #counts = false

  /**
   * @param lasts_ms a bad reading counts when it was bad for so long
   * @param over_ms and until it was good for so long
   * @param good the reading before the first one; undefined: a bad first one counts at once
   */
  constructor(isBad: (value: T) => boolean, lasts_ms: number, over_ms: number, good?: T) {
    this.#isBad = isBad
    this.#lasts_ms = lasts_ms
    this.#over_ms = over_ms
    this.#good = good
  }

  /** The reading that counts; undefined before the first one. */
  get value(): T | undefined {
    return this.#counts ? this.#bad : this.#good
  }

  /** @returns the reading that counts */
  see(value: T, now_ms: number): T {
    const passed_ms = now_ms - this.#seen_ms
    const change_ms = this.#wasBad ? passed_ms : (-passed_ms * this.#lasts_ms) / this.#over_ms
    this.#bad_ms = Math.min(this.#lasts_ms, Math.max(0, this.#bad_ms + change_ms))
    this.#seen_ms = now_ms
    this.#wasBad = this.#isBad(value)
    if (this.#wasBad) {
      this.#bad = value
      this.#badSeen_ms = now_ms
      if (this.#good === undefined || this.#bad_ms === this.#lasts_ms) this.#counts = true
    } else {
      this.#good = value
      if (now_ms - this.#badSeen_ms >= this.#over_ms) this.#counts = false
    }
    return this.value as T
  }
}
