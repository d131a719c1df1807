import { isIP } from 'node:net'
import type { PluginContext } from 'rtk-base/plugin'
import { macOf } from '../operations/parse.js'

/** The MAC address of a neighbour by its IP address, as the kernel knows it; `''` where it does not. */
export async function neighbourMac(
  process: PluginContext['process'],
  address: string,
  signal: AbortSignal,
): Promise<string> {
  if (isIP(address) === 0) return ''
  try {
    const { stdout } = await process.execFile('ip', ['neigh', 'show', 'to', address], { signal, timeout_ms: 5_000 })
    return macOf(/\blladdr\s+([0-9a-fA-F:]{17})/.exec(stdout)?.[1])
  } catch {
    // No iproute2, or not allowed: the address of the last login has to do.
    return ''
  }
}
