/**
 * The disk of this process, whose writes below a folder are counted and fail: from one of them on, or that one alone. What is read is not
 * touched. For a whole station in one process: its plugins have the same disk.
 */
import { type Disk, disk, type FileHandle } from '../../runtime/platform/files/disk.js'

export interface Failure {
  readonly code: 'ENOSPC' | 'EIO' | 'EROFS'
  /** Number of the write, from 1. */
  readonly at: number
  /** Writes that fail; default: all from there on. */
  readonly count?: number
}

type Call = (...args: unknown[]) => unknown

/** Flags that change nothing: a folder is opened to be synced. */
const reads = (flags: unknown) => flags === undefined || flags === 'r'
const ofPaths = ['chmod', 'copyFile', 'mkdir', 'rename', 'rm', 'writeFile'] as const
const ofPathsNow = ['mkdirSync', 'renameSync', 'rmSync', 'writeFileSync', 'createWriteStream'] as const
const ofHandles = ['write', 'writeFile', 'sync', 'datasync'] as const
const ofHandlesNow = ['writeFileSync', 'writeSync', 'fsyncSync'] as const

export class FailingDisk {
  /** Of the writes: what was done to which file. */
  readonly writes: string[] = []
  readonly #folder: string
  readonly #real = { ...disk }
  readonly #counted = new Set<number>()
  failure: Failure | undefined

  constructor(folder: string, failure?: Failure) {
    this.#folder = folder
    this.failure = failure
    const real = this.#real as unknown as Record<string, Call>
    const put = (name: string, call: Call) => Object.assign(disk, { [name]: call })
    for (const name of ofPaths) {
      put(name, async (path, ...rest) => {
        this.#note(name, path)
        return real[name]?.(path, ...rest)
      })
    }
    for (const name of ofPathsNow) {
      put(name, (path, ...rest) => {
        if (typeof path === 'number') this.#noteHandle(name, path)
        else this.#note(name, path)
        return real[name]?.(path, ...rest)
      })
    }
    for (const name of ofHandlesNow) {
      put(name, (handle, ...rest) => {
        if (typeof handle === 'number') this.#noteHandle(name, handle)
        else this.#note(name, handle)
        return real[name]?.(handle, ...rest)
      })
    }
    put('open', async (path, flags, ...rest) => {
      if (!reads(flags)) this.#note('open', path)
      const handle = (await real.open?.(path, flags, ...rest)) as FileHandle
      return this.#isBelow(path) ? this.#watched(handle, String(path)) : handle
    })
    put('openSync', (path, flags, ...rest) => {
      if (!reads(flags)) this.#note('openSync', path)
      const handle = real.openSync?.(path, flags, ...rest) as number
      if (this.#isBelow(path)) this.#counted.add(handle)
      return handle
    })
    put('closeSync', (handle) => {
      this.#counted.delete(handle as number)
      return real.closeSync?.(handle)
    })
  }

  /** The real disk is back. */
  restore(): void {
    Object.assign(disk, this.#real satisfies Disk)
  }

  #isBelow(path: unknown): boolean {
    return String(path).startsWith(this.#folder)
  }

  #noteHandle(name: string, handle: number): void {
    if (this.#counted.has(handle)) this.#fail(name, `file ${handle}`)
  }

  #note(name: string, path: unknown): void {
    if (this.#isBelow(path)) this.#fail(name, String(path).slice(this.#folder.length))
  }

  #fail(name: string, path: string): void {
    this.writes.push(`${name} ${path}`)
    if (!this.failure) return
    const { at, code, count = Number.POSITIVE_INFINITY } = this.failure
    const number = this.writes.length
    if (number >= at && number < at + count) throw Object.assign(new Error(`${code}: ${name} '${path}'`), { code })
  }

  #watched(handle: FileHandle, path: string): FileHandle {
    for (const name of ofHandles) {
      const real = (handle[name] as Call).bind(handle)
      Object.assign(handle, {
        [name]: async (...args: unknown[]) => {
          this.#note(name, path)
          return real(...args)
        },
      })
    }
    return handle
  }
}
