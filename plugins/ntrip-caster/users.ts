import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { PluginContext } from 'rtk-base/plugin'
import { RtkError } from 'rtk-base/plugin'

const derive = promisify(scrypt) as (password: string, salt: Buffer, length: number) => Promise<Buffer>
const mostUsers = 256

interface User {
  /** Hexadecimal: salt and scrypt of the password. */
  salt: string
  hash: string
  /** Empty: every mount. */
  mounts: string[]
  /** Connections at the same time. */
  most: number
}

/** Rovers' logins, hashed, in the protected store; a login that was right lately is not derived again. */
export class Users {
  readonly #ctx: PluginContext
  #users: Record<string, User> = {}
  /** Login → user name, for a while: deriving costs 50 ms of a core on purpose. */
  readonly #known = new Map<string, string>()

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  async load(): Promise<void> {
    const kept = await this.#ctx.store.protected.get('users')
    if (typeof kept === 'object' && kept !== null) this.#users = kept as Record<string, User>
  }

  get count(): number {
    return Object.keys(this.#users).length
  }

  list(): { name: string; mounts: string[]; most: number }[] {
    return Object.entries(this.#users).map(([name, { mounts, most }]) => ({ name, mounts, most }))
  }

  /** Durable when it resolves. */
  async set(name: string, password: string, mounts: string[], most: number): Promise<void> {
    if (this.#users[name] === undefined && this.count >= mostUsers) {
      throw new RtkError('RTK_ERR_COMMAND_VALUE', `there are ${mostUsers} users already: delete one first`)
    }
    const salt = randomBytes(16)
    const hash = (await derive(password, salt, 32)).toString('hex')
    await this.#keep({ ...this.#users, [name]: { salt: salt.toString('hex'), hash, mounts, most } })
  }

  /** @returns false: there was none */
  async delete(name: string): Promise<boolean> {
    if (!Object.hasOwn(this.#users, name)) return false
    const { [name]: _gone, ...rest } = this.#users
    await this.#keep(rest)
    return true
  }

  async #keep(users: Record<string, User>): Promise<void> {
    await this.#ctx.store.protected.batch({ users })
    this.#users = users
    this.#known.clear()
  }

  /** Whether the login is right for this mount. */
  async allows(login: { user: string; password: string } | undefined, mount: string): Promise<User | undefined> {
    const user = login && Object.hasOwn(this.#users, login.user) ? this.#users[login.user] : undefined
    if (login === undefined || user === undefined) return undefined
    if (user.mounts.length > 0 && !user.mounts.includes(mount)) return undefined
    const key = `${login.user}\0${login.password}`
    if (this.#known.get(key) === login.user) return user
    const hash = await derive(login.password, Buffer.from(user.salt, 'hex'), 32)
    if (!timingSafeEqual(hash, Buffer.from(user.hash, 'hex'))) return undefined
    if (this.#known.size >= mostUsers) this.#known.clear()
    this.#known.set(key, login.user)
    return user
  }
}

/** Wrong logins by address: after some of them answers come late, then none are worth asking for. */
export class Pacing {
  readonly #failures = new Map<string, { count: number; until_ms: number }>()
  readonly #now_ms: () => number

  constructor(now_ms: () => number) {
    this.#now_ms = now_ms
  }

  /** Milliseconds that the next answer to this address waits; infinite: it is not even looked at. */
  delay_ms(address: string): number {
    const found = this.#failures.get(address)
    if (!found || found.until_ms <= this.#now_ms()) return 0
    return found.count < 5 ? 0 : found.count < 20 ? 2_000 : Number.POSITIVE_INFINITY
  }

  failed(address: string): void {
    const now_ms = this.#now_ms()
    const before = this.#failures.get(address)
    const count = before && before.until_ms > now_ms ? before.count + 1 : 1
    this.#failures.delete(address)
    this.#failures.set(address, { count, until_ms: now_ms + (count < 20 ? 60_000 : 600_000) })
    // The oldest address goes: whoever floods from many gains nothing for any of them.
    if (this.#failures.size > 1_024) this.#failures.delete(this.#failures.keys().next().value as string)
  }

  succeeded(address: string): void {
    this.#failures.delete(address)
  }
}
