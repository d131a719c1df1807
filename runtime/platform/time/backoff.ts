/** The wait between attempts: doubling up to a longest one, each different by chance, never shorter than the other side asks. */

export interface Waits {
  /** After the first failure, milliseconds. Each further wait is twice as long. */
  first_ms: number
  /** Limit of a wait, before `spread` is applied. */
  longest_ms: number
  /**
   * Each wait is multiplied by a random factor between these two numbers, so that stations that failed together do not return
   * together. Default: `[0.8, 1.2]`, enough for a few devices. `[0, 1]` ("full jitter") is for many that reconnect to one server.
   */
  spread?: readonly [least: number, most: number]
  /** Returns a number between 0 and 1; default: `Math.random`. */
  random?: () => number
}

/**
 * How long to wait for the next attempt, milliseconds.
 * @param failures in a row, this one included
 * @param asked_ms the other side asks to wait so long, at least: `Undelivered.wait_ms`
 */
export function waitAfter_ms(failures: number, waits: Waits, asked_ms = 0): number {
  const { first_ms, longest_ms, spread: [least, most] = [0.8, 1.2], random = Math.random } = waits
  const chance = (most - least) * random()
  const own_ms = Math.min(longest_ms, first_ms * 2 ** (failures - 1))
  // All stations that a server turned away were asked to wait equally long.
  return Math.round(Math.max(own_ms * (least + chance), asked_ms * (1 + chance / 2)))
}

/** Counts the failures in a row of one thing that is tried again and again. */
export class Backoff {
  readonly #waits: Waits
  #failures = 0

  constructor(waits: Waits) {
    this.#waits = waits
  }

  /** The attempt failed. @returns how long to wait before the next one, milliseconds */
  next(asked_ms = 0): number {
    return waitAfter_ms(++this.#failures, this.#waits, asked_ms)
  }

  /** The attempt succeeded: the next wait is `first_ms` again. */
  reset(): void {
    this.#failures = 0
  }
}
