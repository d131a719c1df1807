import type { Before } from './memory.js'

/** Signs of health of a version on trial. */
export interface Signs {
  /** Its own HTTP server answers. */
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

export type Verdict = { kind: 'wait'; held_ms: number } | { kind: 'good' } | { kind: 'bad'; text: string }

/**
 * Judges a trial: good once every sign that is required was there without a break for `hold_ms`, bad when that has not come about
 * within `limit_ms`. RTCM and the broker are required only if they were there before: a broken antenna must not undo good updates.
 */
export class Health {
  readonly #required: readonly (keyof Signs)[]
  readonly #hold_ms: number
  readonly #limit_ms: number
  readonly #begun_ms: number
  readonly #seen_ms = new Map<keyof Signs, number>()
  #since_ms: number | undefined

  constructor(before: Before, { hold_ms, limit_ms, now_ms }: { hold_ms: number; limit_ms: number; now_ms: number }) {
    this.#required = ['control', ...(['rtcm', 'broker'] as const).filter((sign) => before[sign])]
    this.#hold_ms = hold_ms
    this.#limit_ms = limit_ms
    this.#begun_ms = now_ms
  }

  look(signs: Signs, now_ms: number): Verdict {
    for (const sign of this.#required) if (signs[sign]) this.#seen_ms.set(sign, now_ms)
    const missing = this.#required.filter((sign) => {
      const seen_ms = this.#seen_ms.get(sign)
      return seen_ms === undefined || now_ms - seen_ms > fresh_ms
    })
    if (missing.length > 0) this.#since_ms = undefined
    else this.#since_ms ??= now_ms
    const held_ms = this.#since_ms === undefined ? 0 : now_ms - this.#since_ms
    if (this.#since_ms !== undefined && held_ms >= this.#hold_ms) return { kind: 'good' }
    if (now_ms - this.#begun_ms < this.#limit_ms) return { kind: 'wait', held_ms }
    const what =
      missing.length > 0 ? missing.map((sign) => texts[sign]).join('; ') : 'it was not healthy for long enough'
    return { kind: 'bad', text: `${what} (within ${Math.round(this.#limit_ms / 60_000)} min)` }
  }
}
