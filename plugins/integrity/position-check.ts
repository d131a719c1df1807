/** Locates the antenna by rover positions and compares it with a reference: before a base is set up, and after a move. */
import { PositionWindow } from 'rtk-base/gnss'
import type { LivePosition, PositionComparison, ReceiverFix, ReferencePosition } from 'rtk-base/services'
import { compare, type StartLimits } from './comparison.js'
import { back_ms, doubt_s, explained, seenReturn } from './limits.js'

export interface PositionCheckDeps {
  /** A suspected move and its size in metres; undefined without a suspicion. */
  suspicion(): { readonly size_m: number | undefined } | undefined
  /** The position is farther from the reference than the accuracies explain, so the check takes longer. Undefined once it is decided. */
  doubts(comparison: PositionComparison | undefined): void
  limits(): StartLimits
  geoidSeparation_m(): number | undefined
  now_ms(): number
}

export class PositionCheck {
  readonly #deps: PositionCheckDeps
  readonly #window: PositionWindow
  /** Positions since a doubt came up; undefined without one. */
  #long: PositionWindow | undefined
  #agreeingSince_ms: number | undefined
  /** The last comparison. */
  comparison: PositionComparison | undefined
  /** The last position that met the required accuracy. */
  live: LivePosition | undefined

  constructor(deps: PositionCheckDeps, window_s: number) {
    this.#deps = deps
    this.#window = new PositionWindow(window_s)
  }

  add(fix: ReceiverFix): void {
    this.#window.add(fix)
    this.#long?.add(fix)
  }

  /** @param since_ms start of the positions to keep */
  forget(since_ms = Number.POSITIVE_INFINITY): void {
    this.#window.forget(since_ms)
    this.#agreeingSince_ms = undefined
    this.#endDoubt()
  }

  /** The median of all positions, whatever its accuracy. */
  get newest(): LivePosition | undefined {
    return this.#window.newest()
  }

  /** @returns undefined while there is no good position, or it is in doubt */
  locate(reference: ReferencePosition | undefined): Pick<PositionComparison, 'agrees'> | undefined {
    // Callers that no longer ask about the reference are not delayed by a doubt.
    if (!reference) this.#endDoubt()
    const live = (this.#long ?? this.#window).result(this.#deps.now_ms())
    if (!live || live.acc_m > this.#deps.limits().accuracy_m) return undefined
    this.live = live
    if (!reference) return { agrees: undefined }
    this.comparison = this.compare(live, reference)
    if (this.#deps.suspicion()) return this.comparison
    const { agrees } = this.comparison
    if (agrees === undefined && !this.#long) {
      this.#long = new PositionWindow(doubt_s)
      this.#deps.doubts(this.comparison)
      return undefined
    }
    this.#endDoubt()
    return { agrees: agrees === true }
  }

  #endDoubt(): void {
    if (!this.#long) return
    this.#long = undefined
    this.#deps.doubts(undefined)
  }

  /** Called every second. @returns true once positions agreed for 10 min, false if the antenna is elsewhere, undefined if positions cannot tell (yet) */
  isBack(reference: ReferencePosition): boolean | undefined {
    const now_ms = this.#deps.now_ms()
    const live = this.#window.result(now_ms)
    const comparison = live && this.compare(live, reference)
    this.comparison = comparison ?? this.comparison
    if (comparison?.agrees !== true || !this.canSeeReturn) {
      this.#agreeingSince_ms = undefined
      return comparison?.agrees === false ? false : undefined
    }
    this.live = live
    this.#agreeingSince_ms ??= now_ms
    return now_ms - this.#agreeingSince_ms >= back_ms || undefined
  }

  /** Whether positions are accurate enough to show the return from the suspected move. */
  get canSeeReturn(): boolean {
    const limit_m = this.comparison?.limits_m[0] ?? explained.level.least_m
    return (this.#deps.suspicion()?.size_m ?? Number.POSITIVE_INFINITY) > seenReturn * limit_m
  }

  /** Distance of the newest position, metres. */
  distance_m(reference: ReferencePosition): number | undefined {
    const { newest } = this
    return newest && this.compare(newest, reference).distance_m
  }

  isAt(place: ReferencePosition, by: 'window' | 'newest'): boolean | undefined {
    const live = by === 'newest' ? this.newest : this.#window.result(this.#deps.now_ms())
    return live && this.compare(live, place).agrees === true
  }

  compare(live: LivePosition, reference: ReferencePosition): PositionComparison {
    return compare(live, reference, this.#deps.limits(), this.#deps.geoidSeparation_m())
  }

  /** Compares a position from elsewhere and stores the comparison as the last one. */
  judge(live: LivePosition, reference: ReferencePosition): PositionComparison {
    this.comparison = this.compare(live, reference)
    return this.comparison
  }
}
