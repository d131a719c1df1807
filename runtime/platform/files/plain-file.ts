/**
 * Reads files that somebody else may have put there. Anything may be at such a path: a FIFO would block the reader
 * forever, and a device or a huge file would fill the memory. In rtk-base itself, a test permits no other way to read
 * files.
 */
import type { Stats } from 'node:fs'
import { disk, type FileSystem } from './disk.js'

/** Records are a few kilobytes. */
const largestRecord_bytes = 1 << 20

type Files = Pick<FileSystem, 'readFile' | 'stat'>

function requirePlain(stats: Stats, path: string, largest_bytes: number): void {
  if (stats.isFile() && stats.size <= largest_bytes) return
  const size = largest_bytes >= 1 << 20 ? `${largest_bytes >> 20} MiB` : `${largest_bytes >> 10} KiB`
  throw new Error(`${path} is not a file of at most ${size}`)
}

/**
 * Reads a regular file of at most `largest_bytes`.
 * @throws an error of the file system, or an error if the path is not a regular file or the file is too large
 */
export async function readPlain(path: string, largest_bytes: number, fs: Files = disk): Promise<Buffer> {
  requirePlain(await fs.stat(path), path, largest_bytes)
  return fs.readFile(path)
}

/** Like `readPlain`, but synchronous. */
export function readPlainSync(path: string, largest_bytes: number): Buffer {
  requirePlain(disk.statSync(path), path, largest_bytes)
  return disk.readFileSync(path)
}

/**
 * Reads a text file of at most 1 MiB. (It has nothing to do with the flight record.)
 * @throws like `readPlain`
 */
export const readRecord = async (path: string, fs?: Files): Promise<string> =>
  (await readPlain(path, largestRecord_bytes, fs)).toString('utf8')

/** Like `readRecord`, but synchronous. */
export const readRecordSync = (path: string): string => readPlainSync(path, largestRecord_bytes).toString('utf8')
