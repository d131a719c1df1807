/** The login of a rover: names, passwords, and what to enter in the rover. Pure. */
import { loginNamePattern, loginPasswordPattern } from '../../../../../runtime/lib/ntrip/login-characters.js'

export type LoginTrouble = 'missing' | 'name' | 'password' | 'taken'

/** @param names of the logins that exist */
export function loginTroubles(
  name: string,
  password: string,
  names: readonly string[],
): { name?: LoginTrouble; password?: LoginTrouble } {
  const isName = new RegExp(loginNamePattern, 'u').test(name)
  // No colon: NTRIP sends name and password with one between them.
  const isPassword = new RegExp(loginPasswordPattern, 'u').test(password) && !password.includes(':')
  return {
    ...(name === '' ? { name: 'missing' } : !isName ? { name: 'name' } : names.includes(name) ? { name: 'taken' } : {}),
    ...(!isPassword && { password: 'password' }),
  }
}

/** A new name beside those that exist: `rover-1`, `rover-2`, … */
export function freeName(names: readonly string[]): string {
  let n = 1
  while (names.includes(`rover-${n}`)) n += 1
  return `rover-${n}`
}

const isLoopback = (host: string) => host === 'localhost' || host.startsWith('127.') || host === '[::1]'

/**
 * The address of the station for a rover.
 * @param here of the page in the browser, `location.hostname`
 * @param addresses pages of the station in its networks, the best first
 */
export function hostForRover(here: string, addresses: readonly { readonly url: string }[]): string {
  const host = isLoopback(here) && addresses[0] ? new URL(addresses[0].url).hostname : here
  return host.replace(/^\[|\]$/g, '')
}

/** The lines of a QR code. @param names of the fields, in the language of the reader */
export const entryText = (rows: readonly (readonly [name: string, value: string])[]): string =>
  rows.map(([name, value]) => `${name}: ${value}`).join('\n')

/** The answer of the station. */
export interface RoverLoginList {
  readonly users: readonly { readonly name: string }[]
  /** Whether rovers of the local network need no login: now, and with a login. */
  readonly anonymous: { readonly now: boolean; readonly withLogins: boolean }
  /** Mountpoints. */
  readonly mounts: readonly string[]
  /** 0: the caster is off. */
  readonly port: number
}

/** The first login shuts out rovers that have none. */
export const shutsOut = ({ anonymous }: RoverLoginList): boolean => anonymous.now && !anonymous.withLogins
