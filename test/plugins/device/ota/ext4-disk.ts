/** A real file system whose power can be cut: what was not synced is gone then. Only root may mount it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { disk, type FileSystem } from 'rtk-base/files'
import type { Test } from 'tap'
import { scratch } from './rig.js'

// Nothing is written by itself, and nothing by a rename.
const options = ['-o', 'loop,commit=600,noauto_da_alloc']
const size_bytes = 24 * 1_048_576

/** A reason to skip what needs it. */
export function noExt4(): string | false {
  if (process.getuid?.() !== 0) return 'only root may mount a file system'
  if (spawnSync('mkfs.ext4', ['-V']).status !== 0) return 'needs mkfs.ext4'
  return spawnSync('losetup', ['--find']).status === 0 ? false : 'this machine has no loop devices'
}

export class Ext4Disk {
  readonly folder: string
  readonly #file: string
  readonly #place: string

  private constructor(place: string, file: string, folder: string) {
    this.#place = place
    this.#file = file
    this.folder = folder
  }

  /** With these files, durable. */
  static make(t: Test, files: Readonly<Record<string, string>>): Ext4Disk {
    const place = scratch(t)
    execFileSync('mount', ['-t', 'tmpfs', 'none', place])
    t.teardown(() => spawnSync('umount', ['-l', place]))
    const file = join(place, 'disk')
    writeFileSync(file, '')
    truncateSync(file, size_bytes)
    execFileSync('mkfs.ext4', ['-q', '-F', file])
    const disk = Ext4Disk.#mount(place, file)
    t.teardown(() => disk.remove())
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(disk.folder, path)), { recursive: true })
      writeFileSync(join(disk.folder, path), text)
    }
    execFileSync('sync', ['--file-system', disk.folder])
    return disk
  }

  static #mount(place: string, file: string): Ext4Disk {
    const folder = mkdtempSync(join(place, 'mount-'))
    execFileSync('mount', [...options, file, folder])
    return new Ext4Disk(place, file, folder)
  }

  /** The disk as it is found after a power cut now. This one goes on. */
  cut(): Ext4Disk {
    const file = join(mkdtempSync(join(this.#place, 'copy-')), 'disk')
    copyFileSync(this.#file, file)
    return Ext4Disk.#mount(this.#place, file)
  }

  remove(): void {
    spawnSync('umount', ['-l', this.folder])
    rmSync(this.#file, { force: true })
  }

  /**
   * Calls `changing` before each call that changes the disk.
   * @param syncs whether the content of this file is synced when that is asked for
   */
  fs(changing: () => void, syncs: (path: string) => boolean = () => true): FileSystem {
    const real = disk
    const then = <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      (async (...args: A) => {
        changing()
        return call(...args)
      }) as (...args: A) => Promise<R>
    const open = async (...args: Parameters<FileSystem['open']>) => {
      const path = String(args[0])
      if (args[1] !== 'r') changing()
      const file = await real.open(...args)
      const [write, sync] = [file.writeFile.bind(file), file.sync.bind(file)]
      return Object.assign(file, {
        writeFile: then(write as (...given: unknown[]) => Promise<void>),
        sync: then(async () => (args[1] === 'r' || syncs(path) ? sync() : undefined)),
      })
    }
    const changed = { mkdir: then(real.mkdir as never), rename: then(real.rename), rm: then(real.rm), open }
    return { ...real, ...changed } as unknown as FileSystem
  }
}
