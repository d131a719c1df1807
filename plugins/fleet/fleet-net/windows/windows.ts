import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { baselineInSteps } from 'rtk-base/baseline'
import type { PluginContext } from 'rtk-base/plugin'
import { type Ecef, type FleetDatabase, fleet, fleetBroker, fleetDatabase } from 'rtk-base/services'
import type { Settings } from '../options.js'
import * as store from '../store/store.js'
import { Listening, type Trouble } from './listening.js'

const look_ms = 10_000
/** The lease of a pair lasts longer than its window by this, and for each pair that may be computed before it. */
const patience_s = 900
const perPair_s = 3
/** Stations whose RTCM is missing for more than this part of the window are compared another time. */
const leastPart = 0.5
/** Time between two epochs of a recording. */
const interval_s = 30

interface Active extends store.Claimed {
  readonly begun_ms: number
  readonly end_ms: number
  /** The positions that the two announce; or why they cannot be compared. */
  readonly arps: { readonly oneArp: Ecef; readonly otherArp: Ecef } | string
}

export interface WindowMetrics {
  publication(): void
  vector(status: string, seconds: number): void
}

const keyOf = ({ one, other }: store.Claimed) => `${one} ${other}`

/** Words for a person: why there is no vector. */
const texts: Readonly<Record<Exclude<Trouble, ''>, string>> = {
  flood: 'publishes more than 25 times a second',
  size: 'publishes more than 64 KiB at once',
  position: 'has another position in its RTCM than it announces',
  sources: 'has RTCM of two stations under its name',
  moved: 'announced another position meanwhile',
  gone: 'announces no position any more',
}

/** Compares pairs of stations: this instance's share of them. */
export class Windows {
  readonly #ctx: PluginContext
  readonly #settings: Settings
  readonly #metrics: WindowMetrics
  /** The name of this run: a lease of an earlier one ends by itself. */
  readonly #by = randomBytes(9).toString('base64url')
  readonly #active = new Map<string, Active>()
  readonly #listening = new Map<string, Listening>()
  #isWorking = false
  #isStopped = false

  constructor(ctx: PluginContext, settings: Settings, metrics: WindowMetrics) {
    this.#ctx = ctx
    this.#settings = settings
    this.#metrics = metrics
  }

  get pairs(): number {
    return this.#active.size
  }

  /** The tables are there. */
  start(): void {
    this.#ctx.timers.every(look_ms, () => this.#look())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const listening of this.#listening.values()) listening.close()
    this.#listening.clear()
    this.#active.clear()
    await this.#release(this.#ctx.services.find(fleetDatabase))
  }

  async #release(database: FleetDatabase | undefined): Promise<void> {
    // Otherwise the leases end by themselves.
    if (database?.connected) await store.release(database, this.#by).catch(() => {})
  }

  get #now_s(): number {
    return this.#ctx.clock.now() / 1_000
  }

  async #look(): Promise<void> {
    const database = this.#ctx.services.use(fleetDatabase)
    if (this.#isWorking || this.#isStopped || !database.connected) return
    this.#isWorking = true
    try {
      await this.#finishSome()
      if (this.#ctx.services.use(fleetBroker).connected) await this.#claim()
    } catch (error) {
      if (!this.#isStopped)
        this.#ctx.log.warn({ err: error }, 'pairs of the net cannot be read or stored: it is tried again in 10 s')
    } finally {
      this.#isWorking = false
    }
  }

  async #claim(): Promise<void> {
    const most = this.#settings.atOnce - this.#active.size
    if (most <= 0) return
    const window_s = 60 * this.#settings.window_min
    const now_s = this.#now_s
    const database = this.#ctx.services.use(fleetDatabase)
    const claimed = await store.claim(database, {
      ...{ by: this.#by, most, now_s, until_s: now_s + window_s + patience_s + perPair_s * this.#settings.atOnce },
    })
    const begun_ms = this.#ctx.clock.monotonic()
    // They were claimed after the others were released.
    if (this.#isStopped) return this.#release(database)
    // No query in between: if it failed, the rest would stay leased and would not be compared.
    for (const pair of claimed) {
      // Its lease ended before its window, as after a step of the clock: it was renewed.
      if (this.#active.has(keyOf(pair))) continue
      const arps = this.#arpsOf(pair)
      const isAbsent = typeof arps === 'string'
      this.#active.set(keyOf(pair), { ...pair, arps, begun_ms, end_ms: begun_ms + (isAbsent ? 0 : 1_000 * window_s) })
      if (!isAbsent) for (const serial of [pair.one, pair.other]) this.#listen(serial, window_s)
    }
  }

  /** @returns why they cannot be compared, if one of them is absent */
  #arpsOf({ one, other }: store.Claimed): Active['arps'] {
    const [oneArp, otherArp] = [one, other].map((serial) => {
      const { arp, online } = this.#ctx.services.use(fleet).station(serial) ?? {}
      if (!arp) return `${serial} is unknown, or announces no position`
      return online === 'online' ? arp : `${serial} is ${online}`
    })
    if (typeof oneArp === 'object' && typeof otherArp === 'object') return { oneArp, otherArp }
    return typeof oneArp === 'string' ? oneArp : (otherArp as string)
  }

  #listen(serial: string, window_s: number): void {
    const listening =
      this.#listening.get(serial) ?? new Listening(this.#ctx, serial, window_s, () => this.#metrics.publication())
    listening.users += 1
    this.#listening.set(serial, listening)
  }

  #leave(serial: string): void {
    const listening = this.#listening.get(serial)
    if (!listening) return
    listening.users -= 1
    if (listening.users > 0) return
    listening.close()
    this.#listening.delete(serial)
  }

  /** One pair after the other: the processor has other work. */
  async #finishSome(): Promise<void> {
    for (const [key, pair] of this.#active) {
      if (pair.end_ms > this.#ctx.clock.monotonic()) continue
      const outcome = await this.#solve(pair)
      if (this.#isStopped) return
      await this.#finish(pair, outcome)
      this.#active.delete(key)
      if (typeof pair.arps !== 'string') for (const serial of [pair.one, pair.other]) this.#leave(serial)
    }
  }

  async #finish(pair: store.Claimed, outcome: store.Outcome): Promise<void> {
    const now_s = this.#now_s
    // The window itself has passed of the time until the next one.
    const rest_min = Math.max(0, this.#settings.every_min - this.#settings.window_min)
    const due_s = outcome.vector
      ? now_s + 60 * rest_min
      : now_s + 60 * Math.max(rest_min, this.#settings.window_min / 4)
    await store.finish(this.#ctx.services.use(fleetDatabase), pair, outcome, { by: this.#by, now_s, due_s })
  }

  async #solve({ one, other, arps, begun_ms: from_ms }: Active): Promise<store.Outcome> {
    if (typeof arps === 'string') return { status: 'none', reason: arps }
    for (const serial of [one, other]) {
      const listening = this.#listening.get(serial)
      const trouble = listening ? listening.troubleSince(from_ms) : 'gone'
      if (trouble) return { status: 'none', reason: `${serial} ${texts[trouble]}` }
      const least = (leastPart * 60 * this.#settings.window_min) / interval_s
      if ((listening?.recording.epochs ?? 0) < least)
        return { status: 'none', reason: `${serial} sends too little RTCM` }
    }
    const taken = (serial: string) => this.#listening.get(serial)?.recording.taken ?? { frames: [] }
    const { clock } = this.#ctx
    const begun_ms = clock.monotonic()
    try {
      const found = await baselineInSteps(
        { arp: arps.oneArp, ...taken(one) },
        { arp: arps.otherArp, ...taken(other) },
        async () => {
          await setImmediate()
          if (this.#isStopped) throw new Error('stopped')
        },
      )
      this.#metrics.vector(found.status, (clock.monotonic() - begun_ms) / 1_000)
      const { status, reason } = found
      return status === 'none' ? { status, reason } : { status, reason, vector: { found, ...arps } }
    } catch (error) {
      // RTCM that nobody foresaw must not stop the comparison of all others.
      this.#metrics.vector('none', (clock.monotonic() - begun_ms) / 1_000)
      if (!this.#isStopped) this.#ctx.log.warn({ err: error, one, other }, 'a vector could not be computed')
      return { status: 'none', reason: 'the RTCM cannot be used' }
    }
  }
}
