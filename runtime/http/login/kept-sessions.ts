import { randomBytes } from 'node:crypto'
import type { Store } from '../../ports/store/store.js'

const namespace = 'protected.kernel'
const keyEntry = 'session-key'
const endedEntry = 'ended-sessions'
const keyLength_bytes = 32

/** State of sessions beyond the cookies themselves. */
export interface KeptSessions {
  /** Random; cookies are signed with it. */
  readonly key: Buffer
  /** Sessions that were ended before their time → when they would have expired, UTC ms. */
  readonly ended: ReadonlyMap<string, number>
  /** Durable when it resolves. @throws RTK_ERR_STORE_WRITE */
  keep(ended: ReadonlyMap<string, number>): Promise<void>
}

/** Sessions end with the process. */
export const sessionsOfProcess = (): KeptSessions => ({
  key: randomBytes(keyLength_bytes),
  ended: new Map(),
  keep: async () => {},
})

/** The key is made once. Where the store takes no writes it lasts as long as the process. */
export async function keptSessions(store: Store): Promise<KeptSessions> {
  return {
    key: (await keptKey(store)) ?? (await makeKey(store)),
    ended: await keptEnded(store),
    keep: (ended) => store.batch([{ namespace, key: endedEntry, value: Object.fromEntries(ended) }]),
  }
}

async function keptKey(store: Store): Promise<Buffer | undefined> {
  const stored = await store.get(namespace, keyEntry)
  const key = Buffer.from(typeof stored === 'string' ? stored : '', 'base64url')
  return key.length === keyLength_bytes ? key : undefined
}

async function makeKey(store: Store): Promise<Buffer> {
  const key = randomBytes(keyLength_bytes)
  await store.batch([{ namespace, key: keyEntry, value: key.toString('base64url') }]).catch(() => {})
  return key
}

async function keptEnded(store: Store): Promise<Map<string, number>> {
  const stored = await store.get(namespace, endedEntry)
  return new Map(
    Object.entries(stored ?? {}).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}
