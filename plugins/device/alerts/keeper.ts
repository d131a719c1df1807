/** Keeps what was told: in the database of a fleet, otherwise in a file. */
import { join } from 'node:path'
import { StateFile } from 'rtk-base/files'
import type { PluginContext } from 'rtk-base/plugin'
import { type FleetDatabase, fleetDatabase } from 'rtk-base/services'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { StoredNotice } from './channels/outbox.js'
import { StoredBatches } from './rules/batches.js'
import { StoredEntry } from './rules/ledger.js'

const largest_bytes = 16 << 20
const owner = 'alerts'
const ackPrefix = 'ack '

/** One row for the state, and one for each acknowledgement that the leading instance has not taken yet. */
export const tables = ['create table alerts_state (name text primary key, value jsonb not null)']
export const ackChannel = 'alerts_ack'

/** Times of the members end with `_ms`: monotonic, of the service that stored it. */
export const StoredState = Type.Object({
  version: Type.Literal(1),
  /** Both at the moment of storing; 0: not known. */
  monotonic_ms: Type.Number(),
  utc_ms: Type.Number(),
  entries: Type.Array(StoredEntry),
  batches: StoredBatches,
  notices: Type.Array(StoredNotice),
})
export type StoredState = Type.Static<typeof StoredState>

/**
 * The state with times of this service. Pure. A clock that was set back, or that is not known, counts as no time passed, so that nothing
 * is told twice.
 */
export function moved(state: StoredState, monotonic_ms: number, utc_ms: number): StoredState {
  const passed_ms = state.utc_ms > 0 && utc_ms > 0 ? Math.max(0, utc_ms - state.utc_ms) : 0
  const by_ms = monotonic_ms - state.monotonic_ms - passed_ms
  const at = (time_ms: number) => time_ms + by_ms
  const { batches, overflow, sent_ms } = state.batches
  return {
    ...state,
    ...{ monotonic_ms, utc_ms },
    entries: state.entries.map((entry) => ({
      ...{ ...entry, at_ms: at(entry.at_ms) },
      ...(entry.told_ms !== undefined && { told_ms: at(entry.told_ms) }),
    })),
    batches: {
      batches: batches.map((batch) => ({ ...batch, begun_ms: at(batch.begun_ms) })),
      sent_ms: sent_ms.map(at),
      ...(overflow && { overflow: { ...overflow, begun_ms: at(overflow.begun_ms) } }),
    },
    notices: state.notices.map((notice) => ({
      ...{ ...notice, made_ms: at(notice.made_ms) },
      deliveries: Object.fromEntries(
        Object.entries(notice.deliveries).map(([name, one]) => [name, { ...one, next_ms: at(one.next_ms) }]),
      ),
    })),
  }
}

export interface Ack {
  readonly key: string
  readonly by: string
  readonly t_s: number
}

export class Keeper {
  readonly #ctx: PluginContext
  #migrated: Promise<void> | undefined

  constructor(ctx: PluginContext) {
    this.#ctx = ctx
  }

  get #database(): FleetDatabase | undefined {
    return this.#ctx.services.find(fleetDatabase)
  }

  get #file() {
    return new StateFile(StoredState, join(this.#ctx.dataDir('main').path, 'alerts.json'), { largest_bytes })
  }

  /** @returns undefined: nothing is stored @throws if it cannot be read for now */
  async load(): Promise<StoredState | undefined> {
    const { value, damage } = this.#database ? await this.#row(this.#database) : await this.#file.read()
    if (damage !== undefined) this.#ctx.log.warn('the stored alerts cannot be read: alerts that hold are told again')
    return value
  }

  async #row(database: FleetDatabase): Promise<{ value?: StoredState; damage?: string }> {
    this.#migrated ??= database.migrate(owner, tables)
    await this.#migrated
    const [row] = await database.query<{ value: unknown }>(`select value from alerts_state where name = 'state'`)
    if (!row) return {}
    return Value.Check(StoredState, row.value) ? { value: row.value } : { damage: 'it has another form' }
  }

  /** Durable when it resolves. */
  async save(state: StoredState): Promise<void> {
    const database = this.#database
    if (!database) return this.#file.write(state)
    await database.query(
      `insert into alerts_state (name, value) values ('state', $1::jsonb)
       on conflict (name) do update set value = excluded.value`,
      [JSON.stringify(state)],
    )
  }

  /** Acknowledgements that other instances have stored. */
  async acks(): Promise<Ack[]> {
    const rows = await this.#database?.query<{ value: Ack }>(
      `select value from alerts_state where starts_with(name, $1)`,
      [ackPrefix],
    )
    return rows?.map(({ value }) => value) ?? []
  }

  /** For the leading instance. */
  async leaveAck(ack: Ack): Promise<void> {
    await this.#database?.query(
      `insert into alerts_state (name, value) values ($1, $2::jsonb)
       on conflict (name) do update set value = excluded.value`,
      [`${ackPrefix}${ack.key}`, JSON.stringify(ack)],
    )
    await this.#database?.notify(ackChannel, '')
  }

  async forgetAcks(keys: readonly string[]): Promise<void> {
    await this.#database?.query('delete from alerts_state where name = any($1)', [
      keys.map((key) => `${ackPrefix}${key}`),
    ])
  }
}
