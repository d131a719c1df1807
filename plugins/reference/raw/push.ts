/** Closed hours to the operator's server: one at a time, oldest first, until the server has proved that it has them. */
import { type Dispose, type PluginContext, Undelivered } from 'rtk-base/plugin'
import { device } from 'rtk-base/services'
import { Backoff } from 'rtk-base/time'
import type { Archive } from './archive.js'
import { type ArchivedHour, hour_ms } from './hour-files.js'
import { PushServer, type PushTarget } from './push-server.js'

/** Several stations that close their hours together do not push together. */
const look_ms = 300_000
const watch_ms = 600_000
/** A file that fails alone is left out for so long. */
const aside_ms = hour_ms
const danger_ms = 2 * hour_ms
/** The deletion of hours that were not pushed is an error of the station for so long. */
const reported_ms = 24 * hour_ms
const notPushed = 'raw-not-pushed'
const lost = 'raw-push-lost'

export interface PushState {
  /** Closed hours that the server has not proved to have. */
  readonly waiting: number
  /** Hours that the bounds of the archive deleted before they were pushed, since the plugin started. */
  readonly deleted: number
  /** Why the last attempt failed; empty: it did not. */
  readonly trouble: string
}

interface Deps {
  readonly ctx: PluginContext
  readonly archive: Archive
  /** Undefined: nothing is pushed. */
  readonly target: () => PushTarget | undefined
  /** An hour that waits for longer is an error of the station. */
  readonly late_ms: number
}

export class RawPush {
  readonly #deps: Deps
  readonly #backoff = new Backoff({ first_ms: 30_000, longest_ms: hour_ms })
  /** Files that fail alone: until when (monotonic), and why. */
  readonly #aside = new Map<string, { readonly until_ms: number; readonly reason: string }>()
  #ended = new AbortController()
  #cancel: Dispose = () => {}
  #working: Promise<void> = Promise.resolve()
  #trouble = ''
  #deleted = 0
  #deletedAt_ms = Number.NEGATIVE_INFINITY

  constructor(deps: Deps) {
    this.#deps = deps
  }

  start(): void {
    this.#deps.ctx.timers.every(watch_ms, () => this.#watch())
    this.apply()
  }

  /** The settings have changed: what fails is tried again. */
  apply(): void {
    this.#ended.abort()
    this.#ended = new AbortController()
    this.#aside.clear()
    this.#backoff.reset()
    this.#trouble = ''
    this.#clearErrors()
    this.#plan(this.#backoff.next())
  }

  /** Resolves when nothing is sent or written any more. */
  async stop(): Promise<void> {
    void this.#cancel()
    this.#ended.abort()
    await this.#working
  }

  /** The archive has deleted an hour. */
  heardDeleted({ name, pushed }: ArchivedHour): void {
    if (pushed !== undefined || !this.#deps.target()) return
    this.#deleted++
    this.#deletedAt_ms = this.#deps.ctx.clock.monotonic()
    this.#deps.ctx.log.warn({ file: name }, 'an hour of raw data was deleted for room before it was pushed')
  }

  /** Undefined while nothing is pushed. */
  state(hours: readonly ArchivedHour[]): PushState | undefined {
    if (!this.#deps.target()) return undefined
    return { waiting: hours.filter(isWaiting).length, deleted: this.#deleted, trouble: this.#reason }
  }

  /** Why the last attempt failed, or that of a file that was left out. */
  get #reason(): string {
    const [left] = this.#aside.values()
    return this.#trouble || (left?.reason ?? '')
  }

  #plan(wait_ms: number): void {
    const { signal } = this.#ended
    void this.#cancel()
    this.#cancel = this.#deps.ctx.timers.after(wait_ms, () => {
      // After one that was given up, and never beside it.
      this.#working = this.#working.then(() => this.#round(signal))
    })
  }

  async #round(signal: AbortSignal): Promise<void> {
    const isOver = () => signal.aborted || this.#deps.ctx.signal.aborted
    if (isOver()) return
    const wait_ms = await this.#pushNext(signal).catch((error: Error) => (isOver() ? 0 : this.#failed(error)))
    if (isOver()) return
    this.#plan(wait_ms)
    await this.#watch()
  }

  /** @returns how long to wait then, ms */
  async #pushNext(signal: AbortSignal): Promise<number> {
    const { archive, ctx, target } = this.#deps
    const given = target()
    const now_ms = ctx.clock.monotonic()
    const waiting = given ? (await archive.list()).filter(isWaiting) : []
    for (const name of this.#aside.keys()) if (!waiting.some((hour) => hour.name === name)) this.#aside.delete(name)
    const hour = waiting.find(({ name }) => (this.#aside.get(name)?.until_ms ?? now_ms) <= now_ms)
    if (!given || !hour) {
      if (waiting.length === 0) this.#trouble = ''
      return look_ms * (0.8 + 0.4 * Math.random())
    }
    const name = `${ctx.serial}-${hour.name}`
    ctx.log.debug({ file: name }, 'an hour of raw data is being pushed')
    try {
      await new PushServer(ctx, given).send(name, await archive.fileOf(hour), signal)
    } catch (error) {
      const isOfFile = !(error instanceof Undelivered) || error.why === 'item'
      if (isOfFile && !signal.aborted) {
        const until_ms = ctx.clock.monotonic() + aside_ms
        this.#aside.set(hour.name, { until_ms, reason: (error as Error).message })
      }
      // Deleted for room meanwhile.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        ctx.log.debug({ file: name }, 'an hour of raw data was not pushed: it has gone')
        return 0
      }
      throw error
    }
    const isThere = await archive.markPushed(hour, this.#utc_ms() / 1_000)
    // Deleted while it was sent.
    if (!isThere && this.#deleted > 0) this.#deleted--
    this.#aside.delete(hour.name)
    this.#backoff.reset()
    this.#trouble = ''
    ctx.log.debug({ file: name }, 'an hour of raw data was pushed')
    return 0
  }

  #failed(error: Error): number {
    this.#trouble = error.message
    this.#deps.ctx.log.debug({ err: error }, 'an hour of raw data was not pushed: it is tried again')
    return this.#backoff.next(error instanceof Undelivered ? error.wait_ms : 0)
  }

  #utc_ms(): number {
    const { ctx } = this.#deps
    return ctx.services.use(device).utc_ms() || ctx.clock.now()
  }

  /** The station's error: hours that wait too long, that will be deleted soon, or that were deleted. */
  async #watch(): Promise<void> {
    const { archive, ctx, late_ms, target } = this.#deps
    // What is not asked for cannot fail, and touches no disk.
    if (!target()) return this.#clearErrors()
    const utc_ms = this.#utc_ms()
    const [hours, endangered] = await Promise.all([archive.list(), archive.endangered(utc_ms, danger_ms)]).catch(() => [
      [],
      [],
    ])
    const waiting = hours.filter(isWaiting)
    const [oldest] = waiting
    const isLate = oldest !== undefined && oldest.hour_ms + hour_ms + late_ms < utc_ms
    const reason = (this.#reason || 'it is being sent').slice(0, 240)
    const isStuck = isLate || endangered.some(isWaiting)
    ctx.errors.while(notPushed, isStuck && { waiting: waiting.length, reason })
    const isNews = this.#deleted > 0 && ctx.clock.monotonic() - this.#deletedAt_ms < reported_ms
    ctx.errors.while(lost, isNews && { deleted: this.#deleted })
  }

  #clearErrors(): void {
    for (const code of [notPushed, lost]) this.#deps.ctx.errors.while(code, false)
  }
}

const isWaiting = ({ isOpen, pushed }: ArchivedHour) => !isOpen && pushed === undefined
