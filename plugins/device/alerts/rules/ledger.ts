import type { Alert } from 'rtk-base/services'
import { Type } from 'typebox'
import { type AlertEvent, alertStates } from './states.js'

export interface LedgerOptions {
  readonly hold_ms: number
  /** A critical alert that nobody acknowledged is told again after this time. */
  readonly repeat_ms: number
  /** Alerts that are followed at one time. */
  readonly most: number
}

/** An alert that begins and ends so often within one `hold_ms` each is told without having held. */
const mostFlaps = 4

export interface Acknowledgement {
  readonly by: string
  /** UTC seconds. */
  readonly t_s: number
}

const text = (maxLength: number) => Type.String({ maxLength })

/** An alert as it is followed. Times end with `_ms` and count from any moment. */
export const Entry = Type.Object({
  alert: Type.Object({
    ...{ key: text(500), serial: text(500), name: text(500), group: text(500), kind: text(500) },
    severity: Type.Enum(['warning', 'critical']),
    ...{ text: text(1_000), advice: text(1_000), since_s: Type.Number() },
  }),
  state: Type.Enum(['pending', 'lapsed', 'active', 'ending']),
  /** When `state` began. */
  at_ms: Type.Number(),
  /** How often it came back since it began. */
  flaps: Type.Number(),
  /** The time of the last notice; absent: there was none. */
  told_ms: Type.Optional(Type.Number()),
  acknowledged: Type.Optional(Type.Object({ by: text(500), t_s: Type.Number() })),
})
export type Entry = Type.Static<typeof Entry>

/** Which alerts are asked for. */
export interface AlertFilter {
  readonly serial?: string | undefined
  readonly kind?: string | undefined
  readonly severity?: string | undefined
  /** The last alert of the page before. */
  readonly before?: { readonly since_s: number; readonly key: string } | undefined
  readonly most: number
}

/** Something to tell. `worse`: a warning became critical. */
export interface Change {
  readonly what: 'begin' | 'worse' | 'repeat' | 'end'
  readonly alert: Alert
  readonly flaps: number
}

/** Follows alerts from their begin to their end. Pure but for its own memory. */
export class Ledger {
  readonly #options: LedgerOptions
  readonly #entries = new Map<string, Entry>()
  /** Alerts that were not followed, as there were too many at one time. */
  ignored = 0

  constructor(options: LedgerOptions) {
    this.#options = options
  }

  get entries(): readonly Entry[] {
    return [...this.#entries.values()]
  }

  /** The newest first. */
  page({ serial, kind, severity, before, most }: AlertFilter): Entry[] {
    const isWanted = ({ alert }: Entry) =>
      (serial ?? alert.serial) === alert.serial &&
      (kind ?? alert.kind) === alert.kind &&
      (severity ?? alert.severity) === alert.severity &&
      (!before || newestFirst(before, alert) < 0)
    return this.entries
      .filter(isWanted)
      .sort((one, other) => newestFirst(one.alert, other.alert))
      .slice(0, most)
  }

  /**
   * @param reported what the sources report now
   * @param mayEnd whether an alert that is not reported has ended: false while its source may not know yet
   * @param hears whether anybody gets notices of this severity
   */
  step(
    reported: readonly Alert[],
    now_ms: number,
    mayEnd: (alert: Alert) => boolean,
    hears: (severity: Alert['severity']) => boolean = () => true,
  ): Change[] {
    const changes: Change[] = []
    const byKey = new Map(reported.map((alert) => [alert.key, alert]))
    for (const alert of byKey.values()) {
      if (this.#entries.has(alert.key)) continue
      if (this.#entries.size >= this.#options.most) this.ignored += 1
      else this.#entries.set(alert.key, { alert, state: 'pending', at_ms: now_ms, flaps: 0 })
    }
    for (const entry of [...this.#entries.values()]) {
      const alert = byKey.get(entry.alert.key)
      // What was told needs evidence of its end.
      if (alert === undefined && isTold(entry) && !mayEnd(entry.alert)) continue
      this.#step(entry, alert, now_ms, changes)
    }
    for (const [key, entry] of this.#entries) {
      const { alert, flaps, state, told_ms } = entry
      if (state !== 'active' || told_ms !== undefined || !hears(alert.severity)) continue
      changes.push({ what: 'begin', alert, flaps })
      this.#entries.set(key, { ...entry, told_ms: now_ms })
    }
    return changes
  }

  #step(entry: Entry, reported: Alert | undefined, now_ms: number, changes: Change[]): void {
    const { hold_ms, repeat_ms } = this.#options
    const alert = reported ? { ...reported, since_s: entry.alert.since_s || reported.since_s } : entry.alert
    let next: Entry = { ...entry, alert }
    const tell = (what: Change['what']) => {
      changes.push({ what, alert, flaps: next.flaps })
      next = { ...next, told_ms: now_ms }
    }
    const isWorse = alert.severity === 'critical' && entry.alert.severity === 'warning'
    for (const event of eventsOf(next, reported !== undefined, now_ms, hold_ms)) {
      const found = alertStates[next.state][event]
      if (!found) continue
      if (found.state === 'over') {
        this.#entries.delete(alert.key)
        // Of what nobody was told nobody needs the end.
        if (found.tells && next.told_ms !== undefined) tell(found.tells)
        return
      }
      next = { ...next, state: found.state, at_ms: now_ms, flaps: next.flaps + (found.counts ? 1 : 0) }
      if (found.tells) tell(found.tells)
    }
    if (next.state === 'active' && next.told_ms !== now_ms) {
      const isDue = now_ms - (next.told_ms ?? now_ms) >= repeat_ms
      // What got worse is news, also after somebody knew of it.
      if (isWorse) {
        const { acknowledged: _, ...unacknowledged } = next
        next = unacknowledged
        tell('worse')
      } else if (alert.severity === 'critical' && isDue && !next.acknowledged) tell('repeat')
    }
    // What did not change stays the same object: only differences are stored.
    if (!isEqual(entry, next)) this.#entries.set(alert.key, next)
  }

  /** A notice about it went to nobody: it is told when somebody hears. */
  unheard(isIn: (alert: Alert) => boolean): void {
    for (const [key, entry] of this.#entries) if (isIn(entry.alert)) this.#entries.set(key, untold(entry))
  }

  /** The alert ended before its begin was told: nobody knows of it. */
  withdrawBegin(key: string, now_ms: number): void {
    const entry = this.#entries.get(key)
    if (entry) this.#entries.set(key, { ...untold(entry), state: 'lapsed', at_ms: now_ms })
  }

  /** The alert came back before its end was told: it is active again. @param severity that was told */
  withdrawEnd(key: string, severity: Alert['severity'], now_ms: number): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    const alert = { ...entry.alert, severity }
    this.#entries.set(key, { alert, state: 'active', at_ms: now_ms, flaps: entry.flaps + 1, told_ms: now_ms })
  }

  /** @returns false: there is no such alert */
  acknowledge(key: string, acknowledged: Acknowledgement): boolean {
    const entry = this.#entries.get(key)
    if (!entry) return false
    this.#entries.set(key, { ...entry, acknowledged })
    return true
  }

  /** Those that were told go on; others begin anew. */
  restore(stored: readonly Entry[]): void {
    for (const entry of stored.filter(isTold).slice(0, this.#options.most)) this.#entries.set(entry.alert.key, entry)
  }
}

const isTold = ({ state }: Entry): boolean => state === 'active' || state === 'ending'

function eventsOf({ state, at_ms, flaps }: Entry, isReported: boolean, now_ms: number, hold_ms: number): AlertEvent[] {
  const seen: AlertEvent = isReported ? 'reported' : 'missing'
  if (alertStates[state][seen]) return [seen]
  if (now_ms - at_ms >= hold_ms) return ['held']
  return state === 'pending' && flaps >= mostFlaps ? ['flapped'] : []
}

type Place = Pick<Alert, 'since_s' | 'key'>
const newestFirst = (one: Place, other: Place): number => other.since_s - one.since_s || (one.key < other.key ? -1 : 1)

const untold = ({ told_ms: _, ...entry }: Entry): Entry => entry

function isEqual(one: Entry, other: Entry): boolean {
  const { alert, ...rest } = one
  const { alert: otherAlert, ...otherRest } = other
  return isShallowEqual(alert, otherAlert) && isShallowEqual(rest, otherRest)
}

function isShallowEqual<T extends object>(one: T, other: T): boolean {
  const names = Object.keys(one) as (keyof T)[]
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
