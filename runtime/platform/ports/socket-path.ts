import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'

/** Linux takes 107 bytes for the path of a unix socket, macOS 103. */
const longestPath = process.platform === 'linux' ? 107 : 103

/**
 * A path to a unix socket in a folder that the system takes, however long that of the folder is: Linux reaches an open
 * folder by its descriptor. Valid until `release` is called.
 */
export function reachSocket(folder: string, name: string): { path: string; release(): void } {
  const path = join(folder, name)
  if (Buffer.byteLength(path) <= longestPath || process.platform !== 'linux') return { path, release: () => {} }
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  return { path: `/proc/self/fd/${handle}/${name}`, release: () => closeSync(handle) }
}
