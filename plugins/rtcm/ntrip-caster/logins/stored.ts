import { Mutex } from 'async-mutex'
import { PasswordCheck } from 'rtk-base/link'
import { loginForm } from 'rtk-base/ntrip'
import { type PluginContext, RtkError } from 'rtk-base/plugin'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

/** 50 ms of a core: after a power cut hundreds of rovers come back at once. */
const cost = { N: 2 ** 14, r: 8, p: 1 }
const mostLogins = 256

/** Credentials from a client, in the form of `basicLogin`. */
export interface Credentials {
  readonly user: string
  readonly password: string
}

const Login = Type.Object({
  hash: Type.String({ description: 'Of the password, as `PasswordCheck` stores it' }),
  mounts: Type.Array(Type.String(), { description: 'Empty: every mountpoint' }),
  most: Type.Integer({ minimum: 0, description: 'Connections at the same time' }),
})
export type Login = Static<typeof Login>

/** Takes the place of a damaged login: no password has this hash. */
const unusable: Login = { hash: '', mounts: [], most: 0 }

/** Whether a mountpoint of a login, as it was entered, is the one that a client asks for. */
type IsAsked = (mount: string) => boolean

/** A client waiting for its login check. */
export interface Asker {
  readonly address: string
  /** False: the client left, or its address is blocked by now. Called when its turn comes. */
  isWanted(): boolean
}

/** Logins, hashed, in the protected store. */
export class StoredLogins {
  readonly #ctx: PluginContext
  readonly #key: string
  readonly #most: number
  #all: Record<string, Login> = {}
  /** What is stored is no record of logins: whose they were is lost. */
  #isLost = false
  /** Checks that wait are not limited: each belongs to a connection, of which an address has few. */
  readonly #check = new PasswordCheck(cost, {})
  /** One change after the other: each starts from the result of the previous one. */
  readonly #changes = new Mutex()

  /** @param key under which they are stored */
  constructor(ctx: PluginContext, key: string, most = mostLogins) {
    this.#ctx = ctx
    this.#key = key
    this.#most = most
  }

  /** A damaged login stays in the list, but nobody can use it: if it were dropped, a caster without other logins would be open. */
  async load(): Promise<void> {
    const stored = await this.#ctx.store.protected.get(this.#key)
    if (stored === undefined) return
    this.#isLost = typeof stored !== 'object' || stored === null || Array.isArray(stored)
    if (this.#isLost) {
      this.#ctx.log.error(
        { key: this.#key },
        'the stored logins are damaged: nobody can log in until they are set again',
      )
      return
    }
    const logins = Object.entries(stored as object).map(([name, login]): [string, Login] => {
      if (Value.Check(Login, login)) return [name, login]
      this.#ctx.log.error({ login: name }, 'the stored login is damaged: nobody can use it until it is set again')
      return [name, unusable]
    })
    this.#all = Object.fromEntries(logins)
  }

  /** No login was ever set, or the last one was deleted. False if the logins were lost by damage. */
  get isEmpty(): boolean {
    return this.count === 0 && !this.#isLost
  }

  get count(): number {
    return Object.keys(this.#all).length
  }

  list(): { name: string; mounts: string[]; most: number }[] {
    return Object.entries(this.#all).map(([name, { mounts, most }]) => ({ name, mounts, most }))
  }

  /** Durable when it resolves. Both are kept in the form of `basicLogin`. */
  async set(entered: string, password: string, mounts: string[], most: number): Promise<void> {
    const name = loginForm(entered)
    const hash = await this.#check.hash(loginForm(password))
    await this.#changes.runExclusive(async () => {
      if (!this.has(name) && this.count >= this.#most) {
        throw new RtkError('RTK_ERR_COMMAND_VALUE', `there are ${this.#most} already: delete one first`)
      }
      await this.#keep({ ...this.#all, [name]: { hash, mounts, most } })
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
    this.#isLost = false
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#all, name)
  }

  /** @returns the login where it is right for this mount and was right before: that costs nothing */
  knows(credentials: Credentials, isAsked: IsAsked): Login | undefined {
    const login = this.#find(credentials, isAsked)
    return login && this.#check.knows(credentials.password, login.hash) ? login : undefined
  }

  /** @returns the login if correct for this mount; `unasked`: not checked, because the client left */
  async allows(
    credentials: Credentials,
    isAsked: IsAsked,
    { address, isWanted }: Asker,
  ): Promise<Login | 'unasked' | undefined> {
    const known = this.knows(credentials, isAsked)
    const login = known ?? this.#find(credentials, isAsked)
    if (known || !login) return known
    const done = await this.#check.inTurn(address, async () =>
      isWanted() ? this.#check.matches(credentials.password, login.hash) : 'unasked',
    )
    if (!done || done.result === 'unasked') return 'unasked'
    // If it was changed or deleted meanwhile, it is not correct any more.
    return done.result && this.#all[credentials.user] === login ? login : undefined
  }

  #find({ user }: Credentials, isAsked: IsAsked): Login | undefined {
    const login = this.has(user) ? this.#all[user] : undefined
    return login && (login.mounts.length === 0 || login.mounts.some(isAsked)) ? login : undefined
  }
}
