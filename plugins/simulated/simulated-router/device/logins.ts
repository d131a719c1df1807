/** Access to the router: sessions, and addresses blocked after failed logins. */
import { randomBytes } from 'node:crypto'
import type { Pending } from '../uci/store.js'

/** Failed logins are counted by the address they come from; at the limit the address is blocked (ip_blockd, legacy logtrigger). */
export interface BlockSettings {
  enabled: boolean
  limit: number
  rebootClear: boolean
  /** Undefined: the block stays until it is lifted. */
  duration_ms: number | undefined
}

export class LoginBlock {
  readonly #settings: () => BlockSettings
  readonly #monotonic: () => number
  readonly #failed = new Map<string, { count: number; blockedAt_ms: number | undefined }>()

  constructor(settings: () => BlockSettings, monotonic: () => number) {
    this.#settings = settings
    this.#monotonic = monotonic
  }

  /** The attempts of the address with the most. */
  get attempts(): number {
    return Math.max(0, ...[...this.#failed.values()].map(({ count }) => count))
  }

  get limit(): number {
    return this.#settings().limit
  }

  get blocked(): string[] {
    return [...this.#failed.keys()].filter((address) => this.blocks(address))
  }

  blocks(address: string): boolean {
    const { enabled, duration_ms } = this.#settings()
    const entry = this.#failed.get(address)
    if (!enabled || entry?.blockedAt_ms === undefined) return false
    if (duration_ms !== undefined && this.#monotonic() - entry.blockedAt_ms >= duration_ms) {
      this.#failed.delete(address)
      return false
    }
    return true
  }

  failed(address: string): void {
    const { enabled, limit } = this.#settings()
    if (!enabled || this.blocks(address)) return
    const count = (this.#failed.get(address)?.count ?? 0) + 1
    this.#failed.set(address, { count, blockedAt_ms: count >= limit ? this.#monotonic() : undefined })
  }

  block(address: string): void {
    this.#failed.set(address, { count: this.#settings().limit, blockedAt_ms: this.#monotonic() })
  }

  /** A login that succeeded, or a person. */
  unblock(address?: string): void {
    if (address === undefined) this.#failed.clear()
    else this.#failed.delete(address)
  }

  rebooted(): void {
    if (this.#settings().rebootClear) this.#failed.clear()
  }
}

export interface Session {
  id: string
  user: string
  /** 0: it does not end. */
  life_s: number
  usedAt_ms: number
  pending: Pending
}

/** The oldest one goes when there are more. */
const most = 1000

export class Sessions {
  readonly #monotonic: () => number
  readonly #sessions = new Map<string, Session>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  get count(): number {
    for (const session of this.#sessions.values()) this.#expired(session)
    return this.#sessions.size
  }

  create(user: string, life_s: number): Session {
    const session = {
      id: randomBytes(16).toString('hex'),
      user,
      life_s,
      usedAt_ms: this.#monotonic(),
      pending: new Map(),
    }
    this.#sessions.set(session.id, session)
    if (this.count > most) this.#sessions.delete([...this.#sessions.keys()][0] ?? '')
    return session
  }

  /** Each use starts its time again. */
  use(id: string): Session | undefined {
    const session = this.#sessions.get(id)
    if (session === undefined || this.#expired(session)) return undefined
    session.usedAt_ms = this.#monotonic()
    return session
  }

  end(id: string): boolean {
    return this.#sessions.delete(id)
  }

  clear(): void {
    this.#sessions.clear()
  }

  #expired({ id, life_s, usedAt_ms }: Session): boolean {
    const expired = life_s > 0 && this.#monotonic() - usedAt_ms >= life_s * 1000
    if (expired) this.#sessions.delete(id)
    return expired
  }
}
