/**
 * A disk in memory that knows what is durable: what was written and not synced may be gone after a power cut. The calls that change it
 * are counted, and any of them can be the last one.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FileSystem } from 'rtk-base/files'

interface File {
  kind: 'file'
  data: Buffer
  durable: Buffer
}
interface Folder {
  kind: 'folder'
  entries: Map<string, Inode>
  durable: Map<string, Inode>
}
type Inode = File | Folder

/** What is left of what was not synced: all of it (the process was killed), nothing, or any part of it. */
export type Survivors = 'all' | 'synced' | 'some'

export interface DiskOptions {
  /** The number of the call that is cut off in its middle; none is done after it. */
  killAt?: number
  /** False: syncs do nothing. */
  syncs?: boolean
}

export class Killed extends Error {}

const newFolder = (): Folder => ({ kind: 'folder', entries: new Map(), durable: new Map() })
const missing = (path: string) => Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })

export class MemoryDisk {
  readonly #root: Folder
  readonly #killAt: number
  readonly #syncs: boolean
  /** Calls so far that changed something. */
  calls = 0

  constructor({ killAt = Number.POSITIVE_INFINITY, syncs = true }: DiskOptions = {}, root = newFolder()) {
    this.#root = root
    this.#killAt = killAt
    this.#syncs = syncs
  }

  /** The part of the file system that installing uses. */
  get fs(): FileSystem {
    const entry = (path: string) => {
      const inode = this.#find(path)
      if (!inode) throw missing(path)
      const isFile = inode.kind === 'file'
      return { size: isFile ? inode.data.length : 0, isFile: () => isFile, isDirectory: () => !isFile }
    }
    const fs = {
      mkdir: async (path: string, { recursive = false } = {}) => this.#mkdir(path, recursive),
      open: async (path: string, flags: string) => this.#open(path, flags),
      rename: async (from: string, to: string) => this.#rename(from, to),
      rm: async (path: string, { recursive = false, force = false } = {}) => this.#rm(path, recursive, force),
      stat: async (path: string) => entry(path),
      lstat: async (path: string) => entry(path),
      readFile: async (path: string) => {
        const inode = this.#find(path)
        if (inode?.kind !== 'file') throw missing(path)
        return inode.data.toString('utf8')
      },
      readdir: async (path: string) => {
        const folder = this.#find(path)
        if (folder?.kind !== 'folder') throw missing(path)
        return [...folder.entries].map(([name, { kind }]) => ({ name, isDirectory: () => kind === 'folder' }))
      },
    }
    return fs as unknown as FileSystem
  }

  bytes(path: string): Buffer {
    const inode = this.#find(path)
    if (inode?.kind !== 'file') throw missing(path)
    return inode.data
  }

  /** Puts files there that are durable already. */
  lay(files: Readonly<Record<string, string | Buffer>>): void {
    for (const [path, content] of Object.entries(files)) {
      const parts = path.split('/').filter(Boolean)
      const name = parts.pop() as string
      let folder = this.#root
      for (const part of parts) {
        const next = (folder.entries.get(part) as Folder | undefined) ?? newFolder()
        folder.entries.set(part, next)
        folder.durable.set(part, next)
        folder = next
      }
      const data = Buffer.from(content)
      const file: File = { kind: 'file', data, durable: data }
      folder.entries.set(name, file)
      folder.durable.set(name, file)
    }
  }

  /** The disk as it is found after the cut. */
  after(survivors: Survivors, random: () => number, options: DiskOptions = {}): MemoryDisk {
    return new MemoryDisk(options, survivor(this.#root, survivors, random) as Folder)
  }

  writeTo(path: string, inode: Inode = this.#root): void {
    if (inode.kind === 'file') {
      writeFileSync(path, inode.data)
      return
    }
    mkdirSync(path, { recursive: true })
    for (const [name, child] of inode.entries) this.writeTo(join(path, name), child)
  }

  /** Counts a call. @returns whether it is the one that is cut off */
  #step(): boolean {
    this.calls++
    if (this.calls > this.#killAt) throw new Killed('the process is dead')
    return this.calls === this.#killAt
  }

  /** Does a change that is done whole or not at all. */
  #atomic(change: () => void): void {
    if (this.#step()) throw new Killed('killed')
    change()
  }

  #find(path: string): Inode | undefined {
    let inode: Inode | undefined = this.#root
    for (const part of path.split('/').filter((one) => one && one !== '.')) {
      inode = inode?.kind === 'folder' ? inode.entries.get(part) : undefined
    }
    return inode
  }

  #parent(path: string): [Folder, string] {
    const parts = path.split('/').filter((one) => one && one !== '.')
    const name = parts.pop() as string
    const folder = this.#find(parts.join('/'))
    if (folder?.kind !== 'folder') throw missing(path)
    return [folder, name]
  }

  #mkdir(path: string, recursive: boolean): void {
    if (this.#find(path)) {
      if (recursive) return
      throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' })
    }
    const parts = path.split('/').filter(Boolean)
    if (recursive && parts.length > 1) this.#mkdir(parts.slice(0, -1).join('/'), true)
    const [folder, name] = this.#parent(path)
    this.#atomic(() => folder.entries.set(name, newFolder()))
  }

  #open(path: string, flags: string) {
    const found = this.#find(path)
    if (flags === 'r') {
      if (!found) throw missing(path)
      return this.#handle(found)
    }
    const [folder, name] = this.#parent(path)
    if (found && flags === 'wx') throw Object.assign(new Error(`EEXIST: ${path}`), { code: 'EEXIST' })
    if (found?.kind === 'file') {
      if (flags === 'w') {
        this.#atomic(() => {
          found.data = Buffer.alloc(0)
        })
      }
      return this.#handle(found)
    }
    const file: File = { kind: 'file', data: Buffer.alloc(0), durable: Buffer.alloc(0) }
    this.#atomic(() => folder.entries.set(name, file))
    return this.#handle(file)
  }

  #handle(inode: Inode) {
    return {
      writeFile: async (content: string | Uint8Array) => {
        const bytes = Buffer.from(content as Uint8Array)
        const isCut = this.#step()
        const file = inode as File
        file.data = Buffer.concat([file.data, isCut ? bytes.subarray(0, bytes.length >> 1) : bytes])
        if (isCut) throw new Killed('killed')
      },
      sync: async () => {
        this.#atomic(() => {
          if (!this.#syncs) return
          if (inode.kind === 'file') inode.durable = inode.data
          else inode.durable = new Map(inode.entries)
        })
      },
      close: async () => {},
    }
  }

  #rename(from: string, to: string): void {
    const [source, name] = this.#parent(from)
    const [target, other] = this.#parent(to)
    const inode = source.entries.get(name)
    if (!inode) throw missing(from)
    this.#atomic(() => {
      source.entries.delete(name)
      target.entries.set(other, inode)
    })
  }

  #rm(path: string, recursive: boolean, force: boolean): void {
    const inode = this.#find(path)
    if (!inode) {
      if (force) return
      throw missing(path)
    }
    if (inode.kind === 'folder') {
      if (!recursive) throw Object.assign(new Error(`EISDIR: ${path}`), { code: 'EISDIR' })
      for (const name of [...inode.entries.keys()]) this.#rm(`${path}/${name}`, true, true)
    }
    const [folder, name] = this.#parent(path)
    this.#atomic(() => folder.entries.delete(name))
  }
}

function survivor(inode: Inode, survivors: Survivors, random: () => number): Inode {
  const keeps = () => survivors === 'all' || (survivors === 'some' && random() < 0.5)
  if (inode.kind === 'file') {
    const data = inode.data.equals(inode.durable) ? inode.data : fileAfter(inode, survivors, random)
    return { kind: 'file', data, durable: data }
  }
  const entries = new Map<string, Inode>()
  for (const name of new Set([...inode.durable.keys(), ...inode.entries.keys()])) {
    const [now, before] = [inode.entries.get(name), inode.durable.get(name)]
    const kept = now === before || keeps() ? now : before
    if (kept) entries.set(name, survivor(kept, survivors, random))
  }
  return { kind: 'folder', entries, durable: new Map(entries) }
}

/** Unsynced content comes back whole, in part, as zeros of its length, or not at all. */
function fileAfter({ data, durable }: File, survivors: Survivors, random: () => number): Buffer {
  if (survivors === 'all') return data
  if (survivors === 'synced') return durable
  const choice = Math.floor(random() * 4)
  return [data, durable, Buffer.alloc(data.length), data.subarray(0, Math.floor(data.length * random()))][
    choice
  ] as Buffer
}
