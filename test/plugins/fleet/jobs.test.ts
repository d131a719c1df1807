/** Jobs that the instances of a fleet share. */
import t, { type Test } from 'tap'
import { type FleetJobKind, type FleetJobs, fleetJobs } from '../../../schemas/services.js'
import { pass } from '../../harness/drive.js'
import { createTestStation, ManualClock, probe } from '../../harness/index.js'
import { openDatabase } from '../../harness/peers/embedded-database.js'
import { FakeFleet } from './caster-rig.js'

const database = await openDatabase()
t.teardown(() => database.close())
t.beforeEach(async () => {
  await database.exec('drop schema public cascade; create schema public')
})

/** @param ahead_ms the clock of the instance is wrong by this */
async function instance(t: Test, shared: FakeFleet, ahead_ms = 0) {
  let jobs: FleetJobs | undefined
  const ears = probe([fleetJobs], (ctx) => {
    jobs = ctx.services.use(fleetJobs)
  })
  const clock = new ManualClock(shared.clock.now() + ahead_ms)
  const station = await createTestStation({ clock, plugins: { 'fake-fleet': shared.plugin(), probe: ears } })
  t.teardown(() => station.stop())
  return { clock, station, jobs: jobs as FleetJobs }
}

type Instance = Awaited<ReturnType<typeof instance>>

/** Of the database and of all instances. */
async function passes(shared: FakeFleet, instances: readonly Instance[], seconds: number) {
  for (let left_s = seconds; left_s > 0; left_s -= 5) {
    await shared.clock.advance(5_000)
    for (const { clock } of instances) await pass(clock, 5_000, 5_000)
  }
}

const kind = (given: Partial<FleetJobKind> & Pick<FleetJobKind, 'run'>): FleetJobKind => ({
  ...{ atOnce: 10, lease_s: 60, ...given },
})
const left = async () => (await database.query<{ key: string }>('select key from fleet_job order by key')).rows

t.test('each job is done once, by one of several instances, whatever their clocks say', async (t) => {
  const shared = new FakeFleet(database)
  const instances = [await instance(t, shared), await instance(t, shared, 86_400_000), await instance(t, shared, -1e9)]
  await passes(shared, instances, 10)
  const done: string[] = []
  const most = [0, 0, 0]
  for (const [n, { jobs, clock }] of instances.entries()) {
    let running = 0
    jobs.work(
      'count',
      kind({
        atOnce: 4,
        async run({ key }, end) {
          running += 1
          most[n] = Math.max(most[n] ?? 0, running)
          await new Promise<void>((resolve) => clock.timer(2_000, resolve))
          await end(undefined, async (query) => {
            await query('select 1')
            done.push(key)
          })
          running -= 1
        },
      }),
    )
  }
  const keys = Array.from({ length: 200 }, (_, n) => `job ${n}`)
  const later = { key: 'later', after_s: 600 }
  await instances[0]?.jobs.put('count', [...keys.map((key) => ({ key })), later])
  await passes(shared, instances, 300)
  t.equal(done.length, keys.length)
  t.strictSame(new Set(done), new Set(keys), 'once each')
  t.ok(
    most.every((one) => one > 0 && one <= 4),
    `shared, with a bound: ${most}`,
  )
  t.strictSame(await left(), [{ key: 'later' }])
  await passes(shared, instances, 320)
  t.equal(done.length, 201, 'when the clock of the database says so')
})

t.test('a job that fails is tried again with longer waits, and given up; one that ends is due again', async (t) => {
  const shared = new FakeFleet(database)
  const one = await instance(t, shared)
  await passes(shared, [one], 10)
  const began_ms = shared.clock.now()
  const tries: number[] = []
  let rounds = 0
  one.jobs.work(
    'fails',
    kind({
      tries: 4,
      waits: { first_ms: 20_000, longest_ms: 40_000 },
      async run() {
        tries.push((shared.clock.now() - began_ms) / 1_000)
        if (tries.length === 2) throw new Error('badly')
      },
    }),
  )
  one.jobs.work(
    'again',
    kind({
      async run(_job, end) {
        rounds += 1
        await end(100)
      },
    }),
  )
  await one.jobs.put('fails', [{ key: 'x' }])
  await one.jobs.put('again', [{ key: 'y' }])
  await passes(shared, [one], 500)
  t.equal(tries.length, 4)
  const waits = tries.slice(1).map((at, n) => at - (tries[n] ?? 0))
  for (const [n, least] of [16, 32, 32].entries())
    t.ok((waits[n] ?? 0) >= least && (waits[n] ?? 0) <= 1.5 * least + 10, `waits ${waits}`)
  t.strictSame(await left(), [{ key: 'y' }])
  t.equal(rounds, 5)
  t.match(
    one.station.lines.filter(({ msg }) => /job of the fleet failed/.test(msg)),
    [{ job: 'x' }],
  )
})

t.test('a lease that ended: another instance does it, and the first one stores nothing', async (t) => {
  const shared = new FakeFleet(database)
  const [first, second] = [await instance(t, shared), await instance(t, shared)]
  await passes(shared, [first, second], 10)
  let finish = () => {}
  const held = new Promise<void>((resolve) => {
    finish = resolve
  })
  const stored: string[] = []
  let wasStored: boolean | undefined
  first.jobs.work(
    'slow',
    kind({
      async run(_job, end) {
        await held
        wasStored = await end(undefined, async () => stored.push('first'))
      },
    }),
  )
  await first.jobs.put('slow', [{ key: 'x' }])
  await passes(shared, [first, second], 10)
  second.jobs.work(
    'slow',
    kind({ run: async (_job, end) => void (await end(undefined, async () => stored.push('second'))) }),
  )
  await passes(shared, [second], 50)
  t.strictSame(stored, [], 'the lease has not ended')
  await passes(shared, [second], 20)
  finish()
  await passes(shared, [first, second], 10)
  t.strictSame(stored, ['second'])
  t.equal(wasStored, false)
})

t.test('the end of a job waits for the database; what cannot be stored in it is not stored at all', async (t) => {
  const shared = new FakeFleet(database)
  const one = await instance(t, shared)
  await passes(shared, [one], 10)
  await database.exec('create table result (text text)')
  let begun = 0
  one.jobs.work(
    'store',
    kind({
      lease_s: 300,
      async run(_job, end) {
        begun += 1
        await end(undefined, async (query) => {
          await query(`insert into result values ('a')`)
          await query(`insert into result values ('b')`)
        })
      },
    }),
  )
  shared.fails = `values ('b')`
  await one.jobs.put('store', [{ key: 'x' }])
  await passes(shared, [one], 60)
  t.strictSame((await database.query('select text from result')).rows, [])
  t.equal((await left()).length, 1)
  shared.fails = ''
  await passes(shared, [one], 10)
  t.equal((await database.query('select text from result')).rows.length, 2)
  t.strictSame([begun, await left()], [1, []])
})

t.test(
  'jobs that were claimed without an answer are begun when the database is back, not when their lease ends',
  async (t) => {
    const shared = new FakeFleet(database)
    const [one, other] = [await instance(t, shared), await instance(t, shared)]
    await passes(shared, [one, other], 10)
    const begun: string[] = []
    for (const { jobs } of [one, other])
      jobs.work(
        'told',
        kind({
          lease_s: 300,
          async run({ key }, end) {
            begun.push(key)
            await end()
          },
        }),
      )
    shared.unanswered = 'returning job.key'
    await one.jobs.put('told', [{ key: 'x' }])
    await passes(shared, [one, other], 10)
    t.strictSame([begun, (await left()).length], [[], 1])
    shared.unanswered = ''
    await passes(shared, [one, other], 20)
    t.strictSame([begun, await left()], [['x'], []], 'once')
  },
)

t.test(
  'an instance that stops gives its jobs back; preferred ones come first, then those of near places',
  async (t) => {
    const shared = new FakeFleet(database)
    const [first, second] = [await instance(t, shared), await instance(t, shared)]
    await passes(shared, [first, second], 10)
    const giveBack = first.jobs.work('order', kind({ atOnce: 9, lease_s: 3_600, run: () => new Promise(() => {}) }))
    await first.jobs.put(
      'order',
      [3, 1, 2].map((place) => ({ key: `k${place}`, place })),
    )
    await passes(shared, [first, second], 10)
    t.match(await second.jobs.waiting('order'), { count: 3, behind_s: 0 }, 'all are under way')
    await giveBack()
    await second.jobs.prefer('order', ['k2'])
    t.ok((await second.jobs.waiting('order')).behind_s >= 10)
    const order: string[] = []
    second.jobs.work(
      'order',
      kind({
        atOnce: 1,
        async run({ key, tries }, end) {
          order.push(`${key} ${tries}`)
          await end()
        },
      }),
    )
    await passes(shared, [second], 20)
    t.strictSame(order, ['k2 1', 'k1 1', 'k3 1'])
  },
)

t.test(
  'work that outlasts its lease is stored, and not begun again beside itself, as long as nobody else took it',
  async (t) => {
    const shared = new FakeFleet(database)
    const one = await instance(t, shared)
    await passes(shared, [one], 10)
    let begun = 0
    const ends: boolean[] = []
    one.jobs.work(
      'long',
      kind({
        lease_s: 30,
        async run(_job, end) {
          begun += 1
          await new Promise<void>((resolve) => one.clock.timer(100_000, resolve))
          ends.push(await end())
        },
      }),
    )
    await one.jobs.put('long', [{ key: 'x' }])
    await passes(shared, [one], 115)
    t.strictSame([begun, ends, await left()], [1, [true], []])
  },
)

t.test('a job that is put while it is under way begins anew as soon as it ends', async (t) => {
  const shared = new FakeFleet(database)
  const one = await instance(t, shared)
  await passes(shared, [one], 10)
  const ends: boolean[] = []
  one.jobs.work(
    'anew',
    kind({
      lease_s: 3_600,
      async run(_job, end) {
        await new Promise<void>((resolve) => one.clock.timer(20_000, resolve))
        ends.push(await end())
      },
    }),
  )
  await one.jobs.put('anew', [{ key: 'x' }])
  await passes(shared, [one], 10)
  await one.jobs.put('anew', [{ key: 'x' }])
  await passes(shared, [one], 60)
  t.strictSame([ends, await left()], [[false, true], []])
})

t.test('a job whose result no database takes waits longer each time, and holds no other up', async (t) => {
  const shared = new FakeFleet(database)
  const one = await instance(t, shared)
  await passes(shared, [one], 10)
  let begun = 0
  const done: string[] = []
  one.jobs.work(
    'bad',
    kind({
      ...{ atOnce: 1, lease_s: 3_600, tries: 3, waits: { first_ms: 20_000, longest_ms: 20_000 } },
      async run({ key }, end) {
        if (key === 'a bad one') begun += 1
        await end(undefined, async (query) => {
          if (key === 'a bad one') await query(`select 'x'::float8`)
          done.push(key)
        })
      },
    }),
  )
  await one.jobs.put('bad', [{ key: 'a bad one' }, { key: 'b' }])
  await passes(shared, [one], 20)
  t.strictSame(done, ['b'])
  await passes(shared, [one], 120)
  t.strictSame([begun, await left()], [3, []], 'given up')
  t.ok(one.station.lines.some(({ msg }) => /job of the fleet failed/.test(msg)))
})
