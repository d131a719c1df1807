/** Notices a receiver that restarted by itself, and so forgot its RAM: by its own clock, by what it says at its start. */

/** The receiver's clock may be read a little early or late. */
const play_ms = 1000

export class RestartWatch {
  #last: { msss_ms: number; at_ms: number } | undefined

  /** Milliseconds since its start; undefined while unknown. */
  sinceReset_ms(now_ms: number): number | undefined {
    return this.#last && this.#last.msss_ms + Math.max(0, now_ms - this.#last.at_ms)
  }

  /** NAV-STATUS came. @returns whether the receiver's clock went back */
  status(msss_ms: number, now_ms: number): boolean {
    const before = this.#last
    this.#last = { msss_ms, at_ms: now_ms }
    return before !== undefined && msss_ms + play_ms < before.msss_ms
  }

  /** When NAV-STATUS came last; undefined before the first. */
  get statusAt_ms(): number | undefined {
    return this.#last?.at_ms
  }
}

/** The first lines that a receiver says when it starts, as text of INF-NOTICE or of NMEA TXT. */
export function isBootText(text: string): boolean {
  return /u-blox A[Gg] - www\.u-blox\.com/.test(text)
}
