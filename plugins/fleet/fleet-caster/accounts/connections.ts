import { randomBytes } from 'node:crypto'
import type { PluginContext } from 'rtk-base/plugin'
import { fleetDatabase } from 'rtk-base/services'

/** Each instance writes its rows so often, and at once when an account connects. */
const write_ms = 30_000
const soon_ms = 500
/** Rows of an instance that has stopped count for so long. */
const dead_s = 90

/**
 * Connections of each account, on all instances: every instance writes its own rows, and reads those of the others at a login. Rows, and
 * not notifications, because they are right again by themselves after an outage. The limit is soft: of logins within half a second at two
 * instances, both pass.
 */
export class Connections {
  readonly #ctx: PluginContext
  /** The name of this run, over reloads: a row of an earlier one ends by itself. */
  #instance = randomBytes(9).toString('base64url')
  readonly #own = new Map<string, number>()
  readonly #changed = new Set<string>()
  #isSoon = false

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  get #database() {
    return this.#ctx.services.use(fleetDatabase)
  }

  get instance(): string {
    return this.#instance
  }

  /** @param instance of the version before: its rows are those of the rovers that stay connected */
  start(instance = this.#instance): void {
    this.#instance = instance
    this.#ctx.timers.every(write_ms, () => this.#write([...this.#own.keys(), ...this.#changed]))
  }

  accounts(): Iterable<string> {
    return this.#own.keys()
  }

  /** @returns to be called when it leaves */
  add(account: string): () => void {
    const by = (step: number) => {
      const now = (this.#own.get(account) ?? 0) + step
      if (now > 0) this.#own.set(account, now)
      else this.#own.delete(account)
      this.#changed.add(account)
      if (this.#isSoon) return
      this.#isSoon = true
      this.#ctx.timers.after(soon_ms, () => {
        this.#isSoon = false
        return this.#write([...this.#changed])
      })
    }
    by(1)
    return () => by(-1)
  }

  /** 0 while the database cannot be asked: an outage locks nobody out. */
  async elsewhere(account: string): Promise<number> {
    try {
      const [row] = await this.#database.query<{ sum: number | null }>(
        `select sum(connections)::integer as sum from fleet_caster_connection
         where account = $1 and instance <> $2 and seen > now() - interval '${dead_s} s'`,
        [account, this.#instance],
      )
      return row?.sum ?? 0
    } catch (error) {
      this.#ctx.log.debug({ err: error }, 'the connections at other instances are not known')
      return 0
    }
  }

  /** The service stops: its rows do not count any more. */
  async stop(): Promise<void> {
    await this.#database
      .query('delete from fleet_caster_connection where instance = $1', [this.#instance])
      .catch(() => {})
  }

  /** Rows of instances that are gone. */
  async forget(): Promise<void> {
    await this.#database.query(`delete from fleet_caster_connection where seen < now() - interval '1 hour'`)
  }

  async #write(accounts: readonly string[]): Promise<void> {
    if (accounts.length === 0 || !this.#database.connected) return
    const all = [...new Set(accounts)]
    for (const account of all) this.#changed.delete(account)
    try {
      await this.#database.query(
        `insert into fleet_caster_connection (instance, account, connections)
         select $1, * from unnest($2::text[], $3::integer[])
         on conflict (instance, account) do update set connections = excluded.connections, seen = now()`,
        [this.#instance, all, all.map((account) => this.#own.get(account) ?? 0)],
      )
    } catch (error) {
      for (const account of all) this.#changed.add(account)
      this.#ctx.log.debug({ err: error }, 'the connections of this instance are not stored')
    }
  }
}
