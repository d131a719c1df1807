/** The receiver's position without corrections, which verifies a corrected survey-in. Pure. */
import { isPosition, PositionWindow } from 'rtk-base/gnss'
import type { LivePosition, ReceiverFix } from 'rtk-base/services'

/** A position that the antenna was seen at. */
export type Seen = Pick<LivePosition, 'position' | 'acc_m'>

const window_s = 120
/** Fewer epochs give no position. */
const fewest = 10
/** An older position may be of another place. */
const oldest_ms = 600_000

export class PlainPosition {
  #window = new PositionWindow(window_s)
  #count = 0
  #newest_ms = 0

  /** @param fix of the solution that the receiver goes by, or of a second one */
  add(fix: ReceiverFix): void {
    if (fix.corrected || !isPosition(fix)) return
    this.#count++
    this.#newest_ms = fix.arrival_ms
    this.#window.add(fix)
  }

  /** The antenna may be elsewhere now. */
  clear(): void {
    this.#window = new PositionWindow(window_s)
    this.#count = 0
  }

  /** The median of the newest two minutes; undefined where there is nothing new enough. */
  newest(now_ms: number): Seen | undefined {
    if (this.#count < fewest || now_ms - this.#newest_ms > oldest_ms) return undefined
    const live = this.#window.newest()
    return live && { position: live.position, acc_m: live.acc_m }
  }
}
