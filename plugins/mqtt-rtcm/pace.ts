/** An epoch that is so much early is not made to wait: receivers are not that punctual. */
const early_ms = 100

/**
 * When to publish: every n seconds, and with the epochs rather than beside them. An epoch that comes when a publication is due
 * goes out at once; one that came before waits until then, and each time a little less, so that what a late epoch once put
 * out of step falls back into it.
 */
export class Pace {
  /** When the last publication was due, from where the next one is counted. */
  #from_ms = Number.NEGATIVE_INFINITY

  /** Milliseconds that an epoch which came at `now_ms` has to wait; 0: publish it now. */
  wait_ms(now_ms: number, rate_s: number): number {
    const left_ms = this.#from_ms + rate_s * 1000 - now_ms
    return left_ms <= early_ms ? 0 : left_ms
  }

  /** A publication went out. @param waited_ms how long its epoch had waited */
  published(now_ms: number, rate_s: number, waited_ms: number): void {
    const due_ms = this.#from_ms + rate_s * 1000
    // One that was early does not make the next one earlier still: several epochs a second would raise the rate.
    this.#from_ms = now_ms < due_ms ? due_ms : now_ms - Math.min(early_ms, waited_ms)
  }
}
