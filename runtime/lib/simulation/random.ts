/** Seeded noise, so that a simulated receiver does the same thing in every run. */

export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Uniform in [0, 1): mulberry32. */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let x = this.#state
    x = Math.imul(x ^ (x >>> 15), x | 1)
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61)
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }

  /** Normal, mean 0, sigma 1: Box-Muller. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform())
  }
}

/** First-order Gauss-Markov process: noise that is correlated over the time constant `tau_s`. */
export class GaussMarkov {
  value: number
  readonly #random: Random
  readonly #tau_s: number
  constructor(random: Random, tau_s: number) {
    this.#random = random
    this.#tau_s = tau_s
    this.value = random.normal()
  }

  /** The value `dt_s` later; standard deviation 1. */
  step(dt_s: number): number {
    const keep = Math.exp(-dt_s / this.#tau_s)
    this.value = keep * this.value + Math.sqrt(1 - keep * keep) * this.#random.normal()
    return this.value
  }
}
