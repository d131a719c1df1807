import type { Clock } from '../../../platform/ports/clock.js'
import { Backoff, type Waits } from '../../../platform/time/backoff.js'
import type { DialFailure } from './dial.js'

/** Why a connection ended, or could not be made. `Cause`: the reasons that its owner knows. */
export interface ConnectionEnd<Cause extends string = never> {
  /** For a person. */
  readonly text: string
  /** For a program. `cut`: nothing was acknowledged. `silent`: nothing was heard. */
  readonly cause: DialFailure | 'cut' | 'silent' | Cause
  /** The peer was reached: only it can solve the problem. */
  readonly answered: boolean
}

/** Decides when the next attempt of a kept connection is made. */
export interface ConnectionRetry<Cause extends string = never> {
  /** Time until the next attempt. */
  wait_ms(): number
  /** An attempt begins. */
  begins(): void
  /** The peer accepted the connection. */
  accepted?(): void
  /** @param lasted_ms how long the connection was up and good; 0: the attempt failed */
  ended(end: ConnectionEnd<Cause>, lasted_ms: number): void
  /** The station itself ended the connection, because it is not wanted now. */
  paused(): void
  /** A network came up: a wait that it may have caused ends. */
  networkUp(): void
  /** The peer is another one: the waits start again. */
  reset?(): void
}

/** A peer that floods the station costs megabytes at each attempt. */
const flood_ms = 600_000

export interface RetryOptions {
  readonly waits: Waits
  /** Least time from one attempt to the next. */
  readonly apart_ms: number
  /** After a connection that lasted so long, the waits start again. */
  readonly lasting_ms: number
  /** Fixed waits after ends with these causes. */
  readonly after_ms?: Readonly<Record<string, number>>
}

/** Waits that grow with each failure. */
export class BackoffRetry implements ConnectionRetry {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #options: RetryOptions
  readonly #fixed_ms: Readonly<Record<string, number | undefined>>
  readonly #backoff: Backoff
  #tried_ms = Number.NEGATIVE_INFINITY
  #notBefore_ms = Number.NEGATIVE_INFINITY
  /** The wait is one that a network cannot shorten. */
  #isFixed = false

  constructor(clock: Pick<Clock, 'monotonic'>, options: RetryOptions) {
    this.#clock = clock
    this.#options = options
    this.#fixed_ms = { flood: flood_ms, ...options.after_ms }
    this.#backoff = new Backoff(options.waits)
  }

  wait_ms(): number {
    return Math.max(0, this.#notBefore_ms - this.#clock.monotonic())
  }

  begins(): void {
    this.#tried_ms = this.#clock.monotonic()
  }

  ended({ cause }: { readonly cause: string }, lasted_ms: number): void {
    const fixed_ms = this.#fixed_ms[cause]
    if (lasted_ms >= this.#options.lasting_ms) this.#backoff.reset()
    this.#notBefore_ms = this.#clock.monotonic() + (fixed_ms ?? this.#backoff.next())
    this.#isFixed = fixed_ms !== undefined
  }

  paused(): void {
    this.#notBefore_ms = this.#tried_ms + this.#options.apart_ms
    this.#isFixed = true
  }

  networkUp(): void {
    if (this.#isFixed) return
    this.#backoff.reset()
    this.#notBefore_ms = Math.min(this.#notBefore_ms, this.#tried_ms + this.#options.apart_ms)
  }

  reset(): void {
    this.#backoff.reset()
    this.#notBefore_ms = Number.NEGATIVE_INFINITY
  }
}
