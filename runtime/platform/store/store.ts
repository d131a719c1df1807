/**
 * The non-volatile storage: namespaced JSON values, all of them in memory, durable before a write is answered. On disk there
 * are two generations of one snapshot; each write replaces the older one, so one whole state is there at any moment.
 */
import { resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Dispose } from '../../../schemas/event.js'
import { messageOf, RtkError } from '../../errors.js'
import { disk, type FileSystem } from '../files/disk.js'
import { systemCode } from '../files/durable-file.js'
import { FolderLock } from '../files/folder-lock.js'
import { type Clock, systemClock } from '../ports/clock.js'
import { Generations, isDenied } from './generations.js'
import { type Contents, copyOf, type StoreTrouble, setText, tooLarge } from './snapshot.js'
import { failureTrouble, foreignTrouble, lateTrouble, lossTrouble } from './store-troubles.js'

export type { StoreTrouble } from './snapshot.js'

export interface StoreOps {
  namespace: string
  key: string
  /** Any JSON value; undefined deletes. */
  value: unknown
}

export interface BatchOptions {
  /** The start makes this change: the reports of damage have not been seen yet, so they stay. */
  atStart?: boolean
}

export interface Store {
  get(namespace: string, key: string): Promise<unknown>
  entries(namespace: string): Promise<Record<string, unknown>>
  /** Namespaces with at least one entry. */
  namespaces(): Promise<string[]>
  /**
   * Atomic, and durable when it resolves. Replaced values of a protected namespace disappear from the files a moment
   * later.
   * @throws RTK_ERR_STORE_WRITE when it could not be made durable or makes the store too large; nothing was written then.
   */
  batch(ops: readonly StoreOps[], options?: BatchOptions): Promise<void>
  /**
   * Deletes everything that is not protected, in one durable write. From its begin only protected data is taken, so that no pending write
   * survives it. @throws RTK_ERR_STORE_WRITE; then nothing was deleted, and everything is taken again
   */
  factory(): Promise<void>
  /**
   * Keeps a copy of the current state beside later writes: a newer version installed now may write data that this
   * version cannot read. Then this version uses the copy. Durable when it resolves. @throws RTK_ERR_STORE_WRITE
   */
  keepCopy(): Promise<void>
  /** The running version stays: the copy is removed. */
  dropCopy(): Promise<void>
  close(): Promise<void>
  /** Current troubles. */
  readonly troubles: readonly StoreTrouble[]
  /** Calls `listener` at each change of `troubles`. */
  onTroubles(listener: () => void): void
}

/** Where the values of `ctx.store` are. */
export const pluginNamespace = (plugin: string) => `plugin.${plugin}`

const protectedPrefix = 'protected.'

/** Where secrets are: nothing outside shows them, and a factory reset keeps them. */
export const isProtected = (namespace: string): boolean => namespace.startsWith(protectedPrefix)

/** The namespace of change parameters: a person who changes a setting has seen the reports of damage. */
const settings = 'config'

/** Files that were deleted are written again, and a write that failed is retried, after at most this. */
const upkeep_ms = 30_000

export interface StoreOptions {
  clock?: Clock
  fs?: FileSystem
}

/**
 * Opens the store in `folder`, which is created if it is missing. Damage never keeps it from opening: it starts with
 * the newest intact state, and `troubles` lists possible losses. On a full or read-only disk it refuses every write
 * until the disk takes writes again.
 * @throws RTK_ERR_DATA_LOCKED when another process holds it; RTK_ERR_DATA_FOLDER when this user may not use the folder.
 */
export async function openStore(folder: string, log: Logger, options: StoreOptions = {}): Promise<Store> {
  const store = new SnapshotStore(resolve(folder), log, options)
  await store.open()
  return store
}

/** Changes `draft`. */
type Edit = (draft: Contents) => void

interface Waiting {
  edit: Edit
  /** Whether it changes a setting. */
  settings: boolean
  resolve(): void
  reject(error: unknown): void
}

class SnapshotStore implements Store {
  readonly #folder: string
  readonly #log: Logger
  readonly #clock: Clock
  readonly #files: Generations
  readonly #lock: FolderLock
  readonly #listeners: (() => void)[] = []
  #contents: Contents = new Map()
  /** The number of the newest generation; 0 before the first one. */
  #number = 0
  #reports: readonly StoreTrouble[] = []
  /** Files to write again: 1 if the older one holds a replaced secret, 2 if another program changed them. */
  #stale = 0
  /** False while the files could not even be read: their content is merged before the first write. */
  #loaded = false
  /** Why the last write failed. */
  #failure: StoreTrouble | undefined
  /** The files were read after the start only. */
  #late: StoreTrouble | undefined
  #waiting: Waiting[] = []
  #writer: Promise<void> | undefined
  #cancelUpkeep: Dispose | undefined
  #closed = false
  /** A factory reset has begun. */
  #sealed = false

  constructor(folder: string, log: Logger, { clock = systemClock, fs = disk }: StoreOptions) {
    this.#folder = folder
    this.#log = log
    this.#clock = clock
    this.#files = new Generations(folder, fs)
    this.#lock = new FolderLock(folder, fs)
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

  get troubles(): readonly StoreTrouble[] {
    return [...this.#reports, this.#late, this.#failure].filter((trouble) => trouble !== undefined)
  }

  onTroubles(listener: () => void): void {
    this.#listeners.push(listener)
  }

  // ── writing ───────────────────────────────────────────────────────────────────────────────────────────────────────

  async batch(ops: readonly StoreOps[], { atStart = false }: BatchOptions = {}): Promise<void> {
    if (this.#sealed) refuseUnprotected(ops)
    const texts = ops.map(encode)
    if (ops.length === 0 && !this.#closed) return
    const edit: Edit = (draft) => {
      for (const [index, { namespace, key }] of ops.entries()) setText(draft, namespace, key, texts[index])
    }
    await this.#commit(edit, !atStart && ops.some(({ namespace }) => namespace === settings))
  }

  async factory(): Promise<void> {
    this.#sealed = true
    try {
      // Cleared data must not come back with the previous version.
      await this.#files.dropCopy(true).catch((error) => {
        throw refused(messageOf(error), error)
      })
      await this.#commit((draft) => {
        for (const namespace of [...draft.keys()]) if (!isProtected(namespace)) draft.delete(namespace)
      }, true)
    } catch (error) {
      this.#sealed = false
      throw error
    }
  }

  async keepCopy(): Promise<void> {
    await this.#commit(() => {})
    const state = { number: this.#number, contents: this.#contents, reports: this.#reports, settle: false }
    await this.#files.keepCopy(state).catch((error) => {
      throw refused(messageOf(error), error)
    })
  }

  async dropCopy(): Promise<void> {
    await this.#files.dropCopy().catch((error) => {
      this.#log.warn({ err: error }, `the copy of the settings from before the update stays: ${messageOf(error)}`)
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    void this.#cancelUpkeep?.()
    await this.#writer
    await this.#lock.release()
  }

  /** Resolves when the edit is durable. Those that wait for the same write become durable together. */
  #commit(edit: Edit, changesSettings = false): Promise<void> {
    if (this.#closed) return Promise.reject(refused('the store is closed'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ edit, settings: changesSettings, resolve, reject })
      this.#writer ??= this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0 || (this.#stale > 0 && !this.#failure)) {
        const group = this.#waiting.splice(0)
        try {
          await this.#write(group)
          this.#setFailure(undefined)
          for (const { resolve } of group) resolve()
        } catch (error) {
          this.#setFailure(error)
          for (const { reject } of group) reject(refused(messageOf(error), error))
        }
      }
    } finally {
      // Not a step later: an edit that came in between would find a writer, and wait for the next one.
      this.#writer = undefined
    }
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    await this.#files.makeFolder()
    await this.#lock.take()
    const seen = this.#reports
    if (!this.#loaded) await this.#loadLate()
    else if (await this.#files.wereTouched()) await this.#foreignHands()
    // Content comes from the third generation on: so a file that is missing later is known to have been there.
    while (this.#number < 2) await this.#save(this.#contents, this.#reports)
    const { draft, accepted } = this.#draft(group)
    if (accepted.length === 0 && group.length > 0) return
    const changed = accepted.some((one) => one.settings)
    await this.#save(draft, changed ? this.#reports.filter((report) => !seen.includes(report)) : this.#reports)
  }

  /** The next contents. An edit that would make them too large is refused alone. */
  #draft(group: readonly Waiting[]): { draft: Contents; accepted: readonly Waiting[] } {
    let draft = copyOf(this.#contents)
    for (const { edit } of group) edit(draft)
    if (tooLarge(this.#contents, draft) === undefined) return { draft, accepted: group }
    draft = copyOf(this.#contents)
    const accepted = group.filter(({ edit, reject }) => {
      const next = copyOf(draft)
      edit(next)
      const problem = tooLarge(draft, next)
      if (problem) reject(problem)
      else draft = next
      return !problem
    })
    return { draft, accepted }
  }

  async #save(contents: Contents, reports: readonly StoreTrouble[]): Promise<void> {
    const stale = Math.max(this.#stale - 1, replacesSecret(this.#contents, contents) ? 1 : 0)
    const number = this.#number + 1
    await this.#files.write({ number, contents, reports, settle: stale > 0 })
    this.#number = number
    this.#contents = contents
    this.#stale = stale
    this.#setReports(reports)
  }

  /** The state in memory wins, and is written again. */
  async #foreignHands(): Promise<void> {
    await this.#files.acceptState()
    this.#stale = 2
    const others = this.#reports.filter(({ code }) => code !== 'store-changed')
    this.#setReports([...others, this.#report(foreignTrouble(this.#folder))])
  }

  async #keepUp(): Promise<void> {
    const needed = this.#failure !== undefined || (!this.#writer && (await this.#files.wereTouched()))
    if (needed) await this.#commit(() => {}).catch(() => {})
    if (!this.#closed) this.#cancelUpkeep = this.#clock.timer(upkeep_ms, () => void this.#keepUp())
  }

  // ── opening ───────────────────────────────────────────────────────────────────────────────────────────────────────

  async open(): Promise<void> {
    await this.#files.makeFolder().catch((error) => {
      if (systemCode(error) === 'ENOTDIR') throw this.#denied(error)
    })
    const locked = await this.#lock.take().catch((error) => {
      if (error instanceof RtkError) throw error
      return false
    })
    if (!locked) this.#log.warn('the store is not locked: a second service on this data folder would not be noticed')
    try {
      await this.#load().catch((error) => {
        if (isDenied(error)) throw this.#denied(error)
      })
      // Shows whether the disk takes writes, and brings both files to the same state.
      await this.#commit(() => {}).catch(() => {})
      this.#cancelUpkeep = this.#clock.timer(upkeep_ms, () => void this.#keepUp())
    } catch (error) {
      await this.#lock.release()
      throw error
    }
  }

  async #load(): Promise<void> {
    const found = await this.#files.read()
    const { snapshot, loss } = found
    const trouble = lossTrouble(found, this.#folder)
    this.#contents = snapshot.contents
    this.#number = snapshot.number
    this.#stale = loss === 'newer' ? 2 : snapshot.settle ? 1 : 0
    this.#loaded = true
    this.#setReports([...snapshot.reports, ...(trouble ? [this.#report(trouble)] : [])])
  }

  async #loadLate(): Promise<void> {
    await this.#load()
    this.#late = lateTrouble
  }

  // ── what is reported ──────────────────────────────────────────────────────────────────────────────────────────────

  #denied(error: unknown): RtkError {
    return new RtkError('RTK_ERR_DATA_FOLDER', `${this.#folder} cannot be used: ${messageOf(error)}`, { cause: error })
  }

  #report({ code, text }: StoreTrouble): StoreTrouble {
    this.#log.error({ code }, text)
    return { code, text: `${text}. This entry goes with the next change of a setting.` }
  }

  #setReports(reports: readonly StoreTrouble[]): void {
    const before = this.#reports
    this.#reports = reports
    if (reports.length !== before.length || reports.some((report) => !before.includes(report))) this.#tell()
  }

  #setFailure(error: unknown): void {
    if (error === undefined && this.#failure === undefined) return
    const before = this.#failure?.text
    this.#failure = error === undefined ? undefined : failureTrouble(error, this.#folder, this.#loaded)
    if (this.#failure === undefined) this.#log.info('the store takes writes again')
    else if (this.#failure.text !== before)
      this.#log.error({ err: error, code: this.#failure.code }, this.#failure.text)
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** @throws RTK_ERR_STORE_WRITE */
export function refuseUnprotected(ops: readonly StoreOps[]): void {
  if (ops.every(({ namespace }) => isProtected(namespace))) return
  throw new RtkError('RTK_ERR_STORE_WRITE', 'a factory reset is under way: nothing was changed')
}

const refused = (reason: string, cause?: unknown) =>
  new RtkError('RTK_ERR_STORE_WRITE', `the store could not be written: ${reason}; nothing was changed`, { cause })

function encode({ namespace, key, value }: StoreOps): string | undefined {
  if (value === undefined) return undefined
  try {
    const json = JSON.stringify(value) as string | undefined
    if (json !== undefined) return json
  } catch {}
  throw new RtkError('RTK_ERR_STORE_WRITE', `${namespace}/${key}: the value is not JSON; nothing was written`)
}

function replacesSecret(before: Contents, after: Contents): boolean {
  for (const [namespace, entries] of before) {
    if (!isProtected(namespace)) continue
    for (const [key, json] of entries) if (after.get(namespace)?.get(key) !== json) return true
  }
  return false
}
