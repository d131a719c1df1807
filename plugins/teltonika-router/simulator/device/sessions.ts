/** Logins of one transport: they live in memory, end when they were not used, and carry pending changes of the configuration. */
import { randomBytes } from 'node:crypto'
import type { Pending } from '../uci/store.js'

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
