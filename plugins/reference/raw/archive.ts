/** The archive on disk: a file for each hour, compressed when the hour is over, the oldest deleted for room. */

import { join } from 'node:path'
import { disk, type FileHandle } from 'rtk-base/files'
import type { PluginContext } from 'rtk-base/plugin'
import { type ArchiveBounds, excess, reserveOf, shortText, spaceOf } from './bounds.js'
import {
  type ArchivedHour,
  compress,
  HourIndex,
  hour_ms,
  hourName,
  hourOf,
  piecesOf,
  portion_bytes,
  removeHour,
} from './hour-files.js'
import { type ArchiveNote, addNote, type NoteName, readNotes } from './notes.js'

const mostFilesOfHour = 100
/** Bytes are written when a portion waits, or after so long. */
const mostQueued_bytes = 262_144
const write_ms = 10_000
const sync_ms = 60_000
const retry_ms = 30_000

export interface ArchiveDeps {
  /** The folder; rejects while it cannot be used. */
  readonly path: () => Promise<string>
  readonly bounds: ArchiveBounds
  readonly clock: PluginContext['clock']
  /** The disk takes no bytes, or does again (undefined). */
  readonly onTrouble: (text: string | undefined) => void
  /** An hour was deleted to keep the bounds. */
  readonly onDelete?: (hour: ArchivedHour) => void
}

/**
 * Bytes are appended in the background, in order, and are durable within a minute: a power cut loses at most that. The queue is bounded,
 * so that a slow or full disk delays nothing: `append`, `note`, `flush`, `tidy` and `close` never throw for the disk's sake.
 */
export class Archive {
  readonly #deps: ArchiveDeps
  readonly #index = new HourIndex()
  #queue: Uint8Array[] = []
  #queued_bytes = 0
  /** The hour of the bytes that wait. */
  #queuedHour_ms = 0
  #file: { readonly handle: FileHandle; readonly name: string; readonly hour_ms: number } | undefined
  #writtenAt_ms = 0
  #syncedAt_ms = 0
  #isDirty = false
  #retryAt_ms = Number.NEGATIVE_INFINITY
  #working: Promise<void> = Promise.resolve()
  /** Bytes that were given up because the disk did not take them. */
  lost_bytes = 0

  constructor(deps: ArchiveDeps) {
    this.#deps = deps
  }

  /** @param utc_ms the time now @returns false: given up, because the disk is slow or fails */
  append(bytes: Uint8Array, utc_ms: number): boolean {
    const now_ms = this.#deps.clock.monotonic()
    if (now_ms < this.#retryAt_ms || this.#queued_bytes + bytes.length > mostQueued_bytes) {
      this.lost_bytes += bytes.length
      return false
    }
    const hour = hourOf(utc_ms)
    if (hour !== this.#queuedHour_ms) this.#write()
    this.#queuedHour_ms = hour
    this.#queue.push(bytes)
    this.#queued_bytes += bytes.length
    if (this.#queued_bytes >= portion_bytes || now_ms - this.#writtenAt_ms >= write_ms) this.#write()
    return true
  }

  /** Durable when it resolves, unless the disk takes no bytes. The oldest are given up beyond some thousands. */
  note(what: NoteName, utc_ms: number): Promise<void> {
    return this.#enqueue('aside', async () => addNote(await this.#deps.path(), { t: utc_ms, what }))
  }

  /** Oldest first. @throws while the folder cannot be used */
  async notes(from_ms: number, to_ms: number): Promise<ArchiveNote[]> {
    return (await readNotes(await this.#deps.path())).filter(({ t }) => t >= from_ms && t < to_ms)
  }

  /** Everything that was appended is on the disk, or lost. */
  async flush(): Promise<void> {
    this.#write()
    await this.#working
  }

  async close(): Promise<void> {
    await this.flush()
    await this.#enqueue('write', () => this.#closeFile())
  }

  /**
   * Files that were left open, as by a power cut, are closed except that of this hour, and the bounds are kept. A file that cannot be
   * compressed stays as it is, and goes when it is the oldest.
   * @param utc_ms 0: not known, nothing is done
   */
  tidy(utc_ms: number): Promise<void> {
    if (utc_ms === 0) return this.#working
    const hour = hourOf(utc_ms)
    return this.#enqueue('aside', async () => {
      const path = await this.#deps.path()
      for (const name of (await disk.readdir(path)).filter((name) => name.endsWith('.part')))
        await disk.rm(join(path, name))
      await this.#prune(path, utc_ms)
      if (this.#file && this.#file.hour_ms !== hour) await this.#closeFile()
      for (const { hour_ms: start_ms, isOpen, name } of await this.#index.list(path)) {
        if (isOpen && start_ms !== hour && name !== this.#file?.name) await compress(path, name).catch(() => {})
      }
      await this.#prune(path, utc_ms)
    })
  }

  /** Oldest first. @throws while the folder cannot be used */
  async list(): Promise<ArchivedHour[]> {
    return this.#index.list(await this.#deps.path())
  }

  /** Where a file of the list is. */
  async fileOf({ name }: ArchivedHour): Promise<string> {
    return join(await this.#deps.path(), name)
  }

  /** Durable when it resolves. @returns false: the file has been deleted meanwhile @throws an error of the file system */
  async markPushed({ name }: ArchivedHour, utc_s: number): Promise<boolean> {
    return this.#index.markPushed(await this.#deps.path(), name, utc_s)
  }

  /** Closed hours that the bounds will soon delete. @param ahead_ms how soon */
  async endangered(utc_ms: number, ahead_ms: number): Promise<readonly ArchivedHour[]> {
    const path = await this.#deps.path()
    const hours = await this.#index.list(path)
    const closed = hours.filter(({ isOpen }) => !isOpen)
    const largest = Math.max(0, ...hours.slice(-24).map(({ bytes }) => bytes))
    const coming_bytes = (largest * ahead_ms) / hour_ms
    const { free_bytes, total_bytes } = await spaceOf(path)
    const space = { total_bytes, free_bytes: free_bytes - coming_bytes }
    return excess(closed, coming_bytes, this.#deps.bounds, space, utc_ms + ahead_ms)
  }

  /**
   * The bytes of the hours that a span touches, in pieces that leave time for everything else in between. What a power cut has torn off, and
   * what cannot be read, is left out.
   */
  async *read(from_ms: number, to_ms: number): AsyncGenerator<{ hour_ms: number; bytes: Uint8Array }> {
    await this.flush()
    const path = await this.#deps.path()
    for (const { hour_ms: start_ms, isOpen, name } of await this.list()) {
      if (start_ms + hour_ms <= from_ms || start_ms >= to_ms) continue
      // The hour may have ended since: its file is compressed then.
      const isThere = !isOpen || (await disk.stat(join(path, name)).catch(() => undefined)) !== undefined
      for await (const bytes of piecesOf(join(path, isThere ? name : `${name}.gz`))) yield { hour_ms: start_ms, bytes }
    }
  }

  #write(): void {
    if (this.#queue.length === 0) return
    const hour = this.#queuedHour_ms
    const bytes = Buffer.concat(this.#queue)
    this.#queue = []
    this.#writtenAt_ms = this.#deps.clock.monotonic()
    void this.#enqueue('write', async () => {
      try {
        await this.#appendNow(bytes, hour)
        this.#deps.onTrouble(undefined)
      } catch (error) {
        this.lost_bytes += bytes.length
        throw error
      } finally {
        // Until here they wait, also in front of a disk that hangs.
        this.#queued_bytes -= bytes.length
      }
    })
  }

  async #appendNow(bytes: Uint8Array, hour: number): Promise<void> {
    if (this.#file && this.#file.hour_ms !== hour) {
      const path = await this.#deps.path()
      const { name } = this.#file
      await this.#closeFile()
      // Else `tidy` tries it again.
      await compress(path, name).catch(() => {})
    }
    this.#file ??= await this.#openFile(hour)
    const now_ms = this.#deps.clock.monotonic()
    const isDue = now_ms - this.#syncedAt_ms >= sync_ms
    // Something else may be filling the disk.
    if (isDue) await this.#prune(await this.#deps.path(), hour)
    const { handle, name } = this.#file
    for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten
    this.#isDirty = true
    if (!isDue) return
    this.#syncedAt_ms = now_ms
    await handle.datasync()
    this.#isDirty = false
    // Somebody may have moved the folder, or deleted the file.
    const [there, own] = await Promise.all([disk.stat(join(await this.#deps.path(), name)), handle.stat()])
    if (there.ino !== own.ino) throw new Error(`${name} is not the file that was opened`)
  }

  /** The file of the hour continues after a restart. A second one begins when the clock was set back behind a closed one. */
  async #openFile(hour: number) {
    const path = await this.#deps.path()
    await this.#prune(path, hour)
    const names = await disk.readdir(path)
    for (let part = 0; part < mostFilesOfHour; part++) {
      const name = hourName(hour, part)
      if (names.includes(`${name}.gz`)) continue
      return { handle: await disk.open(join(path, name), 'a', 0o600), name, hour_ms: hour }
    }
    throw new Error(`the clock was set back too often: ${hourName(hour, 0)} has ${mostFilesOfHour} parts`)
  }

  async #closeFile(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    if (this.#isDirty) await file?.handle.datasync()
    this.#isDirty = false
    await file?.handle.close()
  }

  /** Never deletes the open file of this hour. @throws if there is no room even without all closed files */
  async #prune(path: string, utc_ms: number): Promise<void> {
    const { bounds, onDelete } = this.#deps
    const hour = hourOf(utc_ms)
    /** Files that cannot be deleted do not stop the rest. */
    const tried = new Set<string>()
    for (;;) {
      const hours = await this.#index.list(path)
      const isWritten = ({ hour_ms: start_ms, isOpen, name }: ArchivedHour) =>
        name === this.#file?.name || (isOpen && start_ms === hour)
      const written_bytes = hours.filter(isWritten).reduce((sum, { bytes }) => sum + bytes, 0)
      const old = hours.filter((one) => !isWritten(one) && !tried.has(one.name))
      const space = await spaceOf(path)
      const leaving = excess(old, written_bytes, bounds, space, utc_ms)
      for (const one of leaving) {
        tried.add(one.name)
        await removeHour(path, one.name)
        onDelete?.(one)
      }
      if (leaving.length > 0) continue
      if (space.free_bytes < reserveOf(bounds, space)) throw new Error(shortText(bounds, space))
      return
    }
  }

  /** One after the other. After a write that failed, the disk is left alone for a while. */
  #enqueue(kind: 'write' | 'aside', work: () => Promise<void>): Promise<void> {
    this.#working = this.#working.then(work).catch(async (error: Error) => {
      this.#deps.onTrouble(error.message)
      if (kind === 'aside') return
      this.#retryAt_ms = this.#deps.clock.monotonic() + retry_ms
      await this.#file?.handle.close().catch(() => {})
      this.#file = undefined
    })
    return this.#working
  }
}
