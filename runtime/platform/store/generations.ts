import { dirname, join } from 'node:path'
import type { FileSystem } from '../files/disk.js'
import { replaceFile, syncFolder, systemCode } from '../files/durable-file.js'
import { readPlain } from '../files/plain-file.js'
import {
  decodeSnapshot,
  encodeSnapshot,
  type Recovery,
  recover,
  type Slot,
  type SlotContent,
  type Snapshot,
  slotFile,
  slotOf,
} from './snapshot.js'

/** The state is never nearly this large: a larger file is not a snapshot. */
const largestFile_bytes = 64 << 20

/** The state when an update was installed, for the version that installed it. */
const beforeUpdate = 'before-update'

/** Written with the first two generations: it stays where `rm store/*` deletes every snapshot. */
const founded = '.founded'

/** The operator has to repair these. */
const denied = ['EACCES', 'EPERM']
/** Transient errors: a file that cannot be opened now is not damaged. */
const passing = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']

export const isDenied = (error: unknown): boolean => denied.includes(systemCode(error))

/** The content of a store's folder. */
export interface Found extends Recovery {
  /** There was a store here before, even if it is damaged now. */
  readonly founded: boolean
  /** Files that could not be read, and copies of damaged ones where nothing could be read. */
  readonly kept: readonly string[]
  /** Time (UTC) at which the state in use was written, if a newer version has left no other. */
  readonly asOf: string
}

/** The two files of the store. */
export class Generations {
  readonly #folder: string
  readonly #fs: FileSystem
  /** How each file was left. */
  readonly #left: [string, string] = ['', '']

  constructor(folder: string, fs: FileSystem) {
    this.#folder = folder
    this.#fs = fs
  }

  async makeFolder(): Promise<void> {
    const made = await this.#fs.mkdir(this.#folder, { recursive: true, mode: 0o700 })
    if (made !== undefined) await syncFolder(dirname(made), this.#fs)
  }

  /**
   * @throws transient errors, and errors that the operator has to repair; any other is damage.
   */
  async read(): Promise<Found> {
    // The umask does not matter to files that other users cannot reach.
    await this.#fs.chmod(this.#folder, 0o700).catch(() => {})
    const slots: [SlotContent, SlotContent] = [await this.#readSlot(0), await this.#readSlot(1)]
    const names = await this.#fs.readdir(this.#folder).catch(() => [] as string[])
    let recovery = recover(slots)
    if (recovery.loss === 'newer')
      recovery = recover(slots, await this.#readFile(beforeUpdate).catch(() => 'unreadable' as const))
    const nothingLeft = recovery.loss === 'everything' || recovery.loss === 'newer'
    const kept = await this.#keepDamaged(slots, nothingLeft, recovery.loss === 'newer' ? 'newer' : 'damaged')
    const asOf = recovery.loss === 'newer' ? await this.#timeOf(recovery.snapshot, slots) : ''
    await this.acceptState()
    return { ...recovery, founded: names.includes(founded), kept, asOf }
  }

  /** Keeps a state until `dropCopy`, regardless of later writes. Durable when it resolves. */
  async keepCopy(snapshot: Snapshot): Promise<void> {
    await replaceFile(join(this.#folder, beforeUpdate), encodeSnapshot(snapshot), { fs: this.#fs })
  }

  /** Removes what `keepCopy` kept, unless it is of another layout: then a version that may come back needs it. */
  async dropCopy(always = false): Promise<void> {
    const copy = await this.#readFile(beforeUpdate)
    if (copy === 'absent' || (!always && typeof copy !== 'string' && decodeSnapshot(copy) === 'newer')) return
    await this.#fs.rm(join(this.#folder, beforeUpdate), { recursive: true, force: true })
    await syncFolder(this.#folder, this.#fs)
  }

  async #timeOf({ number }: Snapshot, slots: readonly SlotContent[]): Promise<string> {
    const slot = slots.findIndex((content) => {
      const snapshot = typeof content === 'string' ? undefined : decodeSnapshot(content)
      return typeof snapshot === 'object' && snapshot.number === number
    })
    const file = slot < 0 ? join(this.#folder, beforeUpdate) : this.#path(slot as Slot)
    return this.#fs.lstat(file).then(
      ({ mtimeMs }) => `${new Date(mtimeMs).toISOString().slice(0, 16)}Z`,
      () => '',
    )
  }

  /** Durable when it resolves; the generation before it is untouched. */
  async write(snapshot: Snapshot): Promise<void> {
    const slot = slotOf(snapshot.number)
    const options = { aside: join(this.#folder, 'snapshot-new'), fs: this.#fs }
    await replaceFile(this.#path(slot), encodeSnapshot(snapshot), options)
    if (snapshot.number === 2) await replaceFile(join(this.#folder, founded), '', options)
    this.#left[slot] = await this.#stateOf(slot)
  }

  /** Whether another program deleted or changed a file. */
  async wereTouched(): Promise<boolean> {
    return (await this.#stateOf(0)) !== this.#left[0] || (await this.#stateOf(1)) !== this.#left[1]
  }

  /** From now on the files count as untouched. */
  async acceptState(): Promise<void> {
    this.#left[0] = await this.#stateOf(0)
    this.#left[1] = await this.#stateOf(1)
  }

  async #stateOf(slot: Slot): Promise<string> {
    return this.#fs.lstat(this.#path(slot)).then(
      ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
      () => 'absent',
    )
  }

  #readSlot(slot: Slot): Promise<SlotContent> {
    return this.#readFile(slotFile(slot))
  }

  async #readFile(name: string): Promise<SlotContent> {
    const path = join(this.#folder, name)
    try {
      return await readPlain(path, largestFile_bytes, this.#fs)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return 'absent'
      if (passing.includes(systemCode(error)) || isDenied(error)) throw error
      return 'unreadable'
    }
  }

  /**
   * Keeps damaged files for inspection: the next write replaces them. An unreadable file may be large, so it is moved.
   */
  async #keepDamaged(slots: readonly SlotContent[], everything: boolean, as: 'damaged' | 'newer'): Promise<string[]> {
    const kept: string[] = []
    for (const slot of [0, 1] as const) {
      const unreadable = slots[slot] === 'unreadable'
      if (!unreadable && (!everything || slots[slot] === 'absent')) continue
      const copy = join(this.#folder, `${as}-${slot}`)
      await this.#fs.rm(copy, { recursive: true, force: true }).catch(() => {})
      const done = unreadable ? this.#fs.rename(this.#path(slot), copy) : this.#fs.copyFile(this.#path(slot), copy)
      await done.then(
        () => kept.push(copy),
        () => {},
      )
    }
    return kept
  }

  #path(slot: Slot): string {
    return join(this.#folder, slotFile(slot))
  }
}
