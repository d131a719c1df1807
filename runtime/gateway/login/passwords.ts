/** The passwords of the two roles: hashed with scrypt, checked one at a time, because a check costs a quarter of a second of a core. */
import { createHash, createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { RtkError } from '../../errors.js'
import { FairQueue } from '../../platform/fair-share/fair-queue.js'
import type { LoginRole } from '../http/routes/config.js'

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  length: number,
  cost: { N: number; r: number; p: number },
) => Promise<Buffer>

/** OWASP Password Storage Cheat Sheet, scrypt: the row with the least memory (16 MiB) but one. */
const cost = { N: 2 ** 14, r: 8, p: 5 }
const hash_bytes = 32
const roles = ['operator', 'viewer'] as const
/** Checks that wait or are under way. */
const checkLimits = { perNetwork: 2, inAll: 16 }

/** `SALT.HASH` in base64url by role, as stored. A damaged value matches no password, so that damage never opens a station. */
export type PasswordHashes = Readonly<Partial<Record<LoginRole, string>>>

/** Two keyboards may compose one character differently. */
const normal = (password: string) => password.normalize('NFC')

async function hashOf(password: string, salt = randomBytes(16)): Promise<string> {
  const hash = await derive(normal(password), salt, hash_bytes, cost)
  return `${salt.toString('base64url')}.${hash.toString('base64url')}`
}

async function matches(password: string, stored: string): Promise<boolean> {
  const [salt = ''] = stored.split('.')
  const [given, known] = [await hashOf(password, Buffer.from(salt, 'base64url')), stored].map((text) =>
    createHash('sha256').update(text).digest(),
  )
  return timingSafeEqual(given, known)
}

export class Passwords {
  #hashes: PasswordHashes
  /** Keyed digests of passwords that were right: they are not derived again. */
  readonly #known = new Map<LoginRole, Buffer>()
  readonly #secret = randomBytes(32)
  readonly #queue = new FairQueue(checkLimits)

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
    const key = this.#keyOf(given)
    return roles.find((role) => {
      const known = this.#known.get(role)
      return known !== undefined && timingSafeEqual(known, key)
    })
  }

  /**
   * The role of a password. Call in a turn.
   */
  async roleOf(given: string): Promise<LoginRole | undefined> {
    const known = this.knows(given)
    if (known !== undefined) return known
    for (const role of roles) {
      const stored = this.#hashes[role]
      if (stored === undefined || !(await matches(given, stored)) || this.#hashes[role] !== stored) continue
      this.#known.set(role, this.#keyOf(given))
      return role
    }
    return undefined
  }

  /** The hashes with another password for one role. @param password undefined removes it */
  async changed(role: LoginRole, password: string | undefined): Promise<PasswordHashes> {
    const { [role]: _former, ...others } = this.#hashes
    return password === undefined ? others : { ...others, [role]: await hashOf(password) }
  }

  /** Uses these hashes from now on. */
  use(hashes: PasswordHashes): void {
    this.#hashes = hashes
    this.#known.clear()
  }

  /** Runs `work` when nothing else is derived. @throws RTK_ERR_TOO_MANY_REQUESTS when too many wait */
  async inTurn<T>(address: string, work: () => Promise<T>): Promise<T> {
    let begin: () => void = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const end = this.#queue.take(address, begin)
    if (end === undefined)
      throw new RtkError('RTK_ERR_TOO_MANY_REQUESTS', `too many passwords wait to be checked (${this.#queue.pieces})`)
    try {
      await begun
      return await work()
    } finally {
      end()
    }
  }

  #keyOf(given: string): Buffer {
    return createHmac('sha256', this.#secret).update(normal(given)).digest()
  }
}
