/**
 * Strangers share what is scarce: each network (`networkOf`) has an account of what its clients used lately. Accounts are
 * bounded, because a stranger chooses the addresses. Places that are held instead of used up: `places.ts`.
 */
import { networkOf } from '../address/address.js'

/** Accounts that are kept at a time. */
const mostAccounts = 1_024

export interface ShareOptions<Account> {
  /** The account of a client that has used nothing lately. */
  open(now_ms: number): Account
  /** Whether nothing counts against the client any more. */
  isIdle(account: Account, now_ms: number): boolean
  /** Key that the clients of one account share; default: their network. */
  key?: (client: string) => string
  /** Default: 1,024. */
  most?: number
  /** Shared by all clients beyond `most`; default: the oldest account makes room. */
  others?: Account
}

export class FairShare<Account> {
  readonly #options: ShareOptions<Account>
  readonly #key: (client: string) => string
  readonly #accounts = new Map<string, Account>()

  constructor(options: ShareOptions<Account>) {
    this.#options = options
    this.#key = options.key ?? networkOf
  }

  *[Symbol.iterator](): Generator<Account> {
    yield* this.#accounts.values()
    if (this.#options.others !== undefined) yield this.#options.others
  }

  of(client: string, now_ms: number): Account {
    const key = this.#key(client)
    const known = this.#accounts.get(key)
    if (known !== undefined) return known
    const { open, others } = this.#options
    if (!this.#makeRoom(now_ms)) {
      if (others !== undefined) return others
      this.#accounts.delete(this.#accounts.keys().next().value as string)
    }
    const account = open(now_ms)
    this.#accounts.set(key, account)
    return account
  }

  find(client: string): Account | undefined {
    return this.#accounts.get(this.#key(client))
  }

  forget(client: string): void {
    this.#accounts.delete(this.#key(client))
  }

  /** @returns whether there is room for one more account */
  #makeRoom(now_ms: number): boolean {
    const { isIdle, most = mostAccounts } = this.#options
    if (this.#accounts.size < most) return true
    for (const [key, account] of this.#accounts) if (isIdle(account, now_ms)) this.#accounts.delete(key)
    return this.#accounts.size < most
  }
}

interface Tries {
  count: number
  until_ms: number
}

/** Wrong passwords, tokens and session cookies: how many of a client count against it. */
export class WrongTries {
  readonly #now_ms: () => number
  readonly #kept_ms: (count: number) => number | undefined
  readonly #share = new FairShare<Tries>({
    open: () => ({ count: 0, until_ms: 0 }),
    isIdle: ({ until_ms }, now_ms) => until_ms <= now_ms,
  })

  /** @param kept_ms how long the tries count from the newest one on, which is the `count`th; undefined: as long as before */
  constructor(now_ms: () => number, kept_ms: (count: number) => number | undefined) {
    this.#now_ms = now_ms
    this.#kept_ms = kept_ms
  }

  count(client: string): number {
    const tries = this.#share.find(client)
    return tries !== undefined && tries.until_ms > this.#now_ms() ? tries.count : 0
  }

  add(client: string): void {
    const now_ms = this.#now_ms()
    if (this.count(client) === 0) this.#share.forget(client)
    const tries = this.#share.of(client, now_ms)
    tries.count += 1
    const kept_ms = this.#kept_ms(tries.count)
    if (kept_ms !== undefined) tries.until_ms = now_ms + kept_ms
  }

  forget(client: string): void {
    this.#share.forget(client)
  }
}
