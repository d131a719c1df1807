import { Worker } from 'node:worker_threads'
import type { Logger } from 'pino'
import { messageOf } from '../../errors.js'
import type { LogForm } from '../log/journal.js'
import { beat, shareActivity } from './activity.js'
import { MemoryWatch, ownMemory } from './memory.js'
import { RunRecord, type Stall } from './run-record.js'
import { type Blocker, blockerOf, withStall } from './stalls.js'
import type { StallEnded, ThreadData, ToThread } from './thread.js'

/** How often the event loop shows that it turns. */
const beat_ms = 250
/** How often the memory is looked at. */
const memoryLook_ms = 1_000

export interface WatchdogOptions {
  /** Data folder: the record of the last run is kept there. */
  data: string
  log: Logger
  /** A block of the event loop is reported after this. */
  warn_ms: number
  /** The process is ended after this, so that it is started again; 0: never. */
  limit_ms: number
  /** Form of the watchdog's lines on the standard output. */
  form: LogForm
  /** Bytes that the process may use; 0: no limit. */
  memory_bytes: number
}

/**
 * Sees from a thread of its own when something blocks the event loop: reports plugin, file and line, and ends the
 * process at the limit. A plugin that ended the process is recorded, and kept out for a while after the restart.
 */
export class Watchdog {
  readonly #options: WatchdogOptions
  readonly record: RunRecord
  readonly #thread: Worker
  readonly #beats: NodeJS.Timeout
  readonly #stalled = new Set<(stall: StallEnded) => void>()
  readonly #alive = new Set<() => void>()
  readonly #exhausted = new Set<() => void>()
  /** The plugin of each script. */
  readonly #files = new Map<string, string>()
  #memory: { readonly watch: MemoryWatch; readonly looks: NodeJS.Timeout } | undefined

  constructor(options: WatchdogOptions) {
    const { data, warn_ms, limit_ms, form } = options
    this.#options = options
    this.record = new RunRecord(data)
    const early: ToThread[] = []
    let send: (message: ToThread) => void = (message) => early.push(message)
    const memory = shareActivity((plugin, number) => send({ plugin, number }))
    const workerData: ThreadData = { memory, warn_ms, limit_ms, record: this.record.path, form }
    // Without limits of its memory: a deep stack of a large bundle is large, and a thread that runs out of memory ends nothing.
    this.#thread = new Worker(new URL('./thread.js', import.meta.url), { workerData, execArgv: [] })
    send = (message) => this.#thread.postMessage(message)
    for (const message of early) send(message)
    this.record.onWrite((run) => send({ run }))
    this.#thread.on('message', (stall: StallEnded) => this.#ended(stall))
    this.#thread.on('error', (error) =>
      options.log.error({ err: error }, `the watchdog failed: ${error.message}; a blocked event loop goes unnoticed`),
    )
    // After the listeners: a listener keeps the process.
    this.#thread.unref()
    // Real time: a clock that a test holds must not look like a blocked loop.
    this.#beats = setInterval(() => {
      beat()
      for (const fn of this.#alive) fn()
    }, beat_ms)
    this.#beats.unref()
    this.#watchMemory(options.memory_bytes)
  }

  #watchMemory(limit_bytes: number): void {
    const watch = new MemoryWatch(limit_bytes, {
      ...ownMemory,
      ownerOf: (file) => this.#files.get(file) ?? '',
      exhausted: (end) => this.#noteExhausted(end),
    })
    this.#memory = { watch, looks: setInterval(() => watch.look(), memoryLook_ms).unref() }
  }

  #noteExhausted({ plugin, used_mb, limit_mb }: { plugin: string; used_mb: number; limit_mb: number }): void {
    const who = plugin ? `plugin ${plugin} holds most of the memory` : 'it is unknown who holds the memory'
    const text = `${used_mb} of ${limit_mb} MB of memory are in use, ${who}: the service ends, to be started again`
    this.#options.log.fatal({ plugin: plugin || undefined, used_mb, limit_mb }, text)
    const stall: Stall = { plugin, phase: '', place: '', stack: [], at_ms: Date.now(), blocked_s: 0, used_mb, limit_mb }
    this.#keep(withStall(this.record.stalls, stall))
    for (const fn of this.#exhausted) fn()
  }

  #keep(stalls: Stall[]): void {
    try {
      this.record.keep(stalls)
    } catch (error) {
      this.#options.log.error({ err: error }, `${this.record.path} cannot be written: ${messageOf(error)}`)
    }
  }

  /** All plugins have started. */
  booted(): void {
    this.#memory?.watch.settled()
  }

  /** The memory is used up: the process has to end. Returns the undo. */
  onExhausted(fn: () => void): () => void {
    this.#exhausted.add(fn)
    return () => this.#exhausted.delete(fn)
  }

  /**
   * The plugin that ended the previous process, if any, and how long it stays out. Ask once: the answer settles the
   * record.
   */
  blocker(): Blocker | undefined {
    const { stalls } = this.record
    const blocker = blockerOf(stalls, Date.now())
    if (stalls.some(({ served }) => !served)) this.#keep(stalls.map((stall) => ({ ...stall, served: true })))
    return blocker
  }

  /** Why the previous process ran out of memory, if no plugin could be named. To be read before `blocker`. */
  get unnamed(): string | undefined {
    const last = this.record.stalls.at(-1)
    if (!last?.limit_mb || last.plugin || last.served) return undefined
    return `the service used ${last.used_mb} of ${last.limit_mb} MB of memory and was ended; it is unknown which plugin held them`
  }

  /** From now on code in these files is that plugin's. */
  know(plugin: string, files: Iterable<string>): void {
    const all = [...files]
    for (const file of all) this.#files.set(file, plugin)
    this.#thread.postMessage({ plugin, files: all } satisfies ToThread)
  }

  /** A block has ended. Returns the undo. */
  onStall(fn: (stall: StallEnded) => void): () => void {
    this.#stalled.add(fn)
    return () => this.#stalled.delete(fn)
  }

  /** The event loop turns: called several times a second, e.g. for a supervisor that wants to know. Returns the undo. */
  onAlive(fn: () => void): () => void {
    this.#alive.add(fn)
    return () => this.#alive.delete(fn)
  }

  async close(): Promise<void> {
    clearInterval(this.#beats)
    clearInterval(this.#memory?.looks)
    this.#memory?.watch.close()
    await this.#thread.terminate()
  }

  #ended(stall: StallEnded): void {
    const { plugin, place, blocked_s } = stall
    const who = plugin ? `plugin ${plugin}` : 'the service'
    const text = `${who} blocked the event loop for ${blocked_s.toFixed(1)} s${place ? ` at ${place}` : ''}`
    this.#options.log.warn({ plugin: plugin || undefined, blocked_s, place }, text)
    for (const fn of this.#stalled) fn(stall)
  }
}
