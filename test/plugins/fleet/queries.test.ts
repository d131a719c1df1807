/** How many rows the queries of the fleet read, by the plan that PostgreSQL makes, on a fleet that has grown. */
import t from 'tap'
import { AlertRows, tables as alertTables } from '../../../plugins/device/alerts/rows.js'
import { type AlertFilter, type Entry, Ledger } from '../../../plugins/device/alerts/rules/ledger.js'
import type { State } from '../../../plugins/device/alerts/state.js'
import { Acceptances } from '../../../plugins/fleet/fleet-net/acceptance/acceptances.js'
import { tables as netTables } from '../../../plugins/fleet/fleet-net/store/tables.js'
import { entries } from '../../../plugins/fleet/fleet-registry/store/events.js'
import { partsBefore, partsFor, tables as registryTables } from '../../../plugins/fleet/fleet-registry/store/tables.js'
import * as rollouts from '../../../plugins/fleet/fleet-rollout/store.js'
import type { FleetDatabase, FleetQuery } from '../../../schemas/services.js'
import { followClock, openDatabase } from '../../harness/peers/embedded-database.js'

const database = await openDatabase()
t.teardown(() => database.close())
for (const step of [...alertTables, ...registryTables, ...rollouts.tables, ...netTables]) await database.exec(step)
const now = new Date('2026-11-30T12:00:00Z')
followClock(database, { now: () => now.getTime() })
const months = Array.from({ length: 14 }, (_, back) => new Date(Date.UTC(2026, 10 - back, 1)))
for (const month of months) for (const sql of partsFor(month)) await database.exec(sql)
// 400 days; a person does something once a day; many entries share a minute. Five times as much was measured once: the same.
await database.exec(`
  insert into fleet_event (t, serial, kind, text)
    select date_trunc('minute', timestamptz '2026-11-30 12:00Z' - n * interval '675 s'), 'S' || (n * 7919 % 2000),
      (array['contact', 'verdict', 'position', 'contact'])[1 + n % 4], 'text ' || n
    from generate_series(1, 51200) as n;
  insert into fleet_event (t, serial, kind, text, actor)
    select timestamptz '2026-11-30 12:00Z' - n * interval '1 day', 'S' || n, 'person', 'added', 'anna' from generate_series(1, 400) as n;
  insert into fleet_rollout (plan, actor, state, ended)
    select '{"name":"an update"}', 'anna', 'done', timestamptz '2026-11-30 12:00Z' - n * interval '1 day' from generate_series(1, 10) as n;
  insert into fleet_rollout (plan, actor) values ('{"name":"runs"}', 'anna');
  insert into fleet_rollout_target (rollout, serial, wave, state, since, before)
    select id, 'S' || n, n / 200, case when n % 100 = 0 then 'failed' else 'done' end, coalesce(ended, created), '{}'
    from fleet_rollout cross join generate_series(1, 2000) as n;
  insert into fleet_net_acceptance (serial, begun, until, actor, arp, version, outcome, evidence)
    select 'S' || n % 1000, now(), now(), 'anna', '{1,2,3}', '1', 'accepted', '{}' from generate_series(1, 4000) as n;
  analyze`)

interface Plan {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}
const rowsOf = ({ Plans = [], ...node }: Plan): number => {
  const own = node['Node Type'].includes('Scan') ? node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) : 0
  return own * node['Actual Loops'] + Plans.reduce((sum, one) => sum + rowsOf(one), 0)
}

/** Answers queries, and counts the rows that their plans read from tables and indices. */
class Counted {
  rows = 0
  readonly query: FleetQuery = async <R extends object>(sql: string, values: readonly unknown[] = []) => {
    const explained = await database.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `explain (analyze, format json) ${sql}`,
      [...values],
    )
    this.rows += rowsOf(explained.rows[0]?.['QUERY PLAN'][0]?.Plan as Plan)
    return (await database.query<R>(sql, [...values])).rows
  }
  readonly transaction = <T>(work: (query: FleetQuery) => Promise<T>) => work(this.query)
}

const asking: FleetQuery = async <R extends object>(sql: string, values: readonly unknown[] = []) =>
  (await database.query<R>(sql, [...values])).rows
const atOnce: FleetDatabase['transaction'] = (work) => work(asking)

t.test('F8: a page of the record reads what it shows, whatever it is filtered by', async (t) => {
  const most = 100
  const before_s = Date.UTC(2026, 5, 1) / 1_000
  const filters = {
    all: {},
    before: { before_s },
    'of a station': { serial: 'S42' },
    'of a rare kind': { kinds: ['person'] },
    'of kinds': { kinds: ['person', 'position', 'verdict'] },
    'of kinds before': { kinds: ['person', 'verdict'], before_s },
    'of a station and a kind': { serial: 'S42', kinds: ['position'] },
    'of a kind that is not there': { kinds: ['rollout'] },
  }
  for (const [name, filter] of Object.entries(filters)) {
    const counted = new Counted()
    const found = await entries(counted, { ...filter, beforeId: 0, most })
    const shares = 'kinds' in filter ? filter.kinds.length : 1
    // Each month's part of the table costs a look, and `unnest` is a scan, too.
    t.ok(
      counted.rows <= 2 * shares * most + 2 * months.length * shares,
      `${name}: ${counted.rows} rows for ${found.length}`,
    )
    const times = found.map((row) => [row.t.getTime(), Number(row.id)] as const)
    const sorted = [...times].sort(([a, m], [b, n]) => b - a || n - m)
    t.strictSame(times, sorted, `${name}: the newest first`)
  }
})

t.test('F5: pages have every entry once, also those of one second', async (t) => {
  await database.exec(`insert into fleet_event (t, serial, kind, text)
    select timestamptz '2026-11-30 11:59:59Z', 'BURST', (array['contact', 'verdict'])[1 + n % 2], n::text from generate_series(1, 250) as n`)
  for (const kinds of [undefined, ['contact', 'verdict']]) {
    const texts: string[] = []
    let last: { before_s: number; beforeId: number } | undefined
    for (;;) {
      const page = await entries(new Counted(), { serial: 'BURST', kinds, beforeId: 0, most: 40, ...last })
      texts.push(...page.map(({ text }) => text))
      const end = page.at(-1)
      if (!end || page.length < 40) break
      last = { before_s: Math.floor(end.t.getTime() / 1_000), beforeId: Number(end.id) }
    }
    t.equal(new Set(texts).size, 250)
    t.equal(texts.length, 250)
  }
})

t.test('F8, F9: rollouts are read in parts', async (t) => {
  const counted = new Counted()
  const rowsFor = async <T>(read: Promise<T>) => {
    counted.rows = 0
    const found = await read
    return { found, rows: counted.rows }
  }
  const list = await rowsFor(rollouts.rolloutList(counted, { before: 0, most: 10 }))
  t.ok(list.rows <= 40, `${list.rows} rows for a list of ten`)
  t.match(list.found[0], { name: 'runs', state: 'running' })
  t.notOk('plan' in (list.found[0] ?? {}))
  const next = await rollouts.rolloutList(counted, { before: 6, most: 3 })
  t.strictSame(
    next.map(({ id }) => Number(id)),
    [5, 4, 3],
  )
  const live = await rowsFor(rollouts.liveRollouts(counted))
  t.equal(live.found.length, 1, 'the one that runs')
  const after = { wave: -1, serial: '' }
  const page = await rowsFor(rollouts.targetPage(counted, 7, { state: 'failed', after, most: 5 }))
  t.ok(page.rows <= 10 && page.found.length === 5, `${page.rows} rows for five stations`)
  const last = page.found.at(-1)
  const more = await rollouts.targetPage(counted, 7, { state: 'failed', after: last ?? after, most: 100 })
  t.equal(new Set([...page.found, ...more].map(({ serial }) => serial)).size, 20)
  const one = await rowsFor(rollouts.targetOf(counted, 7, 'S77'))
  t.ok(one.rows <= 1 && one.found?.serial === 'S77')
  const { counts, waves } = await rollouts.countsOf(counted, 7)
  t.match([counts, waves], [{ failed: 20, done: 1_980 }, 11])
})

t.test('F9: a rollout is forgotten long after its end, one that runs never', async (t) => {
  const counted = new Counted()
  await rollouts.forget(counted, 3)
  const left = await rollouts.rolloutList(counted, { before: 0, most: 200 })
  t.equal(left.length, 4)
  t.match(left[0], { state: 'running' })
  const { rows } = await database.query<{ n: number }>('select count(*)::int as n from fleet_rollout_target')
  t.equal(rows[0]?.n, 8_000, 'with its stations')
})

t.test('a rollout changes its state once, whoever asks twice', async (t) => {
  const [{ id }] = (await asking<{ id: number }>(
    `insert into fleet_rollout (plan, actor) values ('{"name":"twice"}', 'anna') returning id`,
  )) as [{ id: number }]
  const set = (from: 'running' | 'paused', to: 'paused' | 'stopped') =>
    rollouts.setState({ query: asking }, id, [from], to, '')
  t.strictSame([await set('running', 'paused'), await set('running', 'paused')], [true, false])
  t.strictSame([await set('running', 'stopped'), await set('paused', 'stopped')], [false, true])
  await asking('delete from fleet_rollout where id = $1', [id])
})

t.test('a month of the record goes when nothing of it is kept', (t) => {
  const names = ['fleet_event_2026_09', 'fleet_event_2026_10', 'fleet_document_2026_09', 'fleet_document_2026_11']
  const before = (day: string) => partsBefore([...names, 'fleet_event', 'other_2020_01'], new Date(day))
  t.strictSame(before('2026-09-30T23:59:59Z'), [])
  t.strictSame(before('2026-10-01T00:00:00Z'), ['fleet_event_2026_09', 'fleet_document_2026_09'])
  t.strictSame(before('2026-12-01T00:00:00Z'), names)
  t.end()
})

t.test('F11: the acceptance tests of one station are found among those of all', async (t) => {
  const counted = new Counted()
  const ctx = { services: { use: () => counted } }
  const acceptances = new Acceptances(ctx as never, { every_min: 30, window_min: 30 })
  const found = await acceptances.list({ serial: 'S42', before: 0 })
  t.equal(found.length, 4)
  t.ok(counted.rows <= 8, `${counted.rows} rows`)
  t.equal((await acceptances.list({ serial: 'S42', before: found[1]?.id ?? 0 })).length, 2)
})

const entryOf = (n: number): Entry => ({
  alert: {
    ...{ key: `S${n % 10_000} ${n < 10_000 ? 'offline' : 'moved'}`, serial: `S${n % 10_000}`, name: '', group: '' },
    ...{ kind: n < 10_000 ? 'offline' : 'moved', severity: n < 10_000 ? 'warning' : 'critical' },
    // Many begin in the same second.
    ...{ text: `text ${n}`, advice: '', since_s: 1_700_000_000 + (n % 97) },
  },
  ...{ state: 'active', at_ms: -1_000, flaps: 0, told_ms: -500 },
})
const fleetEntries = Array.from({ length: 12_000 }, (_, n) => entryOf(n))
const noBatches = { batches: [], sent_ms: [] }
const stateOf = (entries: readonly Entry[]): State => ({ entries, notices: [], batches: noBatches })

t.test('F10: a page of the alerts reads what it shows, and has what the memory has', async (t) => {
  const counted = new Counted()
  await new AlertRows({ ...database, query: asking, transaction: atOnce } as never).save(stateOf(fleetEntries), 0)
  await database.exec('analyze alerts_entry')
  const rows = new AlertRows(counted as never)
  const memory = new Ledger({ hold_ms: 0, repeat_ms: 0, most: 20_000 })
  memory.restore(fleetEntries)
  const filters: Record<string, Partial<AlertFilter>> = {
    all: {},
    'of a station': { serial: 'S42' },
    'of a kind': { kind: 'moved' },
    'of a severity': { severity: 'critical' },
    'of a kind that is not there': { kind: 'disk' },
  }
  for (const [name, filter] of Object.entries(filters)) {
    let before: AlertFilter['before']
    for (let page = 0; page < 3; page++) {
      counted.rows = 0
      const found = await rows.page({ ...filter, before, most: 100 }, 0)
      t.ok(counted.rows <= 200, `${name}: ${counted.rows} rows for ${found.length}`)
      const keys = (entries: readonly Entry[]) => entries.map(({ alert }) => alert.key)
      t.strictSame(keys(found), keys(memory.page({ ...filter, before, most: 100 })), name)
      before = found.at(-1)?.alert
    }
  }
})

t.test('F10: only differences are written, and none twice', async (t) => {
  const written: string[] = []
  let failing = false
  const query: FleetQuery = async (sql, values) => {
    if (!sql.startsWith('select')) written.push(JSON.stringify(values))
    return asking(sql, values)
  }
  const transaction: FleetDatabase['transaction'] = async (work) => {
    const result = await work(query)
    if (failing) throw new Error('the connection ended after the commit')
    return result
  }
  const rows = new AlertRows({ query, transaction, notify: async () => {} } as never)
  const { entries } = await rows.load(0, () => t.fail('damaged'))
  t.equal(entries.length, fleetEntries.length)
  await rows.save(stateOf(entries), 0)
  written.length = 0
  await rows.save(stateOf([...entries]), 0)
  t.strictSame(written, [], 'nothing differs')
  const [first, second, ...rest] = entries as [Entry, Entry, ...Entry[]]
  const flapped: Entry = { ...first, flaps: 1 }
  await rows.acknowledge(first.alert.key, { by: 'anna', t_s: 5 })
  written.length = 0
  failing = true
  const added = entryOf(9_999_999)
  await t.rejects(rows.save(stateOf([flapped, added, ...rest]), 0))
  failing = false
  t.ok(written.join().length < 3_000, 'one changed, one is new, one is gone')
  // Nobody knows whether the first attempt was stored; the new one is over meanwhile.
  await rows.save(stateOf([flapped, second, ...rest]), 0)
  const again = await rows.load(0, () => t.fail('damaged'))
  const stored = new Map(again.entries.map((entry) => [entry.alert.key, entry]))
  t.equal(stored.size, entries.length)
  t.match(stored.get(first.alert.key), { flaps: 1, acknowledged: { by: 'anna' } }, 'an acknowledgement outlasts a save')
  t.notOk(stored.has(added.alert.key))
})
