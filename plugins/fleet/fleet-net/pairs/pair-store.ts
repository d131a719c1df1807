/** From the pairs that are wanted to the table of pairs, and to the jobs that compare them. */
import type { FleetDatabase, FleetJobs } from 'rtk-base/services'
import type { NetPair } from './pairs.js'

/** Kind of the jobs: one for each pair, again and again. */
export const pairJob = 'fleet-net-pair'
const rowsAtOnce = 5_000

/** Serial numbers have no blank. */
export const keyOf = ({ one, other }: Pick<NetPair, 'one' | 'other'>) => `${one} ${other}`

/** Pairs that are not wanted any more are deleted: a window of them that has begun is not stored. */
export async function storePairs(
  { query, transaction }: Pick<FleetDatabase, 'query' | 'transaction'>,
  jobs: Pick<FleetJobs, 'put' | 'drop'>,
  wanted: readonly NetPair[],
): Promise<void> {
  const known = await query<{ one: string; other: string }>('select one, other from fleet_net_pair')
  const isKnown = new Set(known.map(keyOf))
  const isWanted = new Set(wanted.map(keyOf))
  const added = wanted.filter((pair) => !isKnown.has(keyOf(pair)))
  const gone = known.filter((pair) => !isWanted.has(keyOf(pair)))
  for (let at = 0; at < added.length; at += rowsAtOnce) {
    const some = added.slice(at, at + rowsAtOnce)
    await transaction(async (inside) => {
      await inside(
        `insert into fleet_net_pair (one, other) select one, other from jsonb_to_recordset($1::jsonb) as row (one text, other text)
         on conflict (one, other) do nothing`,
        [JSON.stringify(some)],
      )
      await jobs.put(
        pairJob,
        some.map((pair) => ({ key: keyOf(pair), place: pair.cell })),
        inside,
      )
    })
  }
  for (let at = 0; at < gone.length; at += rowsAtOnce) {
    const some = gone.slice(at, at + rowsAtOnce)
    await transaction(async (inside) => {
      await inside(
        `delete from fleet_net_pair using unnest($1::text[], $2::text[]) as row (one, other)
         where fleet_net_pair.one = row.one and fleet_net_pair.other = row.other`,
        [some.map(({ one }) => one), some.map(({ other }) => other)],
      )
      await jobs.drop(pairJob, some.map(keyOf), inside)
    })
  }
}
