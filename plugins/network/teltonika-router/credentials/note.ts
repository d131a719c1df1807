import { createHash } from 'node:crypto'
import type { PluginContext, PluginStore } from 'rtk-base/plugin'
import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Credentials } from '../transport/call.js'
import { loginLimits } from './limits.js'

/** A wall clock before this has not been set. */
const credible_ms = Date.UTC(2024, 0, 1)
const mostPairs = 32
const mostRouters = 32

/** `open`: no readable answer. `rejected`: of a pair that never worked. `doubted`: rejected, but the pair once worked. */
const Outcome = Type.Union([Type.Literal('open'), Type.Literal('rejected'), Type.Literal('doubted')])
const Logins = Type.Object({
  attempts: Type.Array(Type.Object({ utc_ms: Type.Number(), outcome: Outcome })),
  /** MAC address of the router that answers; empty: unknown. */
  router: Type.String(),
  rejectedSinceLogin: Type.Integer({ minimum: 0 }),
  /**
   * Other routers; the one that answered last is the last: it may come back, e.g. where two have the same IP address.
   */
  others: Type.Array(Type.Object({ mac: Type.String(), rejectedSinceLogin: Type.Integer({ minimum: 0 }) })),
  /** By digest of user and password; the one that was tried last is the last. */
  pairs: Type.Array(
    Type.Object({
      digest: Type.String(),
      worked: Type.Boolean(),
      rejectedInRow: Type.Integer({ minimum: 0 }),
      utc_ms: Type.Number(),
    }),
  ),
  /** Digests of the pairs that a person set last, and that the router has not answered since. */
  entered: Type.Array(Type.String()),
})
const Pair = Type.Object({ user: Type.String(), pswd: Type.String() })
const stored = { logins: 'logins', default: 'default' }
const none: Credentials = { user: '', pswd: '' }

interface Stamp {
  /** UTC, for the store. */
  readonly utc_ms: number
  /** Monotonic in this run of the service; negative for earlier events. */
  readonly at_ms: number
}

interface Attempt extends Stamp {
  readonly outcome: Static<typeof Outcome>
}

/** State of a pair, and when it was last tried. */
interface PairNote extends Stamp {
  /** A login with it has worked. */
  readonly worked: boolean
  readonly rejectedInRow: number
}

type Pairing = PairNote & {
  /** A person has set it, and the router has not answered it since. */
  readonly isEntered: boolean
}

/**
 * The durable note of the logins at the router, in the protected store: an attempt is written before it is made, so that restarts and
 * power cuts win none. A factory reset of the station keeps it.
 */
export class LoginNote {
  readonly #store: PluginStore
  readonly #clock: PluginContext['clock']
  #attempts: Attempt[] = []
  #router = ''
  #rejectedSinceLogin = 0
  /** Rejections by MAC address. */
  readonly #others = new Map<string, number>()
  readonly #pairs = new Map<string, PairNote>()
  #entered = new Set<string>()
  #default = none
  #loading: Promise<void> | undefined

  constructor(store: PluginStore, clock: PluginContext['clock']) {
    this.#store = store
    this.#clock = clock
  }

  /** Once: later calls wait for the first one. */
  load(): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  async #load(): Promise<void> {
    const logins = await this.#read(stored.logins, Logins)
    this.#attempts = logins?.attempts.map((one) => ({ ...one, ...this.#restored(one.utc_ms) })) ?? []
    this.#router = logins?.router ?? ''
    this.#rejectedSinceLogin = logins?.rejectedSinceLogin ?? 0
    for (const { mac, rejectedSinceLogin } of logins?.others ?? []) this.#others.set(mac, rejectedSinceLogin)
    for (const { digest, ...pair } of logins?.pairs ?? [])
      this.#pairs.set(digest, { ...pair, ...this.#restored(pair.utc_ms) })
    this.#entered = new Set(logins?.entered)
    const { user, pswd } = (await this.#read(stored.default, Pair)) ?? none
    this.#default = { user, pswd }
  }

  get now_ms(): number {
    return this.#clock.monotonic()
  }

  /** The attempts of the last day and since the last login that worked, the oldest first. */
  get attempts(): readonly Attempt[] {
    const begin_ms = this.now_ms - loginLimits.rejections.within_ms
    return this.#attempts.filter(({ at_ms }) => at_ms > begin_ms)
  }

  /** Rejections of pairs that never worked, by this router. */
  get rejectedSinceLogin(): number {
    return this.#rejectedSinceLogin
  }

  pair(credentials: Credentials): Pairing {
    const digest = digestOf(credentials)
    const known = this.#pairs.get(digest) ?? { worked: false, rejectedInRow: 0, ...this.#now() }
    return { ...known, isEntered: this.#entered.has(digest) }
  }

  /** The last pair that worked, or that a person set with `--protected`; both empty while there is none. */
  get default(): Credentials {
    return this.#default
  }

  /** @throws RTK_ERR_STORE_WRITE */
  async setDefault({ user, pswd }: Credentials): Promise<void> {
    await this.#store.set(stored.default, { user, pswd })
    this.#default = { user, pswd }
  }

  /**
   * Notes an attempt that is about to be made.
   * @throws RTK_ERR_STORE_WRITE when it cannot be stored, and is not the only one: then it must not be made
   */
  async begin(): Promise<void> {
    this.#attempts = [...this.attempts, { ...this.#now(), outcome: 'open' }]
    try {
      await this.#keep()
    } catch (error) {
      // On a disk that takes no writes one attempt a day is safe, and a station with the right password works.
      if (this.#attempts.length === 1 && this.#rejectedSinceLogin === 0) return
      this.#attempts.pop()
      throw error
    }
  }

  /** The attempt never reached the router. */
  async withdraw(): Promise<void> {
    this.#attempts.pop()
    await this.#keep().catch(() => {})
  }

  /** The login worked: the router has forgotten the failed ones. @param isKept as the default, too */
  async succeeded(credentials: Credentials, isKept: boolean): Promise<void> {
    this.#attempts = []
    this.#rejectedSinceLogin = 0
    this.#setPair(credentials, { worked: true, rejectedInRow: 0, ...this.#now() })
    if (isKept) this.#default = { user: credentials.user, pswd: credentials.pswd }
    await this.#keep(isKept ? { [stored.default]: this.#default } : {})
  }

  /** The router answered that the pair is wrong. */
  async rejected(credentials: Credentials): Promise<void> {
    const { worked, rejectedInRow } = this.pair(credentials)
    this.#setPair(credentials, { worked, rejectedInRow: rejectedInRow + 1, ...this.#now() })
    if (!worked) this.#rejectedSinceLogin++
    const attempt = this.#attempts.pop()
    if (attempt) this.#attempts.push({ ...attempt, outcome: worked ? 'doubted' : 'rejected' })
    await this.#keep()
  }

  /**
   * A person says that these pairs are right, however they went before. A program may send a wrong one again and again: one that the router
   * has rejected is tried at once, within the limits of pairs that never worked.
   */
  async enter(pairs: readonly Credentials[]): Promise<void> {
    // It may come while the service starts.
    await this.load()
    const isRejected = (pair: Credentials) => {
      const known = this.#pairs.get(digestOf(pair))
      return known !== undefined && (!known.worked || known.rejectedInRow > 0) && !this.pair(pair).isEntered
    }
    const rejected = pairs.filter(isRejected)
    for (const pair of rejected) {
      const { isEntered: _, ...known } = this.pair(pair)
      if (known.worked) this.#rejectedSinceLogin += known.rejectedInRow
      this.#setPair(pair, { ...known, worked: false, rejectedInRow: 0 })
    }
    this.#entered = new Set(pairs.filter((pair) => !rejected.includes(pair)).map(digestOf))
    await this.#keep()
  }

  /**
   * Another MAC address is another router, with a count of its own. The attempts of the last day stay: else invented MAC addresses would
   * buy new ones.
   */
  async meetRouter(mac: string): Promise<void> {
    if (mac === this.#router) return
    if (this.#router !== '') {
      this.#others.delete(this.#router)
      this.#others.set(this.#router, this.#rejectedSinceLogin)
      this.#rejectedSinceLogin = this.#others.get(mac) ?? 0
      this.#others.delete(mac)
      forgetOldest(this.#others, mostRouters)
      for (const [digest, pair] of this.#pairs) this.#pairs.set(digest, { ...pair, rejectedInRow: 0 })
    }
    this.#router = mac
    await this.#keep()
  }

  #setPair(credentials: Credentials, pair: PairNote): void {
    const digest = digestOf(credentials)
    this.#entered.delete(digest)
    this.#pairs.delete(digest)
    this.#pairs.set(digest, pair)
    forgetOldest(this.#pairs, mostPairs)
  }

  #now(): Stamp {
    return { utc_ms: this.#clock.now(), at_ms: this.now_ms }
  }

  /** The time of an event of an earlier run. If either clock was unset or went back, the event counts as of now. */
  #restored(utc_ms: number): Stamp {
    const now = this.#now()
    if (utc_ms < credible_ms || utc_ms > now.utc_ms) return now
    return { utc_ms, at_ms: now.at_ms - (now.utc_ms - utc_ms) }
  }

  async #read<S extends TSchema>(key: string, schema: S): Promise<Static<S> | undefined> {
    const value = await this.#store.get(key)
    return Value.Check(schema, value) ? value : undefined
  }

  async #keep(more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const logins: Static<typeof Logins> = {
      attempts: this.#attempts.map(({ utc_ms, outcome }) => ({ utc_ms, outcome })),
      router: this.#router,
      rejectedSinceLogin: this.#rejectedSinceLogin,
      others: [...this.#others].map(([mac, rejectedSinceLogin]) => ({ mac, rejectedSinceLogin })),
      pairs: [...this.#pairs].map(([digest, { at_ms: _, ...pair }]) => ({ digest, ...pair })),
      entered: [...this.#entered],
    }
    await this.#store.batch({ [stored.logins]: logins, ...more })
  }
}

function forgetOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys()
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}

const digestOf = ({ user, pswd }: Credentials) =>
  createHash('sha256').update(`${user}\0${pswd}`).digest('hex').slice(0, 32)
