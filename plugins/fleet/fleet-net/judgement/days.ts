/** Daily medians of the vectors. */
import { type DailyOffset, dailyOffset } from 'rtk-base/baseline'
import { enu } from 'rtk-base/gnss'
import type { Ecef, Enu, FleetDatabase } from 'rtk-base/services'
import { ecefOf } from '../store/store.js'

type Database = Pick<FleetDatabase, 'query'>
const day_s = 86_400
/** Days of one curve. */
const mostDays = 400

/** The smallest spread of a day: a single window must not look exact. */
const leastSigma_m = 0.002
/** Stations of one query: an embedded database answers one query after the other, and others must not wait long. */
const stationsAtOnce = 20
/** Vectors of a day are stored at the latest this long after it. */
const late_s = 600

const startOf = (t_s: number) => day_s * Math.floor(t_s / day_s)

/**
 * The medians of the days from `$1` to `$2` of each pair whose lesser serial number is after `$3`, up to `$4`, of the fixed vectors with the
 * positions that were announced last on that day. `$5`: the smallest spread, metres.
 */
const medians = `
  insert into fleet_net_day (day, one, other, measured, sigma, one_arp, other_arp, windows)
  select day, one, other,
    array[${[1, 2, 3].map((axis) => `percentile_cont(0.5) within group (order by measured[${axis}])`).join(', ')}],
    array[${[1, 5, 9].map((at) => `greatest($5::float8, percentile_cont(0.5) within group (order by sqrt(greatest(0, covariance[${at}]))))`).join(', ')}],
    one_arp, other_arp, count(*)
  from (select *, first_value(one_arp) over newest as last_one, first_value(other_arp) over newest as last_other
    from (select *, (t at time zone 'UTC')::date as day from fleet_net_vector
      where status = 'fixed' and t >= to_timestamp($1) and t < to_timestamp($2) and one > $3 and one <= $4) as dated
    window newest as (partition by day, one, other order by t desc, id desc)) as vector
  where one_arp = last_one and other_arp = last_other
  group by day, one, other, one_arp, other_arp
  on conflict (one, other, day) do update set measured = excluded.measured, sigma = excluded.sigma,
    one_arp = excluded.one_arp, other_arp = excluded.other_arp, windows = excluded.windows`

/**
 * Stores the medians of today, and of yesterday until that day is complete.
 * @param complete_s begin of the last complete day that was stored, UTC seconds
 * @param pause between two queries
 * @returns `complete_s` for the next call
 */
export async function storeDays(
  { query }: Database,
  now_s: number,
  complete_s: number,
  pause: () => Promise<void>,
): Promise<number> {
  const today_s = startOf(now_s)
  const yesterday_s = today_s - day_s
  const from_s = complete_s === yesterday_s ? today_s : yesterday_s
  const until_s = today_s + day_s
  for (let after = ''; ; ) {
    const [row] = await query<{ last: string | null }>(
      `select max(one) as last from (select distinct one from fleet_net_vector
         where one > $1 and t >= to_timestamp($2) and t < to_timestamp($3) order by one limit ${stationsAtOnce}) as step`,
      [after, from_s, until_s],
    )
    if (!row?.last) break
    await query(medians, [from_s, until_s, after, row.last, leastSigma_m])
    after = row.last
    await pause()
  }
  return now_s - today_s >= late_s ? yesterday_s : complete_s
}

/**
 * Deletes vectors that are older than 3 days, judgements of stations that were removed long ago, and the oldest day of medians if it is too
 * old: at most one day per call.
 */
export async function deleteOld({ query }: Database, retention_days: number): Promise<void> {
  await query(`delete from fleet_net_vector where t < now() - interval '3 days'`)
  await query('delete from fleet_net_base where judged < now() - make_interval(days => $1)', [retention_days])
  await query(
    `delete from fleet_net_day
     where day < now() - make_interval(days => $1) and day = (select min(day) from fleet_net_day)`,
    [retention_days],
  )
}

interface DayRow {
  readonly day_s: number
  readonly one: string
  readonly other: string
  readonly measured: number[]
  readonly sigma: number[]
  readonly one_arp: number[]
  readonly other_arp: number[]
}

/**
 * The curve of a station: of each day the median over its neighbours, against the position that it announces now.
 * @param of `arp`: the announced position. `except`: neighbours that are wrong themselves
 */
export async function curveOf(
  { query }: Database,
  serial: string,
  { arp, except }: { arp: Ecef; except: ReadonlySet<string> },
): Promise<DailyOffset[]> {
  const rows = await query<DayRow>(
    `select extract(epoch from day)::float8 as day_s, one, other, measured, sigma, one_arp, other_arp from fleet_net_day
     where (one = $1 or other = $1) order by day desc limit $2`,
    [serial, 10 * mostDays],
  )
  const byDay = new Map<number, { offset: Enu; sigma: Enu }[]>()
  for (const row of rows) {
    const isOther = row.other === serial
    if (except.has(isOther ? row.one : row.other)) continue
    const there = ecefOf(isOther ? row.one_arp : row.other_arp)
    const sign = isOther ? 1 : -1
    const [x = 0, y = 0, z = 0] = row.measured
    const offset = enu(arp, { x: there.x + sign * x, y: there.y + sign * y, z: there.z + sign * z })
    const spread = Math.hypot(...row.sigma) / Math.sqrt(3)
    const all = byDay.get(row.day_s) ?? []
    all.push({ offset, sigma: { east: spread, north: spread, up: 2 * spread } })
    byDay.set(row.day_s, all)
  }
  return [...byDay]
    .slice(0, mostDays)
    .reverse()
    .map(([t_s, samples]) => dailyOffset(t_s, samples))
}
