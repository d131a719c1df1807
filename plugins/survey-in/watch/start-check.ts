/** Compares where the antenna is with the chosen reference: before a base is set up, and while it is `moved`. */
import type { ReceiverFix } from 'rtk-base/services'
import type { Event } from '../procedure/table.js'
import type { ReferenceChoice } from '../reference/choice.js'
import { type Comparison, compare, leastLimit_m, type Reference } from '../reference/reference.js'
import { type LivePosition, PositionWindow } from './live-position.js'
import type { Suspicion } from './suspicion.js'

const agreed_ms = 600_000
/** In doubt the position is averaged for so long before it is decided. */
const doubt_s = 600

/** The change parameters `gnss-initial-*`. */
export interface StartLimits {
  accuracy_m: number
  maxDelta_m: number
  maxDeltaCorr_m: number
}

export interface StartCheckDeps {
  choice: Pick<ReferenceChoice, 'chosen'>
  suspicion: Pick<Suspicion, 'stands' | 'size_m'>
  /** The position is farther from the reference than the accuracies explain: it takes longer. Undefined once that is over. */
  doubts(comparison: Comparison | undefined): void
  limits(): StartLimits
  now_ms(): number
}

export class StartCheck {
  readonly #deps: StartCheckDeps
  readonly #window: PositionWindow
  /** Positions since a doubt came up; undefined without one. */
  #long: PositionWindow | undefined
  #agreeingSince_ms: number | undefined
  /** The last comparison that was made. */
  comparison: Comparison | undefined
  /** The last position that was good enough. */
  live: LivePosition | undefined

  constructor(deps: StartCheckDeps, window_s: number) {
    this.#deps = deps
    this.#window = new PositionWindow(window_s)
  }

  add(fix: ReceiverFix): void {
    this.#window.add(fix)
    this.#long?.add(fix)
  }

  clear(): void {
    this.#window.clear()
    this.#agreeingSince_ms = undefined
    this.#endDoubt()
  }

  /** The median of what there is, good enough or not. */
  newest(): LivePosition | undefined {
    return this.#window.newest()
  }

  /** @param surveys a survey-in was asked for or interrupted, so nothing is compared @returns undefined while there is no good position */
  initial(surveys: boolean): Event | undefined {
    const limits = this.#deps.limits()
    const { chosen } = this.#deps.choice
    // A doubt about the reference delays no survey-in that is asked for meanwhile.
    if (surveys || !chosen) this.#endDoubt()
    const live = (this.#long ?? this.#window).result(this.#deps.now_ms())
    if (!live || live.acc_m > limits.accuracy_m) return undefined
    this.live = live
    if (surveys || !chosen) return 'nothing to compare'
    this.comparison = compare(live, chosen, limits)
    if (this.#deps.suspicion.stands) return 'move suspected'
    const { verdict } = this.comparison
    if (verdict === 'doubt' && !this.#long) {
      this.#long = new PositionWindow(doubt_s)
      this.#deps.doubts(this.comparison)
      return undefined
    }
    this.#endDoubt()
    if (verdict === 'agrees') return 'agrees'
    return chosen.method === 'survey' ? 'survey elsewhere' : 'manual elsewhere'
  }

  #endDoubt(): void {
    if (!this.#long) return
    this.#long = undefined
    this.#deps.doubts(undefined)
  }

  /** What the result of a survey-in says of a manual reference that is chosen. */
  surveyed(result: Reference, manual: Reference): Event {
    const live = { position: result.arp, acc_m: result.acc_m, corrected: result.corr }
    this.comparison = compare(live, manual, this.#deps.limits())
    return this.comparison.verdict === 'agrees' ? 'agrees' : 'manual elsewhere'
  }

  /** Called every second while it is `moved`. @returns whether it agreed for 10 min */
  agreed(): boolean {
    const now_ms = this.#deps.now_ms()
    const live = this.#window.result(now_ms)
    const { chosen } = this.#deps.choice
    const comparison = live && chosen && compare(live, chosen, this.#deps.limits())
    this.comparison = comparison ?? this.comparison
    if (comparison?.verdict !== 'agrees' || !this.tells()) {
      this.#agreeingSince_ms = undefined
      return false
    }
    this.live = live
    this.#agreeingSince_ms ??= now_ms
    return now_ms - this.#agreeingSince_ms >= agreed_ms
  }

  /** Whether positions can tell that the antenna is back after the move that is suspected. */
  tells(): boolean {
    const limit_m = this.comparison?.limits_m[0] ?? leastLimit_m
    return (this.#deps.suspicion.size_m ?? Number.POSITIVE_INFINITY) > 2 * limit_m
  }

  /** Distance of the newest position to the chosen reference, metres. */
  delta_m(): number | undefined {
    const live = this.newest()
    const { chosen } = this.#deps.choice
    return live && chosen && compare(live, chosen, this.#deps.limits()).distance_m
  }

  /** Whether the antenna is where a survey-in that runs finds it; undefined while there are too few positions. */
  isWhere(survey: Pick<Reference, 'arp' | 'corr' | 'acc_m'>): boolean | undefined {
    const live = this.#window.result(this.#deps.now_ms())
    return live && compare(live, survey, this.#deps.limits()).verdict === 'agrees'
  }

  /** Whether the newest position is where an interrupted survey-in was. */
  isNear(survey: Pick<Reference, 'arp' | 'corr' | 'acc_m'>): boolean {
    const live = this.newest()
    return live !== undefined && compare(live, survey, this.#deps.limits()).verdict === 'agrees'
  }
}
