import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Mutex } from 'async-mutex'
import { loginForm } from 'rtk-base/ntrip'
import { type PluginContext, RtkError } from 'rtk-base/plugin'

const derive = promisify(scrypt) as (password: string, salt: Buffer, length: number) => Promise<Buffer>
const mostLogins = 256

/** Credentials from a client. */
interface Given {
  readonly user: string
  readonly password: string
}

export interface Login {
  /** Hexadecimal: salt and scrypt of the password. */
  salt: string
  hash: string
  /** Empty: every mountpoint. */
  mounts: string[]
  /** Connections at the same time. */
  most: number
}

/** Whether a mountpoint of a login, as it was entered, is the one that a client asks for. */
type IsAsked = (mount: string) => boolean

/** A client waiting for its login check. */
export interface Asker {
  /** False: the client left, or its address is blocked by now. Called when its turn comes. */
  isWanted(): boolean
  /** The highest is next. */
  readonly priority: number
}

/** Logins, hashed, in the protected store; a recently correct one is not derived again. */
export class Logins {
  readonly #ctx: PluginContext
  readonly #key: string
  readonly #most: number
  #all: Record<string, Login> = {}
  /** Keyed hashes of correct passwords: deriving deliberately costs 50 ms of a core. A new password creates a new login. */
  readonly #known = new WeakMap<Login, string>()
  readonly #secret = randomBytes(32)
  /** One after the other: many wrong logins at once would take the threads that files and names need too. */
  readonly #deriving = new Mutex()
  /** One change after the other: each starts from the result of the previous one. */
  readonly #changes = new Mutex()

  /** @param key under which they are stored */
  constructor(ctx: PluginContext, key: string, most = mostLogins) {
    this.#ctx = ctx
    this.#key = key
    this.#most = most
  }

  async load(): Promise<void> {
    const kept = await this.#ctx.store.protected.get(this.#key)
    if (typeof kept === 'object' && kept !== null) this.#all = kept as Record<string, Login>
  }

  get count(): number {
    return Object.keys(this.#all).length
  }

  list(): { name: string; mounts: string[]; most: number }[] {
    return Object.entries(this.#all).map(([name, { mounts, most }]) => ({ name, mounts, most }))
  }

  /** Durable when it resolves. Both are kept in the form of `basicLogin`. */
  async set(entered: string, password: string, mounts: string[], most: number): Promise<void> {
    const salt = randomBytes(16)
    const name = loginForm(entered)
    const hash = (await derive(loginForm(password), salt, 32)).toString('hex')
    await this.#changes.runExclusive(async () => {
      if (!this.has(name) && this.count >= this.#most) {
        throw new RtkError('RTK_ERR_COMMAND_VALUE', `there are ${this.#most} already: delete one first`)
      }
      await this.#keep({ ...this.#all, [name]: { salt: salt.toString('hex'), hash, mounts, most } })
    })
  }

  /** @returns false: there was none */
  async delete(entered: string): Promise<boolean> {
    const name = loginForm(entered)
    return this.#changes.runExclusive(async () => {
      if (!this.has(name)) return false
      const { [name]: _gone, ...rest } = this.#all
      await this.#keep(rest)
      return true
    })
  }

  async #keep(all: Record<string, Login>): Promise<void> {
    await this.#ctx.store.protected.batch({ [this.#key]: all })
    this.#all = all
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#all, name)
  }

  /** @returns the login where it is right for this mount and was right lately: that costs nothing */
  knows(given: Given | undefined, isAsked: IsAsked): Login | undefined {
    const user = this.#find(given, isAsked)
    return given && user && this.#known.get(user) === this.#keyOf(given) ? user : undefined
  }

  /** @returns the login if correct for this mount; `unasked`: not checked, because the client left */
  async allows(given: Given | undefined, isAsked: IsAsked, asker: Asker): Promise<Login | 'unasked' | undefined> {
    const known = this.knows(given, isAsked)
    const user = known ?? this.#find(given, isAsked)
    if (known || !given || !user) return known
    const salt = Buffer.from(user.salt, 'hex')
    const hash = await this.#deriving.runExclusive(
      async () => (asker.isWanted() ? derive(given.password, salt, 32) : undefined),
      asker.priority,
    )
    if (hash === undefined) return 'unasked'
    if (!timingSafeEqual(hash, Buffer.from(user.hash, 'hex'))) return undefined
    // Changed or deleted meanwhile: no longer correct.
    if (this.#all[given.user] !== user) return undefined
    this.#known.set(user, this.#keyOf(given))
    return user
  }

  #find(given: Given | undefined, isAsked: IsAsked): Login | undefined {
    const user = given && this.has(given.user) ? this.#all[given.user] : undefined
    return user && (user.mounts.length === 0 || user.mounts.some(isAsked)) ? user : undefined
  }

  #keyOf({ password }: Given): string {
    return createHmac('sha256', this.#secret).update(password).digest('base64')
  }
}
