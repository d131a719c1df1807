/** Login data in the protected store: hashes of passwords, and the sessions of people and programs that logged in. */
import type { Store, StoreOps } from '../../platform/store/store.js'
import type { LoginRole } from '../http/routes/config.js'
import type { PasswordHashes } from './passwords.js'

const namespace = 'protected.kernel'
const passwordEntry = 'passwords'
const peopleEntry = 'people'
/** An entry for each session, so that a login writes one. */
const sessionNamespace = 'protected.sessions'

export interface KeptSession {
  readonly role: LoginRole
  /** UTC. */
  readonly expires_ms: number
}

/** A session by the hash of its id; undefined: it is over. */
export type SessionChange = readonly [hash: string, session: KeptSession | undefined]

export interface KeptLogin {
  readonly passwords: PasswordHashes
  /** By the hashes of their ids. */
  readonly sessions: ReadonlyMap<string, KeptSession>
  /** The plugin that knew people in the previous run, as the variant names it: its code may not be readable now. */
  readonly peopleOf: string | undefined
  /** Durable when it resolves. @throws RTK_ERR_STORE_WRITE */
  keepPeopleOf(plugin: string | undefined): Promise<void>
  /** Durable when it resolves. @throws RTK_ERR_STORE_WRITE */
  keepSessions(changes: readonly SessionChange[]): Promise<void>
  /** Ends these sessions with the former passwords. Durable when it resolves. @throws RTK_ERR_STORE_WRITE */
  keepPasswords(hashes: PasswordHashes, ended: readonly string[]): Promise<void>
}

/** Passwords and sessions end with the process. */
export const loginOfProcess = (): KeptLogin => ({
  passwords: {},
  sessions: new Map(),
  peopleOf: undefined,
  keepPeopleOf: async () => {},
  keepSessions: async () => {},
  keepPasswords: async () => {},
})

export const keptLogin = async (store: Store): Promise<KeptLogin> => ({
  passwords: await keptPasswords(store),
  sessions: await keptSessions(store),
  peopleOf: (await store.get(namespace, peopleEntry)) as string | undefined,
  keepPeopleOf: (plugin) => store.batch([{ namespace, key: peopleEntry, value: plugin }]),
  keepSessions: (changes) => store.batch(changes.map(sessionOp)),
  keepPasswords: (hashes, ended) =>
    store.batch([passwordOp(hashes), ...ended.map((hash) => sessionOp([hash, undefined]))]),
})

const sessionOp = ([key, value]: SessionChange): StoreOps => ({ namespace: sessionNamespace, key, value })

const passwordOp = (hashes: PasswordHashes): StoreOps => ({
  namespace,
  key: passwordEntry,
  value: Object.keys(hashes).length === 0 ? undefined : hashes,
})

/** Removes the passwords and sessions from a store without a service. @returns whether there were passwords */
export async function forgetLogin(store: Store): Promise<boolean> {
  const had = (await store.get(namespace, passwordEntry)) !== undefined
  const sessions = Object.keys(await store.entries(sessionNamespace))
  if (had || sessions.length > 0)
    await store.batch([passwordOp({}), ...sessions.map((hash) => sessionOp([hash, undefined]))])
  return had
}

/** Anything unreadable counts as a password that nobody knows: damage must not open a station. */
async function keptPasswords(store: Store): Promise<PasswordHashes> {
  const stored = await store.get(namespace, passwordEntry)
  if (stored === undefined) return {}
  const { operator, viewer } = (stored ?? {}) as { operator?: unknown; viewer?: unknown }
  const hashes = {
    ...(operator !== undefined && { operator: String(operator) }),
    ...(viewer !== undefined && { viewer: String(viewer) }),
  }
  return Object.keys(hashes).length === 0 ? { operator: 'damaged' } : hashes
}

/** Oldest first. */
async function keptSessions(store: Store): Promise<Map<string, KeptSession>> {
  const entries = Object.entries(await store.entries(sessionNamespace)).flatMap(([hash, value]) => {
    const { role, expires_ms } = (value ?? {}) as Partial<KeptSession>
    const isWhole = (role === 'operator' || role === 'viewer') && typeof expires_ms === 'number'
    return isWhole ? [[hash, { role, expires_ms }] as const] : []
  })
  return new Map(entries.sort(([, one], [, other]) => one.expires_ms - other.expires_ms))
}
