/** Instances of a fleet on a real PostgreSQL, through networks that break. */
import { createTestStation, type TestStation } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import {
  type Device,
  device,
  type EmbeddedBroker,
  embeddedBroker,
  type FleetDatabase,
  fleetDatabase,
} from '../../schemas/services.js'
import { drive } from '../harness/drive.js'
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
    (await request(`/fleet/stations`).then(({ json }) => json() as { serial: string; name: string }[])).some(
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
