/** The newest positions of the antenna: those that the receiver goes by, and beside them those without the corrections of another base. */
import { followsBase, isPosition, PositionWindow } from 'rtk-base/gnss'
import type { LivePosition, ReceiverFix } from 'rtk-base/services'
import { stale_ms } from './limits.js'

/** A second solution counts while a corrected first one is newer than this. */
const beside_ms = 2_000

export class Positions {
  readonly #length_ms: number
  readonly #all: PositionWindow
  readonly #plain: PositionWindow
  #plainAt_ms = Number.NEGATIVE_INFINITY
  #followedAt_ms = Number.NEGATIVE_INFINITY

  constructor(length_s: number) {
    this.#length_ms = length_s * 1000
    this.#all = new PositionWindow(length_s)
    this.#plain = new PositionWindow(length_s)
  }

  /** @param counts false: its corrections are known to be wrong */
  add(fix: ReceiverFix, counts: boolean): void {
    if (followsBase(fix)) this.#followedAt_ms = fix.arrival_ms
    else this.#addPlain(fix)
    if (counts) this.#all.add(fix)
  }

  /** A fix of the second solution, which knows no corrections. It counts where the first one follows another base. */
  addSecond(fix: ReceiverFix): void {
    const isBeside = fix.arrival_ms - this.#followedAt_ms <= beside_ms
    if (isBeside && isPosition(fix) && !followsBase(fix)) this.#addPlain(fix)
  }

  #addPlain(fix: ReceiverFix): void {
    this.#plain.add(fix)
    this.#plainAt_ms = fix.arrival_ms
  }

  forget(before_ms: number): void {
    this.#all.forget(before_ms)
    this.#plain.forget(before_ms)
    if (this.#followedAt_ms < before_ms) this.#followedAt_ms = Number.NEGATIVE_INFINITY
  }

  /** Some of them follow another base. */
  follow(now_ms: number): boolean {
    return now_ms - this.#followedAt_ms <= this.#length_ms
  }

  /** @param by the median of a full window, or of the newest positions */
  all(now_ms: number, by: 'window' | 'newest'): LivePosition | undefined {
    return by === 'newest' ? this.#all.newest() : this.#all.result(now_ms)
  }

  /** Position without corrections of another base; undefined: none is recent. */
  plain(now_ms: number, by: 'window' | 'newest'): LivePosition | undefined {
    if (now_ms - this.#plainAt_ms > stale_ms) return undefined
    return by === 'newest' ? this.#plain.newest() : this.#plain.result(now_ms)
  }
}
