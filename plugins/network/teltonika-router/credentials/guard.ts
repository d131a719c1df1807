import { createHash } from 'node:crypto'
import type { PluginContext, PluginStore } from 'rtk-base/plugin'
import { isObject } from '../operations/parse.js'
import type { Credentials } from '../transport/call.js'

const minute_ms = 60_000

const hour_ms = 60 * minute_ms
const day_ms = 24 * hour_ms

/**
 * A router in factory state blocks an address after 10 failed logins; before RUTOS 7.07 permanently. Only answered attempts are
 * rejections, but an attempt with a late or lost answer may have been one.
 */
export const guardLimits = {
  window_ms: hour_ms,
  /** Attempts in the window, with any result. */
  automatic: 7,
  /** The same, with the ones that a person causes by setting a password. */
  withPerson: 8,
  /** The same, where another station may have the same address: two of them make 8. */
  automaticShared: 3,
  withPersonShared: 4,
  day_ms,
  /** Rejections in a day of pairs that never worked. */
  daily: 8,
  total_ms: 365 * day_ms,
  /** Rejections in `total_ms` of pairs that never worked, without a login that worked: a whole ladder with a table of five. */
  total: 9,
  /** Between two attempts. */
  gap_ms: 10_000,
  /** A pair that was rejected is tried again after this, then after twice as long each time. */
  again_ms: 12 * hour_ms,
  /** The same of a pair that once worked, up to a day: a router that blocks, or starts, rejects the right password too. */
  workedAgain_ms: 6 * hour_ms,
  workedLongest_ms: day_ms,
  /** A starting router also answers "Access denied": a pair that gets it again after this time is rejected. */
  denied_ms: minute_ms,
} as const

/** A wall clock before this has not been set. */
const credible_ms = Date.UTC(2024, 0, 1)
const mostPairs = 32
const stored = {
  attempts: 'login-attempts',
  failed: 'failed-logins',
  worked: 'worked-logins',
  before: 'login-attempts-before',
}

export type GuardClock = PluginContext['clock']

interface Stamp {
  /** UTC, for the store. */
  readonly utc_ms: number
  /** Monotonic in this run of the service; negative for earlier events. */
  readonly at_ms: number
}

/**
 * Result of an attempt. `open`: no readable answer. `doubted`: rejected, but the pair once worked.
 * Only `rejected` counts towards the day and the year.
 */
type Outcome = 'open' | 'rejected' | 'doubted'
const outcomes: readonly unknown[] = ['open', 'rejected', 'doubted'] satisfies Outcome[]

interface Attempt extends Stamp {
  readonly outcome: Outcome
}

/** The last rejection of a pair. */
interface Rejection extends Stamp {
  /** In a row. */
  readonly count: number
}

/**
 * Keeps failed logins below the router's blocking limit, over restarts and power cuts: an attempt is counted durably before
 * it is made. Rejected pairs are stored and not retried soon; pairs that ever worked are retried at least daily.
 */
export class LoginGuard {
  readonly #store: PluginStore
  readonly #clock: GuardClock
  #attempts: Attempt[] = []
  /** Attempts at the previous router. */
  #before: { readonly mac: string; readonly attempts: Attempt[] } | undefined
  /** By digest of user and password. */
  readonly #failed = new Map<string, Rejection>()
  /** Digests of pairs that worked. */
  readonly #worked = new Set<string>()
  /** Digest → when "Access denied" was answered first, monotonic. */
  readonly #denied = new Map<string, number>()
  /** The router counts by address: false while another station may have the same one, e.g. behind a NAT. */
  hasOwnAddress = false

  constructor(store: PluginStore, clock: GuardClock) {
    this.#store = store
    this.#clock = clock
  }

  /** @param known pairs that are known to have worked */
  async load(known: readonly Credentials[] = []): Promise<void> {
    const attempts = await this.#store.get(stored.attempts)
    const failed = await this.#store.get(stored.failed)
    const worked = await this.#store.get(stored.worked)
    const before = await this.#store.get(stored.before)
    this.#attempts = this.#allRestored(attempts)
    this.#before =
      isObject(before) && typeof before.mac === 'string'
        ? { mac: before.mac, attempts: this.#allRestored(before.attempts) }
        : undefined
    for (const [key, value] of Object.entries(isObject(failed) ? failed : {})) {
      const { utc_ms, count } = isObject(value) ? value : { utc_ms: value, count: 1 }
      this.#failed.set(key, { ...this.#restored(utc_ms), count: typeof count === 'number' ? Math.max(1, count) : 1 })
    }
    for (const key of Array.isArray(worked) ? worked : []) if (typeof key === 'string') this.#worked.add(key)
    for (const pair of known) this.#worked.add(digest(pair))
  }

  /** Since the last login that worked: how many the router rejected, and how many had no answer that can be read. */
  get attempts(): { rejected: number; unanswered: number } {
    const all = this.#within(guardLimits.total_ms)
    const unanswered = all.filter(({ outcome }) => outcome === 'open').length
    return { rejected: all.length - unanswered, unanswered }
  }

  /** A login with it has worked. */
  worked(credentials: Credentials): boolean {
    return this.#worked.has(digest(credentials))
  }

  /** How often it was rejected in a row. */
  rejections(credentials: Credentials): number {
    return this.#failed.get(digest(credentials))?.count ?? 0
  }

  /** Milliseconds until any attempt may be made; 0: now. */
  wait_ms(byPerson: boolean): number {
    const { window_ms, automatic, withPerson, automaticShared, withPersonShared, gap_ms } = guardLimits
    const newest = this.#attempts.at(-1)
    const most = this.hasOwnAddress
      ? byPerson
        ? withPerson
        : automatic
      : byPerson
        ? withPersonShared
        : automaticShared
    const ends = [newest ? newest.at_ms + gap_ms : 0, endOf(this.#within(window_ms), most, window_ms)]
    return this.#until(...ends)
  }

  /** Milliseconds until this pair may be tried; 0: now. */
  pairWait_ms(credentials: Credentials, byPerson: boolean): number {
    const { day_ms, daily, total_ms, total } = guardLimits
    const worked = this.worked(credentials)
    const failed = this.#failed.get(digest(credentials))
    const end_ms = failed ? failed.at_ms + restOf(failed.count, worked) : Number.NEGATIVE_INFINITY
    const anyWait_ms = Math.max(this.wait_ms(byPerson), this.#until(end_ms, this.#deniedEnd(credentials)))
    if (worked || byPerson) return anyWait_ms
    const rejected = (ms: number) => this.#within(ms).filter(({ outcome }) => outcome === 'rejected')
    const dayEnd_ms = endOf(rejected(day_ms), daily, day_ms)
    return Math.max(anyWait_ms, this.#until(dayEnd_ms, endOf(rejected(total_ms), total, total_ms)))
  }

  /**
   * Counts an attempt that is about to be made.
   * @throws RTK_ERR_STORE_WRITE when it cannot be stored, and is not the only one: then it must not be made
   */
  async begin(): Promise<void> {
    this.#attempts = [...this.#within(guardLimits.total_ms), { ...this.#now(), outcome: 'open' }]
    try {
      await this.#keepAttempts()
    } catch (error) {
      // On a disk that takes no writes one attempt in the window is safe, and a station with the right password works.
      if (this.#attempts.length === 1) return
      this.#attempts.pop()
      throw error
    }
  }

  /** The attempt never reached the router. */
  async withdraw(): Promise<void> {
    this.#attempts.pop()
    await this.#keepAttempts().catch(() => {})
  }

  /** The login worked: the router has forgotten the failed ones. */
  async succeeded(credentials: Credentials): Promise<void> {
    const key = digest(credentials)
    this.#attempts = []
    this.#failed.delete(key)
    this.#denied.clear()
    this.#worked.delete(key)
    this.#worked.add(key)
    forgetOldest(this.#worked)
    await this.#keepAll()
  }

  /** The router answered that the pair is wrong. */
  async rejected(credentials: Credentials): Promise<void> {
    const key = digest(credentials)
    const count = (this.#failed.get(key)?.count ?? 0) + 1
    this.#failed.delete(key)
    this.#denied.delete(key)
    this.#failed.set(key, { ...this.#now(), count })
    forgetOldest(this.#failed)
    const attempt = this.#attempts.pop()
    if (attempt) this.#attempts.push({ ...attempt, outcome: this.#worked.has(key) ? 'doubted' : 'rejected' })
    await this.#keepAll()
  }

  /** The router answered "Access denied". @returns true where it did so a minute ago as well: it means the pair */
  denied(credentials: Credentials): boolean {
    const key = digest(credentials)
    const first_ms = this.#denied.get(key)
    if (first_ms === undefined) this.#denied.set(key, this.#clock.monotonic())
    return first_ms !== undefined && this.#clock.monotonic() - first_ms >= guardLimits.denied_ms
  }

  /** A person says that a pair is right, however it went before. */
  async retry(credentials: Credentials): Promise<void> {
    this.#denied.delete(digest(credentials))
    if (this.#failed.delete(digest(credentials))) await this.#keepAll()
  }

  /**
   * A different router answers: it has seen none of the attempts, unless it was here before. Two routers are counted separately. A third
   * shares the count of the second, because invented MAC addresses would otherwise reset the guard.
   */
  async moved(from: string, to: string): Promise<void> {
    const attempts = this.#within(guardLimits.total_ms)
    const before = this.#before && this.#recent(this.#before.attempts, guardLimits.total_ms)
    if (this.#before?.mac === to || (attempts.length > 0 && !before?.length)) {
      this.#attempts = this.#before?.mac === to ? (before ?? []) : []
      this.#before = { mac: from, attempts }
    }
    this.#failed.clear()
    this.#denied.clear()
    await this.#keepAll()
  }

  #now(): Stamp {
    return { utc_ms: this.#clock.now(), at_ms: this.#clock.monotonic() }
  }

  #until(...ends_ms: readonly number[]): number {
    return Math.max(0, ...ends_ms.map((end_ms) => end_ms - this.#clock.monotonic()))
  }

  #deniedEnd(credentials: Credentials): number {
    const first_ms = this.#denied.get(digest(credentials))
    return first_ms === undefined ? Number.NEGATIVE_INFINITY : first_ms + guardLimits.denied_ms
  }

  /** Restores the attempts of an earlier run. If either clock was unset or went back, they count as current. */
  #restored(utc_ms: unknown): Stamp {
    const now = this.#now()
    const known = typeof utc_ms === 'number' && utc_ms >= credible_ms && utc_ms <= now.utc_ms
    return known ? { utc_ms, at_ms: now.at_ms - (now.utc_ms - utc_ms) } : now
  }

  /** Attempts of the last `ms`, oldest first. */
  #within(ms: number): Attempt[] {
    return this.#recent(this.#attempts, ms)
  }

  #recent(attempts: readonly Attempt[], ms: number): Attempt[] {
    const begin_ms = this.#clock.monotonic() - ms
    return attempts.filter(({ at_ms }) => at_ms > begin_ms)
  }

  /** An entry is `[utc_ms, outcome]`; 0.2.0 stored the time alone, of any failure. */
  #allRestored(attempts: unknown): Attempt[] {
    const one = (entry: unknown): Attempt => {
      const [utc_ms, outcome] = Array.isArray(entry) ? entry : [entry, 'open']
      return { ...this.#restored(utc_ms), outcome: outcomes.includes(outcome) ? (outcome as Outcome) : 'open' }
    }
    return Array.isArray(attempts) ? attempts.map(one) : []
  }

  async #keepAttempts(): Promise<void> {
    await this.#store.set(stored.attempts, entriesOf(this.#attempts))
  }

  async #keepAll(): Promise<void> {
    const failed = [...this.#failed].map(([key, { utc_ms, count }]) => [key, { utc_ms, count }])
    await this.#store.batch({
      [stored.attempts]: entriesOf(this.#attempts),
      [stored.failed]: Object.fromEntries(failed),
      [stored.worked]: [...this.#worked],
      [stored.before]: this.#before && { mac: this.#before.mac, attempts: entriesOf(this.#before.attempts) },
    })
  }
}

/** Pause of a pair after a number of rejections in a row. */
function restOf(count: number, worked: boolean): number {
  const { again_ms, total_ms, workedAgain_ms, workedLongest_ms } = guardLimits
  const doubled = 2 ** (count - 1)
  return worked ? Math.min(workedAgain_ms * doubled, workedLongest_ms) : Math.min(again_ms * doubled, total_ms)
}

/** When fewer than `most` of the attempts are left in a window of `ms`. */
function endOf(attempts: readonly Stamp[], most: number, ms: number): number {
  const leaving = attempts[attempts.length - most]
  return leaving ? leaving.at_ms + ms : Number.NEGATIVE_INFINITY
}

const entriesOf = (attempts: readonly Attempt[]) => attempts.map(({ utc_ms, outcome }) => [utc_ms, outcome])

function forgetOldest(pairs: Map<string, unknown> | Set<string>): void {
  const [oldest] = pairs.keys()
  if (pairs.size > mostPairs && oldest !== undefined) pairs.delete(oldest)
}

const digest = ({ user, pswd }: Credentials) =>
  createHash('sha256').update(`${user}\0${pswd}`).digest('hex').slice(0, 32)
