/**
 * Try it, keep it if it proves itself, else go back. Of a change, network engineers call it commit confirmed.
 *
 * | state   | event                                             | next    |
 * |---------|---------------------------------------------------|---------|
 * | none    | `begin`: what returns is recorded                 | pending |
 * | pending | `start`: what is tried is live                    | running |
 * | running | good evidence for `hold_ms` without a break       | kept    |
 * | running | bad evidence, or no proof within `window_ms`      | over    |
 * | any     | `end`: its owner has kept it, or has gone back    | none    |
 *
 * Its owner stores what returns in the same write as what is tried, so a power cut leaves both or neither, and calls
 * `begin` with it again at the next start. Where a try can end the process, each start is counted durably before what
 * is tried runs: up to `mostTries`.
 */
import type { Dispose } from '../../schemas/event.js'

/** A try that was started so often without a proof is given up. The launcher of slots counts as far. */
export const mostTries = 3

/** No evidence is not good evidence. */
export type Evidence = 'good' | 'bad' | 'unknown'

export interface TrialOptions {
  clock: {
    monotonic(): number
    timer?(delay_ms: number, fn: () => void): Dispose
  }
  /** From the start; default: no limit. */
  window_ms?: number
  /** How long good evidence must last; default: 0, one is enough. */
  hold_ms?: number
  /** Evidence that comes earlier is still of what was before. */
  settle_ms?: number
  /** The window is over. Left out: `look` tells. */
  over?(): void
}

/** @typeParam T what returns if it does not prove itself */
export class Trial<T> {
  readonly #options: TrialOptions
  #before: T | undefined
  #begun_ms: number | undefined
  #good_ms: number | undefined
  #isOver = false
  #cancel: Dispose = () => {}

  constructor(options: TrialOptions) {
    this.#options = options
  }

  /** Value that returns if the trial fails; undefined: nothing is on trial. */
  get before(): T | undefined {
    return this.#before
  }

  /**
   * The window has passed without a proof. A timer and the clock do not agree to the millisecond: the timer decides.
   */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The rest of the window. */
  get left_ms(): number {
    const { clock, window_ms = Number.POSITIVE_INFINITY } = this.#options
    return this.#begun_ms === undefined ? window_ms : Math.max(0, this.#begun_ms + window_ms - clock.monotonic())
  }

  /** How long the evidence has been good. */
  get held_ms(): number {
    return this.#good_ms === undefined ? 0 : this.#options.clock.monotonic() - this.#good_ms
  }

  /** Begins a trial: `before` returns if it fails. `start` follows when the tried value is live. */
  begin(before: T): void {
    this.end()
    this.#before = before
  }

  /** All of the window is there again. @param begun_ms monotonic; default: now */
  start(begun_ms = this.#options.clock.monotonic()): void {
    const { clock, window_ms = Number.POSITIVE_INFINITY, over } = this.#options
    if (this.#before === undefined) return
    void this.#cancel()
    this.#isOver = false
    this.#begun_ms = begun_ms
    this.#good_ms = undefined
    if (!over || !clock.timer || window_ms === Number.POSITIVE_INFINITY) return
    this.#cancel = clock.timer(begun_ms + window_ms - clock.monotonic(), () => {
      this.#isOver = true
      return over()
    })
  }

  /** @returns waiting: also while nothing is on trial, or what is tried is not live */
  look(evidence: Evidence): 'waiting' | 'kept' | 'over' {
    const { clock, hold_ms = 0, settle_ms = 0 } = this.#options
    const now_ms = clock.monotonic()
    if (this.#begun_ms === undefined || now_ms < this.#begun_ms + settle_ms) return 'waiting'
    if (evidence === 'bad') return 'over'
    if (evidence === 'unknown') this.#good_ms = undefined
    else this.#good_ms ??= now_ms
    if (this.#good_ms !== undefined && this.held_ms >= hold_ms) return 'kept'
    return this.left_ms > 0 ? 'waiting' : 'over'
  }

  end(): void {
    void this.#cancel()
    this.#before = undefined
    this.#begun_ms = undefined
    this.#good_ms = undefined
    this.#isOver = false
  }
}
