import type { Baseline } from 'rtk-base/baseline'
import type { Ecef, FleetDatabase } from 'rtk-base/services'

type Database = Pick<FleetDatabase, 'query'>

export interface Pair {
  readonly one: string
  readonly other: string
}
/** A measured vector from `one` to `other`. */
export interface StoredVector {
  readonly id: number
  readonly t_s: number
  readonly one: string
  readonly other: string
  readonly status: 'fixed' | 'float'
  /** ECEF metres. */
  readonly measured: Ecef
  /** ECEF, m², row by row. */
  readonly covariance: Float64Array
  /** The positions that were announced then. */
  readonly oneArp: Ecef
  readonly otherArp: Ecef
  /** By their own ranges, if that is far from the announced positions. */
  readonly oneRanges: Ecef | undefined
  readonly otherRanges: Ecef | undefined
  readonly epochs: number
  readonly satellites: number
  /** Up to this, the height may be off by different antennas, metres. */
  readonly heightDoubt_m: number
}

export const listOf = ({ x, y, z }: Ecef): number[] => [x, y, z]
export const ecefOf = ([x = 0, y = 0, z = 0]: readonly number[]): Ecef => ({ x, y, z })

export interface Outcome {
  readonly status: 'fixed' | 'float' | 'none'
  readonly reason: string
  /** Without it, the pair was tried, and has no vector. */
  readonly vector?: { readonly found: Baseline; readonly oneArp: Ecef; readonly otherArp: Ecef }
}

/** Stores what came of a window. */
export async function finish(
  { query }: Database,
  { one, other }: Pair,
  { status, reason, vector }: Outcome,
): Promise<void> {
  await query('update fleet_net_pair set status = $3, reason = $4, tried = now() where one = $1 and other = $2', [
    ...[one, other, status, reason],
  ])
  if (!vector) return
  const { found, oneArp, otherArp } = vector
  const { displaced, covariance, epochs, satellites, heightDoubt_m } = found
  await query(
    `insert into fleet_net_vector (t, one, other, status, measured, covariance, one_arp, other_arp, one_ranges, other_ranges, epochs, satellites, height_doubt)
     values (now(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[one, other, status, listOf(found.vector), [...covariance], listOf(oneArp), listOf(otherArp)],
      ...[displaced.from ? listOf(displaced.from) : null, displaced.to ? listOf(displaced.to) : null],
      ...[epochs, satellites, heightDoubt_m],
    ],
  )
}

interface VectorRow {
  readonly id: number
  readonly t_s: number
  readonly one: string
  readonly other: string
  readonly status: 'fixed' | 'float'
  readonly measured: number[]
  readonly covariance: number[]
  readonly one_arp: number[]
  readonly other_arp: number[]
  readonly one_ranges: number[] | null
  readonly other_ranges: number[] | null
  readonly epochs: number
  readonly height_doubt: number
  readonly satellites: number
}

const columns =
  'id, extract(epoch from t)::float8 as t_s, one, other, status, measured, covariance, one_arp, other_arp, one_ranges, other_ranges, epochs, satellites, height_doubt'
const vectorOf = (row: VectorRow): StoredVector => ({
  ...{ id: row.id, t_s: row.t_s, one: row.one, other: row.other, status: row.status },
  measured: ecefOf(row.measured),
  covariance: Float64Array.from(row.covariance),
  oneArp: ecefOf(row.one_arp),
  otherArp: ecefOf(row.other_arp),
  oneRanges: row.one_ranges ? ecefOf(row.one_ranges) : undefined,
  otherRanges: row.other_ranges ? ecefOf(row.other_ranges) : undefined,
  epochs: row.epochs,
  satellites: row.satellites,
  heightDoubt_m: row.height_doubt,
})

/** Vectors of one query: reading more at once holds up everything else. */
const rowsAtOnce = 500

/**
 * The vectors from then on, the oldest first.
 * @param pause between two queries
 * @param of only those of these stations
 */
export async function vectorsSince(
  { query }: Database,
  { since_s, of }: { since_s: number; of?: readonly string[] },
  pause: () => Promise<void>,
): Promise<StoredVector[]> {
  const found: StoredVector[] = []
  for (let after = { t_s: since_s, id: Number.MAX_SAFE_INTEGER }; ; ) {
    const rows = await query<VectorRow>(
      `select ${columns} from fleet_net_vector
       where (t, id) > (to_timestamp($1), $2) ${of ? 'and (one = any($3) or other = any($3))' : ''}
       order by t, id limit ${rowsAtOnce}`,
      of ? [after.t_s, after.id, [...of]] : [after.t_s, after.id],
    )
    for (const row of rows) found.push(vectorOf(row))
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return found
    after = last
    await pause()
  }
}

export async function newestVector({ query }: Database): Promise<number> {
  const [row] = await query<{ newest: number | null }>('select max(id) as newest from fleet_net_vector')
  return Number(row?.newest ?? 0)
}
