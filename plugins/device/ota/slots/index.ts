import { dirname, join } from 'node:path'
import { disk, type FileSystem, syncFolder } from 'rtk-base/files'
import type { ImageManifest } from 'rtk-base/image'
import { RtkError, unavailable } from 'rtk-base/plugin'
import type { FolderInstaller } from '../installer.js'
import { readState, type Slot, writeState } from './state.js'

/** Stays free for settings and for the system. */
const reserve_bytes = 8 * 1_048_576

export interface SlotsDeps {
  /** Folder of the slots. */
  root: string
  running: string
  /** Ends the service, which the launcher then starts again. */
  restart(): void
  fs?: FileSystem
  /** Free bytes on the disk of a folder. */
  free?(folder: string): Promise<number>
}

/**
 * Two folders: one runs, the other takes the update. After every step the launcher can start either the old or the
 * new version completely: the target is removed from `state` before it is touched, and named again once everything is durable.
 */
export class Slots implements FolderInstaller {
  readonly running: string
  readonly #root: string
  readonly #fs: FileSystem
  readonly #restart: () => void
  readonly #free: (folder: string) => Promise<number>
  #target: Slot | undefined

  constructor({ root, running, restart, fs = disk, free = freeBytes }: SlotsDeps) {
    this.running = running
    this.#root = root
    this.#restart = restart
    this.#fs = fs
    this.#free = free
  }

  async prepare({ files }: ImageManifest): Promise<{ slot: Slot; folder: string }> {
    const fs = this.#fs
    await fs.mkdir(this.#root, { recursive: true })
    const state = await readState(this.#root, fs)
    const target = this.#otherThan(state.good)
    this.#target = undefined
    const path = join(this.#root, target)
    const needed = files.reduce((sum, { size }) => sum + Math.ceil(size / 4096) * 4096, reserve_bytes)
    const free = (await this.#free(this.#root)) + (await sizeOf(path, fs))
    if (free < needed) {
      throw unavailable(
        `the update needs ${needed} bytes on the disk, and ${free} can be had: delete what is not needed`,
      )
    }
    // Even if nothing names it: this makes the slot that runs the good one where the file was lost.
    const good = state.good === '' || state.good === target ? (this.running as Slot) : state.good
    const previous = state.previous === target ? '' : state.previous
    await writeState(this.#root, { good, trial: '', tries: 0, back: '', previous }, fs)
    this.#target = target
    await fs.rm(path, { recursive: true, force: true })
    await fs.mkdir(path)
    return { slot: target, folder: path }
  }

  async commit({ files }: ImageManifest): Promise<void> {
    const fs = this.#fs
    const target = this.#prepared()
    const path = join(this.#root, target)
    const sums = await fs.open(join(path, 'SHA256SUMS'), 'wx', 0o644)
    try {
      await sums.writeFile(files.map(({ path, sha256 }) => `${sha256}  ./${path}\n`).join(''))
      await sums.sync()
    } finally {
      await sums.close()
    }
    for (const folder of foldersOf(files.map((file) => file.path))) await syncFolder(join(path, folder), fs)
    await syncFolder(this.#root, fs)
    const { good, previous } = await readState(this.#root, fs)
    await writeState(this.#root, { good, trial: target, tries: 0, back: '', previous }, fs)
    this.#target = undefined
  }

  async abandon(): Promise<void> {
    if (!this.#target) return
    // A reload of this plugin may have let another update have it.
    const { good, trial } = await readState(this.#root, this.#fs)
    if (good === this.#target || trial === this.#target) return
    await this.#fs.rm(join(this.#root, this.#target), { recursive: true, force: true })
    this.#target = undefined
  }

  async confirm(): Promise<void> {
    const before = await readState(this.#root, this.#fs)
    const good = this.running as Slot
    const previous = before.good === good ? before.previous : before.good
    await writeState(this.#root, { good, trial: '', tries: 0, back: '', previous }, this.#fs)
  }

  async giveUp(): Promise<void> {
    const { good, previous } = await readState(this.#root, this.#fs)
    await writeState(this.#root, { good, trial: '', tries: 0, back: this.running as Slot, previous }, this.#fs)
  }

  async restart(): Promise<void> {
    this.#restart()
  }

  async givenUp(): Promise<Slot | 'f' | undefined> {
    const { back, trial } = await readState(this.#root, this.#fs)
    // If the launcher cannot write, a trial without remaining tries is still listed.
    return back || (trial !== this.running ? trial : '') || undefined
  }

  async reported(): Promise<void> {
    const { good, previous } = await readState(this.#root, this.#fs)
    await writeState(this.#root, { good, trial: '', tries: 0, back: '', previous }, this.#fs)
  }

  /** The slot that neither runs nor was confirmed last. */
  #otherThan(good: string): Slot {
    if (this.running === 'a') return 'b'
    if (this.running === 'b') return 'a'
    return good === 'a' ? 'b' : 'a'
  }

  #prepared(): Slot {
    if (this.#target) return this.#target
    throw new RtkError('RTK_ERR_UNAVAILABLE', 'no slot was prepared for this update')
  }
}

/** Every folder of these files, innermost first; the last one is `.`. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder)
  }
  return [...[...folders].sort((one, other) => other.length - one.length), '.']
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await disk.statfs(folder)
  return bavail * bsize
}

async function sizeOf(folder: string, fs: FileSystem): Promise<number> {
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => [])
  let sum = 0
  for (const entry of entries) {
    const path = join(folder, entry.name)
    sum += entry.isDirectory() ? await sizeOf(path, fs) : (await fs.lstat(path)).size
  }
  return sum
}
