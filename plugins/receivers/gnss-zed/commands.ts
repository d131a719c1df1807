import { unavailable } from 'rtk-base/plugin'
import * as ubx from './ubx/index.js'
import type { ZedReceiver } from './zed.js'

/** The data to delete (navBbrMask of CFG-RST). */
const hot = 0x0000
const cold = 0xffff
const controlledSoftware = 1

/** False when it could not be written. */
function restart(zed: ZedReceiver, navBbrMask: number): boolean {
  const written = zed.write(ubx.encodeFrame(ubx.cfgRst, { navBbrMask, resetMode: controlledSoftware }))
  if (written) zed.upkeep.restarted()
  return written
}

/** Hot start: keeps stored and current data of the receiver. */
export function rebootZed(zed: ZedReceiver): string {
  zed.mayWrite()
  if (!restart(zed, hot)) throw unavailable('the port of the receiver accepts no data now; nothing was restarted')
  return 'the receiver restarts'
}

/** All that was ever stored in the receiver is deleted, then a cold start. */
export async function resetZed(zed: ZedReceiver): Promise<string> {
  zed.mayWrite()
  const deleted = await zed.deleteStoredConfiguration()
  if (deleted === undefined) throw unavailable('the receiver does not answer; nothing was reset')
  if (!deleted) throw unavailable('the receiver refused to delete its configuration; nothing was reset')
  if (!restart(zed, cold))
    throw unavailable('the configuration is deleted, but the port accepts no data now: the receiver was not restarted')
  return 'the configuration of the receiver is deleted, it restarts'
}
