import type { Dispose, PluginContext } from 'rtk-base/plugin'
import type { RecordEntry, RecordMinute } from 'rtk-base/schemas'
import { device, links, logs, procedureStatus, receiver, rtcmStream, uplinks } from 'rtk-base/services'
import { lineOf, type Situation, type StoredEntry } from './history.js'
import { Minutes, shortened } from './minutes.js'
import { changesOf, observe } from './observer.js'
import type { RecordRing } from './ring.js'

const observe_ms = 1_000
const minute_ms = 60_000
/** Maximum changes per key and minute: flapping must not displace weeks of the record. */
const mostChanges = 12
const mostNotes = 30
/** A smaller difference is not a clock step, but slewing. */
const clockStep_ms = 1_500
/** A timer that fires so early has reached its minute: a slewed clock is behind it by milliseconds. */
const early_ms = 500
const longestNote = 240

/** Looks at everything each second and at each event, and writes what changed. */
export class FlightRecorder {
  readonly #ctx: PluginContext
  readonly #ring: RecordRing
  readonly #minutes: Minutes
  #situation: Situation = {}
  #lastMinute: RecordMinute | undefined
  /** Changes in this minute, by key. */
  readonly #changes = new Map<string, number>()
  #notes = 0
  #offset_ms: number | undefined
  #cancelMinute: Dispose = () => {}

  constructor(ctx: PluginContext, ring: RecordRing) {
    this.#ctx = ctx
    this.#ring = ring
    this.#minutes = new Minutes(ctx)
  }

  /** @param before the clock of the previous instance; undefined: the service starts */
  start(before: number | undefined): void {
    const { services, timers } = this.#ctx
    this.#offset_ms = before
    if (before === undefined) this.#begin()
    this.recordChanges()
    timers.every(observe_ms, () => this.recordChanges())
    this.#awaitMinute()
    this.#follow()
    this.#ctx.on(services.use(logs).onLine, ({ plugin, msg, version }) => {
      if (msg === 'reloaded' && plugin)
        this.note('reload', `${plugin} ${typeof version === 'string' ? version : ''}`.trim())
    })
  }

  get offset_ms(): number {
    return this.#offset_ms ?? 0
  }

  /** The first lines of a file. */
  head(): string {
    this.#lastMinute = undefined
    return lineOf({ ...this.#now, all: this.#situation })
  }

  stopping(reason: string): void {
    this.#write({ ...this.#now, stop: reason }, true)
  }

  note(what: string, text: string): void {
    if (++this.#notes > mostNotes) return
    this.#write({ ...this.#now, note: { what, text: text.slice(0, longestNote) } }, true)
  }

  #begin(): void {
    const { version, lastEnd } = this.#ctx.services.use(device)
    const { how, text, at_ms } = lastEnd ?? {
      how: 'unknown',
      text: 'it is not known how the run before ended',
      at_ms: 0,
    }
    this.#write({ ...this.#now, run: { version, how, text: text.slice(0, longestNote), at_ms } }, true)
  }

  #follow(): void {
    const { services, on } = this.#ctx
    const observed = () => this.recordChanges()
    services.watch(rtcmStream, (stream) => {
      if (!stream) return
      const subscription = stream.subscribe({
        via: 'record',
        name: 'record',
        ip: '',
        connected: true,
        shown: false,
        take: ({ type }) => {
          this.#minutes.frame(type)
          return true
        },
      })
      const undo = [
        () => subscription.close(),
        on(stream.onEpoch, (epoch) => this.#minutes.epoch(epoch)),
        on(stream.onState, observed),
      ]
      return () => undo.map((end) => end())
    })
    services.watch(receiver, (source) => {
      if (!source) return
      const undo = [on(source.onFix, (fix) => this.#minutes.fix(fix)), on(source.onState, observed)]
      return () => undo.map((end) => end())
    })
    services.watch(procedureStatus, (procedure) => procedure && on(procedure.onState, observed))
    services.watch(uplinks, (ways) => ways && on(ways.onChange, observed))
    services.watch(links, (table) => {
      if (!table) return
      const undo = [
        on(table.onChange, observed),
        on(table.onStep, ({ text, done }) => this.note('recovery', done ? text : `${text} (not done)`)),
      ]
      return () => undo.map((end) => end())
    })
  }

  get #now(): Pick<RecordEntry, 't' | 'up'> {
    const { services, clock } = this.#ctx
    const unit = services.use(device)
    return { t: Math.round(unit.utc_ms() || clock.now()), up: Math.round(unit.uptime_ms()) }
  }

  /** @param isMinute numbers in texts are written as well */
  recordChanges(isMinute = false): void {
    if (this.#ctx.signal.aborted) return
    this.#checkClock()
    const now = observe(this.#ctx)
    const changes = changesOf(this.#situation, now, isMinute)
    if (!changes) return
    for (const key of Object.keys(changes)) {
      const count = (this.#changes.get(key) ?? 0) + 1
      this.#changes.set(key, count)
      // Unchanged: the next minute sees the difference again and records it then.
      if (count <= mostChanges) continue
      delete changes[key]
    }
    // As written: what is not is seen as a difference later.
    const written = { ...this.#situation }
    for (const [key, value] of Object.entries(changes)) {
      if (value) written[key] = value
      else delete written[key]
    }
    this.#situation = written
    if (Object.keys(changes).length > 0) this.#write({ ...this.#now, set: changes }, true)
  }

  /** @returns the clock was set: the count up to then has ended */
  #checkClock(): boolean {
    const { t, up } = this.#now
    const offset_ms = t - this.#ctx.clock.monotonic()
    const by_ms = Math.round(offset_ms - (this.#offset_ms ?? offset_ms))
    if (this.#offset_ms !== undefined && Math.abs(by_ms) < clockStep_ms) {
      // A slewed clock: small differences would add up to a step within a week.
      this.#offset_ms += by_ms / 60
      return false
    }
    this.#offset_ms = offset_ms
    if (by_ms === 0) return false
    // In the time of the clock before, like all lines before the step. A count over a step would be longer than a minute.
    this.#endCount({ t: t - by_ms, up })
    this.#write({ t, up, clock: { by_ms } }, true)
    this.#awaitMinute()
    return true
  }

  /** Counts end at whole minutes of UTC, as people ask for them. */
  #awaitMinute(): void {
    void this.#cancelMinute()
    const rest_ms = minute_ms + early_ms - ((this.#now.t + early_ms) % minute_ms)
    this.#cancelMinute = this.#ctx.timers.after(rest_ms, () => {
      if (!this.#checkClock()) {
        this.#endCount(this.#now)
        this.#awaitMinute()
      }
      this.recordChanges(true)
    })
  }

  #endCount(at: Pick<RecordEntry, 't' | 'up'>): void {
    const lost = this.#ring.takeLost()
    if (lost > 0) this.#write({ ...at, lost }, false)
    for (const [key, count] of this.#changes)
      if (count > mostChanges)
        this.#write(
          { ...at, note: { what: 'flapping', text: `${key} changes all the time: not every change is written` } },
          false,
        )
    this.#changes.clear()
    this.#notes = 0
    const minute = this.#minutes.take()
    this.#write({ ...at, min: shortened(minute, this.#lastMinute) }, false)
    this.#lastMinute = minute
  }

  #write(entry: StoredEntry, matters: boolean): void {
    this.#ring.append(lineOf(entry), matters)
  }
}
