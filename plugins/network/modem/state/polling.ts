import type { PluginContext } from 'rtk-base/plugin'
import { Backoff } from 'rtk-base/time'
import { type Access, reasonOf } from '../access.js'

/** Interval of checking for due tasks. */
const look_ms = 5_000
/** The modem starts later than its router. */
const retryWaits = { first_ms: 30_000, longest_ms: 600_000 }

export interface Task {
  readonly name: string
  readonly every_ms: number
  /** Rejects when it could not be read. */
  read(): Promise<void>
}

interface Entry extends Task {
  due_ms: number
  readonly retry: Backoff
}

/**
 * Reads everything from the modem at its own rate, one call at a time. While the router does not answer, one of them is tried,
 * less and less often; the first answer makes all of them due.
 */
export class Polling {
  readonly #ctx: PluginContext
  readonly #access: Access
  #entries: Entry[] = []
  readonly #backoff = new Backoff({ first_ms: 15_000, longest_ms: 120_000 })
  readonly #failed = new Set<string>()
  #probe_ms = 0
  /** The modem was announced, and not asked since. */
  #announced = false

  constructor(ctx: PluginContext, access: Access) {
    this.#ctx = ctx
    this.#access = access
  }

  start(tasks: readonly Task[]): void {
    this.#entries = tasks.map((task) => ({ ...task, due_ms: 0, retry: new Backoff(retryWaits) }))
    this.#ctx.timers.every(look_ms, () => this.#look())
    this.soon()
  }

  /** Makes all tasks due, or those named. */
  soon(...names: string[]): void {
    for (const entry of this.#entries) if (names.length === 0 || names.includes(entry.name)) entry.due_ms = 0
    this.#probe_ms = 0
    this.#announced = true
    this.#ctx.timers.after(0, () => this.#look())
  }

  async #look(): Promise<void> {
    // The modem answers nothing else during a job.
    if (this.#access.busy || !this.#access.hasModem) return
    await this.#access.turn(() => (this.#access.offline ? this.#probe() : this.#round()))
  }

  async #round(): Promise<void> {
    this.#announced = false
    for (const entry of this.#entries) {
      if (this.#now_ms < entry.due_ms) continue
      await this.#read(entry)
      if (this.#ctx.signal.aborted || !this.#access.hasModem) return
      if (this.#access.offline) return this.#wait()
    }
  }

  /** Rotates the probe: a call that this router never answers must not hide its return. */
  async #probe(): Promise<void> {
    if (this.#now_ms < this.#probe_ms) return
    this.#announced = false
    const [entry] = this.#entries.toSorted((a, b) => a.due_ms - b.due_ms)
    await this.#read(entry)
    if (this.#access.offline) this.#wait()
    else {
      this.#backoff.reset()
      this.soon()
    }
  }

  /** The next probe comes later, unless the modem was announced while a call hung that began before. */
  #wait(): void {
    if (!this.#announced) this.#probe_ms = this.#now_ms + this.#backoff.next()
  }

  async #read(entry: Entry): Promise<void> {
    const begin_ms = this.#now_ms
    try {
      await entry.read()
      entry.retry.reset()
      // From the beginning of the read; the look at that time comes a little early or late.
      entry.due_ms = begin_ms + entry.every_ms - look_ms / 2
      this.#failed.delete(entry.name)
    } catch (error) {
      if (!this.#failed.has(entry.name) && !this.#ctx.signal.aborted) {
        this.#failed.add(entry.name)
        this.#ctx.log.debug(
          { reading: entry.name },
          `${entry.name} could not be read, it is tried again: ${reasonOf(error)}`,
        )
      }
      entry.due_ms = this.#now_ms + entry.retry.next()
    }
  }

  get #now_ms(): number {
    return this.#ctx.clock.monotonic()
  }
}
