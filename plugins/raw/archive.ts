/** The archive on disk: a file for each hour, compressed when the hour is over, the oldest deleted for room. */
import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { type PluginContext, readPlain, replaceFile } from 'rtk-base/plugin'
import { type Contents, contentsOf } from './contents.js'

const hour_ms = 3_600_000
const day_ms = 86_400_000

export interface ArchiveBounds {
  readonly size_bytes: number
  /** Left free for everything else on the disk. */
  readonly free_bytes: number
  readonly days: number
}

/** Something that happened to the station, beside its observations. */
export interface ArchiveNote {
  /** UTC milliseconds. */
  readonly t: number
  readonly what: NoteName
}
export const noteNames = ['moved', 'antenna-open', 'antenna-short', 'receiver-restarted'] as const
export type NoteName = (typeof noteNames)[number]

/** A file of the archive. */
export interface ArchivedHour {
  /** Its first hour, UTC milliseconds. */
  readonly hour_ms: number
  readonly name: string
  readonly bytes: number
  readonly isOpen: boolean
  readonly contents: Contents | undefined
}

const open_ = /^(\d{8}T\d{2})(?:-(\d{1,3}))?\.rtcm3$/
const closed = /^(\d{8}T\d{2})(?:-(\d{1,3}))?\.rtcm3\.gz$/
const notesName = 'notes.jsonl'
const mostNotes_bytes = 262_144
const mostFilesOfHour = 100
/** Written at once when so much waits, or after so long. */
const portion_bytes = 16_384
const mostQueued_bytes = 262_144
const write_ms = 10_000
const sync_ms = 60_000
const retry_ms = 30_000

/** `20261127T17`. */
const stamp = (at_ms: number) => `${new Date(at_ms).toISOString().slice(0, 13).replaceAll('-', '')}`
const hourOf = (text: string) =>
  Date.parse(`${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 8)}T${text.slice(9, 11)}:00:00Z`)

/**
 * Bytes are appended in the background, in order, and are durable within a minute: a power cut loses at most that. The queue is bounded,
 * so that a slow or full disk delays nothing. No method throws for the disk's sake but `read`.
 */
export class Archive {
  readonly #path: () => Promise<string>
  readonly #bounds: ArchiveBounds
  readonly #clock: PluginContext['clock']
  readonly #trouble: (text: string | undefined) => void
  #queue: Uint8Array[] = []
  #queued_bytes = 0
  /** Of the bytes that wait. */
  #queuedHour_ms = 0
  #file: { readonly handle: FileHandle; readonly name: string; readonly hour_ms: number } | undefined
  #writtenAt_ms = 0
  #syncedAt_ms = 0
  #isDirty = false
  #retryAt_ms = Number.NEGATIVE_INFINITY
  #working: Promise<void> = Promise.resolve()
  /** Bytes that were given up because the disk did not take them. */
  lost_bytes = 0

  /**
   * @param path the folder; rejects while it cannot be used
   * @param trouble the disk takes no bytes, or does again (undefined)
   */
  constructor(
    path: () => Promise<string>,
    bounds: ArchiveBounds,
    clock: PluginContext['clock'],
    trouble: (text: string | undefined) => void,
  ) {
    this.#path = path
    this.#bounds = bounds
    this.#clock = clock
    this.#trouble = trouble
  }

  /** @param utc_ms the time now @returns false: given up, because the disk is slow or fails */
  append(bytes: Uint8Array, utc_ms: number): boolean {
    const now_ms = this.#clock.monotonic()
    if (now_ms < this.#retryAt_ms || this.#queued_bytes + bytes.length > mostQueued_bytes) {
      this.lost_bytes += bytes.length
      return false
    }
    const hour = Math.floor(utc_ms / hour_ms) * hour_ms
    if (hour !== this.#queuedHour_ms) this.#write()
    this.#queuedHour_ms = hour
    this.#queue.push(bytes)
    this.#queued_bytes += bytes.length
    if (this.#queued_bytes >= portion_bytes || now_ms - this.#writtenAt_ms >= write_ms) this.#write()
    return true
  }

  /** Durable when it resolves, unless the disk takes no bytes. The oldest are given up beyond some thousands. */
  note(what: NoteName, utc_ms: number): Promise<void> {
    const line = `${JSON.stringify({ t: utc_ms, what })}\n`
    return this.#enqueue('aside', async () => {
      const file = join(await this.#path(), notesName)
      const handle = await open(file, 'a', 0o600)
      try {
        await handle.write(line)
        await handle.datasync()
        if ((await handle.stat()).size < mostNotes_bytes) return
      } finally {
        await handle.close()
      }
      const lines = (await readPlain(file, 2 * mostNotes_bytes)).toString().split('\n')
      await replaceFile(file, lines.slice(lines.length / 2).join('\n'))
    })
  }

  /** Oldest first. A line that a power cut has torn is left out. */
  async notes(from_ms: number, to_ms: number): Promise<ArchiveNote[]> {
    const text = await readPlain(join(await this.#path(), notesName), 2 * mostNotes_bytes).catch(() => '')
    return `${text}`
      .split('\n')
      .flatMap(noteOf)
      .filter(({ t }) => t >= from_ms && t < to_ms)
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
    const hour = Math.floor(utc_ms / hour_ms) * hour_ms
    return this.#enqueue('aside', async () => {
      const path = await this.#path()
      for (const name of (await readdir(path)).filter((name) => name.endsWith('.part'))) await rm(join(path, name))
      await this.#prune(path, utc_ms)
      if (this.#file && this.#file.hour_ms !== hour) await this.#closeFile()
      for (const name of (await readdir(path)).filter((name) => open_.test(name))) {
        if (name !== this.#file?.name && hourOf(name) !== hour) await compress(path, name).catch(() => {})
      }
      await this.#prune(path, utc_ms)
    })
  }

  /** Oldest first. */
  async list(): Promise<ArchivedHour[]> {
    const path = await this.#path()
    const found: (ArchivedHour & { readonly part: number })[] = []
    for (const name of await readdir(path)) {
      const [, hour, part = 0] = open_.exec(name) ?? closed.exec(name) ?? []
      if (hour === undefined || !Number.isFinite(hourOf(hour))) continue
      const { size } = await stat(join(path, name)).catch(() => ({ size: 0 }))
      const contents = open_.test(name) ? undefined : await readContents(path, name)
      found.push({ hour_ms: hourOf(hour), part: Number(part), name, bytes: size, isOpen: open_.test(name), contents })
    }
    return found.sort((p, q) => p.hour_ms - q.hour_ms || p.part - q.part)
  }

  /**
   * The bytes of the hours that a span touches, in pieces that leave time for everything else in between. What a power cut has torn off, and
   * what cannot be read, is left out.
   */
  async *read(from_ms: number, to_ms: number): AsyncGenerator<{ hour_ms: number; bytes: Uint8Array }> {
    await this.flush()
    const path = await this.#path()
    for (const { hour_ms: start_ms, isOpen, name } of await this.list()) {
      if (start_ms + hour_ms <= from_ms || start_ms >= to_ms) continue
      // The hour may have ended since: its file is compressed then.
      const isThere = !isOpen || (await stat(join(path, name)).catch(() => undefined)) !== undefined
      for await (const bytes of piecesOf(join(path, isThere ? name : `${name}.gz`))) yield { hour_ms: start_ms, bytes }
    }
  }

  #write(): void {
    if (this.#queue.length === 0) return
    const hour = this.#queuedHour_ms
    const bytes = Buffer.concat(this.#queue)
    this.#queue = []
    this.#writtenAt_ms = this.#clock.monotonic()
    void this.#enqueue('write', async () => {
      try {
        await this.#appendNow(bytes, hour)
        this.#trouble(undefined)
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
      const path = await this.#path()
      const { name } = this.#file
      await this.#closeFile()
      // Else `tidy` tries it again.
      await compress(path, name).catch(() => {})
    }
    this.#file ??= await this.#openFile(hour)
    const { handle, name } = this.#file
    for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten
    this.#isDirty = true
    const now_ms = this.#clock.monotonic()
    if (now_ms - this.#syncedAt_ms < sync_ms) return
    this.#syncedAt_ms = now_ms
    await handle.datasync()
    this.#isDirty = false
    // Somebody may have moved the folder, or deleted the file.
    const [there, own] = await Promise.all([stat(join(await this.#path(), name)), handle.stat()])
    if (there.ino !== own.ino) throw new Error(`${name} is not the file that was opened`)
  }

  /** The file of the hour continues after a restart. A second one begins when the clock was set back behind a closed one. */
  async #openFile(hour: number) {
    const path = await this.#path()
    await this.#prune(path, hour)
    const names = await readdir(path)
    for (let part = 0; part < mostFilesOfHour; part++) {
      const name = `${stamp(hour)}${part === 0 ? '' : `-${part}`}.rtcm3`
      if (names.includes(`${name}.gz`)) continue
      return { handle: await open(join(path, name), 'a', 0o600), name, hour_ms: hour }
    }
    throw new Error(`the clock was set back too often: ${stamp(hour)} has ${mostFilesOfHour} files`)
  }

  async #closeFile(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    if (this.#isDirty) await file?.handle.datasync()
    this.#isDirty = false
    await file?.handle.close()
  }

  /** @throws if there is no room even without all closed files */
  async #prune(path: string, utc_ms: number): Promise<void> {
    const { days, free_bytes, size_bytes } = this.#bounds
    const files = await this.list()
    let total = files.reduce((sum, { bytes }) => sum + bytes, 0)
    const old = files.filter(({ name }) => name !== this.#file?.name)
    const drop = async ({ bytes, name }: ArchivedHour) => {
      // Something else of that name, such as a folder, goes too.
      await rm(join(path, name), { force: true, recursive: true }).catch(() => {})
      await rm(join(path, contentsName(name)), { force: true, recursive: true }).catch(() => {})
      total -= bytes
    }
    for (;;) {
      const { bavail, bsize } = await statfs(path)
      const isShort = bavail * bsize < free_bytes
      const [oldest] = old
      const isOld = oldest !== undefined && oldest.hour_ms < utc_ms - days * day_ms
      if (!isShort && total <= size_bytes && !isOld) return
      if (oldest === undefined) {
        if (!isShort) return
        throw new Error(`less than ${Math.round(free_bytes / 1_048_576)} MB are free on the disk`)
      }
      await drop(oldest)
      old.shift()
    }
  }

  /** One after the other. After a write that failed, the disk is left alone for a while. */
  #enqueue(kind: 'write' | 'aside', work: () => Promise<void>): Promise<void> {
    this.#working = this.#working.then(work).catch(async (error: Error) => {
      this.#trouble(error.message)
      if (kind === 'aside') return
      this.#retryAt_ms = this.#clock.monotonic() + retry_ms
      await this.#file?.handle.close().catch(() => {})
      this.#file = undefined
    })
    return this.#working
  }
}

const contentsName = (name: string) => `${name.replace(/\.gz$/, '')}.json`

function noteOf(line: string): ArchiveNote[] {
  try {
    const { t, what } = JSON.parse(line) as ArchiveNote
    return Number.isFinite(t) && noteNames.includes(what) ? [{ t, what }] : []
  } catch {
    return []
  }
}

/** Ends quietly where the file does, or where it cannot be read. */
async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  // A pipe or a device of that name would never end.
  if (!(await stat(path).catch(() => undefined))?.isFile()) return
  const file = createReadStream(path, { highWaterMark: portion_bytes })
  const bytes = path.endsWith('.gz') ? file.pipe(createGunzip({ chunkSize: portion_bytes })) : file
  file.on('error', (error) => bytes.destroy(error))
  const pieces = bytes[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  try {
    for (;;) {
      const piece = await pieces.next().catch(() => undefined)
      if (!piece || piece.done) return
      yield piece.value
      await setImmediate()
    }
  } finally {
    file.destroy()
    bytes.destroy()
  }
}

/** The file that takes the place of the open one is complete and durable before it does. */
async function compress(path: string, name: string): Promise<void> {
  const found = await stat(join(path, name))
  if (!found.isFile()) return
  if (found.size === 0) return rm(join(path, name))
  const source = join(path, name)
  const part = join(path, `${name}.gz.part`)
  const contents = await contentsOf(createReadStream(source, { highWaterMark: portion_bytes }))
  try {
    await pipeline(createReadStream(source), createGzip(), createWriteStream(part, { mode: 0o600, flush: true }))
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
  await writeFile(join(path, contentsName(name)), JSON.stringify(contents), { mode: 0o600 })
  await rename(part, join(path, `${name}.gz`))
  await rm(source)
}

async function readContents(path: string, name: string): Promise<Contents | undefined> {
  try {
    return JSON.parse((await readPlain(join(path, contentsName(name)), 4_096)).toString()) as Contents
  } catch {
    return undefined
  }
}

/** The folder `rtk-base-raw` on another disk, which must be mounted. */
export async function folderOn(disk: string, dataFolder: string): Promise<string> {
  const [given, data] = await Promise.all([stat(disk), stat(dataFolder)])
  if (given.dev === data.dev) throw new Error(`${disk} is on the disk of the data folder: is the other disk mounted?`)
  const path = join(disk, 'rtk-base-raw')
  await mkdir(path, { recursive: true, mode: 0o700 })
  return path
}
