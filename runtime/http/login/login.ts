/** Tokens, the session cookie that a browser gets for one, and what somebody may do with them. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { RtkError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import { normalAddress } from '../access.js'
import type { LoginRole, Role } from '../routes/config.js'
import { WrongTries } from './wrong-tries.js'

export interface LoginOptions {
  /** The operator's token: turns the login on. */
  token?: string
  /** A second token that can only read. */
  viewerToken?: string
  /** What the local network may do without a login where `token` is set; left out: nothing. */
  open?: 'none' | 'read' | 'all'
}

/** Who asks, as far as the connection tells. */
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

const openRoles = { none: 'none', read: 'viewer', all: 'operator' } as const
const attributes = 'HttpOnly; SameSite=Strict; Path=/'

const digest = (text: string) => createHash('sha256').update(text).digest()

interface Credential {
  readonly role: LoginRole
  readonly digest: Buffer
  /** Signs cookies: made of the token, so a session survives a restart and ends with the token. */
  readonly key: Buffer
}

const credential = (role: LoginRole, token: string): Credential => ({
  role,
  digest: digest(token),
  key: createHmac('sha256', token).update('rtk-base session').digest(),
})

/** The login of the HTTP interface. Without a token there is none: everybody on the local network is an operator. */
export class Login {
  readonly #credentials: readonly Credential[]
  readonly #open: Role
  readonly #clock: Clock
  readonly #wrong: WrongTries
  /** Cookies that were ended → their expiry. */
  readonly #ended = new Map<string, number>()

  /** @throws RTK_ERR_VARIANT for an option that has no effect without another one */
  constructor({ token, viewerToken, open }: LoginOptions, clock: Clock) {
    if (token === undefined && viewerToken !== undefined) throw invalid('viewerToken', 'needs http.token beside it')
    if (token === undefined && open !== undefined && open !== 'all') throw invalid('open', 'needs http.token beside it')
    if (token !== undefined && token === viewerToken) throw invalid('viewerToken', 'must not equal http.token')
    this.#credentials = [
      ...(token === undefined ? [] : [credential('operator', token)]),
      ...(viewerToken === undefined ? [] : [credential('viewer', viewerToken)]),
    ]
    this.#open = openRoles[open ?? 'none']
    this.#clock = clock
    this.#wrong = new WrongTries(clock)
  }

  /** Tokens are set, so not everybody may do everything. */
  get isOn(): boolean {
    return this.#credentials.length > 0
  }

  /**
   * What the caller may do: by its bearer token, else by its cookie, else by where it is.
   * @throws RTK_ERR_UNAUTHORIZED for a wrong token, RTK_ERR_TOO_MANY_TRIES
   */
  roleOf({ headers, peer, local }: Caller): Role {
    if (!this.isOn) return 'operator'
    const bearer = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
    if (bearer !== undefined) return this.#check(bearer, peer).role
    return this.sessionOf(headers)?.role ?? (local ? this.#open : 'none')
  }

  /**
   * Exchanges a token for a cookie.
   * @throws RTK_ERR_UNAUTHORIZED, RTK_ERR_TOO_MANY_TRIES
   */
  begin(token: string, peer: string): { session: Session; cookie: string } {
    const { role, key } = this.#check(token, peer)
    const expires_ms = this.#clock.now() + sessionLife_s * 1_000
    const content = `${role}.${expires_ms}`
    const cookie = `${cookieName}=${content}.${signature(content, key)}; ${attributes}; Max-Age=${sessionLife_s}`
    return { session: { role, expires_ms }, cookie }
  }

  /** Ends the sessions of this caller; returns the cookie that takes the browser's away. */
  end(headers: IncomingHttpHeaders): string {
    for (const value of cookiesOf(headers)) {
      const session = this.#verify(value)
      if (session !== undefined) this.#ended.set(value, session.expires_ms)
    }
    for (const value of [...this.#ended.keys()].slice(0, -mostEnded)) this.#ended.delete(value)
    return `${cookieName}=; ${attributes}; Max-Age=0`
  }

  /** The session whose cookie came along. Another service of this host may have set a cookie of the same name beside it. */
  sessionOf(headers: IncomingHttpHeaders): Session | undefined {
    for (const value of cookiesOf(headers)) {
      const session = this.#verify(value)
      if (session !== undefined) return session
    }
    return undefined
  }

  #verify(cookie: string): Session | undefined {
    const [, content, role, expires, given] = /^((viewer|operator)\.(\d{1,15}))\.([\w-]{43})$/.exec(cookie) ?? []
    const key = this.#credentials.find((known) => known.role === role)?.key
    if (content === undefined || given === undefined || key === undefined) return undefined
    if (!timingSafeEqual(Buffer.from(given), Buffer.from(signature(content, key)))) return undefined
    if (Number(expires) <= this.#clock.now() || this.#ended.has(cookie)) return undefined
    return { role: role as LoginRole, expires_ms: Number(expires) }
  }

  #check(token: string, address: string): Credential {
    const peer = normalAddress(address)
    if (this.#wrong.isBlocked(peer))
      throw new RtkError('RTK_ERR_TOO_MANY_TRIES', `${peer} sent five wrong tokens within a minute`)
    // Digests have one length, so neither content nor length of a token shows in the time that this takes.
    const given = digest(token)
    const [found] = this.#credentials.filter((known) => timingSafeEqual(known.digest, given))
    if (found !== undefined) return found
    this.#wrong.add(peer)
    throw new RtkError('RTK_ERR_UNAUTHORIZED', 'the token is wrong')
  }
}

const signature = (content: string, key: Buffer) => createHmac('sha256', key).update(content).digest('base64url')

function cookiesOf({ cookie = '' }: IncomingHttpHeaders): string[] {
  const cookies = cookie.split(';').map((pair) => pair.trim())
  return cookies
    .filter((pair) => pair.startsWith(`${cookieName}=`))
    .slice(0, 8)
    .map((pair) => pair.slice(cookieName.length + 1))
}

const invalid = (field: string, message: string) =>
  new RtkError('RTK_ERR_VARIANT', `http.${field} ${message}`, { place: ['http', field] })

/** Why a role is not enough; undefined when it is. */
export function roleRefusal(role: Role, needed: Role): RtkError | undefined {
  if (needed === 'none' || role === 'operator' || role === needed) return undefined
  if (role === 'none') return new RtkError('RTK_ERR_UNAUTHORIZED', 'this needs a login')
  return new RtkError('RTK_ERR_FORBIDDEN_ROLE', 'a viewer may only read, this needs an operator')
}
