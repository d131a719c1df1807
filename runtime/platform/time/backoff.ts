export interface BackoffOptions {
  /** The first wait, milliseconds. Each further wait is twice as long. */
  first_ms: number
  /** Limit of a wait, before `spread` is applied. */
  longest_ms: number
  /**
   * Each wait is multiplied by a random factor between these two numbers. `[0.8, 1.2]` is enough for a few devices.
   * `[0, 1]` ("full jitter") is for many devices that reconnect to one server. Default: the waits are exact.
   */
  spread?: readonly [least: number, most: number]
  /** Returns a number between 0 and 1; default: `Math.random`. */
  random?: () => number
}

/** Delays between repeated attempts. */
export class Backoff {
  readonly #options: BackoffOptions
  #next_ms: number

  constructor(options: BackoffOptions) {
    this.#options = options
    this.#next_ms = options.first_ms
  }

  /** How long to wait before the next attempt, milliseconds. */
  next(): number {
    const { longest_ms, spread: [least, most] = [1, 1], random = Math.random } = this.#options
    const wait_ms = this.#next_ms
    this.#next_ms = Math.min(longest_ms, wait_ms * 2)
    return Math.round(wait_ms * (least + (most - least) * random()))
  }

  /** The attempt succeeded: the next wait is `first_ms` again. */
  reset(): void {
    this.#next_ms = this.#options.first_ms
  }
}
