import { randomBytes } from 'node:crypto'
import type { PluginContext } from 'rtk-base/plugin'
import { type FleetRovers, fleetDatabase } from 'rtk-base/services'

export const roverSteps = [
  `create table fleet_caster_rover (
     instance text not null,
     serial text not null,
     rovers integer not null,
     seen timestamptz not null default now(),
     primary key (instance, serial))`,
]

const exchange_ms = 15_000
/** Rows of an instance that has stopped count this long. */
const dead_s = 60

/** Rovers of each base, on all instances: each writes its own rows and reads those of the others. */
export class BaseRovers implements FleetRovers {
  readonly #ctx: PluginContext
  readonly #own: () => Map<string, number>
  readonly #instance = randomBytes(9).toString('base64url')
  #elsewhere = new Map<string, number>()

  /** @param own bases with rovers of this instance */
  constructor(ctx: PluginContext, own: () => Map<string, number>) {
    this.#ctx = ctx
    this.#own = own
  }

  start(): void {
    this.#ctx.timers.every(exchange_ms, () => this.#exchange())
  }

  on(serial: string): number {
    return (this.#own().get(serial) ?? 0) + (this.#elsewhere.get(serial) ?? 0)
  }

  async #exchange(): Promise<void> {
    const database = this.#ctx.services.use(fleetDatabase)
    if (!database.connected) return
    const own = this.#own()
    try {
      const rows = await database.transaction(async (query) => {
        await query('delete from fleet_caster_rover where instance = $1', [this.#instance])
        await query(
          'insert into fleet_caster_rover (instance, serial, rovers) select $1, * from unnest($2::text[], $3::integer[])',
          [this.#instance, [...own.keys()], [...own.values()]],
        )
        return query<{ serial: string; sum: number }>(
          `select serial, sum(rovers)::integer as sum from fleet_caster_rover
           where instance <> $1 and seen > now() - interval '${dead_s} s' group by serial`,
          [this.#instance],
        )
      })
      this.#elsewhere = new Map(rows.map(({ serial, sum }) => [serial, sum]))
    } catch (error) {
      // The last numbers stay: a rollout rather waits for rovers that left.
      this.#ctx.log.debug({ err: error }, 'the rovers at other instances are not known')
    }
  }

  async stop(): Promise<void> {
    await this.#ctx.services
      .find(fleetDatabase)
      ?.query('delete from fleet_caster_rover where instance = $1', [this.#instance])
      .catch(() => {})
  }

  /** Rows of instances that are gone. */
  async forget(): Promise<void> {
    await this.#ctx.services
      .use(fleetDatabase)
      .query(`delete from fleet_caster_rover where seen < now() - interval '1 hour'`)
  }
}
