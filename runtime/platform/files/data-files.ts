import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'
import { messageOf, RtkError } from '../../errors.js'
import { disk } from './disk.js'

export interface DataDirOptions {
  /** Quota of the folder; default: 16 MiB. */
  quota_bytes?: number
  /** True: a factory reset keeps the folder. */
  protected?: boolean
  /** True: the folder is in memory if possible, which spares the flash. It is lost when the machine restarts. */
  volatile?: boolean
}

/** A folder for bulk files of one plugin. */
export interface DataDir {
  readonly path: string
  readonly quota_bytes: number
  /** Current usage of the folder. */
  usage(): Promise<{ bytes: number; files: number }>
  /**
   * @throws RTK_ERR_DATA_QUOTA if this many more bytes would exceed the quota, or do not fit on the disk
   */
  ensureRoom(bytes: number): Promise<void>
}

const defaultQuota_bytes = 16 * 1_048_576
/** Stays free for everything else: settings, the system itself. */
const reserve_bytes = 4 * 1_048_576
const nameRule = /^[a-z0-9]+(-[a-z0-9]+)*$/
/** No name of a plugin's folder begins with a dot. */
const keptFolder = '.protected'

/**
 * Bulk files of plugins: `files/PLUGIN/NAME`, and `files/PLUGIN/.protected/NAME` for files that survive a factory
 * reset. Volatile files are in the unit's runtime folder, else in `/dev/shm`.
 */
export class DataFiles {
  readonly #root: string
  readonly #volatileRoot: string

  constructor(data: string) {
    this.#root = join(data, 'files')
    this.#volatileRoot = volatileRoot(data) ?? this.#root
  }

  /** The path of a folder that is neither volatile nor protected, whether it exists or not. */
  path(plugin: string, name = 'main'): string {
    return join(this.#root, plugin, name)
  }

  /** @throws RTK_ERR_DATA_FOLDER when it cannot be made */
  dir(plugin: string, name: string, options: DataDirOptions = {}): DataDir {
    if (!nameRule.test(name)) throw new Error(`data folder "${name}": a name is kebab-case`)
    const { quota_bytes = defaultQuota_bytes } = options
    const kept = options.protected ? [keptFolder] : []
    const path = join(options.volatile ? this.#volatileRoot : this.#root, plugin, ...kept, name)
    try {
      disk.mkdirSync(path, { recursive: true, mode: 0o700 })
    } catch (error) {
      throw new RtkError('RTK_ERR_DATA_FOLDER', `${path}: ${messageOf(error)}`, { cause: error })
    }
    return {
      path,
      quota_bytes,
      usage: () => usageOf(path),
      async ensureRoom(bytes) {
        const used = await usageOf(path)
        if (used.bytes + bytes > quota_bytes) {
          const text = `${plugin}: ${bytes} bytes more in ${name} exceed its quota of ${quota_bytes} (${used.bytes} are used)`
          throw new RtkError('RTK_ERR_DATA_QUOTA', text)
        }
        const { bavail, bsize } = await disk.statfs(path)
        const free = bavail * bsize
        if (bytes + reserve_bytes <= free) return
        const text = `${plugin}: ${bytes} bytes more in ${name} do not fit on the disk (${free} are free, ${reserve_bytes} stay so)`
        throw new RtkError('RTK_ERR_DATA_QUOTA', text)
      },
    }
  }

  /** Removes everything except protected files. */
  async clear(): Promise<void> {
    for (const root of new Set([this.#root, this.#volatileRoot])) {
      for (const plugin of await entriesOf(root)) {
        const folder = join(root, plugin)
        for (const name of await entriesOf(folder)) {
          if (name !== keptFolder) await disk.rm(join(folder, name), { recursive: true, force: true })
        }
      }
    }
  }
}

/**
 * A folder in memory that outlives the service, one for each data folder; undefined if there is none. `/dev/shm` is
 * open to every user: an existing folder counts only if it belongs to this user alone.
 */
function volatileRoot(data: string): string | undefined {
  const digest = createHash('sha256').update(resolve(data)).digest('hex').slice(0, 16)
  const unit = process.env.RUNTIME_DIRECTORY?.split(':')[0]
  const path = unit ? join(unit, digest) : join('/dev/shm', `rtk-base-${process.getuid?.()}-${digest}`)
  try {
    disk.mkdirSync(path, { recursive: true, mode: 0o700 })
    const found = disk.lstatSync(path)
    const isOwn = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0
    return isOwn ? path : undefined
  } catch {
    return undefined
  }
}

async function entriesOf(folder: string): Promise<string[]> {
  return disk.readdir(folder).catch(() => [])
}

/** Counts without following links. Files deleted meanwhile count as empty. */
async function usageOf(folder: string): Promise<{ bytes: number; files: number }> {
  const total = { bytes: 0, files: 0 }
  for (const entry of await disk.readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      const below = await usageOf(path)
      total.bytes += below.bytes
      total.files += below.files
    } else {
      const { size } = await disk.lstat(path).catch(() => ({ size: 0 }))
      total.bytes += size
      total.files += 1
    }
  }
  return total
}
