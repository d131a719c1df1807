import { createHash } from 'node:crypto'
import type { PluginContext, PluginStore } from 'rtk-base/plugin'
import { isObject } from '../operations/parse.js'
import type { Credentials } from '../transport/index.js'

const minute_ms = 60_000

const hour_ms = 60 * minute_ms
const day_ms = 24 * hour_ms

/**
 * A router with its factory settings blocks an address after 10 failed logins; before RUTOS 7.07 it never forgets one. A whole ladder has 8
 * entries. Persons are held by `withPerson` alone.
 */
export const guardLimits = {
  window_ms: 30 * minute_ms,
  /** In the window. */
  automatic: 3,
  /** In the window, with the one that a person causes by setting a password. */
  withPerson: 4,
  day_ms,
  /** In a day. */
  daily: 4,
  total_ms: 365 * day_ms,
  /** In `total_ms`, without a login that worked: a whole ladder. */
  total: 8,
  /** In `total_ms`, where another station may have the same address: two of them make 8. */
  totalShared: 4,
  /** Between two failed attempts. */
  gap_ms: 10_000,
  /** A pair that failed is tried again after this: later than those after it, where there are more than `totalShared`. */
  failed_ms: 2 * 365 * day_ms,
  /** A pair that once worked is tried again sooner, as a router that blocks rejects the right password too: after this for each attempt so far. */
  worked_ms: 6 * hour_ms,
} as const

/** A wall clock before this has not been set. */
const credible_ms = Date.UTC(2024, 0, 1)
const mostPairs = 32
const stored = { attempts: 'login-attempts', failed: 'failed-logins', before: 'login-attempts-before' }

export type GuardClock = PluginContext['clock']

interface Stamp {
  /** UTC, for the store. */
  readonly utc_ms: number
  /** Monotonic, of this run of the service: what happened before it is negative. */
  readonly at_ms: number
}

/**
 * Keeps failed logins far below what a router blocks for, over restarts and power cuts: an attempt is counted, durably, before
 * it is made. What failed is remembered and not tried again soon.
 */
export class LoginGuard {
  readonly #store: PluginStore
  readonly #clock: GuardClock
  #attempts: Stamp[] = []
  /** Attempts at the router that answered before this one. */
  #before: { readonly mac: string; readonly attempts: Stamp[] } | undefined
  /** Digest of user and password → when it failed. */
  readonly #failed = new Map<string, Stamp>()
  /** The router counts by address: false while another station may have the same one, e.g. behind a NAT. */
  hasOwnAddress = false

  constructor(store: PluginStore, clock: GuardClock) {
    this.#store = store
    this.#clock = clock
  }

  async load(): Promise<void> {
    const attempts = await this.#store.get(stored.attempts)
    const failed = await this.#store.get(stored.failed)
    const before = await this.#store.get(stored.before)
    this.#attempts = this.#allRestored(attempts)
    this.#before =
      isObject(before) && typeof before.mac === 'string'
        ? { mac: before.mac, attempts: this.#allRestored(before.attempts) }
        : undefined
    this.#failed.clear()
    for (const [key, utc_ms] of Object.entries(isObject(failed) ? failed : {}))
      this.#failed.set(key, this.#restored(utc_ms))
  }

  /** Failed attempts since the last login that worked. */
  get attempts(): number {
    return this.#within(guardLimits.total_ms).length
  }

  /** Milliseconds until an attempt may be made; 0: now. */
  wait_ms(byPerson: boolean): number {
    const { window_ms, day_ms, total_ms, automatic, withPerson, daily, gap_ms } = guardLimits
    const total = this.hasOwnAddress ? guardLimits.total : guardLimits.totalShared
    const all = this.#within(total_ms)
    const newest = all.at(-1)
    if (newest === undefined) return 0
    const rests = [
      newest.at_ms + gap_ms,
      endOf(this.#within(window_ms), byPerson ? withPerson : automatic, window_ms),
      byPerson ? 0 : endOf(this.#within(day_ms), daily, day_ms),
      byPerson ? 0 : endOf(all, total, total_ms),
    ]
    return Math.max(0, ...rests.map((end_ms) => end_ms - this.#clock.monotonic()))
  }

  /**
   * Counts an attempt that is about to be made.
   * @throws RTK_ERR_STORE_WRITE when it cannot be stored, and is not the only one: then it must not be made
   */
  async begin(): Promise<void> {
    this.#attempts = [...this.#within(guardLimits.total_ms), this.#now()]
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
    this.#attempts = []
    this.#failed.delete(digest(credentials))
    await this.#keepAll()
  }

  async failed(credentials: Credentials): Promise<void> {
    const key = digest(credentials)
    this.#failed.delete(key)
    this.#failed.set(key, this.#now())
    const [oldest] = this.#failed.keys()
    if (this.#failed.size > mostPairs && oldest !== undefined) this.#failed.delete(oldest)
    await this.#keepAll()
  }

  /** Milliseconds until a pair is worth another attempt; 0: now. @param worked it is known to have been right */
  pairWait_ms(credentials: Credentials, worked: boolean): number {
    const failed = this.#failed.get(digest(credentials))
    if (!failed) return 0
    const rest_ms = worked ? guardLimits.worked_ms * Math.max(1, this.attempts) : guardLimits.failed_ms
    return Math.max(0, failed.at_ms + rest_ms - this.#clock.monotonic())
  }

  /** A person says that a pair is right, however it went before. */
  async retry(credentials: Credentials): Promise<void> {
    if (this.#failed.delete(digest(credentials))) await this.#keepAll()
  }

  /**
   * Another router answers: it has seen none of the attempts, unless it was here before. Two routers are counted apart. A third one
   * shares the count of the second, as whoever invents MAC addresses could free the guard with each of them.
   */
  async moved(from: string, to: string): Promise<void> {
    const attempts = this.#within(guardLimits.total_ms)
    const before = this.#before && this.#recent(this.#before.attempts, guardLimits.total_ms)
    if (this.#before?.mac === to || (attempts.length > 0 && !before?.length)) {
      this.#attempts = this.#before?.mac === to ? (before ?? []) : []
      this.#before = { mac: from, attempts }
    }
    this.#failed.clear()
    await this.#keepAll()
  }

  #now(): Stamp {
    return { utc_ms: this.#clock.now(), at_ms: this.#clock.monotonic() }
  }

  /** What an earlier run stored. Where either clock was not set, or went back, it counts as if it were of now. */
  #restored(utc_ms: unknown): Stamp {
    const now = this.#now()
    const known =
      typeof utc_ms === 'number' && utc_ms >= credible_ms && utc_ms <= now.utc_ms && now.utc_ms >= credible_ms
    return known ? { utc_ms, at_ms: now.at_ms - (now.utc_ms - utc_ms) } : now
  }

  /** Attempts of the last `ms`, oldest first. */
  #within(ms: number): Stamp[] {
    return this.#recent(this.#attempts, ms)
  }

  #recent(attempts: readonly Stamp[], ms: number): Stamp[] {
    const begin_ms = this.#clock.monotonic() - ms
    return attempts.filter(({ at_ms }) => at_ms > begin_ms)
  }

  #allRestored(attempts: unknown): Stamp[] {
    return Array.isArray(attempts) ? attempts.map((utc_ms) => this.#restored(utc_ms)) : []
  }

  async #keepAttempts(): Promise<void> {
    await this.#store.set(
      stored.attempts,
      this.#attempts.map(({ utc_ms }) => utc_ms),
    )
  }

  async #keepAll(): Promise<void> {
    const failed = Object.fromEntries([...this.#failed].map(([key, { utc_ms }]) => [key, utc_ms]))
    const times = (attempts: readonly Stamp[]) => attempts.map(({ utc_ms }) => utc_ms)
    const before = this.#before && { mac: this.#before.mac, attempts: times(this.#before.attempts) }
    await this.#store.batch({
      [stored.attempts]: times(this.#attempts),
      [stored.failed]: failed,
      [stored.before]: before,
    })
  }
}

/** When fewer than `most` of the attempts are left in a window of `ms`. */
function endOf(attempts: readonly Stamp[], most: number, ms: number): number {
  const leaving = attempts[attempts.length - most]
  return leaving ? leaving.at_ms + ms : 0
}

const digest = ({ user, pswd }: Credentials) =>
  createHash('sha256').update(`${user}\0${pswd}`).digest('hex').slice(0, 32)
