import { createHmac } from 'node:crypto'
import type { Clock } from '../../platform/ports/clock.js'
import type { KeptLogin, KeptSession, SessionChange } from './kept-login.js'

export const sessionLife_s = 12 * 3_600
/** Sessions at a time; the oldest gives way. */
const mostSessions = 64

/** Whether the time of a session has begun, by this clock, and is not over. */
export function isValid(expires_ms: number, clock: Clock): boolean {
  const left_ms = expires_ms - clock.now()
  return left_ms > 0 && left_ms <= sessionLife_s * 1_000
}

/**
 * The sessions of whoever logged in with a password or a token. Known are hashes of their ids, which also depend on the
 * proofs (tokens and passwords of the station): a session ends with any change of these, over a restart too.
 */
export class Sessions {
  readonly #clock: Clock
  readonly #kept: KeptLogin
  /** Oldest first. */
  #all: Map<string, KeptSession>
  #proofs: string

  constructor(kept: KeptLogin, proofs: string, clock: Clock) {
    this.#kept = kept
    this.#all = new Map(kept.sessions)
    this.#proofs = proofs
    this.#clock = clock
  }

  find(id: string): KeptSession | undefined {
    const session = this.#all.get(this.#hashOf(id))
    return session && isValid(session.expires_ms, this.#clock) ? session : undefined
  }

  /** Where the store takes no writes, the session ends with the process. */
  async begin(id: string, session: KeptSession): Promise<void> {
    const hash = this.#hashOf(id)
    const now_ms = this.#clock.now()
    const going = [...this.#all].filter(([, { expires_ms }]) => expires_ms > now_ms).slice(1 - mostSessions)
    const next = new Map([...going, [hash, session]])
    const ended = this.hashes.filter((one) => !next.has(one)).map((one): SessionChange => [one, undefined])
    this.#all = next
    await this.#kept.keepSessions([...ended, [hash, session]]).catch(() => {})
  }

  /** @throws RTK_ERR_STORE_WRITE: only a restart would not know */
  async end(id: string): Promise<void> {
    const hash = this.#hashOf(id)
    if (this.#all.delete(hash)) await this.#kept.keepSessions([[hash, undefined]])
  }

  /** As kept. */
  get hashes(): string[] {
    return [...this.#all.keys()]
  }

  /** All are over: what they were given for has changed. */
  endAll(proofs: string): void {
    this.#all.clear()
    this.#proofs = proofs
  }

  #hashOf(id: string): string {
    return createHmac('sha256', id).update(this.#proofs).digest('base64url')
  }
}
