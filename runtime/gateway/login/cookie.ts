/** The session cookie: a random id. */
import { randomBytes } from 'node:crypto'

const cookieName = 'rtk-base-session'
const cookiePattern = new RegExp(`^${cookieName}=([\\w-]{43})$`)
const attributes = (isSecure: boolean) => `HttpOnly; ${isSecure ? 'Secure; ' : ''}SameSite=Strict; Path=/`

/** 256 bits. */
export const newId = () => randomBytes(32).toString('base64url')

/** Takes a browser's cookie away. */
export const noCookie = (isSecure: boolean) => `${cookieName}=; ${attributes(isSecure)}; Max-Age=0`

export const sessionCookie = (id: string, life_s: number, isSecure: boolean) =>
  `${cookieName}=${id}; ${attributes(isSecure)}; Max-Age=${life_s}`

/** Every id in the header that has the form of one: another service of this host may have set one too. */
export const idsIn = (header = ''): string[] =>
  header.split(';').flatMap((pair) => cookiePattern.exec(pair.trim())?.[1] ?? [])
