/** What the net stores: daily medians, retention, pairs and their leases. */
import t from 'tap'
import { Jobs, tables as jobTables } from '../../../plugins/fleet/fleet/jobs.js'
import { storeBases, storedBases } from '../../../plugins/fleet/fleet-net/judgement/base-store.js'
import { deleteOld, storeDays } from '../../../plugins/fleet/fleet-net/judgement/days.js'
import { storePairs } from '../../../plugins/fleet/fleet-net/pairs/pair-store.js'
import { SettledPlaces, settle_ms } from '../../../plugins/fleet/fleet-net/pairs/settled.js'
import { vectorsSince } from '../../../plugins/fleet/fleet-net/store/store.js'
import { tables } from '../../../plugins/fleet/fleet-net/store/tables.js'
import { median } from '../../../runtime/lib/gnss/index.js'
import { Random } from '../../../runtime/lib/simulation/index.js'
import { followClock, openDatabase } from '../../harness/peers/embedded-database.js'

const day_s = 86_400
const midnight_s = 20_600 * day_s
const rest = async () => {}

const glite = await openDatabase()
let clock_s = midnight_s
followClock(glite, { now: () => 1_000 * clock_s })
t.teardown(() => glite.close())
const query = async <R extends object>(sql: string, values: readonly unknown[] = []): Promise<R[]> =>
  (await glite.query<R>(sql, [...values])).rows
const database = { query }

t.beforeEach(async () => {
  clock_s = midnight_s
  await glite.exec('drop schema public cascade; create schema public')
  for (const step of tables) await glite.exec(step)
})

interface Given {
  readonly t_s: number
  readonly one?: string
  readonly other?: string
  readonly status?: string
  readonly measured?: readonly number[]
  readonly arp?: readonly number[]
}

async function store(vectors: readonly Given[]): Promise<void> {
  const rows = vectors.map(
    ({ t_s, one = 'A', other = 'B', status = 'fixed', measured = [1, 2, 3], arp = [0, 0, 0] }) => ({
      ...{ t: new Date(1_000 * t_s), one, other, status, measured, one_arp: arp },
      covariance: [1e-4, 0, 0, 0, 4e-4, 0, 0, 0, 1e-8],
    }),
  )
  await query(
    `insert into fleet_net_vector (t, one, other, status, measured, covariance, one_arp, other_arp, epochs, satellites)
     select t, one, other, status, measured, covariance, one_arp, array[1, 1, 1], 100, 10 from jsonb_to_recordset($1::jsonb)
     as row (t timestamptz, one text, other text, status text, measured float8[], covariance float8[], one_arp float8[])`,
    [JSON.stringify(rows)],
  )
}

const days = () =>
  query<{ day: string; one: string; measured: number[]; sigma: number[]; one_arp: number[]; windows: number }>(
    'select day::text, one, measured, sigma, one_arp, windows from fleet_net_day order by day, one',
  )

t.test('daily medians', async (t) => {
  const random = new Random(3)
  const measured = Array.from({ length: 20 }, () => [random.uniform(), 10 * random.uniform(), -random.uniform()])
  await store([
    ...measured.map((one, n) => ({ t_s: midnight_s + 3_600 * n, measured: one })),
    { t_s: midnight_s + 100, status: 'float', measured: [99, 99, 99] },
    { t_s: midnight_s + 200, measured: [77, 77, 77], arp: [5, 0, 0] },
    { t_s: midnight_s - 1, measured: [4, 5, 6] },
    { t_s: midnight_s - day_s - 1, measured: [7, 8, 9] },
  ])
  await storeDays(database, midnight_s + day_s - 1, 0, rest)
  const [yesterday, today] = await days()
  t.match(yesterday, { day: '2026-05-26', measured: [4, 5, 6], windows: 1 })
  t.match(today, { day: '2026-05-27', windows: 20, one_arp: [0, 0, 0], sigma: [0.01, 0.02, 0.002] })
  for (const axis of [0, 1, 2])
    t.ok(Math.abs((today?.measured[axis] ?? 0) - median(measured.map((one) => one[axis] ?? 0))) < 1e-12)
  t.equal((await days()).length, 2, 'nothing of the days before')
})

t.test('yesterday is computed until it is complete, and then no more', async (t) => {
  const count = async () => (await days()).find(({ day }) => day === '2026-05-26')?.windows
  await store([{ t_s: midnight_s - 5 }])
  let complete_s = await storeDays(database, midnight_s + 5, 0, rest)
  t.equal(await count(), 1)
  await store([{ t_s: midnight_s - 4 }])
  complete_s = await storeDays(database, midnight_s + 700, complete_s, rest)
  t.equal(await count(), 2, 'a vector that was stored late')
  await store([{ t_s: midnight_s - 3 }, { t_s: midnight_s + 800 }])
  complete_s = await storeDays(database, midnight_s + 4_000, complete_s, rest)
  t.equal(await count(), 2)
  t.equal((await days()).length, 2, 'today')
  await storeDays(database, midnight_s + day_s + 4_000, complete_s, rest)
  t.equal((await days()).find(({ day }) => day === '2026-05-27')?.windows, 1, 'a day later')
})

t.test('the medians of many stations are computed in steps', async (t) => {
  const stations = 240
  const vectors: Given[] = []
  for (let n = 0; n < stations; n++)
    for (const next of [1, 2, 3])
      for (let hour = 0; hour < 24; hour++)
        vectors.push({ t_s: midnight_s + 3_600 * hour, one: `S${n}`, other: `T${n + next}` })
  for (let at = 0; at < vectors.length; at += 5_000) await store(vectors.slice(at, at + 5_000))
  let pauses = 0
  let longest_ms = 0
  let begun_ms = performance.now()
  await storeDays(database, midnight_s + day_s - 1, 0, async () => {
    pauses += 1
    longest_ms = Math.max(longest_ms, performance.now() - begun_ms)
    begun_ms = performance.now()
  })
  t.comment(`${vectors.length} vectors, longest step ${longest_ms.toFixed(0)} ms`)
  t.ok(pauses >= 12)
  const all = await days()
  t.equal(all.length, 3 * stations)
  t.ok(all.every(({ windows }) => windows === 24))
})

t.test('retention', async (t) => {
  const stored = async () => (await query('select id from fleet_net_vector')).length
  const fillDays = (count: number) =>
    query(
      `insert into fleet_net_day (day, one, other, measured, sigma, one_arp, other_arp, windows)
       select (to_timestamp($1) at time zone 'UTC')::date - n, one, 'Z', array[1, 2, 3], array[1, 1, 1], array[1, 1, 1], array[1, 1, 1], 1
       from generate_series(0, $2::int - 1) as n, unnest(array['A', 'B']) as one`,
      [midnight_s, count],
    )
  const hours = [1, 3, 70, 73, 100]
  await store(hours.map((hour) => ({ t_s: midnight_s - 3_600 * hour })))
  await fillDays(34)
  await query(
    `insert into fleet_net_base (serial, state, reason, east_m, north_m, up_m, sigma, vectors, neighbours, since, judged, cause, arp)
     select 'B' || age, 'contradicts', '', 0, 0, 0, '{}', 0, '{}', 'epoch', to_timestamp($1 - 86400 * age), '{}', '{}' from unnest(array[0, 32]) as age`,
    [midnight_s],
  )
  await deleteOld(database, 31)
  t.strictSame(await query('select serial from fleet_net_base'), [{ serial: 'B0' }], 'not judged for too long')
  t.equal(await stored(), 3, 'vectors of three days')
  t.equal((await days()).length, 2 * 33, 'one day at a time')
  for (let n = 0; n < 5; n++) await deleteOld(database, 31)
  t.equal((await days()).length, 2 * 32, 'and no more than are too old')
})

t.test('vectors and judgements are read in steps, in order', async (t) => {
  const now_s = midnight_s
  // Thousands of one time, and not in the order of their numbers.
  await store(Array.from({ length: 2_500 }, (_, n) => ({ t_s: now_s - Math.floor(n / 1_200), one: `A${n % 5}` })))
  let pauses = 0
  const pause = async () => {
    pauses += 1
  }
  const read = (of?: readonly string[]) => vectorsSince(database, { since_s: now_s - 1.5, ...(of && { of }) }, pause)
  const found = await read()
  t.equal(found.length, 2_400)
  t.equal(new Set(found.map(({ id }) => id)).size, 2_400, 'each once')
  const keys = found.map(({ t_s, id }) => 1e6 * (t_s - now_s) + id)
  t.ok(
    keys.every((key, at) => at === 0 || key > (keys[at - 1] ?? 0)),
    'the oldest first',
  )
  t.equal(pauses, 4)
  t.equal((await read(['A1'])).length, 480)
  const cause = { kind: '', values: {}, text: '' }
  const bases = Array.from({ length: 2_500 }, (_, n) => ({
    ...({
      serial: `B${n}`,
      state: 'agrees',
      reason: 'confirmed',
      vectors: 3,
      neighbours: [],
      cause,
      since_s: 1,
    } as const),
    ...{ offset: { east: 0, north: 0, up: 0 }, sigma: { east: 0, north: 0, up: 0 }, arp: { x: n, y: 0, z: 0 } },
    ...{ doubted_s: undefined, window_s: 0 },
  }))
  await storeBases(database, bases, now_s, rest)
  pauses = 0
  const stored = await storedBases(database, pause)
  t.equal(stored.size, 2_500)
  t.equal(stored.get('B2499')?.arp.x, 2_499)
  t.equal(pauses, 2)
})

t.test('a pair that is not wanted any more is deleted, with its job', async (t) => {
  for (const step of jobTables) await glite.exec(step)
  const pair = (other: string) => ({ one: 'A', other, cell: 1 })
  const jobs = new Jobs({} as never, { ...database, notify: async () => {} } as never)
  const transaction = <T>(work: (inside: typeof query) => Promise<T>) => work(query)
  const stored = async () =>
    (await query<{ key: string }>(`select one || ' ' || other as key from fleet_net_pair order by other`)).map(
      ({ key }) => key,
    )
  const due = async () => (await query<{ key: string }>('select key from fleet_job order by key')).map(({ key }) => key)
  for (const others of [['B', 'C'], ['C'], ['B', 'C', 'D'], []]) {
    await storePairs({ query, transaction }, jobs, others.map(pair))
    const keys = others.map((other) => `A ${other}`)
    t.strictSame(await stored(), keys)
    t.strictSame(await due(), keys)
  }
})

t.test('the position that counts for the pairs', async (t) => {
  const places = new SettledPlaces()
  const at = (x: number) => ({ x, y: 0, z: 0 })
  const counts = (now_ms: number) => places.at(now_ms).places.map(({ serial, arp }) => `${serial}${arp.x}`)
  places.heard('A', at(1), 0)
  t.strictSame(places.at(0), { places: [], isSettling: true })
  places.settleAll()
  t.strictSame(places.at(0), { places: [{ serial: 'A', arp: at(1) }], isSettling: false })
  places.heard('B', at(1), 0)
  places.heard('B', at(1), settle_ms - 1)
  t.strictSame(counts(settle_ms - 1), ['A1'])
  t.strictSame(counts(settle_ms), ['A1', 'B1'], 'a new one counts after half an hour')
  for (let n = 0; n < 100; n++) {
    places.heard('A', at(2 + n), settle_ms + 60_000 * n)
    t.strictSame(counts(settle_ms + 60_000 * n), ['A1', 'B1'], 'one that jumps keeps its place')
  }
  places.heard('B', undefined, 10 * settle_ms)
  t.strictSame(counts(10 * settle_ms), ['A101', 'B1'])
  t.strictSame(counts(11 * settle_ms), ['A101'], 'one that announces none any more')
  places.forget('A')
  t.strictSame(counts(11 * settle_ms), [])
})
