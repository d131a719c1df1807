/** The passwords of the two roles. */
import { RtkError } from '../../errors.js'
import { PasswordCheck } from '../../platform/password-check.js'
import type { LoginRole } from '../http/routes/config.js'

/** OWASP Password Storage Cheat Sheet, scrypt: the row with the least memory (16 MiB) but one. A quarter of a second of a core. */
const cost = { N: 2 ** 14, r: 8, p: 5 }
const roles = ['operator', 'viewer'] as const
/** Checks that wait or are under way. */
const checkLimits = { perNetwork: 2, inAll: 16 }

/** `SALT.HASH` in base64url by role, as stored. A damaged value matches no password, so that damage never opens a station. */
export type PasswordHashes = Readonly<Partial<Record<LoginRole, string>>>

/** Two keyboards may compose one character differently. */
const normal = (password: string) => password.normalize('NFC')

export class Passwords {
  #hashes: PasswordHashes
  readonly #check = new PasswordCheck(cost, checkLimits)

  constructor(hashes: PasswordHashes) {
    this.#hashes = hashes
  }

  has(role: LoginRole): boolean {
    return this.#hashes[role] !== undefined
  }

  /** Changes with every password that is set, changed or removed. */
  get state(): string {
    return roles.map((role) => this.#hashes[role] ?? '').join(' ')
  }

  /** The role of a password that was right before. */
  knows(given: string): LoginRole | undefined {
    return roles.find((role) => this.#check.knows(normal(given), this.#hashes[role] ?? ''))
  }

  /** The role of a password. Call in a turn. */
  async roleOf(given: string): Promise<LoginRole | undefined> {
    const known = this.knows(given)
    if (known !== undefined) return known
    for (const role of roles) {
      const stored = this.#hashes[role]
      const isRight = stored !== undefined && (await this.#check.matches(normal(given), stored))
      // It may have been changed meanwhile.
      if (isRight && this.#hashes[role] === stored) return role
    }
    return undefined
  }

  /** The hashes with another password for one role. @param password undefined removes it */
  async changed(role: LoginRole, password: string | undefined): Promise<PasswordHashes> {
    const { [role]: _former, ...others } = this.#hashes
    return password === undefined ? others : { ...others, [role]: await this.#check.hash(normal(password)) }
  }

  /** Uses these hashes from now on. */
  use(hashes: PasswordHashes): void {
    this.#hashes = hashes
  }

  /** Runs `work` when nothing else is derived. @throws RTK_ERR_TOO_MANY_REQUESTS when too many wait */
  async inTurn<T>(address: string, work: () => Promise<T>): Promise<T> {
    const done = await this.#check.inTurn(address, work)
    if (!done)
      throw new RtkError('RTK_ERR_TOO_MANY_REQUESTS', `too many passwords wait to be checked (${this.#check.waiting})`)
    return done.result
  }
}
