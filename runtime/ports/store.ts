/**
 * The non-volatile storage: namespaced JSON values on LevelDB, durable before a write is answered.
 *
 * Everything that was acknowledged is also held in memory (settings are small). So reads never touch the disk, go on
 * while the disk is full, and after a failed write the disk can be brought back to exactly what was acknowledged.
 */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ClassicLevel } from 'classic-level'
import type { Logger } from 'pino'
import { messageOf, RtkError } from '../errors.js'
import {
  copyAside,
  copyStore,
  cutLogs,
  type Inspection,
  inspect,
  type LogMark,
  markLog,
  moveAside,
  syncPath,
  tightenModes,
} from './store-files.js'
import {
  type Contents,
  DamageError,
  differences,
  diskKey,
  isProtected,
  kindOf,
  type Level,
  locked,
  openLevel,
  protectedRange,
  put,
  readAll,
  reasonOf,
  setText,
  throwIfLocked,
} from './store-level.js'

export { isProtected } from './store-level.js'

export interface StoreOps {
  namespace: string
  key: string
  /** Any JSON value; undefined deletes. */
  value: unknown
}

/** What opening the store had to do. */
export interface StoreTrouble {
  code: string
  text: string
}

export interface Store {
  get(namespace: string, key: string): Promise<unknown>
  entries(namespace: string): Promise<Record<string, unknown>>
  /** Those with at least one entry. */
  namespaces(): Promise<string[]>
  /**
   * Atomic, and durable when it resolves. What it replaces in a protected namespace is gone from the files a moment later.
   * @throws RTK_ERR_STORE_WRITE when it could not be made durable; nothing was written then.
   */
  batch(ops: readonly StoreOps[]): Promise<void>
  /** Deletes everything but what `keep` wants, in one durable batch. @throws RTK_ERR_STORE_WRITE */
  clear(keep: (namespace: string, key: string) => boolean): Promise<void>
  close(): Promise<void>
  readonly troubles: readonly StoreTrouble[]
}

const nothingWrong: Inspection = { present: false, needsRepair: undefined, salvaged: [], logDamage: '', tornBytes: 0 }

/** LevelDB's lock is per process: this one keeps a process from opening a store twice. */
const openFolders = new Set<string>()

/** A trouble that ends when the first write works again. */
const unwritable = 'store-unwritable'

function encode(op: StoreOps): string | undefined {
  if (op.value === undefined) return undefined
  try {
    const json = JSON.stringify(op.value) as string | undefined
    if (json !== undefined) return json
  } catch {}
  throw new RtkError('RTK_ERR_STORE_WRITE', `${op.namespace}/${op.key}: the value is not JSON; nothing was written`)
}

/**
 * Opens the store in `folder`, which is made when it is missing. Damage never keeps it from opening: it is repaired,
 * else set aside as `<folder>.broken-<n>`, and `troubles` says so. On a full or read-only disk it opens for reading and
 * refuses every write until the disk takes writes again.
 * @throws RTK_ERR_DATA_LOCKED when another process holds it; RTK_ERR_DATA_FOLDER when the folder cannot be used at all.
 */
export async function openStore(folder: string, log: Logger): Promise<Store> {
  const location = resolve(folder)
  try {
    await mkdir(location, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new RtkError('RTK_ERR_DATA_FOLDER', `cannot make the folder ${location}: ${messageOf(error)}`, {
      cause: error,
    })
  }
  const identity = await realpath(location)
  if (openFolders.has(identity)) throw locked(location)
  openFolders.add(identity)
  try {
    const store = new LevelStore(location, identity, log)
    await store.open()
    return store
  } catch (error) {
    openFolders.delete(identity)
    throw error
  }
}

class LevelStore implements Store {
  readonly troubles: StoreTrouble[] = []
  readonly #location: string
  readonly #identity: string
  readonly #log: Logger
  #contents: Contents = new Map()
  /** False while not even reading worked: what is on disk is taken over at the first reopening then. */
  #loaded: boolean = false
  /** Undefined after a write error, until reopening works. */
  #level: Level | undefined
  /** Where the log must be cut before it may be opened again. */
  #cutAt: LogMark | undefined
  #queue: Promise<unknown> = Promise.resolve()
  /** Protected entries whose earlier values are still in the files, by their keys on disk. */
  readonly #stale = new Map<string, { namespace: string; key: string }>()
  #closed: boolean = false

  constructor(location: string, identity: string, log: Logger) {
    this.#location = location
    this.#identity = identity
    this.#log = log
  }

  // ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────

  async get(namespace: string, key: string): Promise<unknown> {
    const json = this.#contents.get(namespace)?.get(key)
    return json === undefined ? undefined : JSON.parse(json)
  }

  async entries(namespace: string): Promise<Record<string, unknown>> {
    // fromEntries defines own properties, so a key such as `__proto__` is an entry like any other.
    return Object.fromEntries([...(this.#contents.get(namespace) ?? [])].map(([key, json]) => [key, JSON.parse(json)]))
  }

  async namespaces(): Promise<string[]> {
    return [...this.#contents.keys()]
  }

  // ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────

  batch(ops: readonly StoreOps[]): Promise<void> {
    return this.#serially(async () => {
      const replaced = ops.filter(
        ({ namespace, key }) => isProtected(namespace) && this.#contents.get(namespace)?.has(key),
      )
      await this.#write(ops)
      if (replaced.length === 0) return
      for (const { namespace, key } of replaced) this.#stale.set(diskKey(namespace, key), { namespace, key })
      // Behind the answer.
      void this.#serially(async () => await this.#scrub())
    })
  }

  clear(keep: (namespace: string, key: string) => boolean): Promise<void> {
    return this.#serially(async () => {
      const ops: StoreOps[] = []
      for (const [namespace, entries] of this.#contents)
        for (const key of entries.keys()) if (!keep(namespace, key)) ops.push({ namespace, key, value: undefined })
      await this.#write(ops)
    })
  }

  close(): Promise<void> {
    return this.#serially(async () => {
      if (this.#closed) return
      this.#closed = true
      await this.#level?.close().catch((error) => this.#log.warn({ err: error }, 'the store did not close cleanly'))
      this.#level = undefined
      openFolders.delete(this.#identity)
    })
  }

  #serially<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => {})
    return done
  }

  async #write(ops: readonly StoreOps[]): Promise<void> {
    if (this.#closed) throw new RtkError('RTK_ERR_STORE_WRITE', 'the store is closed; nothing was written')
    const texts = ops.map(encode)
    if (ops.length === 0) return
    const level = this.#level ?? (await this.#reopen())
    const writes = ops.map(({ namespace, key }, index) => put(diskKey(namespace, key), texts[index]))
    let mark: LogMark | undefined
    try {
      mark = await markLog(this.#location)
      await level.batch(writes, { sync: true })
    } catch (error) {
      await this.#retreat(mark)
      this.#log.error({ err: error }, 'a write to the store failed; it is reopened before the next one')
      throw new RtkError('RTK_ERR_STORE_WRITE', `the store could not be written: ${reasonOf(error)}`, { cause: error })
    }
    ops.forEach(({ namespace, key }, index) => {
      setText(this.#contents, namespace, key, texts[index])
    })
  }

  /**
   * Takes replaced secrets out of the files, where LevelDB would keep them until it happens to compact. The first pass brings
   * everything out of the log into tables. Old and new may meet in a table there that nothing overlaps, which LevelDB does
   * not rewrite: so what stands now is written once more, for the second pass to merge. Without success the next replaced
   * secret tries it again.
   */
  async #scrub(): Promise<void> {
    if (this.#stale.size === 0 || this.#closed) return
    const compact = async () => await this.#level?.compactRange(...protectedRange)
    try {
      await compact()
      const ops = [...this.#stale.values()].map(async ({ namespace, key }) => ({
        namespace,
        key,
        value: await this.get(namespace, key),
      }))
      await this.#write(await Promise.all(ops))
      await compact()
      this.#stale.clear()
    } catch (error) {
      this.#log.warn(
        { err: error },
        'a replaced secret is still in the files of the store; the next one takes it along',
      )
    }
  }

  /**
   * LevelDB goes on answering ok to writes that are gone once its log could not be written, so it is closed. What was
   * refused may be in the log all the same, whole or in part: it is cut off, or it would come back after a restart.
   */
  async #retreat(mark: LogMark | undefined): Promise<void> {
    const level = this.#level
    this.#level = undefined
    this.#cutAt = mark
    await level?.close().catch((error) => this.#log.warn({ err: error }, 'the store did not close cleanly'))
    await this.#cut().catch((error) => this.#log.warn({ err: error }, 'the refused write is taken back when reopening'))
  }

  async #cut(): Promise<void> {
    if (this.#cutAt === undefined) return
    await cutLogs(this.#location, this.#cutAt)
    this.#cutAt = undefined
  }

  async #reopen(): Promise<Level> {
    let level: Level | undefined
    try {
      await mkdir(this.#location, { recursive: true, mode: 0o700 })
      await this.#cut()
      level = await openLevel(this.#location, true)
      const disk = await readAll(level)
      if (this.#loaded) {
        const repairs = differences(disk.contents, this.#contents)
        if (repairs.length > 0) await level.batch(repairs, { sync: true })
      } else {
        this.#contents = disk.contents
        this.#loaded = true
      }
    } catch (error) {
      await level?.close().catch(() => {})
      throw new RtkError('RTK_ERR_STORE_WRITE', `the store cannot be opened for writing: ${reasonOf(error)}`, {
        cause: error,
      })
    }
    this.#log.info('the store takes writes again')
    this.#removeTrouble(unwritable)
    this.#level = level
    return level
  }

  // ── opening ───────────────────────────────────────────────────────────────────────────────────────────────────────

  async open(): Promise<void> {
    await throwIfLocked(this.#location)
    const before = await inspect(this.#location).catch(
      (error): Inspection => ({ ...nothingWrong, present: true, needsRepair: `it cannot be read: ${reasonOf(error)}` }),
    )
    if (before.tornBytes > 0)
      this.#log.info({ bytes: before.tornBytes }, 'an unfinished write was dropped from the store; it was not answered')
    try {
      let level: Level
      try {
        if (before.needsRepair !== undefined) throw new DamageError(before.needsRepair)
        level = await this.#takeOver(await openLevel(this.#location, !before.present), before)
      } catch (error) {
        if (kindOf(error) !== 'damage') throw error
        level = await this.#repairOrReset(error, before)
      }
      this.#level = level
    } catch (error) {
      const kind = kindOf(error)
      if (kind === 'locked') throw locked(this.#location)
      if (kind === 'denied')
        throw new RtkError('RTK_ERR_DATA_FOLDER', `${this.#location} cannot be used: ${reasonOf(error)}`, {
          cause: error,
        })
      await this.#openForReading(error, before)
    }
    await tightenModes(this.#location)
    await syncPath(dirname(this.#location)).catch(() => {})
  }

  /** Reads everything into memory, and writes what was saved from damaged logs again. */
  async #takeOver(level: Level, before: Inspection): Promise<Level> {
    try {
      const disk = await readAll(level)
      if (before.salvaged.length > 0) {
        await level.batch(
          before.salvaged.map(({ key, value }) =>
            value === undefined ? { type: 'del', key } : { type: 'put', key, value },
          ),
          { sync: true },
        )
        Object.assign(disk, await readAll(level))
      }
      if (before.logDamage !== '')
        this.#trouble('store-damaged', `${before.logDamage}: everything else was kept, check the settings`)
      if (disk.broken.length > 0) {
        await level.batch(
          disk.broken.map((key) => ({ type: 'del', key })),
          { sync: true },
        )
        this.#trouble('store-entries-lost', `damaged settings went back to defaults: ${disk.broken.join(' ')}`)
      }
      this.#contents = disk.contents
      this.#loaded = true
      return level
    } catch (error) {
      await level.close().catch(() => {})
      throw error
    }
  }

  async #repairOrReset(damage: unknown, before: Inspection): Promise<Level> {
    this.#log.error({ err: damage }, 'the store is damaged; it is repaired now')
    const copy = await copyAside(this.#location)
    const kept = copy === undefined ? '' : `, the damaged files are kept in ${copy}`
    try {
      await ClassicLevel.repair(this.#location)
      const level = await this.#takeOver(await openLevel(this.#location, false), before)
      await rm(join(this.#location, 'lost'), { recursive: true, force: true })
      this.#trouble('store-repaired', `the settings were repaired (${reasonOf(damage)})${kept}: check them`)
      return level
    } catch (error) {
      if (kindOf(error) !== 'damage') throw error
      this.#log.error({ err: error }, 'the store cannot be repaired; an empty one is started')
      const aside = copy ?? (await moveAside(this.#location))
      if (copy !== undefined) await rm(this.#location, { recursive: true, force: true })
      await mkdir(this.#location, { recursive: true, mode: 0o700 })
      const level = await openLevel(this.#location, true)
      this.#loaded = true
      this.#trouble(
        'store-reset',
        `the settings were damaged beyond repair and are set aside in ${aside}: defaults are used`,
      )
      return level
    }
  }

  /** Opening writes, so a full or read-only disk refuses it: a copy elsewhere tells what is stored. */
  async #openForReading(cause: unknown, before: Inspection): Promise<void> {
    this.#trouble(unwritable, `settings cannot be written (${reasonOf(cause)}): every change is refused until they can`)
    if (!before.present) {
      this.#loaded = true
      return
    }
    const copy = await mkdtemp(join(tmpdir(), 'rtk-base-store-')).catch(() => undefined)
    try {
      if (copy === undefined) throw new Error('no room for a copy in the temporary folder')
      await copyStore(this.#location, copy)
      if (before.needsRepair !== undefined) await ClassicLevel.repair(copy)
      const level = await this.#takeOver(await openLevel(copy, false), before)
      await level.close()
    } catch (error) {
      this.#log.error({ err: error }, 'the stored settings cannot be read either; defaults are used until they can')
      this.#trouble('store-unreadable', `the settings cannot be read (${reasonOf(error)}): defaults are used`)
    } finally {
      if (copy !== undefined) await rm(copy, { recursive: true, force: true })
    }
  }

  #trouble(code: string, text: string): void {
    this.#log.error({ code }, text)
    this.troubles.push({ code, text })
  }

  #removeTrouble(code: string): void {
    const index = this.troubles.findIndex((trouble) => trouble.code === code)
    if (index >= 0) this.troubles.splice(index, 1)
  }
}
