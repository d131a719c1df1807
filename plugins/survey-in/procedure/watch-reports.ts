import type { Receiver } from 'rtk-base/services'
import type { Reference } from '../reference/reference.js'
import type { MovementWatch } from '../watch/movement.js'
import { doubtfulText, type Reports, unwatchedText } from './reports.js'

/** Code evidence that stays away for so long is a fault of its own: nobody would see the antenna being moved slowly. */
const unwatched_ms = 180_000
const look_ms = 60_000

/** What a person should know of the evidence while a base is in use: that it stays away, or that it speaks against the reference. */
export class WatchReports {
  readonly #reports: Reports
  readonly #receiver: Pick<Receiver, 'fix'>
  readonly #method: () => Reference['method']
  #seenAt_ms = 0
  #lookedAt_ms = 0

  /** @param method of the reference that is chosen */
  constructor(reports: Reports, receiver: Pick<Receiver, 'fix'>, method: () => Reference['method']) {
    this.#method = method
    this.#reports = reports
    this.#receiver = receiver
  }

  /** The base is in use from now on. */
  begin(now_ms: number): void {
    this.#seenAt_ms = now_ms
    this.#lookedAt_ms = now_ms
  }

  /** The base is not in use any more. */
  end(): void {
    this.#reports.clear('gnss-unwatched', 'gnss-reference-doubtful')
  }

  /** Called every second while the base is in use. */
  second(movement: MovementWatch, now_ms: number): void {
    if (movement.delta_m(now_ms) !== undefined) {
      this.#seenAt_ms = now_ms
      this.#reports.clear('gnss-unwatched')
    } else if (now_ms - this.#seenAt_ms >= unwatched_ms && !this.#reports.stands('gnss-unwatched')) {
      this.#reports.raise('gnss-unwatched', unwatchedText)
    }
    if (now_ms - this.#lookedAt_ms < look_ms) return
    this.#lookedAt_ms = now_ms
    const stands = this.#reports.stands('gnss-reference-doubtful')
    const offset = movement.doubtful(now_ms, stands)
    if (!offset) this.#reports.clear('gnss-reference-doubtful')
    else if (!stands) {
      this.#reports.raise(
        'gnss-reference-doubtful',
        doubtfulText(offset, this.#method(), this.#receiver.fix?.geoidSeparation_m),
      )
    }
  }
}
