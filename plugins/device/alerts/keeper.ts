/** Keeps what was told: in the database of a fleet as rows, otherwise in a file. */
import { join } from 'node:path'
import { StateFile } from 'rtk-base/files'
import type { PluginContext } from 'rtk-base/plugin'
import { fleetDatabase } from 'rtk-base/services'
import { AlertRows, tables } from './rows.js'
import { moved, type State, StoredState } from './state.js'

const largest_bytes = 32 << 20
const owner = 'alerts'

export class Keeper {
  readonly #ctx: PluginContext
  readonly #utc_ms: () => number
  #rows: AlertRows | undefined

  constructor(ctx: PluginContext, utc_ms: () => number) {
    this.#ctx = ctx
    this.#utc_ms = utc_ms
  }

  get #file() {
    return new StateFile(StoredState, join(this.#ctx.dataDir('main').path, 'alerts.json'), { largest_bytes })
  }

  /** Once the tables are there; undefined: there is no database. */
  async rows(): Promise<AlertRows | undefined> {
    const database = this.#ctx.services.find(fleetDatabase)
    if (!database || this.#rows) return database && this.#rows
    await database.migrate(owner, tables)
    this.#rows ??= new AlertRows(database)
    return this.#rows
  }

  /** @returns undefined: nothing is stored @throws if it cannot be read for now */
  async load(): Promise<State | undefined> {
    const { clock, log } = this.#ctx
    let isDamaged = false
    const damaged = () => {
      isDamaged = true
    }
    const rows = await this.rows()
    const state = rows ? await rows.load(clock.monotonic(), damaged) : await this.#read(damaged)
    if (isDamaged) log.warn('the stored alerts cannot be read: alerts that hold are told again')
    return state
  }

  async #read(damaged: () => void): Promise<State | undefined> {
    const { value, damage } = await this.#file.read()
    if (damage !== undefined) damaged()
    return value && moved(value, this.#ctx.clock.monotonic(), this.#utc_ms())
  }

  /** Durable when it resolves. */
  async save({ entries, batches, notices }: State): Promise<void> {
    const monotonic_ms = this.#ctx.clock.monotonic()
    const rows = await this.rows()
    if (rows) return rows.save({ entries, batches, notices }, monotonic_ms)
    await this.#file.write({
      ...{ version: 1, monotonic_ms, utc_ms: this.#utc_ms() },
      ...{ entries: [...entries], batches, notices: [...notices] },
    })
  }
}
