/** An epoch that is early by this much or less is published at once: receivers jitter. */
const early_ms = 100

/**
 * When to publish: every n seconds, in step with the epochs. An epoch that arrives when a publication is due is published at once.
 * An earlier one waits until then, and each time a little less, so that publications come back into step after a late epoch.
 */
export class Pace {
  /** When the last publication was due; the next one is counted from there. */
  #from_ms = Number.NEGATIVE_INFINITY

  /** Milliseconds that an epoch which arrived at `now_ms` has to wait; 0: publish it now. */
  wait_ms(now_ms: number, rate_s: number): number {
    const left_ms = this.#from_ms + rate_s * 1000 - now_ms
    return left_ms <= early_ms ? 0 : left_ms
  }

  /** A publication was sent. @param waited_ms how long its epoch had waited */
  published(now_ms: number, rate_s: number, waited_ms: number): void {
    const due_ms = this.#from_ms + rate_s * 1000
    // An early publication must not make the next one earlier still: several epochs a second would raise the rate.
    this.#from_ms = now_ms < due_ms ? due_ms : now_ms - Math.min(early_ms, waited_ms)
  }
}
