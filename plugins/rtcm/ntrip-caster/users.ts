/** Sets and deletes the logins of rovers, for commands and routes. A change takes effect at once: its clients log in again. */
import { loginForm, loginNamePattern, loginPasswordPattern } from 'rtk-base/ntrip'
import type { Caster } from './caster.js'
import type { StoredLogins } from './logins/stored.js'

/** Letters of any script: logins are UTF-8 (RFC 7617). */
export const userName = new RegExp(loginNamePattern, 'u')
export const userPassword = new RegExp(loginPasswordPattern, 'u')

interface User {
  readonly name: string
  readonly password: string
  /** Empty: every mountpoint. */
  readonly mounts: string[]
  /** Connections at the same time. */
  readonly most: number
}

/** @returns the connections that were ended, and the named mountpoints that are not there: they may come later */
export async function setUser(
  caster: Caster,
  users: StoredLogins,
  { name: typed, password, mounts: entered, most }: User,
) {
  const name = loginForm(typed)
  const mounts = entered.map((mount) => caster.mounts.spelt(mount))
  await users.set(name, password, mounts, most)
  const unknown = mounts.filter((mount) => !caster.mounts.names.includes(mount))
  return { ended: caster.endUser(name), unknown }
}

/** @returns undefined: there was none */
export async function deleteUser(
  caster: Caster,
  users: StoredLogins,
  typed: string,
): Promise<{ ended: number } | undefined> {
  const name = loginForm(typed)
  return (await users.delete(name)) ? { ended: caster.endUser(name) } : undefined
}
