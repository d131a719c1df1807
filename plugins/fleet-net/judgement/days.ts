/** Daily medians of the vectors. */
import type { DailyOffset } from 'rtk-base/baseline'
import { enu } from 'rtk-base/gnss'
import type { Ecef, Enu, FleetDatabase } from 'rtk-base/services'
import { ecefOf, listOf, type StoredVector, vectorsSince } from '../store/store.js'

type Database = Pick<FleetDatabase, 'query'>
const day_s = 86_400
/** Days of one curve. */
const mostDays = 400

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** The smallest spread of a day: a single window must not look exact. */
const leastSigma_m = 0.002

const isSame = (one: Ecef, other: Ecef) => one.x === other.x && one.y === other.y && one.z === other.z

/** The median of each pair and day, of the fixed vectors with the positions that were announced last on that day. */
function dailyOf(vectors: readonly StoredVector[]) {
  const byDay = new Map<string, StoredVector[]>()
  for (const vector of vectors) {
    if (vector.status !== 'fixed') continue
    const key = `${Math.floor(vector.t_s / day_s)} ${vector.one} ${vector.other}`
    byDay.set(key, [...(byDay.get(key) ?? []), vector])
  }
  return [...byDay.values()].flatMap((all) => {
    const last = all.at(-1)
    if (!last) return []
    const some = all.filter(({ oneArp, otherArp }) => isSame(oneArp, last.oneArp) && isSame(otherArp, last.otherArp))
    const axis = (name: keyof Ecef) => some.map(({ measured }) => measured[name])
    const measured = [median(axis('x')), median(axis('y')), median(axis('z'))]
    const sigma = [0, 4, 8].map((at) =>
      Math.max(leastSigma_m, median(some.map(({ covariance }) => Math.sqrt(covariance[at] ?? 0)))),
    )
    return [
      {
        ...{ day: new Date(1_000 * day_s * Math.floor(last.t_s / day_s)).toISOString().slice(0, 10) },
        ...{ one: last.one, other: last.other, measured, sigma, windows: some.length },
        ...{ one_arp: listOf(last.oneArp), other_arp: listOf(last.otherArp) },
      },
    ]
  })
}

/** Stores the medians of yesterday and today, and deletes vectors and medians that are too old. */
export async function storeDays(database: Database, now_s: number, retention_days: number): Promise<void> {
  const { query } = database
  const from_s = day_s * (Math.floor(now_s / day_s) - 1)
  const rows = dailyOf(await vectorsSince(database, from_s))
  await query(
    `insert into fleet_net_day (day, one, other, measured, sigma, one_arp, other_arp, windows)
     select * from jsonb_to_recordset($1::jsonb) as row (day date, one text, other text, measured float8[], sigma float8[],
       one_arp float8[], other_arp float8[], windows int)
     on conflict (one, other, day) do update set measured = excluded.measured, sigma = excluded.sigma,
       one_arp = excluded.one_arp, other_arp = excluded.other_arp, windows = excluded.windows`,
    [JSON.stringify(rows)],
  )
  await query('delete from fleet_net_vector where t < to_timestamp($1)', [now_s - 3 * day_s])
  await query('delete from fleet_net_day where day < to_timestamp($1)', [now_s - retention_days * day_s])
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
 * @param except neighbours that are wrong themselves
 */
export async function curveOf(
  { query }: Database,
  serial: string,
  arp: Ecef,
  except: ReadonlySet<string>,
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
    .map(([t_s, all]) => {
      const of = (pick: (one: { offset: Enu; sigma: Enu }) => number) => median(all.map(pick))
      return {
        t_s,
        offset: {
          east: of((one) => one.offset.east),
          north: of((one) => one.offset.north),
          up: of((one) => one.offset.up),
        },
        sigma: {
          east: of((one) => one.sigma.east),
          north: of((one) => one.sigma.north),
          up: of((one) => one.sigma.up),
        },
      }
    })
}
