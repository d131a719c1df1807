import type { RtcmEpoch, RtcmFrame, RtcmItem } from 'rtk-base/services'

/** A reload of a plugin takes less. */
const kept_ms = 5_000
const mostKept = 256

/** The output of the last seconds, so that a reloaded plugin misses nothing. */
export class History {
  readonly #now_ms: () => number
  #items: (RtcmItem & { readonly at_ms: number })[] = []
  /** The sequence of the newest item. */
  sequence = 0

  /** @param now_ms monotonic */
  constructor(now_ms: () => number) {
    this.#now_ms = now_ms
  }

  frame(frame: RtcmFrame): void {
    this.#note({ frame })
  }

  epoch(epoch: RtcmEpoch): void {
    this.#note({ epoch })
  }

  /** The oldest first. */
  items(): readonly RtcmItem[] {
    const from_ms = this.#now_ms() - kept_ms
    return this.#items.filter(({ at_ms }) => at_ms >= from_ms)
  }

  /** The gathered frames may no longer be sent. */
  clear(): void {
    this.#items = []
  }

  #note(item: { frame: RtcmFrame } | { epoch: RtcmEpoch }): void {
    this.sequence += 1
    const at_ms = this.#now_ms()
    this.#items.push({ ...item, sequence: this.sequence, at_ms })
    // Rarely needed: most items are removed by age.
    if (this.#items.length > mostKept) this.#items = this.#items.slice(mostKept >> 1)
  }
}
