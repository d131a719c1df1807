import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'

/** Linux takes 107 bytes for the path of a unix socket, macOS 103. */
const longestPath = process.platform === 'linux' ? 107 : 103

/** Where the control socket of a data folder is. */
export function socketFile(data: string): string {
  return join(data, 'control.sock')
}

/**
 * A path to the control socket that a unix socket takes, however long that of the data folder is: Linux reaches an open
 * folder by its descriptor. Valid until `release` is called.
 */
export function reachSocket(data: string): { path: string; release(): void } {
  const path = socketFile(data)
  if (Buffer.byteLength(path) <= longestPath || process.platform !== 'linux') return { path, release: () => {} }
  const folder = openSync(data, constants.O_RDONLY | constants.O_DIRECTORY)
  return { path: `/proc/self/fd/${folder}/control.sock`, release: () => closeSync(folder) }
}
