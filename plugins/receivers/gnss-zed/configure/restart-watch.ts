/** Every sign that the receiver has lost its configuration: it restarted and lost its RAM, or other software changed it. */
import type { ReceiverMode } from 'rtk-base/services'

/** The receiver's clock may be read a little early or late. */
const play_ms = 1000
/** The receiver's clock is 32 bits wide: it starts again at 0 after 49.7 days, and differs a little from our own clock by then. */
const round_ms = 2 ** 32
const roundPlay_ms = 5000
/** No navigation message for this long on a live link: the receiver restarted and lost its configuration. */
const missing_ms = 8000
/** One or two epochs after a change may still be of the previous mode; epochs of another mode for this long show a change from outside. */
const otherMode_ms = 30_000

export class RestartWatch {
  #clock: { msss_ms: number; at_ms: number } | undefined
  #epoch_ms = 0
  #expectedFrom_ms = 0
  #otherModeSince_ms: number | undefined

  /** A configuration was written, or lost. */
  begin(now_ms: number): void {
    this.#otherModeSince_ms = undefined
    this.#expectedFrom_ms = now_ms
  }

  /** The receiver's messages can be expected from now on. */
  expect(now_ms: number): void {
    this.#expectedFrom_ms = now_ms
  }

  /** Milliseconds since the receiver started; undefined while unknown. */
  sinceReset_ms(now_ms: number): number | undefined {
    return this.#clock && this.#clock.msss_ms + Math.max(0, now_ms - this.#clock.at_ms)
  }

  /** NAV-STATUS came. @returns the sign, for people */
  status(msss_ms: number, now_ms: number): string | undefined {
    const before = this.#clock
    this.#clock = { msss_ms, at_ms: now_ms }
    if (before === undefined || msss_ms + play_ms >= before.msss_ms) return undefined
    const went_ms = msss_ms + round_ms - before.msss_ms
    return Math.abs(went_ms - (now_ms - before.at_ms)) <= roundPlay_ms ? undefined : 'its clock started again'
  }

  epoch(now_ms: number): void {
    this.#epoch_ms = now_ms
  }

  /**
   * @param mode of an epoch
   * @param wanted mode of the configuration; undefined: none
   * @returns the sign; '' while the mode should not be changed
   */
  mode(mode: 'fixed' | 'rover', wanted: ReceiverMode | undefined, now_ms: number): string | undefined {
    if (wanted === undefined || mode === wanted) {
      this.#otherModeSince_ms = undefined
      return undefined
    }
    this.#otherModeSince_ms ??= now_ms
    return now_ms - this.#otherModeSince_ms < otherMode_ms ? '' : `it is ${mode}, not ${wanted}`
  }

  /** @returns the sign, once for each time that messages are missing */
  missing(isConfigured: boolean, now_ms: number): string | undefined {
    const since_ms = (at_ms: number) => now_ms - Math.max(this.#expectedFrom_ms, at_ms)
    // NAV-STATUS can only be missing once configured.
    const isStatusMissing = isConfigured && since_ms(this.#clock?.at_ms ?? 0) > missing_ms
    if (since_ms(this.#epoch_ms) <= missing_ms && !isStatusMissing) return undefined
    this.#expectedFrom_ms = now_ms
    return 'its navigation messages are missing'
  }
}

/** The receiver's boot banner, as text of INF-NOTICE or NMEA TXT. */
export function isBootText(text: string): boolean {
  return /u-blox A[Gg] - www\.u-blox\.com/.test(text)
}
