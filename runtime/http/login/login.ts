/** Tokens, the session cookies that browsers get for them, and the caller's role. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { RtkError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import { normalAddress } from '../access.js'
import type { LoginRole, Role } from '../routes/config.js'
import { type KeptSessions, sessionsOfProcess } from './kept-sessions.js'
import { WrongTries } from './wrong-tries.js'

export interface LoginOptions {
  /** The operator's token: turns the login on. */
  token?: string
  /** A second token that can only read. */
  viewerToken?: string
  /** Access from the local network without a login if `token` is set; default: none. */
  open?: 'none' | 'read' | 'all'
}

/** The client, as identified by its connection. */
export interface Caller {
  readonly headers: IncomingHttpHeaders
  readonly peer: string
  /** On the local network. */
  readonly local: boolean
}

export interface Session {
  readonly role: LoginRole
  /** UTC. */
  readonly expires_ms: number
}

const cookieName = 'rtk-base-session'
const sessionLife_s = 12 * 3_600
/** Sessions that were ended before their time; the oldest gives way. */
const mostEnded = 256
/** Wrong cookies that were counted; the oldest gives way. */
const mostCounted = 256

const openRoles = { none: 'none', read: 'viewer', all: 'operator' } as const
const attributes = 'HttpOnly; SameSite=Strict; Path=/'
/** Takes a browser's cookie away. */
export const noCookie = `${cookieName}=; ${attributes}; Max-Age=0`

const digest = (text: string) => createHash('sha256').update(text).digest()

interface Credential {
  readonly role: LoginRole
  readonly digest: Buffer
  /** Signs cookies. It depends on a random key, so that no cookie helps to guess the token, and on the token, so that a session ends with it. */
  readonly key: Buffer
}

const credential = (role: LoginRole, token: string, sessionKey: Buffer): Credential => ({
  role,
  digest: digest(token),
  key: createHmac('sha256', sessionKey).update(`rtk-base session ${role} `).update(digest(token)).digest(),
})

/** A cookie that has the form of a session, not checked yet. */
interface Ticket extends Session {
  readonly cookie: string
  /** The signed content, unique to each session. */
  readonly content: string
  readonly signature: string
  readonly key: Buffer
}

const cookiePattern = new RegExp(`^${cookieName}=(((viewer|operator)\\.(\\d{1,15})\\.[\\w-]{8})\\.([\\w-]{43}))$`)

/** The login of the HTTP interface. Without a token there is none: everybody on the local network is an operator. */
export class Login {
  readonly #credentials: readonly Credential[]
  readonly #open: Role
  readonly #clock: Clock
  readonly #wrong: WrongTries
  readonly #kept: KeptSessions
  /** Sessions that were ended before their time → their expiry. */
  readonly #ended: Map<string, number>
  /** Wrong cookies already counted: a browser that repeats an expired cookie is not guessing. */
  readonly #counted = new Set<string>()

  /**
   * @throws RTK_ERR_VARIANT for an option that has no effect without another one
   */
  constructor({ token, viewerToken, open }: LoginOptions, clock: Clock, kept = sessionsOfProcess()) {
    if (token === undefined && viewerToken !== undefined) throw invalid('viewerToken', 'needs http.token beside it')
    if (token === undefined && open !== undefined && open !== 'all') throw invalid('open', 'needs http.token beside it')
    if (token !== undefined && token === viewerToken) throw invalid('viewerToken', 'must not equal http.token')
    this.#credentials = [
      ...(token === undefined ? [] : [credential('operator', token, kept.key)]),
      ...(viewerToken === undefined ? [] : [credential('viewer', viewerToken, kept.key)]),
    ]
    this.#open = openRoles[open ?? 'none']
    this.#clock = clock
    this.#wrong = new WrongTries(clock)
    this.#kept = kept
    this.#ended = new Map(kept.ended)
  }

  /** Tokens are set, so not everybody may do everything. */
  get isOn(): boolean {
    return this.#credentials.length > 0
  }

  /**
   * The caller's role: by its bearer token, else by its cookie, else by its location.
   * @throws RTK_ERR_UNAUTHORIZED for a wrong token, RTK_ERR_TOO_MANY_TRIES also for a wrong cookie
   */
  roleOf({ headers, peer, local }: Caller): Role {
    if (!this.isOn) return 'operator'
    const bearer = bearerOf(headers)
    if (bearer !== undefined) return this.#check(bearer, peer).role
    const session = this.sessionOf(headers)
    if (session !== undefined) return session.role
    this.#countWrong(headers, normalAddress(peer))
    return local ? this.#open : 'none'
  }

  /** Whether a caller admitted with this role still has it: sessions end. Does not count as a login attempt. */
  allowsStill(role: Role, { headers, local }: Omit<Caller, 'peer'>): boolean {
    if (bearerOf(headers) !== undefined) return true
    const now = this.sessionOf(headers)?.role ?? (local ? this.#open : 'none')
    return roleRefusal(now, role) === undefined
  }

  /**
   * Exchanges a token for a cookie.
   * @throws RTK_ERR_UNAUTHORIZED, RTK_ERR_TOO_MANY_TRIES
   */
  begin(token: string, peer: string): { session: Session; cookie: string } {
    const { role, key } = this.#check(token, peer)
    const expires_ms = this.#clock.now() + sessionLife_s * 1_000
    const content = `${role}.${expires_ms}.${randomBytes(6).toString('base64url')}`
    const cookie = `${cookieName}=${content}.${signature(content, key)}; ${attributes}; Max-Age=${sessionLife_s}`
    return { session: { role, expires_ms }, cookie }
  }

  /**
   * Ends the session of this caller, also for after a restart.
   * @throws RTK_ERR_STORE_WRITE: only the restart would not know
   */
  async end(headers: IncomingHttpHeaders): Promise<void> {
    const ticket = this.#ticketOf(headers)
    if (ticket === undefined || !isSigned(ticket)) return
    for (const [session, expires_ms] of this.#ended) if (expires_ms <= this.#clock.now()) this.#ended.delete(session)
    this.#ended.set(ticket.content, ticket.expires_ms)
    trim(this.#ended, mostEnded)
    await this.#kept.keep(this.#ended)
  }

  /** The session of the cookie sent with the request. */
  sessionOf(headers: IncomingHttpHeaders): Session | undefined {
    const ticket = this.#ticketOf(headers)
    if (ticket === undefined || !isSigned(ticket) || this.#ended.has(ticket.content)) return undefined
    return { role: ticket.role, expires_ms: ticket.expires_ms }
  }

  /**
   * The one cookie of a request that can be a session of this station at this time; no other is checked. Another service of
   * this host may have set a cookie of the same name beside it.
   */
  #ticketOf({ cookie: header = '' }: IncomingHttpHeaders): Ticket | undefined {
    for (const pair of header.split(';')) {
      const parts = cookiePattern.exec(pair.trim())
      if (parts === null) continue
      const [cookie, content, role, expires, signature] = parts.slice(1) as [string, string, string, string, string]
      const expires_ms = Number(expires)
      const left_ms = expires_ms - this.#clock.now()
      const known = this.#credentials.find((one) => one.role === role)
      if (known === undefined || left_ms <= 0 || left_ms > sessionLife_s * 1_000) continue
      return { cookie, content, role: known.role, expires_ms, signature, key: known.key }
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
    if (!this.#wrong.isBlocked(peer)) return
    throw new RtkError('RTK_ERR_TOO_MANY_TRIES', `${peer} sent five wrong tokens or cookies within a minute`)
  }

  #check(token: string, address: string): Credential {
    const peer = normalAddress(address)
    this.#refuseBlocked(peer)
    // Digests have one length, so neither content nor length of a token shows in the time that this takes.
    const given = digest(token)
    const [found] = this.#credentials.filter((known) => timingSafeEqual(known.digest, given))
    if (found !== undefined) return found
    this.#wrong.add(peer)
    throw new RtkError('RTK_ERR_UNAUTHORIZED', 'the token is wrong')
  }
}

const bearerOf = ({ authorization = '' }: IncomingHttpHeaders) => /^bearer +(\S+) *$/i.exec(authorization)?.[1]

const signature = (content: string, key: Buffer) => createHmac('sha256', key).update(content).digest('base64url')

const isSigned = ({ content, signature: given, key }: Ticket) =>
  timingSafeEqual(Buffer.from(given), Buffer.from(signature(content, key)))

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
