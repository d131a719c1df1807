/** Files that are replaced as a whole and survive a power cut. */
import { dirname } from 'node:path'
import { disk, type FileSystem } from './disk.js'

/** The code of a system error, such as ENOSPC; '' of anything else. */
export const systemCode = (error: unknown): string => (error as { code?: string } | undefined)?.code ?? ''

/** The error, or one of its causes, has one of the codes. */
export const hasSystemCode = (error: unknown, codes: readonly string[]): boolean =>
  error instanceof Error && (codes.includes(systemCode(error)) || hasSystemCode(error.cause, codes))

/** A file is where a folder is needed. */
export const isFileInWay = (error: unknown): boolean => hasSystemCode(error, ['ENOTDIR'])

/** Remedy for a file that could not be written. @param where the file or its folder */
export function diskRemedy(error: unknown, where: string): string {
  switch (systemCode(error) || systemCode((error as Error).cause)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `free space on the disk of ${where}`
    case 'EROFS':
      return `make the disk of ${where} writable again`
    case 'EACCES':
    case 'EPERM':
      return `give this user the right to write to ${where}`
    case 'ENOENT':
      return `make the folder of ${where}`
    case 'ENOTDIR':
    case 'EEXIST':
      return `a file is where a folder is needed: remove it from ${where}`
    default:
      return `check the disk of ${where}`
  }
}

/** The last of those that wait for the same file, by the name that they write aside. */
const queues = new Map<string, Promise<void>>()

/**
 * Replaces a file (mode 0600): writes a second file, syncs it, renames it over the old file and syncs the folder.
 * When the promise resolves, the new content is durable. When it rejects, the old content is still there, with one
 * exception: if the folder could not be synced after the rename, the file is deleted. Calls for the same file run one
 * after another.
 * @param aside path of the second file, in the same folder; default: `path` with `.new`. An existing file of this name
 *   is removed
 */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { aside = `${path}.new`, fs = disk }: { aside?: string; fs?: FileSystem } = {},
): Promise<void> {
  const before = queues.get(aside) ?? Promise.resolve()
  const done = before.then(() => replaceAlone(path, content, aside, fs))
  const turn = done.catch(() => {})
  queues.set(aside, turn)
  try {
    await done
  } finally {
    if (queues.get(aside) === turn) queues.delete(aside)
  }
}

async function replaceAlone(path: string, content: string | Uint8Array, aside: string, fs: FileSystem): Promise<void> {
  try {
    await fs.rm(aside, { recursive: true, force: true })
    const file = await fs.open(aside, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await renameOver(aside, path, fs)
  } catch (error) {
    await fs.rm(aside, { force: true }).catch(() => {})
    throw error
  }
  try {
    await syncFolder(dirname(path), fs)
  } catch (error) {
    await fs.rm(path, { force: true }).catch(() => {})
    throw error
  }
}

async function renameOver(from: string, to: string, fs: FileSystem): Promise<void> {
  try {
    await fs.rename(from, to)
  } catch (error) {
    if (systemCode(error) !== 'EISDIR') throw error
    await fs.rm(to, { recursive: true, force: true })
    await fs.rename(from, to)
  }
}

/** Makes renames, new files and removals in a folder durable. */
export async function syncFolder(folder: string, fs: FileSystem = disk): Promise<void> {
  const handle = await fs.open(folder, 'r')
  try {
    await handle.sync()
  } catch (error) {
    // Some network and FUSE file systems know no sync of a folder.
    if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(systemCode(error))) throw error
  } finally {
    await handle.close()
  }
}

/**
 * Like `replaceFile`, but synchronous, for code that cannot wait: a process that is ending, or the watchdog's thread.
 * When it returns, the new content is durable.
 * @param aside path of the second file, in the same folder; default: `path` with `.new`. An existing file of this name
 *   is removed
 * @throws an error of the file system. The old content remains. If only the folder could not be synced, the new content
 *   remains
 */
export function replaceFileSync(path: string, content: string | Uint8Array, aside = `${path}.new`): void {
  disk.rmSync(aside, { recursive: true, force: true })
  withHandle(disk.openSync(aside, 'wx', 0o600), (file) => {
    disk.writeFileSync(file, content)
    disk.fsyncSync(file)
  })
  renameOverSync(aside, path)
  withHandle(disk.openSync(dirname(path), 'r'), disk.fsyncSync)
}

function renameOverSync(from: string, to: string): void {
  try {
    disk.renameSync(from, to)
  } catch (error) {
    if (systemCode(error) !== 'EISDIR') throw error
    disk.rmSync(to, { recursive: true, force: true })
    disk.renameSync(from, to)
  }
}

function withHandle(handle: number, use: (handle: number) => void): void {
  try {
    use(handle)
  } finally {
    disk.closeSync(handle)
  }
}
