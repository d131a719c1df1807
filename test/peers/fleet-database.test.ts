/** Instances of a fleet on a real PostgreSQL, through networks that break. */
import { rmSync } from 'node:fs'
import { createTestStation, type TestStation } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { tablesOf } from '../../plugins/fleet/fleet/database/takeover.js'
import {
  type Device,
  device,
  type EmbeddedBroker,
  embeddedBroker,
  type FleetDatabase,
  fleetDatabase,
} from '../../schemas/services.js'
import { drive } from '../harness/drive.js'
import { databaseFolder } from '../harness/peers/embedded-database.js'
import { type Postgres, postgresPrograms, startPostgres } from '../harness/peers/postgres.js'
import { SpecStation } from '../harness/peers/spec-station.js'
import { startTcpProxy, type TcpProxy } from '../harness/peers/tcp-proxy.js'
import { probe } from '../harness/probe.js'

const skip = process.env.CI !== 'true' && !postgresPrograms() && 'PostgreSQL is not installed'

interface Instance {
  readonly station: TestStation
  readonly database: FleetDatabase
  readonly proxy: TcpProxy
  /** URL of its embedded broker. */
  readonly broker: () => string
  /** Payloads of the channel `test`. */
  readonly heard: (string | undefined)[]
  errors(): string[]
  until(condition: () => unknown, what: string): Promise<number>
}

/**
 * An instance whose connections to the database go through a proxy of its own.
 * @param broker default: its own
 */
async function instance(t: Test, postgres: Postgres, name: string, broker = ''): Promise<Instance> {
  const proxy = await startTcpProxy(t, postgres.socket)
  const found: { database?: FleetDatabase; device?: Device; broker?: EmbeddedBroker } = {}
  const heard: (string | undefined)[] = []
  const ears = probe([fleetDatabase, device, embeddedBroker], (ctx) => {
    found.broker = ctx.services.use(embeddedBroker)
    found.database = ctx.services.use(fleetDatabase)
    found.device = ctx.services.use(device)
    found.database.listen('test', (payload) => heard.push(payload))
  })
  const station = await createTestStation({
    plugins: { probe: ears },
    sources: {
      'http-api': {},
      'mqtt-broker': { port: 0 },
      fleet: { broker, database: `postgres://postgres@127.0.0.1:${proxy.port}/${name}` },
      'fleet-registry': {},
    },
  })
  t.teardown(() => station.stop())
  return {
    ...{ station, proxy, heard },
    broker: () => `mqtt://127.0.0.1:${found.broker?.address?.port}`,
    database: found.database as FleetDatabase,
    errors: () => (found.device?.errors() ?? []).map(({ code }) => code),
    until: (condition, what) => drive(station.clock, condition, what),
  }
}

t.test('PostgreSQL behind a network that drops connections without telling anybody', { skip }, async (t) => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  await postgres.create('dropped')
  const leader = await instance(t, postgres, 'dropped')
  await leader.until(() => leader.database.leads, 'the first instance leads')
  const follower = await instance(t, postgres, 'dropped', leader.broker())
  await follower.until(() => follower.database.connected, 'the second one is connected')
  const documentOf = (serial: string, name: string) => ({ esp: { serial, version: '1.0.0' }, base: { name } })
  const station = async (serial: string) => {
    const started = await SpecStation.start({
      url: leader.broker(),
      serial,
      document: documentOf(serial, 'before'),
      state: { verdict: 'fit', cause: 'ok', since: 1_700_000_000, version: '1.0.0' },
    })
    t.teardown(() => started.stop())
    started.sayDocument()
    return started
  }
  const stored = async (serial: string) => {
    const [row] = await postgres.query<{ name: string | null; at: string }>(
      `select document->'base'->>'name' as name, document_at::text as at from fleet_station where serial = '${serial}'`,
      'dropped',
    )
    return row
  }
  const knows = async ({ station: { request } }: Instance, serial: string, name: string) =>
    ((await request('/fleet/stations')).json() as { stations: { serial: string; name: string }[] }).stations.some(
      (row) => row.serial === serial && row.name === name,
    )
  await station('QUIET1')
  const busy = await station('BUSY1')
  await leader.until(async () => (await stored('QUIET1'))?.name === 'before', 'the first station is stored')
  await leader.until(async () => (await stored('BUSY1'))?.name === 'before', 'the second one as well')
  await follower.until(() => knows(follower, 'QUIET1', 'before'), 'the follower hears them')
  await follower.until(() => knows(follower, 'BUSY1', 'before'), 'both')
  const before = await stored('QUIET1')

  await t.test('F1: a leader whose listener is half-open leads no more before the server frees its lock', async (t) => {
    leader.proxy.blackhole(true)
    const waited_ms = await leader.until(() => !leader.database.leads, 'it gives up the lead')
    t.ok(waited_ms <= 20_000, `after ${waited_ms} ms`)
    t.notOk(leader.database.connected)
    await leader.until(() => leader.errors().includes('fleet-database'), 'an error says so')
    t.notOk(follower.database.leads, 'until the server has freed the lock, nobody leads')
    busy.document = documentOf('BUSY1', 'after')
    busy.sayDocument()
    await follower.until(() => knows(follower, 'BUSY1', 'after'), 'a document that nobody stores')
    // As its keepalives do after 25 s, which a socket of the same machine has not.
    await postgres.query('select pg_terminate_backend(pid) from pg_locks where locktype = $$advisory$$ and granted')
    await follower.until(() => follower.database.leads, 'the other one leads')
    t.notOk(leader.database.leads)
  })

  await t.test(
    'F2: who takes over writes no old document as a new one, and asks for what nobody has stored',
    async (t) => {
      await follower.until(async () => (await stored('BUSY1'))?.name === 'after', 'the document of the gap')
      t.strictSame(await stored('QUIET1'), before)
    },
  )

  await t.test('F1: an instance whose listener was half-open is told that it may have missed something', async (t) => {
    leader.proxy.blackhole(false)
    leader.proxy.cut()
    await leader.until(() => leader.database.connected, 'connected again')
    await leader.until(() => leader.heard.includes(undefined), 'told')
    t.notOk(leader.database.leads, 'it follows')
    t.notOk(leader.errors().includes('fleet-database'))
    leader.heard.length = 0
    leader.proxy.blackhole(true)
    await follower.database.notify('test', 'missed')
    t.equal((await follower.station.request('/fleet/stations/QUIET1', { method: 'DELETE' })).status, 200)
    await leader.until(() => !leader.database.connected, 'a follower notices it as well')
    leader.proxy.blackhole(false)
    await leader.until(() => leader.heard.includes(undefined), 'told')
    await follower.database.notify('test', 'heard')
    await leader.until(() => leader.heard.includes('heard'), 'it hears again')
    t.notOk(leader.heard.includes('missed'))
    await leader.until(async () => !(await knows(leader, 'QUIET1', 'before')), 'it forgets what others have forgotten')
    t.ok(await knows(leader, 'BUSY1', 'after'), 'and nothing else')
  })
})

t.test('F3: instances that start together make the parts of the tables once', { skip }, async (t) => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  await postgres.create('together')
  const all = await Promise.all([1, 2, 3].map(() => instance(t, postgres, 'together')))
  for (const { until, station } of all)
    await until(async () => (await station.request('/fleet/record')).status === 200, 'the tables')
  for (const one of all) {
    await one.until(() => one.database.connected, 'connected')
    const failed = one.station.lines.filter(({ level, msg }) => Number(level) >= 40 && /cannot|nothing/.test(msg))
    t.strictSame(
      failed.map(({ msg }) => msg),
      [],
    )
  }
})

t.test('a fleet moves from the embedded database to PostgreSQL, and nothing is lost', { skip }, async (t) => {
  const data = databaseFolder('rtk-base-fleet-move-')
  t.teardown(() => rmSync(data, { recursive: true, force: true }))
  /** Everything that people read, and what every table has. */
  const start = async (database: string) => {
    const found: { database?: FleetDatabase; device?: Device } = {}
    const ears = probe([fleetDatabase, device], (ctx) => {
      found.database = ctx.services.use(fleetDatabase)
      found.device = ctx.services.use(device)
    })
    const station = await createTestStation({
      data,
      plugins: { probe: ears },
      sources: {
        ...{ 'http-api': {}, 'mqtt-broker': { port: 0 }, fleet: { database }, 'fleet-registry': {} },
        ...{ 'fleet-rollout': {}, 'fleet-net': {}, 'fleet-caster': {}, alerts: {} },
      },
    })
    const query: FleetDatabase['query'] = (sql, values) => (found.database as FleetDatabase).query(sql, values)
    const ready = async () => {
      if (!found.database?.connected) return false
      const owners = await query<{ n: number }>('select count(distinct owner)::int as n from fleet_migration').catch(
        () => [],
      )
      return owners[0]?.n === 9 && (await station.request('/fleet/record')).status < 500
    }
    const errors = () => (found.device?.errors() ?? []).map(({ code, text }) => `${code}: ${text}`)
    return { station, query, ready, errors, until: (what: string, is = ready) => drive(station.clock, is, what) }
  }
  const tables = async (query: FleetDatabase['query']) => {
    const rows = new Map<string, string[]>()
    for (const { name } of await tablesOf(query)) {
      if (name === 'fleet_migration') continue
      const all = await query<{ row: string }>(`select row_to_json(one.*)::text as row from "${name}" as one`)
      rows.set(name, all.map(({ row }) => row).sort())
    }
    return Object.fromEntries(rows)
  }

  const embedded = await start('')
  await embedded.until('the embedded database')
  const { query } = embedded
  await query(`insert into fleet_station (serial, name, station_group, labels, station, document, document_at) values
    ('A1', 'Dach "Süd"', 'north', '{"mount":"A"}', '{"serial":"A1","seen_s":1.5}', '{"n":0.1,"big":9007199254740993,"ü":[null,true]}', now()),
    ('B2', E'tab\\tand\\\\n', '', '{}', '{"serial":"B2"}', null, null)`)
  await query(
    `create table if not exists fleet_event_2026_03 partition of fleet_event for values from ('2026-03-01') to ('2026-04-01')`,
  )
  for (const t of ['2026-03-31 23:59:59.999999Z', '2026-03-01 00:00Z'])
    await query(
      `insert into fleet_event (t, serial, kind, text) select $1::timestamptz, 'A1', 'contact', 'entry ' || n from generate_series(1, 450) as n`,
      [t],
    )
  const [{ id = 0 } = {}] = await query<{ id: number }>(
    `insert into fleet_rollout (plan, actor) values ('{"name":"r"}', 'anna') returning id`,
  )
  await query(
    `insert into fleet_rollout_target (rollout, serial, wave, before) values ($1, 'A1', 0, '{"errors":["a"]}')`,
    [id],
  )
  await query(`update fleet_rollout set state = 'done', ended = now()`)
  await query(`insert into fleet_net_vector (t, one, other, status, measured, covariance, one_arp, other_arp, epochs, satellites, height_doubt)
    values (now(), 'A1', 'B2', 'fixed', '{1.1,-2e-300,0.1}', '{1,0,0,0,1,0,0,0,1}', '{3925405.8088,1,2}', '{1,2,3}', 60, 20, 'NaN')`)
  await embedded.station.request('/fleet/people', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ user: 'anna', role: 'admin' }),
  })
  const before = await tables(query)
  await embedded.station.stop()

  const postgres = await startPostgres()
  t.teardown(() => postgres.stop())
  const url = await postgres.create('moved')
  t.ok(Object.keys(before).length > 12, `${Object.keys(before).length} tables`)

  const moved = await start(url)
  await moved.until('PostgreSQL')
  const after = await tables(moved.query)
  t.strictSame(new Set(Object.keys(after)), new Set(Object.keys(before)))
  for (const [name, rows] of Object.entries(before)) {
    // What the service itself notes while it starts is new.
    const lost = rows.filter((row) => !after[name]?.includes(row))
    t.strictSame(lost, [], name)
  }
  t.match(
    moved.station.lines.find(({ msg }) => /takes over/.test(msg)),
    { rows: Number },
  )
  t.strictSame(
    moved.errors().filter((text) => /database|tables/.test(text)),
    [],
  )
  const [next] = await moved.query<{ id: number }>(
    `insert into fleet_rollout (plan, actor) values ('{"name":"s"}', 'anna') returning id`,
  )
  t.ok(Number(next?.id) > Number(id), 'numbers go on')
  t.equal((await moved.station.request('/fleet/people')).status, 401, 'its people are there, so it is not open')
  await moved.query('delete from fleet_rollout')
  await moved.station.stop()

  const again = await start(url)
  await again.until('PostgreSQL again')
  t.notOk(
    again.station.lines.some(({ msg }) => /takes over/.test(msg)),
    'once',
  )
  t.strictSame(await again.query('select id from fleet_rollout'), [], 'what was deleted does not come back')
  await again.station.stop()

  await t.test('into the schema in which its tables are made', async (t) => {
    const own = await postgres.create('schema')
    // As an administrator may have set it up: the schema of the user comes first.
    await postgres.query('create schema postgres', 'schema')
    const other = await start(own)
    await other.until('PostgreSQL')
    const [count] = await other.query<{ n: number }>('select count(*)::int as n from fleet_event')
    t.ok(Number(count?.n) >= 900, `${count?.n} entries`)
    await other.station.stop()
  })

  await t.test('a PostgreSQL that fails in the middle has nothing of it, and the next attempt has all', async (t) => {
    const half = await postgres.create('half')
    // The second owner's copy fails: a rule of this database.
    await postgres.query(
      `create function no() returns event_trigger language plpgsql as $$ begin
         if exists (select 1 from pg_class where relname = 'fleet_event_2026_03') then raise exception 'no space left'; end if; end $$;
       create event trigger no on ddl_command_end execute function no()`,
      'half',
    )
    const failing = await start(half)
    await failing.until('the error', async () =>
      failing.errors().some((text) => /fleet-tables.*no space left/.test(text)),
    )
    t.strictSame(await failing.query(`select relname from pg_class where relname = 'fleet_station'`), [])
    await postgres.query('drop event trigger no', 'half')
    await failing.until('the next attempt')
    const [count] = await failing.query<{ n: number }>('select count(*)::int as n from fleet_event')
    t.ok(Number(count?.n) >= 900)
    await failing.station.stop()
  })
})
