import { WrongTries } from 'rtk-base/link'
import type { Connection, PluginContext } from 'rtk-base/plugin'
import type { Checked, MountLogins } from './mount-logins.js'
import type { Credentials } from './stored.js'

/** Wrong logins of an address, each within a minute of the one before, from which on answers are late, then none are checked. */
const lateFrom = 5
const refusedFrom = 20
const late_ms = 2_000
const wrongKept_ms = 60_000
const refused_ms = 600_000

/** Checks logins at the pace that the address of a client deserves. */
export class LoginCheck {
  readonly #ctx: PluginContext
  readonly #wrong: WrongTries

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
    this.#wrong = new WrongTries(
      () => ctx.clock.monotonic(),
      (count) => (count < refusedFrom ? wrongKept_ms : refused_ms),
    )
  }

  /**
   * A login that was right before passes at once: many rovers can share an address, and one of them may have a wrong password. The others
   * wait their turn.
   * @param isOpen the client needs no login, so a wrong one is no attempt to get in
   */
  async check(
    credentials: Credentials,
    mount: string,
    logins: MountLogins,
    connection: Connection,
    isOpen = false,
  ): Promise<Checked> {
    const known = logins.known(credentials, mount)
    if (known) return known
    const { remoteAddress: address } = connection
    const wrong = this.#wrong.count(address)
    if (wrong >= refusedFrom) return isOpen ? undefined : 'unasked'
    if (wrong >= lateFrom) await new Promise<void>((resolve) => void this.#ctx.timers.after(late_ms, resolve))
    // A closed connection must not keep the others waiting.
    const isWanted = () => !connection.closed && this.#wrong.count(address) < refusedFrom
    const login = await logins.check(credentials, mount, { address, isWanted })
    if (typeof login === 'object') this.#wrong.forget(address)
    else if (login === undefined && !isOpen) this.#wrong.add(address)
    return login
  }
}
