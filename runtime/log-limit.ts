import type { Clock } from './ports/clock.js'

const interval_ms = 60_000
/** A source that says something else each time is limited too. */
const mostTexts = 32

/** Lets each text through at most once a minute, and at most 32 different ones. */
export class LogLimit {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #last = new Map<string, number>()
  #omitted = 0

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** How many lines were left out since the last one that was let through; undefined: this one is left out. */
  admit(text: string): number | undefined {
    const now_ms = this.#clock.monotonic()
    for (const [old, at_ms] of this.#last) if (now_ms - at_ms >= interval_ms) this.#last.delete(old)
    if (this.#last.has(text) || this.#last.size >= mostTexts) {
      this.#omitted++
      return undefined
    }
    this.#last.set(text, now_ms)
    const omitted = this.#omitted
    this.#omitted = 0
    return omitted
  }
}
