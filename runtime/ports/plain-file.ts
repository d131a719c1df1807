/**
 * The way to read a file that somebody else may have put there. At its path there may be anything: a FIFO would block
 * its reader for ever, and a device or a huge file would take all the memory. A test fails for other ways.
 */
import { readFileSync, type Stats, statSync } from 'node:fs'
import { type FileSystem, nodeFileSystem } from './durable-file.js'

/** Records are a few kilobytes. */
const largestRecord_bytes = 1 << 20

type Files = Pick<FileSystem, 'readFile' | 'stat'>

function requirePlain(stats: Stats, path: string, largest_bytes: number): void {
  if (stats.isFile() && stats.size <= largest_bytes) return
  const size = largest_bytes >= 1 << 20 ? `${largest_bytes >> 20} MiB` : `${largest_bytes >> 10} KiB`
  throw new Error(`${path} is not a file of at most ${size}`)
}

/** @throws an error of the file system, or an error that it is not such a file */
export async function readPlain(path: string, largest_bytes: number, fs: Files = nodeFileSystem): Promise<Buffer> {
  requirePlain(await fs.stat(path), path, largest_bytes)
  return fs.readFile(path)
}

/** As `readPlain`, at once. */
export function readPlainSync(path: string, largest_bytes: number): Buffer {
  requirePlain(statSync(path), path, largest_bytes)
  return readFileSync(path)
}

/** The text of a file of at most 1 MiB. @throws as `readPlain` */
export const readRecord = async (path: string, fs?: Files): Promise<string> =>
  (await readPlain(path, largestRecord_bytes, fs)).toString('utf8')

/** As `readRecord`, at once. */
export const readRecordSync = (path: string): string => readPlainSync(path, largestRecord_bytes).toString('utf8')
