import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { messageOf, RtkError } from '../../../errors.js'
import { disk } from '../../../platform/files/disk.js'
import { systemCode } from '../../../platform/files/durable-file.js'
import type { Logger } from '../../../platform/log/log.js'
import type { Notice } from '../../../platform/standing-errors.js'
import { serviceRoot } from './kept-settings.js'

/**
 * Creates the data folder if it is missing. An unusable folder does not keep the service down: the service runs on a
 * folder in memory and reports it.
 * @throws RTK_ERR_DATA_FOLDER
 */
export function openDataFolder(options: { data: string; log: Logger; notices: Notice[] }): void {
  const { data, log } = options
  try {
    makeFolder(data)
    checkReadable(data)
  } catch (error) {
    const reason = `the data folder ${data} cannot be ${existsSync(data) ? 'read' : 'made'}: ${messageOf(error)}`
    if (serviceRoot() === undefined) throw new RtkError('RTK_ERR_DATA_FOLDER', reason)
    options.data = join(process.env.RUNTIME_DIRECTORY ?? tmpdir(), 'rtk-base-data')
    makeFolder(options.data)
    options.notices.push({ code: 'data-in-memory', values: { reason } })
    return
  }
  // Not tightened: a folder that others use too may have been named.
  const mode = statSync(data).mode & 0o777
  if (mode & 0o022) {
    log.warn(`other users can write to the data folder ${data} (mode ${mode.toString(8)}): chmod 700 it`)
  }
}

/**
 * As `mkdir -p`. Node's own gives ENOENT for a read-only file system, and never returns on a file system without
 * folders, such as /proc.
 */
function makeFolder(path: string): void {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) return
    throw new Error(`${path} is not a folder`)
  }
  const parent = dirname(path)
  if (parent !== path) makeFolder(parent)
  disk.mkdirSync(path, { mode: 0o700 })
}

/**
 * Files that this user may not read would look like an empty folder. The store reports a read-only disk.
 * @throws an error of the file system
 */
export function checkReadable(data: string): void {
  const { R_OK, X_OK } = constants
  const store = join(data, 'store')
  const snapshots = [0, 1].map((slot): [string, number] => [join(store, `snapshot-${slot}`), R_OK])
  for (const [path, mode] of [[data, R_OK | X_OK], [store, R_OK | X_OK], ...snapshots] as [string, number][]) {
    try {
      accessSync(path, mode)
    } catch (error) {
      // A loop is damage of this file: the store uses the other one.
      const isLoop = systemCode(error) === 'ELOOP' && path.startsWith(join(store, 'snapshot-'))
      if (systemCode(error) !== 'ENOENT' && !isLoop) throw error
    }
  }
}
