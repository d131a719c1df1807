import { join } from 'node:path'
import { disk, type FileHandle, readPlain, syncFolder } from 'rtk-base/files'
import type { DataDir, PluginContext } from 'rtk-base/plugin'

const nameOf = (number: number) => `${String(number).padStart(8, '0')}.record`
const pattern = /^(\d{8,15})\.record$/
/** Twice the largest file written; larger files are not read. */
const largest_bytes = 16_777_216
/** Lines that wait for the disk at most. */
const mostQueued_bytes = 131_072
const portion_bytes = 4_096
/**
 * Unimportant lines wait in memory for this long, because each disk write costs flash about 20 kB of blocks and journal. An important
 * line makes all durable within the shorter time.
 */
const lazySync_ms = 600_000
const soonSync_ms = 2_000
/** A disk that takes no writes is tried again after so long. */
const retry_ms = 30_000

export interface RingOptions {
  /** May throw while the disk takes no writes. */
  dir(): DataDir
  segments: number
  segment_bytes: number
  /** The first lines of each file: with them it can be read without the ones before. */
  head(): string
  /** The disk takes no writes, or does again (undefined). */
  /** Told of each attempt to write. */
  trouble(error: Error | undefined): void
}

/**
 * Lines on disk: files of bounded size, the oldest dropped. Appended in the background, in order. The queue is bounded, so a slow or full
 * disk delays nothing. A power cut costs the line being written, and those not durable yet.
 */
export class RecordRing {
  readonly #ctx: PluginContext
  readonly #options: RingOptions
  #queue: string[] = []
  #queued_bytes = 0
  #file: FileHandle | undefined
  #size = 0
  #lost = 0
  #working: Promise<void> = Promise.resolve()
  #isWorking = false
  #isOpen = false
  #isFirst = true
  #retryAt_ms = Number.NEGATIVE_INFINITY
  #dirty = false
  #syncDue_ms = Number.POSITIVE_INFINITY
  #cancelSync: () => unknown = () => {}
  readonly #onExit = () => this.#flushNow()

  constructor(ctx: PluginContext, options: RingOptions) {
    this.#ctx = ctx
    this.#options = options
  }

  start(): void {
    this.#isOpen = true
    // Also if the process ends by an error: the last lines show it.
    process.on('exit', this.#onExit)
  }

  /** Durable when it resolves, unless the disk takes no writes. */
  async stop(): Promise<void> {
    await this.idle()
    this.#isOpen = false
    process.off('exit', this.#onExit)
    void this.#cancelSync()
    await this.#file?.datasync().catch(() => {})
    await this.#close()
  }

  /** Lines that were dropped since this was asked last. */
  takeLost(): number {
    const lost = this.#lost
    this.#lost = 0
    return lost
  }

  /** @param matters it is durable soon, and not within ten minutes */
  append(line: string, matters: boolean): void {
    if (line === '' || !this.#isOpen) return
    const now_ms = this.#ctx.clock.monotonic()
    if (now_ms < this.#retryAt_ms || this.#queued_bytes + line.length > mostQueued_bytes) {
      this.#lost += 1
      return
    }
    this.#queue.push(line)
    this.#queued_bytes += line.length
    this.#armSync(matters ? soonSync_ms : lazySync_ms)
    if (matters) this.#begin()
  }

  /** Everything that was appended is written, or lost. */
  async idle(): Promise<void> {
    while (this.#isWorking || this.#queue.length > 0) {
      this.#begin()
      await this.#working
    }
  }

  #begin(): void {
    if (!this.#isWorking) this.#working = this.#work()
  }

  /** The files, oldest first. */
  async *read(): AsyncGenerator<string> {
    await this.idle()
    yield* textsIn(this.#options.dir().path)
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    try {
      while (this.#queue.length > 0) {
        const lines = this.#portion()
        try {
          await this.#write(lines.join(''))
          this.#options.trouble(undefined)
        } catch (error) {
          this.#lost += lines.length
          await this.#failed(error as Error)
        }
      }
    } finally {
      this.#isWorking = false
    }
  }

  /** The disk is left alone for a while. */
  async #failed(error: Error): Promise<void> {
    this.#retryAt_ms = this.#ctx.clock.monotonic() + retry_ms
    await this.#close()
    this.#options.trouble(error)
  }

  /** The next lines, some kilobytes of them: a file becomes no longer than its size and that. */
  #portion(): string[] {
    let bytes = 0
    let count = 0
    while (count < this.#queue.length && bytes < portion_bytes) bytes += (this.#queue[count++] as string).length
    this.#queued_bytes -= bytes
    return this.#queue.splice(0, count)
  }

  async #write(text: string): Promise<void> {
    if (this.#file === undefined || this.#size >= this.#options.segment_bytes) await this.#next()
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; ) at += (await (this.#file as FileHandle).write(bytes, at)).bytesWritten
    this.#size += bytes.length
    this.#dirty = true
  }

  /** Continues the newest file or starts another, replacing the oldest if space is short. */
  async #next(): Promise<void> {
    const { segments, segment_bytes, head } = this.#options
    const dir = this.#options.dir()
    if (this.#file) {
      await this.#file.datasync()
      await this.#close()
    }
    const numbers = numbersIn(dir.path)
    const newest = numbersIn(dir.path, true).at(-1) ?? 0
    const path = join(dir.path, nameOf(newest))
    const size = newest > 0 && newest === numbers.at(-1) ? disk.statSync(path).size : segment_bytes
    if (size < segment_bytes) {
      this.#isFirst = false
      this.#file = await disk.open(path, 'a+', 0o600)
      this.#size = size
      // A line that a cut has torn ends here.
      if (size > 0 && (await lastByte(this.#file, size)) !== 0x0a) await this.#file.write('\n')
      return
    }
    while (numbers.length >= segments) drop(dir.path, numbers)
    for (;;) {
      try {
        await dir.ensureRoom(segment_bytes)
        break
      } catch (error) {
        if (numbers.length < 2) throw error
        drop(dir.path, numbers)
      }
    }
    this.#file = await disk.open(join(dir.path, nameOf(newest + 1)), 'ax', 0o600)
    // Its lines become durable later, and so must its name.
    await syncFolder(dir.path)
    this.#size = 0
    // The first line after a start contains the full situation.
    const bytes = Buffer.from(this.#isFirst ? '' : head())
    this.#isFirst = false
    await this.#file.write(bytes)
    this.#size = bytes.length
  }

  async #close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(() => {})
  }

  #armSync(within_ms: number): void {
    const now_ms = this.#ctx.clock.monotonic()
    const due_ms = now_ms + within_ms
    if (this.#syncDue_ms <= due_ms) return
    this.#syncDue_ms = due_ms
    void this.#cancelSync()
    this.#cancelSync = this.#ctx.timers.after(within_ms, () => this.#sync())
  }

  async #sync(): Promise<void> {
    this.#syncDue_ms = Number.POSITIVE_INFINITY
    await this.idle()
    if (!this.#dirty) return
    this.#dirty = false
    try {
      await this.#file?.datasync()
    } catch (error) {
      await this.#failed(error as Error)
    }
  }

  /** At process exit: writes the queue synchronously. */
  #flushNow(): void {
    const { fd } = this.#file ?? {}
    if (fd === undefined) return
    try {
      disk.writeSync(fd, this.#queue.join(''))
    } catch {}
  }
}

/** The files of a record, oldest first; one that cannot be read is left out. @throws without the folder */
export async function* textsIn(path: string): AsyncGenerator<string> {
  for (const number of numbersIn(path)) {
    const text = await readPlain(join(path, nameOf(number)), largest_bytes).catch(() => '')
    if (text.length > 0) yield text.toString()
  }
}

/** @param all including folders and links, which are not read and whose numbers are not reused */
function numbersIn(path: string, all = false): number[] {
  return disk
    .readdirSync(path, { withFileTypes: true })
    .flatMap((entry) => (all || entry.isFile() ? (pattern.exec(entry.name)?.[1] ?? []) : []))
    .map(Number)
    .sort((one, other) => one - other)
}

function drop(path: string, numbers: number[]): void {
  const [oldest] = numbers.splice(0, 1)
  if (oldest !== undefined) disk.rmSync(join(path, nameOf(oldest)), { force: true })
}

async function lastByte(file: FileHandle, size: number): Promise<number | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1)
  return bytesRead === 1 ? buffer[0] : undefined
}
