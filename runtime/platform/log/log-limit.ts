import type { Logger } from 'pino'
import type { Clock } from '../ports/clock.js'

const interval_ms = 60_000
/** A source that varies its text each time is limited too. */
const mostTexts = 32

/** Admits each log text at most once a minute, and at most 32 different texts. */
export class LogLimit {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #last = new Map<string, number>()
  #omitted = 0

  /** @param clock `ctx.clock` */
  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** The number of lines left out since the last admitted line; undefined: leave this line out. */
  admit(text: string): number | undefined {
    const now_ms = this.#clock.monotonic()
    for (const [old, at_ms] of this.#last) if (now_ms - at_ms >= interval_ms) this.#last.delete(old)
    if (this.#last.has(text) || this.#last.size >= mostTexts) {
      this.#omitted++
      return undefined
    }
    this.#last.set(text, now_ms)
    const omitted = this.#omitted
    this.#omitted = 0
    return omitted
  }
}

/** Lines of one kind that a plugin writes in a minute. */
export const mostOfKind = 10
/** Kinds that are told apart in a minute: texts may have parts that a stranger chooses. */
const mostKinds = 64

/** Lines that differ in numbers and addresses alone are of one kind. */
const kindOf = (text: string) => text.replace(/[0-9a-f]*\d[0-9a-f.:]*/gi, '#').slice(0, 80)

interface Kind {
  since_ms: number
  lines: number
  omitted: number
}

/** Lets ten lines of each kind through in a minute: a fault that repeats, or a peer that provokes one, must not fill a disk. */
export class KindLimit {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #kinds = new Map<string, Kind>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** The number of lines of its kind left out before this line; undefined: leave this line out. */
  admit(text: string): number | undefined {
    const now_ms = this.#clock.monotonic()
    const kind = this.#kind(kindOf(text), now_ms)
    if (now_ms - kind.since_ms >= interval_ms) Object.assign(kind, { since_ms: now_ms, lines: 0 })
    if (kind.lines >= mostOfKind) {
      kind.omitted++
      return undefined
    }
    kind.lines++
    const { omitted } = kind
    kind.omitted = 0
    return omitted
  }

  #kind(name: string, now_ms: number): Kind {
    if (!this.#kinds.has(name) && this.#kinds.size >= mostKinds)
      for (const [old, { since_ms }] of this.#kinds) if (now_ms - since_ms >= interval_ms) this.#kinds.delete(old)
    // Those beyond share one.
    const key = this.#kinds.has(name) || this.#kinds.size < mostKinds ? name : ''
    const kind = this.#kinds.get(key) ?? { since_ms: now_ms, lines: 0, omitted: 0 }
    this.#kinds.set(key, kind)
    return kind
  }
}

const limits = new WeakMap<object, KindLimit>()

/** From now on this logger writes ten lines of each kind in a minute. */
export function limitLog(log: Logger, clock: Pick<Clock, 'monotonic'>): Logger {
  limits.set(log, new KindLimit(clock))
  return log
}

const levels = { info: 30, fatal: 60 } as const

/** For pino's `hooks.logMethod`: passes a line on, with the number of suppressed lines before it. */
export function limitedLine(this: object, args: unknown[], write: (...args: unknown[]) => void, level: number): void {
  const limit = level < levels.info || level >= levels.fatal ? undefined : limits.get(this)
  const at = typeof args[0] === 'string' ? 0 : 1
  const text = args[at] ?? (args[0] instanceof Error ? args[0].message : '')
  const omitted = limit?.admit(String(text)) ?? (limit ? undefined : 0)
  if (omitted === undefined) return
  if (omitted > 0 && typeof args[at] === 'string') args[at] += ` (${omitted} more lines like this were left out)`
  write.apply(this, args)
}
