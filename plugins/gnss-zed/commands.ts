import { unavailable } from 'rtk-base/plugin'
import type { ZedReceiver } from './zed.js'

/** Hot start: what the receiver stored and knows stays. */
export function rebootZed(zed: ZedReceiver): string {
  zed.mayWrite()
  if (!zed.reset(0x0000)) throw unavailable('the receiver takes nothing now')
  return 'the receiver restarts'
}

/** All that was ever stored in the receiver is deleted, then a cold start. */
export async function resetZed(zed: ZedReceiver): Promise<string> {
  zed.mayWrite()
  const deleted = await zed.deleteStoredConfiguration()
  if (deleted === undefined) throw unavailable('the receiver does not answer; nothing was reset')
  if (!deleted) throw unavailable('the receiver refused to delete its configuration; nothing was reset')
  if (!zed.reset(0xffff)) throw unavailable('the configuration is deleted, but the receiver takes no restart now')
  return 'the configuration of the receiver is deleted, it restarts'
}
