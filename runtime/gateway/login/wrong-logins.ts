/** How often a network may be wrong: passwords, tokens and cookies count alike. */
import { RtkError } from '../../errors.js'
import { WrongTries } from '../../platform/fair-share/fair-share.js'
import type { Clock } from '../../platform/ports/clock.js'

/** A network that was wrong so often waits for the rest of the minute of the first one. */
const mostWrong = 5
const minute_ms = 60_000

/** Wrong cookies that were counted; the oldest gives way. */
const mostCookies = 256

export class WrongLogins {
  readonly #tries: WrongTries
  /** A browser that repeats an expired cookie is not guessing: each counts once. */
  readonly #cookies = new Set<string>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#tries = new WrongTries(
      () => clock.monotonic(),
      (count) => (count === 1 ? minute_ms : undefined),
    )
  }

  add(peer: string): void {
    this.#tries.add(peer)
  }

  addCookie(id: string, peer: string): void {
    this.add(peer)
    this.#cookies.add(id)
    if (this.#cookies.size > mostCookies) this.#cookies.delete([...this.#cookies][0] as string)
  }

  hasCounted(cookie: string): boolean {
    return this.#cookies.has(cookie)
  }

  /** @throws RTK_ERR_TOO_MANY_TRIES */
  refuseBlocked(peer: string): void {
    if (this.#tries.count(peer) < mostWrong) return
    throw new RtkError('RTK_ERR_TOO_MANY_TRIES', `${peer} sent five wrong logins within a minute`)
  }
}
