/**
 * The position of the antenna from the fixes of a rover: a median over a window, so that single outliers have no
 * effect.
 */
import type { GpsFix, LivePosition, ReceiverFix } from '../../../schemas/services.js'

/** The most epochs of a second that are all kept. */
const mostPerSecond = 5

/** A 3D position with a known accuracy. */
export function isPosition(fix: ReceiverFix | undefined): fix is ReceiverFix {
  const kinds: readonly GpsFix[] = ['3d', '3d-dr', 'rtk-float', 'rtk-fixed']
  return fix?.ok === true && kinds.includes(fix.fix) && Number.isFinite(fix.acc_m)
}

/**
 * Whether the fix uses corrections of another base, so that it contains the error of the position that this base
 * announces.
 */
export function followsBase({ fix, corrected, sbas }: ReceiverFix): boolean {
  return fix === 'rtk-fixed' || fix === 'rtk-float' || (corrected && sbas !== true)
}

interface Epoch extends LivePosition {
  at_ms: number
}

export function median(values: ArrayLike<number>): number {
  // Typed arrays sort by number, and several times as fast as with a function.
  const sorted = new Float64Array(values).sort()
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

export class PositionWindow {
  readonly #length_ms: number
  #epochs: Epoch[] = []
  #since_ms: number | undefined

  constructor(length_s: number) {
    this.#length_ms = length_s * 1000
  }

  add(fix: ReceiverFix): void {
    const { arrival_ms: at_ms, position, acc_m } = fix
    const last = this.#epochs.at(-1)
    if (last && at_ms - last.at_ms < 1000 / mostPerSecond) return
    this.#since_ms ??= at_ms
    this.#epochs.push({ at_ms, position, acc_m, corrected: fix.fix === 'rtk-fixed' })
    this.#epochs = this.#epochs.filter((epoch) => epoch.at_ms > at_ms - this.#length_ms)
  }

  clear(): void {
    this.forget(Number.POSITIVE_INFINITY)
  }

  /** Removes the fixes before this time. */
  forget(before_ms: number): void {
    this.#epochs = this.#epochs.filter(({ at_ms }) => at_ms >= before_ms)
    this.#since_ms = this.#epochs[0]?.at_ms
  }

  /** The median of the window; undefined until positions have filled it, at least one every 2 s on average. */
  result(now_ms: number): LivePosition | undefined {
    const enough = this.#length_ms / 2000
    if (this.#since_ms === undefined || now_ms - this.#since_ms < this.#length_ms || this.#epochs.length < enough) {
      return undefined
    }
    return this.newest()
  }

  /** The median of the positions. */
  newest(): LivePosition | undefined {
    if (this.#epochs.length === 0) return undefined
    const of = (value: (epoch: Epoch) => number) => median(this.#epochs.map(value))
    return {
      position: {
        x: of(({ position }) => position.x),
        y: of(({ position }) => position.y),
        z: of(({ position }) => position.z),
      },
      acc_m: of(({ acc_m }) => acc_m),
      corrected: this.#epochs.filter(({ corrected }) => corrected).length >= 0.9 * this.#epochs.length,
    }
  }
}
