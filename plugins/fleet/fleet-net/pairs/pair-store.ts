/** From the pairs that are wanted to the table of pairs. */
import type { FleetDatabase } from 'rtk-base/services'
import type { NetPair } from './pairs.js'

type Database = Pick<FleetDatabase, 'query'>
const rowsAtOnce = 5_000
/** A pair that is not wanted any more is kept this long after its lease: it may come back. */
const keep_s = 3_600
/** A time later than this was stored with a wrong clock. */
const farthest_s = 86_400

const keyOf = ({ one, other }: Pick<NetPair, 'one' | 'other'>) => `${one} ${other}`

/**
 * Pairs that are not wanted any more are not compared again. They are deleted an hour after their lease has ended, so a window that has
 * begun still has its vector.
 * @returns number of those that are not deleted yet
 */
export async function storePairs({ query }: Database, wanted: readonly NetPair[], now_s: number): Promise<number> {
  const known = await query<{ one: string; other: string; gone: Date | null }>(
    'select one, other, gone from fleet_net_pair',
  )
  const isGone = new Map(known.map((pair) => [keyOf(pair), pair.gone !== null]))
  const isWanted = new Set(wanted.map(keyOf))
  const added = wanted.filter((pair) => isGone.get(keyOf(pair)) !== false)
  const gone = known.filter((pair) => pair.gone === null && !isWanted.has(keyOf(pair)))
  for (let at = 0; at < added.length; at += rowsAtOnce)
    await query(
      `insert into fleet_net_pair (one, other, cell, due)
       select one, other, cell, to_timestamp($2) from jsonb_to_recordset($1::jsonb) as row (one text, other text, cell bigint)
       on conflict (one, other) do update set gone = null`,
      [JSON.stringify(added.slice(at, at + rowsAtOnce)), now_s],
    )
  for (let at = 0; at < gone.length; at += rowsAtOnce) {
    const some = gone.slice(at, at + rowsAtOnce)
    await query(
      `update fleet_net_pair set gone = to_timestamp($3) from unnest($1::text[], $2::text[]) as row (one, other)
       where fleet_net_pair.one = row.one and fleet_net_pair.other = row.other`,
      [some.map(({ one }) => one), some.map(({ other }) => other), now_s],
    )
  }
  await query(
    `delete from fleet_net_pair
     where (gone < to_timestamp($1) or gone > to_timestamp($2))
       and (leased_until < to_timestamp($1) or leased_until > to_timestamp($2))`,
    [now_s - keep_s, now_s + farthest_s],
  )
  const [row] = await query<{ count: number }>(
    'select count(*)::int as count from fleet_net_pair where gone is not null',
  )
  return row?.count ?? 0
}
