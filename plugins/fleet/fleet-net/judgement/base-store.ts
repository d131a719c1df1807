import type { FleetDatabase } from 'rtk-base/services'
import { ecefOf, listOf } from '../store/store.js'
import type { StoredBase } from './step.js'

type Database = Pick<FleetDatabase, 'query'>

interface BaseRow {
  readonly serial: string
  readonly state: StoredBase['state']
  readonly reason: string
  readonly east_m: number
  readonly north_m: number
  readonly up_m: number
  readonly sigma: number[]
  readonly vectors: number
  readonly neighbours: string[]
  readonly since: Date
  readonly cause: StoredBase['cause']
  readonly doubted_at: Date | null
  readonly arp: number[]
  readonly window_begun: Date | null
}

const seconds = (t: Date) => t.getTime() / 1_000

const baseOf = (row: BaseRow): StoredBase => {
  const [east = 0, north = 0, up = 0] = row.sigma
  return {
    ...{ serial: row.serial, state: row.state, reason: row.reason, vectors: row.vectors, cause: row.cause },
    neighbours: row.neighbours,
    offset: { east: row.east_m, north: row.north_m, up: row.up_m },
    sigma: { east, north, up },
    since_s: Math.floor(seconds(row.since)),
    doubted_s: row.doubted_at ? seconds(row.doubted_at) : undefined,
    arp: ecefOf(row.arp),
    window_s: row.window_begun ? seconds(row.window_begun) : 0,
  }
}

/** Bases of one query: reading or storing more at once holds up everything else. */
const rowsAtOnce = 1_000

/** @param pause between two queries */
export async function storedBases({ query }: Database, pause: () => Promise<void>): Promise<Map<string, StoredBase>> {
  const found = new Map<string, StoredBase>()
  for (let after = ''; ; ) {
    const rows = await query<BaseRow>(
      `select serial, state, reason, east_m, north_m, up_m, sigma, vectors, neighbours, since, cause, doubted_at, arp, window_begun
       from fleet_net_base where serial > $1 order by serial limit ${rowsAtOnce}`,
      [after],
    )
    for (const row of rows) found.set(row.serial, baseOf(row))
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return found
    after = last.serial
    await pause()
  }
}

/** @param onStored after each query, with its bases: a later one may fail */
export async function storeBases(
  { query }: Database,
  bases: readonly StoredBase[],
  now_s: number,
  onStored: (some: readonly StoredBase[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < bases.length; at += rowsAtOnce) {
    const some = bases.slice(at, at + rowsAtOnce)
    const rows = some.map((base) => ({
      ...{ serial: base.serial, state: base.state, reason: base.reason, vectors: base.vectors, cause: base.cause },
      ...{ east_m: base.offset.east, north_m: base.offset.north, up_m: base.offset.up, neighbours: base.neighbours },
      sigma: [base.sigma.east, base.sigma.north, base.sigma.up],
      since: new Date(1_000 * base.since_s),
      doubted_at: base.doubted_s === undefined ? null : new Date(1_000 * base.doubted_s),
      arp: listOf(base.arp),
      window_begun: base.window_s === 0 ? null : new Date(1_000 * base.window_s),
    }))
    await query(
      `insert into fleet_net_base (serial, state, reason, east_m, north_m, up_m, sigma, vectors, neighbours, since, judged, cause, doubted_at, arp, window_begun)
       select serial, state, reason, east_m, north_m, up_m, sigma, vectors, neighbours, since, to_timestamp($2), cause, doubted_at, arp, window_begun
       from jsonb_to_recordset($1::jsonb) as row (serial text, state text, reason text, east_m float8, north_m float8, up_m float8,
         sigma float8[], vectors int, neighbours text[], since timestamptz, cause jsonb, doubted_at timestamptz, arp float8[], window_begun timestamptz)
       on conflict (serial) do update set state = excluded.state, reason = excluded.reason, east_m = excluded.east_m,
         north_m = excluded.north_m, up_m = excluded.up_m, sigma = excluded.sigma, vectors = excluded.vectors,
         neighbours = excluded.neighbours, since = excluded.since, judged = excluded.judged, cause = excluded.cause,
         doubted_at = excluded.doubted_at, arp = excluded.arp, window_begun = excluded.window_begun`,
      [JSON.stringify(rows), now_s],
    )
    await onStored(some)
  }
}
