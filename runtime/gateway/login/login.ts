/** Tokens and passwords, the session cookies that browsers get for them, and the caller's role. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Accounts } from '../../../schemas/services/runtime.js'
import { RtkError } from '../../errors.js'
import { normalAddress } from '../../platform/address/address.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { LoginRole, Role } from '../http/routes/config.js'
import { idsIn, newId, sessionCookie } from './cookie.js'
import { type KeptLogin, loginOfProcess } from './kept-login.js'
import { type PasswordHashes, Passwords } from './passwords.js'
import { isValid, Sessions, sessionLife_s } from './sessions.js'
import { WrongLogins } from './wrong-logins.js'

export interface LoginOptions {
  /** The operator's token: turns the login on. */
  token?: string
  /** A second token that can only read. */
  viewerToken?: string
  /** Rights of the local network without a login; default: none. `none` and `read` require `token`. */
  open?: 'none' | 'read' | 'all'
  /** The station's address speaks HTTPS: browsers send their cookie over it only. */
  tls?: object
}

/** The client, as identified by its connection. */
export interface HttpCaller {
  readonly headers: IncomingHttpHeaders
  readonly peer: string
  /** On the local network. */
  readonly local: boolean
}

const openRoles = { none: 'none', read: 'viewer', all: 'operator' } as const
/** By which a plugin knows the session of a person. */
const hashOf = (id: string) => digest(id).toString('base64url')
const digest = (text: string) => createHash('sha256').update(text).digest()

export interface Session {
  readonly role: LoginRole
  /** UTC. */
  readonly expires_ms: number
  /** The person; undefined for tokens and passwords. */
  readonly user?: string | undefined
}

/** A token of the variant. */
interface Token {
  readonly role: LoginRole
  readonly digest: Buffer
}

/** A new password for a role, or its removal. */
export interface PasswordChange {
  readonly role: LoginRole
  /** null removes it. */
  readonly password: string | null
  /** The operator's present password or token. */
  readonly old?: string
}

/**
 * The login of the HTTP interface. Without a token and a password there is none: everybody on the local network is an
 * operator.
 */
export class Login {
  readonly #tokens: readonly Token[]
  readonly #passwords: Passwords
  readonly #sessions: Sessions
  readonly #open: Role
  /** Browsers send the cookie over HTTPS only. */
  readonly isSecure: boolean
  readonly #clock: Clock
  readonly #wrong: WrongLogins
  readonly #kept: KeptLogin
  /** The people of a plugin that knows some; `away`: it does not run, so nobody can be told from a stranger. */
  readonly #accounts: () => Accounts | 'away' | undefined
  /**
   * @throws RTK_ERR_VARIANT for an option that has no effect without another one
   */
  constructor(
    { token, viewerToken, open, tls }: LoginOptions,
    clock: Clock,
    kept = loginOfProcess(),
    accounts: () => Accounts | 'away' | undefined = () => undefined,
  ) {
    if (token === undefined && viewerToken !== undefined) throw invalid('viewerToken', 'needs http.token beside it')
    if (token === undefined && open !== undefined && open !== 'all') throw invalid('open', 'needs http.token beside it')
    if (token !== undefined && token === viewerToken) throw invalid('viewerToken', 'must not equal http.token')
    this.#tokens = [
      ...(token === undefined ? [] : [{ role: 'operator' as const, digest: digest(token) }]),
      ...(viewerToken === undefined ? [] : [{ role: 'viewer' as const, digest: digest(viewerToken) }]),
    ]
    this.#passwords = new Passwords(kept.passwords)
    this.#sessions = new Sessions(kept, this.#proofs, clock)
    this.isSecure = tls !== undefined
    this.#open = openRoles[open ?? 'none']
    this.#clock = clock
    this.#wrong = new WrongLogins(clock)
    this.#kept = kept
    this.#accounts = accounts
  }

  /** A token or a password is set, so not everybody may do everything. */
  get isOn(): boolean {
    return this.admitsAll || this.#passwords.has('operator') || this.#passwords.has('viewer')
  }

  get #people(): Accounts | undefined {
    const accounts = this.#accounts()
    return accounts === 'away' ? undefined : accounts
  }

  /** The operator of the service chose tokens or named people, so the login may replace the rule of the local network. */
  get admitsAll(): boolean {
    return this.#tokens.length > 0 || this.isStarting || this.#people?.isOn === true
  }

  /** The people who may log in are not known yet, or the plugin that knows them does not run: nobody of them is let in. */
  get isStarting(): boolean {
    return this.#accounts() === 'away' || this.#people?.isKnown === false
  }

  /** The person who sends a request; undefined for anybody else. */
  userOf(headers: IncomingHttpHeaders): string | undefined {
    const bearer = bearerOf(headers)
    return bearer === undefined ? this.sessionOf(headers)?.user : this.#people?.find(bearer)?.user
  }

  /** Which roles have a password. */
  get passwords(): Record<LoginRole, boolean> {
    return { operator: this.#passwords.has('operator'), viewer: this.#passwords.has('viewer') }
  }

  /**
   * Whether a request has to be checked with `prove` before `roleOf`: its bearer may be a password, or its session may have
   * begun in another instance of the service a moment ago.
   */
  isUnproven(headers: IncomingHttpHeaders): boolean {
    const bearer = bearerOf(headers)
    if (bearer !== undefined) return this.#mayBePassword && this.#known(bearer) === undefined
    return this.#people !== undefined && this.#unknownId(headers) !== undefined
  }

  /**
   * Checks the bearer of a request against the passwords, or asks for its session.
   * @throws RTK_ERR_UNAUTHORIZED, RTK_ERR_TOO_MANY_TRIES, RTK_ERR_TOO_MANY_REQUESTS
   */
  async prove({ headers, peer }: Omit<HttpCaller, 'local'>): Promise<void> {
    const bearer = bearerOf(headers)
    if (bearer !== undefined) return void (await this.#check(bearer, peer))
    this.#wrong.refuseBlocked(normalAddress(peer))
    // Without an answer it stays unknown.
    await this.#people?.readSession(hashOf(this.#unknownId(headers) ?? '')).catch(() => {})
  }

  /**
   * The caller's role: by its bearer token, else by its cookie, else by its location.
   * @throws RTK_ERR_UNAUTHORIZED for a wrong token, RTK_ERR_TOO_MANY_TRIES also for a wrong cookie
   */
  roleOf({ headers, peer, local }: HttpCaller): Role {
    if (!this.isOn) return 'operator'
    const bearer = bearerOf(headers)
    if (bearer !== undefined) return this.#checkKnown(bearer, normalAddress(peer))
    const session = this.sessionOf(headers)
    if (session !== undefined) return session.role
    this.#countWrong(headers, normalAddress(peer))
    return local ? this.#open : 'none'
  }

  /** Whether a caller admitted with this role still has it: sessions end. Does not count as a login attempt. */
  allowsStill(role: Role, { headers, local }: Omit<HttpCaller, 'peer'>): boolean {
    if (!this.isOn) return true
    const bearer = bearerOf(headers)
    const known = bearer === undefined ? this.sessionOf(headers)?.role : (this.#known(bearer) ?? 'none')
    const now = known ?? (local ? this.#open : 'none')
    return roleRefusal(now, role) === undefined
  }

  /**
   * Exchanges a token or a password for a cookie.
   * @throws RTK_ERR_UNAUTHORIZED, RTK_ERR_TOO_MANY_TRIES, RTK_ERR_TOO_MANY_REQUESTS
   */
  async begin(given: string, peer: string): Promise<{ session: Session; cookie: string }> {
    const role = await this.#check(given, peer)
    return this.#begin(role, this.#people?.find(given)?.user)
  }

  async #begin(role: LoginRole, user?: string): Promise<{ session: Session; cookie: string }> {
    const expires_ms = Math.floor(this.#clock.now()) + sessionLife_s * 1_000
    const id = newId()
    if (user === undefined) await this.#sessions.begin(id, { role, expires_ms })
    else await this.#people?.beginSession(hashOf(id), { user, expires_ms })
    return { session: { role, expires_ms, user }, cookie: sessionCookie(id, sessionLife_s, this.isSecure) }
  }

  /**
   * Sets, changes or removes a password and ends every session. Durable when it resolves.
   * @returns a session for the caller; undefined: there is no login any more
   * @throws RTK_ERR_OLD_PASSWORD, RTK_ERR_PASSWORD, RTK_ERR_TOO_MANY_TRIES, RTK_ERR_TOO_MANY_REQUESTS, RTK_ERR_STORE_WRITE
   */
  async setPassword(change: PasswordChange, address: string): Promise<ReturnType<Login['begin']> | undefined> {
    const peer = normalAddress(address)
    return this.#passwords.inTurn(peer, async () => {
      await this.#checkOld(change, peer)
      await this.#checkNew(change)
      await this.#use(await this.#passwords.changed(change.role, change.password ?? undefined))
      return this.isOn ? await this.#begin('operator') : undefined
    })
  }

  /** Removes both passwords and ends all sessions, for a person at the machine itself. @returns whether there were passwords */
  async resetPasswords(): Promise<boolean> {
    const had = this.#mayBePassword
    if (had || this.#sessions.hashes.length > 0) await this.#use({})
    return had
  }

  async #use(hashes: PasswordHashes): Promise<void> {
    // Without the operator nobody could change anything, the viewer's password included.
    const kept = hashes.operator === undefined && !this.admitsAll ? {} : hashes
    await this.#kept.keepPasswords(kept, this.#sessions.hashes)
    this.#passwords.use(kept)
    this.#sessions.endAll(this.#proofs)
  }

  /** A session left open on a borrowed phone must not be enough to take the station over. */
  async #checkOld({ old }: PasswordChange, peer: string): Promise<void> {
    if (!this.isOn) return
    this.#wrong.refuseBlocked(peer)
    if (old !== undefined && (this.#tokenRole(old) ?? (await this.#passwords.roleOf(old))) === 'operator') return
    if (old !== undefined) this.#wrong.add(peer)
    throw new RtkError(
      'RTK_ERR_OLD_PASSWORD',
      old === undefined ? 'the present password of the operator is missing' : 'the present password is wrong',
    )
  }

  async #checkNew({ role, password }: PasswordChange): Promise<void> {
    if (password === null) return
    if (role === 'viewer' && !this.admitsAll && !this.#passwords.has('operator'))
      throw new RtkError('RTK_ERR_PASSWORD', 'set the password of the operator first')
    const taken = this.#tokenRole(password) ?? (await this.#passwords.roleOf(password))
    // The secret alone tells who logs in.
    if (taken !== undefined) throw new RtkError('RTK_ERR_PASSWORD', `this is the password of the ${taken} already`)
  }

  /**
   * Ends the session of this caller, also for after a restart.
   * @throws RTK_ERR_STORE_WRITE: only the restart would not know
   */
  async end({ cookie }: IncomingHttpHeaders): Promise<void> {
    for (const id of idsIn(cookie)) {
      if (this.#people?.session(hashOf(id))) await this.#people.endSession(hashOf(id))
      await this.#sessions.end(id)
    }
  }

  /** The session of the cookie sent with the request. */
  sessionOf({ cookie }: IncomingHttpHeaders): Session | undefined {
    for (const id of idsIn(cookie)) {
      const session = this.#sessions.find(id) ?? this.#personSession(id)
      if (session !== undefined) return session
    }
    return undefined
  }

  #personSession(id: string): Session | undefined {
    const session = this.#people?.session(hashOf(id))
    if (session === undefined || !isValid(session.expires_ms, this.#clock)) return undefined
    const role = this.#people?.roleOf(session.user)
    return role && { ...session, role }
  }

  /** The first cookie of a request without a session, unless it was counted as wrong before. */
  #unknownId(headers: IncomingHttpHeaders): string | undefined {
    const [id] = idsIn(headers.cookie)
    if (id === undefined || this.#wrong.hasCounted(id) || this.sessionOf(headers) !== undefined) return undefined
    return id
  }

  /** A cookie that is no session is a try like a wrong token. */
  #countWrong(headers: IncomingHttpHeaders, peer: string): void {
    const id = this.#unknownId(headers)
    // It may be that of a person: nobody is blamed for it.
    if (id === undefined || this.isStarting) return
    this.#wrong.refuseBlocked(peer)
    this.#wrong.addCookie(id, peer)
  }

  async #check(given: string, address: string): Promise<LoginRole> {
    const peer = normalAddress(address)
    if (!this.#mayBePassword || this.#known(given) !== undefined) return this.#checkKnown(given, peer)
    this.#wrong.refuseBlocked(peer)
    return this.#passwords.inTurn(peer, async () => {
      this.#wrong.refuseBlocked(peer)
      const role = await this.#passwords.roleOf(given)
      if (role !== undefined) return role
      this.#wrong.add(peer)
      throw new RtkError('RTK_ERR_UNAUTHORIZED', 'the password or token is wrong')
    })
  }

  #checkKnown(given: string, peer: string): LoginRole {
    // A person's key is random, so nobody guesses it: strangers behind the same address must not lock people out.
    const person = this.#people?.find(given)
    if (person !== undefined) return person.role
    this.#wrong.refuseBlocked(peer)
    const role = this.#known(given)
    if (role !== undefined) return role
    // It may be the key of a person: nobody is blamed for it.
    if (this.isStarting) throw starting()
    this.#wrong.add(peer)
    throw new RtkError('RTK_ERR_UNAUTHORIZED', 'the token is wrong')
  }

  /** The role of a token, or of a password that was right before. */
  #known(given: string): LoginRole | undefined {
    return this.#tokenRole(given) ?? this.#passwords.knows(given)
  }

  #tokenRole(given: string): LoginRole | undefined {
    // Digests have one length, so neither content nor length of a token shows in the time that this takes.
    const hash = digest(given)
    const [found] = this.#tokens.filter((known) => timingSafeEqual(known.digest, hash))
    return found?.role ?? this.#people?.find(given)?.role
  }

  get #mayBePassword(): boolean {
    return this.#passwords.has('operator') || this.#passwords.has('viewer')
  }

  /** Tokens and passwords that sessions depend on. */
  get #proofs(): string {
    const tokens = this.#tokens.map(({ role, digest }) => `${role} ${digest.toString('base64url')}`)
    return [...tokens, this.#passwords.state].join(' ')
  }
}

/** In place of `this needs a login`. */
export const starting = () =>
  new RtkError(
    'RTK_ERR_UNAVAILABLE',
    'the service is starting, and does not know yet who may log in: try again in a minute',
  )

const bearerOf = ({ authorization = '' }: IncomingHttpHeaders) => /^bearer +(\S+) *$/i.exec(authorization)?.[1]

const invalid = (field: string, message: string) =>
  new RtkError('RTK_ERR_VARIANT', `http.${field} ${message}`, { place: ['http', field] })

/** Why a role is not enough; undefined when it is. */
export function roleRefusal(role: Role, needed: Role): RtkError | undefined {
  if (needed === 'none' || role === 'operator' || role === needed) return undefined
  if (role === 'none') return new RtkError('RTK_ERR_UNAUTHORIZED', 'this needs a login')
  return new RtkError('RTK_ERR_FORBIDDEN_ROLE', 'a viewer may only read, this needs an operator')
}
