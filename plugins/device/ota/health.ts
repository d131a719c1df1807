import { Trial } from 'rtk-base/plugin'
import type { Before } from './memory.js'

/** Signs of health of a version on trial. */
export interface Signs {
  /** HTTP server of the version answers. */
  control: boolean
  /** RTCM goes out. */
  rtcm: boolean
  broker: boolean
}

/** Missing signs, as texts for the operator. */
const texts: Readonly<Record<keyof Signs, string>> = {
  control: 'its HTTP server did not answer',
  rtcm: 'no RTCM went out, though it did before the update',
  broker: 'the broker was not reached, though it was before the update',
}

/** A sign counts so long after it was seen last: one answer that is late decides nothing. */
const fresh_ms = 15_000

interface Limits {
  clock: { monotonic(): number }
  hold_ms: number
  limit_ms: number
  /** Monotonic; default: now. */
  begun_ms?: number
}

export type Verdict = { kind: 'wait'; held_ms: number } | { kind: 'good' } | { kind: 'bad'; text: string }

/**
 * Judges a trial: good once every sign that is required was there without a break for `hold_ms`, bad when that has not come about
 * within `limit_ms`. RTCM and the broker are required only if they were there before: a broken antenna must not undo good updates.
 */
export class Health {
  readonly #required: readonly (keyof Signs)[]
  readonly #seen_ms = new Map<keyof Signs, number>()
  readonly #limits: Limits
  readonly #trial: Trial<Before>

  constructor(before: Before, limits: Limits) {
    this.#required = ['control', ...(['rtcm', 'broker'] as const).filter((sign) => before[sign])]
    this.#limits = limits
    const { clock, hold_ms, limit_ms, begun_ms } = limits
    this.#trial = new Trial({ clock, hold_ms, window_ms: limit_ms })
    this.#trial.begin(before)
    this.#trial.start(begun_ms)
  }

  look(signs: Signs): Verdict {
    const { clock, limit_ms } = this.#limits
    const now_ms = clock.monotonic()
    for (const sign of this.#required) if (signs[sign]) this.#seen_ms.set(sign, now_ms)
    const missing = this.#required.filter((sign) => {
      const seen_ms = this.#seen_ms.get(sign)
      return seen_ms === undefined || now_ms - seen_ms > fresh_ms
    })
    const outcome = this.#trial.look(missing.length > 0 ? 'unknown' : 'good')
    if (outcome === 'kept') return { kind: 'good' }
    if (outcome === 'waiting') return { kind: 'wait', held_ms: this.#trial.held_ms }
    const what =
      missing.length > 0 ? missing.map((sign) => texts[sign]).join('; ') : 'it was not healthy for long enough'
    return { kind: 'bad', text: `${what} (within ${Math.round(limit_ms / 60_000)} min)` }
  }
}
