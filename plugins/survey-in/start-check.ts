/** Where the antenna is, held against the chosen reference: before a base is set up, and while it is `moved`. */
import type { ReceiverFix } from 'rtk-base/services'
import { type LivePosition, PositionWindow } from './live-position.js'
import type { Memory } from './memory.js'
import { type Comparison, compare, type Reference } from './reference.js'
import type { References } from './references.js'
import type { Surroundings } from './surroundings.js'
import type { Event } from './table.js'

const agreed_ms = 600_000
/** What was suspected is only settled by agreement as close as what makes suspect. */
const settled_m = 4

export class StartCheck {
  readonly #references: References
  readonly #memory: Memory
  readonly #surroundings: Surroundings
  readonly #window: PositionWindow
  #agreeingSince_ms: number | undefined
  /** The last comparison that was made. */
  comparison: Comparison | undefined
  /** The last position that was good enough. */
  live: LivePosition | undefined

  constructor(references: References, memory: Memory, surroundings: Surroundings, window_s: number) {
    this.#references = references
    this.#memory = memory
    this.#surroundings = surroundings
    this.#window = new PositionWindow(window_s)
  }

  add(fix: ReceiverFix): void {
    this.#window.add(fix)
  }

  clear(): void {
    this.#window.clear()
    this.#agreeingSince_ms = undefined
  }

  /** The median of what there is, good enough or not. */
  newest(): LivePosition | undefined {
    return this.#window.newest()
  }

  /** @param surveys a survey-in was asked for or interrupted, so nothing is compared @returns undefined while there is no good position */
  initial(surveys: boolean): Event | undefined {
    const limits = this.#surroundings.limits()
    const live = this.#window.result(this.#surroundings.now_ms())
    if (!live || live.acc_m > limits.accuracy_m) return undefined
    this.live = live
    const { chosen } = this.#references
    if (surveys || !chosen) return 'nothing to compare'
    this.comparison = compare(live, chosen, limits)
    if (this.#memory.get('suspicion') !== undefined) return 'move suspected'
    if (this.comparison.agrees) return 'agrees'
    return chosen.method === 'survey' ? 'survey elsewhere' : 'manual elsewhere'
  }

  /** What the result of a survey-in says of a manual reference that is chosen. */
  surveyed(result: Reference, manual: Reference): Event {
    const live = { position: result.arp, acc_m: result.acc_m, corrected: result.corr }
    this.comparison = compare(live, manual, this.#surroundings.limits())
    return this.comparison.agrees ? 'agrees' : 'manual elsewhere'
  }

  /** Called every second while it is `moved`. @returns whether it agreed for 10 min */
  agreed(): boolean {
    const now_ms = this.#surroundings.now_ms()
    const live = this.#window.result(now_ms)
    const { chosen } = this.#references
    const comparison = live && chosen && compare(live, chosen, this.#surroundings.limits())
    const closest_m = this.#memory.get('suspicion') === undefined ? Number.POSITIVE_INFINITY : settled_m
    if (!comparison || comparison.distance_m > Math.min(comparison.limit_m, closest_m)) {
      this.#agreeingSince_ms = undefined
      return false
    }
    this.live = live
    this.#agreeingSince_ms ??= now_ms
    return now_ms - this.#agreeingSince_ms >= agreed_ms
  }

  /** Distance of the newest position to the chosen reference, metres. */
  delta_m(): number | undefined {
    const live = this.newest()
    const { chosen } = this.#references
    return live && chosen && compare(live, chosen, this.#surroundings.limits()).distance_m
  }

  /** Whether the antenna is away from where a survey-in that runs finds it: it was moved meanwhile. */
  isElsewhere(reference: Pick<Reference, 'arp' | 'corr'>): boolean {
    const live = this.#window.result(this.#surroundings.now_ms())
    return live !== undefined && !compare(live, reference, this.#surroundings.limits()).agrees
  }

  /** Whether the newest position is where an interrupted survey-in was. */
  isNear(reference: Pick<Reference, 'arp' | 'corr'>): boolean {
    const live = this.newest()
    return live !== undefined && compare(live, reference, this.#surroundings.limits()).agrees
  }
}
