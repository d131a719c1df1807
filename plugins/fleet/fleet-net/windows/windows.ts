import { publicationTexts } from 'rtk-base/gnss'
import type { PluginContext } from 'rtk-base/plugin'
import { type Ecef, fleet, fleetBroker, fleetJobs, type JobEnd } from 'rtk-base/services'
import type { Settings } from '../options.js'
import { pairJob } from '../pairs/pair-store.js'
import * as store from '../store/store.js'
import type { BaselineThreads } from '../threads/threads.js'
import { Listening, type Trouble } from './listening.js'

/** The lease of a pair lasts longer than its window by this, and for each pair that may be computed before it. */
const patience_s = 900
const perPair_s = 3
/** Stations whose RTCM is missing for more than this part of the window are compared another time. */
const leastPart = 0.5
/** Time between two epochs of a recording. */
const interval_s = 30

/** The positions that the two announce. */
interface Arps {
  readonly oneArp: Ecef
  readonly otherArp: Ecef
}

export interface WindowMetrics {
  publication(): void
  vector(status: string, seconds: number): void
}

/** Words for a person: why there is no vector. */
const texts: Readonly<Record<Exclude<Trouble, ''>, string>> = {
  ...publicationTexts,
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
  readonly #solver: BaselineThreads
  readonly #listening = new Map<string, Listening>()
  /** Pairs that this instance compares now. */
  pairs = 0
  #giveBack = async () => {}
  #isStopped = false

  constructor(ctx: PluginContext, settings: Settings, metrics: WindowMetrics, solver: BaselineThreads) {
    this.#ctx = ctx
    this.#settings = settings
    this.#metrics = metrics
    this.#solver = solver
  }

  /** The tables are there. */
  start(): void {
    if (this.#isStopped) return
    const { atOnce } = this.#settings
    this.#giveBack = this.#ctx.services.use(fleetJobs).work(pairJob, {
      ...{ atOnce, lease_s: this.#window_s + patience_s + perPair_s * atOnce },
      mayBegin: () => this.#ctx.services.use(fleetBroker).connected,
      run: ({ key }, end) => this.#compare(key, end),
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const listening of this.#listening.values()) listening.close()
    this.#listening.clear()
    await Promise.all([this.#solver.stop(), this.#giveBack()])
  }

  get #window_s(): number {
    return 60 * this.#settings.window_min
  }

  async #compare(key: string, end: JobEnd): Promise<void> {
    const [one = '', other = ''] = key.split(' ')
    this.pairs += 1
    const outcome = await this.#outcomeOf({ one, other }).finally(() => {
      this.pairs -= 1
    })
    if (this.#isStopped) return
    const { every_min, window_min } = this.#settings
    // The window itself has passed of the time until the next one.
    const rest_min = Math.max(0, every_min - window_min)
    await end(60 * (outcome.vector ? rest_min : Math.max(rest_min, window_min / 4)), (query) =>
      store.finish({ query }, { one, other }, outcome),
    )
  }

  async #outcomeOf(pair: store.Pair): Promise<store.Outcome> {
    const arps = this.#arpsOf(pair)
    if (typeof arps === 'string') return { status: 'none', reason: arps }
    const from_ms = this.#ctx.clock.monotonic()
    const serials = [pair.one, pair.other]
    for (const serial of serials) this.#listen(serial)
    // After a stop it never comes, and nobody waits for it.
    await new Promise<void>((resolve) => this.#ctx.timers.after(1_000 * this.#window_s, resolve))
    const outcome = await this.#solve(pair, arps, from_ms)
    for (const serial of serials) this.#leave(serial)
    return outcome
  }

  /** @returns why they cannot be compared, if one of them is absent */
  #arpsOf({ one, other }: store.Pair): Arps | string {
    const [oneArp, otherArp] = [one, other].map((serial) => {
      const { arp, online } = this.#ctx.services.use(fleet).station(serial) ?? {}
      if (!arp) return `${serial} is unknown, or announces no position`
      return online === 'online' ? arp : `${serial} is ${online}`
    })
    if (typeof oneArp === 'object' && typeof otherArp === 'object') return { oneArp, otherArp }
    return typeof oneArp === 'string' ? oneArp : (otherArp as string)
  }

  #listen(serial: string): void {
    const listening =
      this.#listening.get(serial) ?? new Listening(this.#ctx, serial, this.#window_s, () => this.#metrics.publication())
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

  async #solve({ one, other }: store.Pair, arps: Arps, from_ms: number): Promise<store.Outcome> {
    for (const serial of [one, other]) {
      const listening = this.#listening.get(serial)
      const trouble = listening ? listening.troubleSince(from_ms) : 'gone'
      if (trouble) return { status: 'none', reason: `${serial} ${texts[trouble]}` }
      const least = (leastPart * this.#window_s) / interval_s
      if ((listening?.recording.epochs ?? 0) < least)
        return { status: 'none', reason: `${serial} sends too little RTCM` }
    }
    const taken = (serial: string) => this.#listening.get(serial)?.recording.taken ?? { frames: [] }
    try {
      const { found, took_s } = await this.#solver.solve(
        { arp: arps.oneArp, ...taken(one) },
        { arp: arps.otherArp, ...taken(other) },
      )
      this.#metrics.vector(found.status, took_s)
      const { status, reason } = found
      return status === 'none' ? { status, reason } : { status, reason, vector: { found, ...arps } }
    } catch (error) {
      // RTCM that nobody foresaw must not stop the comparison of all others.
      this.#metrics.vector('none', 0)
      if (!this.#isStopped) this.#ctx.log.warn({ err: error, one, other }, 'a vector could not be computed')
      return { status: 'none', reason: 'the RTCM cannot be used' }
    }
  }
}
