/** What the login keeps in the protected store: the key of session cookies, ended sessions, and hashes of passwords. */
import { randomBytes } from 'node:crypto'
import type { Store } from '../../platform/store/store.js'
import type { PasswordHashes } from './passwords.js'

const namespace = 'protected.kernel'
const keyEntry = 'session-key'
const endedEntry = 'ended-sessions'
const passwordEntry = 'passwords'
const keyLength_bytes = 32

/** State of the login beyond the tokens and cookies themselves. */
export interface KeptSessions {
  /** Random; cookies are signed with it. */
  readonly key: Buffer
  /** Sessions that were ended before their time → when they would have expired, UTC ms. */
  readonly ended: ReadonlyMap<string, number>
  readonly passwords: PasswordHashes
  /** Durable when it resolves. @throws RTK_ERR_STORE_WRITE */
  keep(ended: ReadonlyMap<string, number>): Promise<void>
  /** Durable when it resolves. @throws RTK_ERR_STORE_WRITE */
  keepPasswords(hashes: PasswordHashes): Promise<void>
}

/** Sessions end with the process. */
export const sessionsOfProcess = (): KeptSessions => ({
  key: randomBytes(keyLength_bytes),
  ended: new Map(),
  passwords: {},
  keep: async () => {},
  keepPasswords: async () => {},
})

/**
 * The key is made once, when there is a login: now, or with the first password. Where the store takes no writes it lasts
 * as long as the process.
 * @param tokens there is a login without a password too
 */
export async function keptSessions(store: Store, tokens = true): Promise<KeptSessions> {
  const passwords = await keptPasswords(store)
  const kept = await keptKey(store)
  const key = kept ?? randomBytes(keyLength_bytes)
  const keyOp = { namespace, key: keyEntry, value: key.toString('base64url') }
  if (kept === undefined && (tokens || Object.keys(passwords).length > 0)) await store.batch([keyOp]).catch(() => {})
  return {
    key,
    ended: await keptEnded(store),
    passwords,
    keep: (ended) => store.batch([{ namespace, key: endedEntry, value: Object.fromEntries(ended) }]),
    keepPasswords: (hashes) => store.batch([keyOp, passwordOp(hashes)]),
  }
}

const passwordOp = (hashes: PasswordHashes) => ({
  namespace,
  key: passwordEntry,
  value: Object.keys(hashes).length === 0 ? undefined : hashes,
})

/** Removes the passwords from a store without a service. @returns whether there were any */
export async function forgetPasswords(store: Store): Promise<boolean> {
  const had = (await store.get(namespace, passwordEntry)) !== undefined
  if (had) await store.batch([passwordOp({})])
  return had
}

async function keptKey(store: Store): Promise<Buffer | undefined> {
  const stored = await store.get(namespace, keyEntry)
  const key = Buffer.from(typeof stored === 'string' ? stored : '', 'base64url')
  return key.length === keyLength_bytes ? key : undefined
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

async function keptEnded(store: Store): Promise<Map<string, number>> {
  const stored = await store.get(namespace, endedEntry)
  return new Map(
    Object.entries(stored ?? {}).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}
