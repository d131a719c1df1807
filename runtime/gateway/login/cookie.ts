/** The session cookie: `role.expiry.nonce.signature`, of a person `role.expiry.nonce.name.signature`. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { LoginRole } from '../http/routes/config.js'

export interface Session {
  readonly role: LoginRole
  /** UTC. */
  readonly expires_ms: number
  /** The person; undefined for tokens and passwords. */
  readonly user?: string | undefined
}

/** A cookie that has the form of a session, not checked yet. */
export interface Ticket extends Session {
  readonly cookie: string
  /** The signed content, unique to each session. */
  readonly content: string
  readonly signature: string
}

const cookieName = 'rtk-base-session'
const attributes = (isSecure: boolean) => `HttpOnly; ${isSecure ? 'Secure; ' : ''}SameSite=Strict; Path=/`
const cookiePattern = new RegExp(
  `^${cookieName}=(((viewer|operator)\\.(\\d{1,15})\\.[\\w-]{8}(?:\\.([\\w-]{1,128}))?)\\.([\\w-]{43}))$`,
)

/** Takes a browser's cookie away. */
export const noCookie = (isSecure: boolean) => `${cookieName}=; ${attributes(isSecure)}; Max-Age=0`

export const sessionCookie = (content: string, key: Buffer, life_s: number, isSecure: boolean) =>
  `${cookieName}=${content}.${signature(content, key)}; ${attributes(isSecure)}; Max-Age=${life_s}`

/** Every cookie of the header that has the form of a session: another service of this host may have set one too. */
export function* ticketsIn(header = ''): Generator<Ticket> {
  for (const pair of header.split(';')) {
    const parts = cookiePattern.exec(pair.trim())
    if (parts === null) continue
    const [cookie, content, role, expires, name, signature] = parts.slice(1) as [
      string,
      string,
      LoginRole,
      string,
      string | undefined,
      string,
    ]
    const user = name && Buffer.from(name, 'base64url').toString()
    yield { cookie, content, role, expires_ms: Number(expires), user, signature }
  }
}

export const isSigned = ({ content, signature: given }: Ticket, key: Buffer): boolean =>
  timingSafeEqual(Buffer.from(given), Buffer.from(signature(content, key)))

const signature = (content: string, key: Buffer) => createHmac('sha256', key).update(content).digest('base64url')
