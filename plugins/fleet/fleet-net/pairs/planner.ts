import { setImmediate } from 'node:timers/promises'
import { inSteps } from 'rtk-base/baseline'
import type { PluginContext } from 'rtk-base/plugin'
import { type FleetDatabase, type FleetStation, fleet, fleetDatabase, fleetJobs } from 'rtk-base/services'
import { storePairs } from './pair-store.js'
import { pairsOf } from './pairs.js'
import { SettledPlaces } from './settled.js'

/** Many stations are new together. */
const gather_ms = 15_000
const retry_ms = 30_000
/** Pairs are planned again at most this often. */
const again_ms = 600_000

/** Keeps the table of the pairs as the announced positions are. Only the leading instance does so. */
export class Planner {
  readonly #ctx: PluginContext
  readonly #reach_km: number
  readonly #places = new SettledPlaces()
  #isWaiting = false
  #isPlanning = false
  /** Monotonic time from which the next plan may be made. */
  #next_ms = 0
  /** Pairs were planned, so those of honest stations must last. */
  #hasPlanned = false

  constructor(ctx: PluginContext, reach_km: number) {
    this.#ctx = ctx
    this.#reach_km = reach_km
  }

  /** The tables are there. */
  start(): void {
    const known = this.#ctx.services.use(fleet)
    for (const station of known.stations()) this.#heard(station)
    this.#ctx.on(this.#ctx.services.use(fleetDatabase).onLeads, (leads) => {
      if (leads) this.#soon(gather_ms)
    })
    this.#ctx.on(known.onStation, ({ serial, station, before }) => {
      if (station) this.#heard(station)
      else this.#places.forget(serial)
      const [was, is] = [before?.arp, station?.arp]
      if (was?.x !== is?.x || was?.y !== is?.y || was?.z !== is?.z) this.#soon(gather_ms)
    })
    this.#soon(gather_ms)
  }

  #heard({ serial, arp, place }: FleetStation): void {
    this.#places.heard(serial, place && arp, this.#ctx.clock.monotonic())
  }

  #soon(ms: number): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#ctx.timers.after(Math.max(ms, this.#next_ms - this.#ctx.clock.monotonic()), async () => {
      this.#isWaiting = false
      // A slow database: what was heard since then counts in the next plan.
      if (this.#isPlanning) return this.#soon(gather_ms)
      this.#isPlanning = true
      try {
        await this.#plan()
      } finally {
        this.#isPlanning = false
      }
    })
  }

  async #plan(): Promise<void> {
    const database = this.#ctx.services.use(fleetDatabase)
    if (!database.leads) return
    try {
      if (!this.#hasPlanned || (await isEmpty(database))) this.#places.settleAll()
      const now_ms = this.#ctx.clock.monotonic()
      const { places, isSettling } = this.#places.at(now_ms)
      const wanted = await inSteps(pairsOf(places, this.#reach_km), () => setImmediate())
      // Another instance may lead by now.
      if (!database.leads) return
      await storePairs(database, this.#ctx.services.use(fleetJobs), wanted)
      if (wanted.length > 0) {
        this.#hasPlanned = true
        this.#next_ms = now_ms + again_ms
      }
      if (isSettling) this.#soon(again_ms)
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'the pairs of the net could not be stored: it is tried again in 30 s')
      this.#soon(retry_ms)
    }
  }
}

const isEmpty = async ({ query }: FleetDatabase): Promise<boolean> =>
  (await query('select one from fleet_net_pair limit 1')).length === 0
