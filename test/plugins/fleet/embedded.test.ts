/** The embedded database. */
import t, { type Test } from 'tap'
import { Database } from '../../../plugins/fleet/fleet/database/database.js'
import { openEmbedded } from '../../../plugins/fleet/fleet/database/embedded.js'
import type { Engine } from '../../../plugins/fleet/fleet/database/engine.js'
import { createTestStation, probe, until } from '../../harness/index.js'
import { openDatabase } from '../../harness/peers/embedded-database.js'

/** A folder with an empty database. */
async function databaseIn(t: Test): Promise<string> {
  const folder = t.testdir()
  await (await openDatabase(folder)).close()
  return folder
}

t.test('once its thread is gone, every query fails, and none waits for ever', async (t) => {
  // Without a database, one is made.
  const engine = await openEmbedded(t.testdir(), { notified: () => {}, ended: () => {} }, Date)
  t.strictSame(await engine.query('select 1 as one'), [{ one: 1 }])
  await engine.close()
  await t.rejects(engine.query('select 1'), { message: /embedded database ended/ })
  await t.rejects(
    engine.transaction((query) => query('select 1')),
    { message: /embedded database ended/ },
  )
})

t.test('a folder that is damaged: the error says what to do', async (t) => {
  const folder = t.testdir({ PG_VERSION: 'seven', base: 'a file', global: {} })
  await t.rejects(openEmbedded(folder, { notified: () => {}, ended: () => {} }, Date), {
    message: /restore a copy, or move the folder away/,
  })
})

t.test('a query without an answer, as on a full disk: the thread is ended, and the service is told', async (t) => {
  const told: string[] = []
  const events = { notified: () => {}, ended: (reason: string) => told.push(reason) }
  const engine = await openEmbedded(await databaseIn(t), events, Date, { answer_ms: 5_000, open_ms: 300_000 })
  const waits = engine.query('select 1')
  const loops = engine.transaction((query) => query('select pg_sleep(1000000)'))
  const behind = engine.query('select 1')
  t.strictSame((await waits).length, 1)
  await t.rejects(loops, { message: /did not answer in 5 s: free space/ })
  await t.rejects(behind, { message: /did not answer in 5 s/ })
  t.equal(told.length, 1)
  await engine.close()
})

t.test('it is opened for a takeover before the transaction begins, which waits for nobody for long', async (t) => {
  let isInTransaction = false
  const opened: boolean[] = []
  const query = async () => []
  const engine: Engine = {
    query,
    async transaction(work) {
      isInTransaction = true
      const result = await work(query)
      isInTransaction = false
      return result
    },
    ...{ lead: async () => true, listen: async () => {}, unlisten: async () => {}, close: async () => {} },
  }
  const owner = probe([], (ctx) => {
    const database = new Database(
      ctx,
      async () => engine,
      async () => {
        opened.push(isInTransaction)
        return undefined
      },
    )
    database.start()
    void database.migrate('owner', ['create table one (id int)'])
  })
  const station = await createTestStation({ plugins: { probe: owner } })
  t.teardown(() => station.stop())
  await until(() => opened.length > 0, 'it looks for an embedded database')
  t.strictSame(opened, [false])
})
