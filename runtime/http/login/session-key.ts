import { randomBytes } from 'node:crypto'
import type { Store } from '../../ports/store.js'

const namespace = 'protected.kernel'
const key = 'session-key'
const length_bytes = 32

/**
 * The random key that session cookies are signed with. It is made once and kept in the store, so that sessions survive a restart;
 * where the store cannot be written it lasts as long as the process.
 */
export async function sessionKey(store: Store): Promise<Buffer> {
  const stored = await store.get(namespace, key)
  const kept = Buffer.from(typeof stored === 'string' ? stored : '', 'base64url')
  if (kept.length === length_bytes) return kept
  const made = randomBytes(length_bytes)
  await store.batch([{ namespace, key, value: made.toString('base64url') }]).catch(() => {})
  return made
}
