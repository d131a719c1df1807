import type { PluginContext } from 'rtk-base/plugin'
import { type FleetDatabase, fleet, fleetDatabase } from 'rtk-base/services'
import { type NetPair, type NetPlace, pairsOf } from './pairs.js'

/** Many stations are new together. */
const settle_ms = 15_000
const retry_ms = 30_000
const rowsAtOnce = 5_000

const keyOf = ({ one, other }: Pick<NetPair, 'one' | 'other'>) => `${one} ${other}`

/** Keeps the table of the pairs as the announced positions are. Only the leading instance does so. */
export class Planner {
  readonly #ctx: PluginContext
  readonly #reach_km: number
  #isWaiting = false
  #isReady = false

  constructor(ctx: PluginContext, reach_km: number) {
    this.#ctx = ctx
    this.#reach_km = reach_km
  }

  /** The tables are there. */
  start(): void {
    this.#isReady = true
    this.#ctx.on(this.#ctx.services.use(fleetDatabase).onLeads, (leads) => {
      if (leads) this.#soon(settle_ms)
    })
    this.#ctx.on(this.#ctx.services.use(fleet).onStation, ({ station, before }) => {
      const [was, is] = [before?.arp, station?.arp]
      if (was?.x !== is?.x || was?.y !== is?.y || was?.z !== is?.z) this.#soon(settle_ms)
    })
    this.#soon(settle_ms)
  }

  #soon(ms: number): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    this.#ctx.timers.after(ms, async () => {
      this.#isWaiting = false
      await this.#plan()
    })
  }

  async #plan(): Promise<void> {
    const database = this.#ctx.services.use(fleetDatabase)
    if (!this.#isReady || !database.leads) return
    const places: NetPlace[] = []
    for (const { serial, arp, place } of this.#ctx.services.use(fleet).stations())
      if (arp && place) places.push({ serial, arp })
    const wanted = pairsOf(places, this.#reach_km)
    try {
      await stored(database, wanted, this.#ctx.clock.now() / 1_000)
    } catch (error) {
      this.#ctx.log.warn({ err: error }, 'the pairs of the net could not be stored: it is tried again in 30 s')
      this.#soon(retry_ms)
    }
  }
}

async function stored(database: FleetDatabase, wanted: readonly NetPair[], now_s: number): Promise<void> {
  const known = await database.query<{ one: string; other: string }>('select one, other from fleet_net_pair')
  const isKnown = new Set(known.map(keyOf))
  const isWanted = new Set(wanted.map(keyOf))
  const added = wanted.filter((pair) => !isKnown.has(keyOf(pair)))
  const gone = known.filter((pair) => !isWanted.has(keyOf(pair)))
  for (let at = 0; at < added.length; at += rowsAtOnce)
    await database.query(
      `insert into fleet_net_pair (one, other, cell, due)
       select one, other, cell, to_timestamp($2) from jsonb_to_recordset($1::jsonb) as row (one text, other text, cell bigint)
       on conflict do nothing`,
      [JSON.stringify(added.slice(at, at + rowsAtOnce)), now_s],
    )
  for (let at = 0; at < gone.length; at += rowsAtOnce) {
    const some = gone.slice(at, at + rowsAtOnce)
    await database.query(
      `delete from fleet_net_pair using unnest($1::text[], $2::text[]) as row (one, other)
       where fleet_net_pair.one = row.one and fleet_net_pair.other = row.other`,
      [some.map(({ one }) => one), some.map(({ other }) => other)],
    )
  }
}
