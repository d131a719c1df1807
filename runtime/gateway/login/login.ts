/** Tokens and passwords, the session cookies that browsers get for them, and the caller's role. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Accounts } from '../../../schemas/services/runtime.js'
import { RtkError } from '../../errors.js'
import { normalAddress } from '../../platform/address/address.js'
import { WrongTries } from '../../platform/fair-share/fair-share.js'
import type { Clock } from '../../platform/ports/clock.js'
import type { LoginRole, Role } from '../http/routes/config.js'
import { isSigned, type Session, sessionCookie, type Ticket, ticketsIn } from './cookie.js'
import { type KeptSessions, sessionsOfProcess } from './kept-sessions.js'
import { type PasswordHashes, Passwords } from './passwords.js'

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
export interface Caller {
  readonly headers: IncomingHttpHeaders
  readonly peer: string
  /** On the local network. */
  readonly local: boolean
}

const sessionLife_s = 12 * 3_600
/** Sessions that were ended before their time; the oldest gives way. */
const mostEnded = 256
/** Wrong cookies that were counted; the oldest gives way. */
const mostCounted = 256

/** Wrong passwords, tokens and cookies of a network; it waits for the rest of the minute of the first one then. */
const mostWrong = 5
const wrongMinute_ms = 60_000

const openRoles = { none: 'none', read: 'viewer', all: 'operator' } as const
const digest = (text: string) => createHash('sha256').update(text).digest()

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
  /** Keys of cookies, until a password changes. */
  readonly #keys = new Map<LoginRole, Buffer>()
  readonly #open: Role
  /** Browsers send the cookie over HTTPS only. */
  readonly isSecure: boolean
  readonly #clock: Clock
  readonly #wrong: WrongTries
  readonly #kept: KeptSessions
  /** The people of a plugin that knows some; `away`: it does not run, so nobody can be told from a stranger. */
  readonly #accounts: () => Accounts | 'away' | undefined
  /** Sessions that were ended before their time → their expiry. */
  readonly #ended: Map<string, number>
  /** Wrong cookies already counted: a browser that repeats an expired cookie is not guessing. */
  readonly #counted = new Set<string>()

  /**
   * @throws RTK_ERR_VARIANT for an option that has no effect without another one
   */
  constructor(
    { token, viewerToken, open, tls }: LoginOptions,
    clock: Clock,
    kept = sessionsOfProcess(),
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
    this.isSecure = tls !== undefined
    this.#open = openRoles[open ?? 'none']
    this.#clock = clock
    this.#wrong = new WrongTries(
      () => clock.monotonic(),
      (count) => (count === 1 ? wrongMinute_ms : undefined),
    )
    this.#kept = kept
    this.#accounts = accounts
    this.#ended = new Map(kept.ended)
  }

  /** A token or a password is set, so not everybody may do everything. */
  get isOn(): boolean {
    return this.admitsAll || this.#passwords.has('operator') || this.#passwords.has('viewer')
  }

  get #people(): Accounts | undefined {
    const accounts = this.#accounts()
    return accounts === 'away' ? undefined : accounts
  }

  /** Whoever sets up the service chose tokens or named people, so the login may replace the rule of the local network. */
  get admitsAll(): boolean {
    return this.#tokens.length > 0 || this.isStarting || this.#people?.isOn === true
  }

  /** It is not known yet which people may log in, or the plugin that knows them does not run: nobody of them is let in. */
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

  /** Whether the bearer of a request has to be checked with `prove` before `roleOf`: it may be a password. */
  isUnproven(headers: IncomingHttpHeaders): boolean {
    const bearer = bearerOf(headers)
    return bearer !== undefined && this.#mayBePassword && this.#known(bearer) === undefined
  }

  /**
   * Checks the bearer of a request against the passwords.
   * @throws RTK_ERR_UNAUTHORIZED, RTK_ERR_TOO_MANY_TRIES, RTK_ERR_TOO_MANY_REQUESTS
   */
  async prove({ headers, peer }: Omit<Caller, 'local'>): Promise<void> {
    await this.#check(bearerOf(headers) ?? '', peer)
  }

  /**
   * The caller's role: by its bearer token, else by its cookie, else by its location.
   * @throws RTK_ERR_UNAUTHORIZED for a wrong token, RTK_ERR_TOO_MANY_TRIES also for a wrong cookie
   */
  roleOf({ headers, peer, local }: Caller): Role {
    if (!this.isOn) return 'operator'
    const bearer = bearerOf(headers)
    if (bearer !== undefined) return this.#checkKnown(bearer, normalAddress(peer))
    const session = this.sessionOf(headers)
    if (session !== undefined) return session.role
    this.#countWrong(headers, normalAddress(peer))
    return local ? this.#open : 'none'
  }

  /** Whether a caller admitted with this role still has it: sessions end. Does not count as a login attempt. */
  allowsStill(role: Role, { headers, local }: Omit<Caller, 'peer'>): boolean {
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
    return this.#sessionFor(role, this.#people?.find(given)?.user)
  }

  #sessionFor(role: LoginRole, user?: string): { session: Session; cookie: string } {
    const expires_ms = Math.floor(this.#clock.now()) + sessionLife_s * 1_000
    const nonce = randomBytes(6).toString('base64url')
    const person = user === undefined ? '' : `.${Buffer.from(user).toString('base64url')}`
    const content = `${role}.${expires_ms}.${nonce}${person}`
    const cookie = sessionCookie(content, this.#keyFor({ role, user }), sessionLife_s, this.isSecure)
    return { session: { role, expires_ms, user }, cookie }
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
      return this.isOn ? this.#sessionFor('operator') : undefined
    })
  }

  /** Removes both passwords, for a person at the machine itself. @returns whether there were any */
  async resetPasswords(): Promise<boolean> {
    const had = this.passwords.operator || this.passwords.viewer
    if (had) await this.#use({})
    return had
  }

  async #use(hashes: PasswordHashes): Promise<void> {
    // Without the operator nobody could change anything, the viewer's password included.
    const kept = hashes.operator === undefined && !this.admitsAll ? {} : hashes
    await this.#kept.keepPasswords(kept)
    this.#passwords.use(kept)
    this.#keys.clear()
  }

  /** A session left open on a borrowed phone must not be enough to take the station over. */
  async #checkOld({ old }: PasswordChange, peer: string): Promise<void> {
    if (!this.isOn) return
    this.#refuseBlocked(peer)
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
  async end(headers: IncomingHttpHeaders): Promise<void> {
    const ticket = this.#ticketOf(headers)
    if (ticket === undefined || !isSigned(ticket, this.#keyFor(ticket))) return
    for (const [session, expires_ms] of this.#ended) if (expires_ms <= this.#clock.now()) this.#ended.delete(session)
    this.#ended.set(ticket.content, ticket.expires_ms)
    trim(this.#ended, mostEnded)
    await this.#kept.keep(this.#ended)
  }

  /** The session of the cookie sent with the request. */
  sessionOf(headers: IncomingHttpHeaders): Session | undefined {
    const ticket = this.#ticketOf(headers)
    if (ticket === undefined || this.#ended.has(ticket.content)) return undefined
    if (!isSigned(ticket, this.#keyFor(ticket))) return undefined
    return { role: ticket.role, expires_ms: ticket.expires_ms, user: ticket.user }
  }

  /**
   * The one cookie of a request that can be a session of this station at this time; no other is checked.
   */
  #ticketOf({ cookie }: IncomingHttpHeaders): Ticket | undefined {
    for (const ticket of ticketsIn(cookie)) {
      const left_ms = ticket.expires_ms - this.#clock.now()
      if (this.#canLogIn(ticket) && left_ms > 0 && left_ms <= sessionLife_s * 1_000) return ticket
    }
    return undefined
  }

  /** A cookie that this station did not sign is a try like a wrong token. */
  #countWrong(headers: IncomingHttpHeaders, peer: string): void {
    const ticket = this.#ticketOf(headers)
    if (ticket === undefined || this.#ended.has(ticket.content) || this.#counted.has(ticket.cookie)) return
    this.#refuseBlocked(peer)
    this.#wrong.add(peer)
    this.#counted.add(ticket.cookie)
    trim(this.#counted, mostCounted)
  }

  #refuseBlocked(peer: string): void {
    if (this.#wrong.count(peer) < mostWrong) return
    throw new RtkError('RTK_ERR_TOO_MANY_TRIES', `${peer} sent five wrong logins within a minute`)
  }

  async #check(given: string, address: string): Promise<LoginRole> {
    const peer = normalAddress(address)
    if (!this.#mayBePassword || this.#known(given) !== undefined) return this.#checkKnown(given, peer)
    this.#refuseBlocked(peer)
    return this.#passwords.inTurn(peer, async () => {
      this.#refuseBlocked(peer)
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
    this.#refuseBlocked(peer)
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

  #canLogIn({ role, user }: Pick<Session, 'role' | 'user'>): boolean {
    if (user !== undefined) return this.#people?.roleOf(user) === role
    return this.#passwords.has(role) || this.#tokens.some((token) => token.role === role)
  }

  #keyFor({ role, user }: Pick<Session, 'role' | 'user'>): Buffer {
    if (user === undefined) return this.#keyOf(role)
    // Of nobody: no key that anything was signed with.
    const key = this.#people?.keyOf(user) ?? randomBytes(32)
    return createHmac('sha256', key).update('rtk-base session of a person').digest()
  }

  /**
   * Signs the cookies of a role. It depends on a random key, so that no cookie helps to guess a token, and on its token and
   * all passwords, so that sessions end with them.
   */
  #keyOf(role: LoginRole): Buffer {
    const made = this.#keys.get(role)
    if (made !== undefined) return made
    const key = createHmac('sha256', this.#kept.key).update(`rtk-base session ${role} `)
    for (const token of this.#tokens) if (token.role === role) key.update(token.digest)
    if (this.#mayBePassword) key.update(this.#passwords.state)
    const digested = key.digest()
    this.#keys.set(role, digested)
    return digested
  }
}

/** In place of `this needs a login`. */
export const starting = () =>
  new RtkError(
    'RTK_ERR_UNAVAILABLE',
    'the service is starting, and does not know yet who may log in: try again in a minute',
  )

const bearerOf = ({ authorization = '' }: IncomingHttpHeaders) => /^bearer +(\S+) *$/i.exec(authorization)?.[1]

/** Deletes the oldest entries beyond `most`. */
function trim(entries: Map<string, unknown> | Set<string>, most: number): void {
  for (const key of [...entries.keys()].slice(0, -most)) entries.delete(key)
}

const invalid = (field: string, message: string) =>
  new RtkError('RTK_ERR_VARIANT', `http.${field} ${message}`, { place: ['http', field] })

/** Why a role is not enough; undefined when it is. */
export function roleRefusal(role: Role, needed: Role): RtkError | undefined {
  if (needed === 'none' || role === 'operator' || role === needed) return undefined
  if (role === 'none') return new RtkError('RTK_ERR_UNAUTHORIZED', 'this needs a login')
  return new RtkError('RTK_ERR_FORBIDDEN_ROLE', 'a viewer may only read, this needs an operator')
}
