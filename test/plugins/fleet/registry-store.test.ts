/** What a fleet stores of its stations and of what happened: complete, once, and again after a failure. */
import t from 'tap'
import { deliverySteps } from '../../../plugins/fleet/fleet-caster/delivery.js'
import fleetCaster from '../../../plugins/fleet/fleet-caster/index.js'
import { type Fleet, fleet as fleetService } from '../../../schemas/services.js'
import { settled } from '../../harness/drive.js'
import { probe } from '../../harness/probe.js'
import { fleetRig, foreignDocument } from './rig.js'

interface Entry {
  id: number
  t: number
  serial: string
  kind: string
  text: string
}
const fit = {
  verdict: 'fit',
  cause: 'ok',
  since: 1_790_000_000,
  reference: '0a1b2c3d',
  arp: [3_925_405, 274_491, 5_002_842],
  version: '0.3.0',
}

t.test('the record and the stations', async (t) => {
  const found: { registry?: Fleet } = {}
  const recorder = probe([fleetService], (ctx) => {
    found.registry = ctx.services.use(fleetService)
  })
  const rig = await fleetRig(t, { plugins: { recorder: { ...recorder, name: 'recorder' } } })
  const { fleet, passes, get, send } = rig
  const record = (text: string) => found.registry?.record({ serial: 'PAGED1', kind: 'given', text, by: 'test' })
  const stored = async (serial: string) => {
    const rows = await rig.database.query<{ text: string }>('select text from fleet_event where serial = $1', [serial])
    return rows.map(({ text }) => text)
  }
  const name = async (serial: string) =>
    (await get<{ stations: { serial: string; name: string }[] }>('/fleet/stations')).stations.find(
      (row) => row.serial === serial,
    )?.name

  await t.test('F5: pages of the record have every entry once, however many came in a second', async (t) => {
    const texts = Array.from({ length: 25 }, (_, n) => `entry ${n}`)
    for (const text of texts) record(text)
    await passes(async () => (await stored('PAGED1')).length === texts.length, 'they are stored')
    const seen: string[] = []
    const times = new Set<number>()
    let page = ''
    for (let pages = 0; pages < 4; pages++) {
      const { status, json } = await fleet.request(`/fleet/record?serial=PAGED1&limit=10${page}`)
      t.equal(status, 200)
      const entries = status === 200 ? (json() as Entry[]) : []
      seen.push(...entries.map(({ text }) => text))
      for (const { t: at } of entries) times.add(at)
      const last = entries.at(-1)
      page = `&before=${last?.t}&beforeId=${last?.id}`
    }
    t.equal(times.size, 1, 'of one second')
    t.strictSame(seen, [...texts].reverse())
  })

  await t.test('F5: former documents of one second are on one page', async (t) => {
    const at = '2026-11-20T10:00:00'
    for (let n = 0; n < 25; n++)
      await rig.database.query('insert into fleet_document (t, serial, document) values ($1, $2, $3::jsonb)', [
        `${at}.${String(n).padStart(3, '0')}Z`,
        'PAGED2',
        JSON.stringify({ n }),
      ])
    await rig.database.query(`insert into fleet_document (t, serial, document) values ($1, 'PAGED2', '{"n":-1}')`, [
      '2026-11-20T09:59:59.5Z',
    ])
    const all: number[] = []
    let page = ''
    for (let pages = 0; pages < 3; pages++) {
      const path = `/fleet/stations/PAGED2/documents${page}`
      const some = await get<{ t: number; document: { n: number } }[]>(path)
      all.push(...some.map(({ document }) => document.n))
      page = `?before=${some.at(-1)?.t ?? 0}`
    }
    t.strictSame(
      all.sort((one, other) => one - other),
      Array.from({ length: 26 }, (_, n) => n - 1),
    )
  })

  await t.test('F6: entries that come while others are written are not dropped unwritten', async (t) => {
    const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `busy ${from + n}`)
    const say = (some: string[]) => {
      for (const text of some) found.registry?.record({ serial: 'BUSY1', kind: 'given', text, by: 'test' })
    }
    let release = () => {}
    const isHeld = new Promise<void>((resolve) => {
      release = resolve
    })
    const held = rig.database.transaction(() => isHeld)
    say(texts(0, 400))
    // The write has begun, and waits for the database.
    await fleet.clock.advance(1_000)
    await settled()
    say(texts(400, 10_400))
    release()
    await held
    await passes(async () => (await stored('BUSY1')).length >= 10_000, 'they are stored')
    await passes(async () => (await stored('BUSY1')).includes('busy 10399'), 'the last one as well')
    const all = await stored('BUSY1')
    t.equal(all.length, 10_400)
    t.strictSame(new Set(all), new Set(texts(0, 10_400)))
  })

  await t.test('F7: a station that was forgotten and is heard again has nothing of before', async (t) => {
    const document = { ...foreignDocument('GONE1'), base: { name: 'Barn' } }
    const station = await rig.station('GONE1', { state: fit, document })
    const former = () => get<unknown[]>('/fleet/stations/GONE1/documents').catch(() => [])
    const entries = async () => (await get<Entry[]>('/fleet/record?serial=GONE1')).map(({ kind }) => kind)
    await passes(async () => (await name('GONE1')) === 'Barn' && (await former()).length === 1, 'its name')
    await passes(async () => (await entries()).includes('verdict'), 'its entries')
    await station.stop()
    await passes(async () => (await entries())[0] === 'online', 'it is offline')
    t.equal((await send('DELETE', '/fleet/stations/GONE1')).status, 200)
    await passes(async () => (await name('GONE1')) === undefined, 'gone')
    const before = (await entries()).filter((kind) => kind === 'new').length
    const again = await rig.station('GONE1', { state: fit, document: {} })
    await passes(async () => (await name('GONE1')) !== undefined, 'heard again')
    t.equal(await name('GONE1'), '', 'a name that it has not said again is not known')
    await passes(async () => (await entries()).filter((kind) => kind === 'new').length > before, 'a new station')
    again.document = document
    again.sayDocument()
    await passes(async () => (await name('GONE1')) === 'Barn', 'its name again')
    await passes(async () => (await former()).length === 2, 'its settings are a document of the record again')
  })

  await t.test('F7: a station that is forgotten while it is being stored does not come back', async (t) => {
    const station = await rig.station('GONE2', { state: fit })
    await passes(async () => (await stored('GONE2')).length > 0, 'it is stored')
    let release = () => {}
    const isHeld = new Promise<void>((resolve) => {
      release = resolve
    })
    const held = rig.database.transaction(() => isHeld)
    const forgetting = send('DELETE', '/fleet/stations/GONE2')
    await settled()
    station.say('state', JSON.stringify({ ...fit, verdict: 'unfit', cause: 'moved' }))
    await passes(() => found.registry?.station('GONE2')?.verdict === 'unfit', 'it is heard')
    // The write has begun, and waits for the database.
    await fleet.clock.advance(1_000)
    await settled()
    release()
    await held
    t.equal((await forgetting).status, 200)
    await passes(async () => (await name('GONE2')) === undefined, 'gone')
    await fleet.clock.advance(2_000)
    await settled()
    t.strictSame(await rig.database.query(`select serial from fleet_station where serial = 'GONE2'`), [])
    t.strictSame(await rig.database.query(`select serial from fleet_forgotten where serial = 'GONE2'`), [
      { serial: 'GONE2' },
    ])
    await station.stop()
  })

  await t.test('F3: a start of the registry that failed is tried again', async (t) => {
    await fleet.unload('fleet-registry')
    await rig.database.query('alter table fleet_forgotten rename to fleet_forgotten_away')
    await fleet.load('fleet-registry')
    await rig.station('LATER1', { state: fit })
    await passes(() => rig.errors().includes('fleet-store'), 'the error')
    await rig.database.query('alter table fleet_forgotten_away rename to fleet_forgotten')
    await passes(async () => {
      const rows = await rig.database.query(`select serial from fleet_station where serial = 'LATER1'`)
      return rows.length > 0
    }, 'stored')
    await passes(() => !rig.errors().includes('fleet-store'), 'no error any more')
    t.pass()
  })

  await t.test('F3: tables that could not be made are made later', async (t) => {
    let isMade = false
    const made = rig.database.migrate('f3', ['create table f3_copy as select * from f3_source']).then(() => {
      isMade = true
    })
    await passes(() => rig.errors().includes('fleet-tables'), 'the error')
    await rig.database.query('create table f3_source (n integer)')
    await passes(() => isMade, 'made')
    await made
    t.notOk(rig.errors().includes('fleet-tables'))
    t.strictSame(await rig.database.query('select n from f3_copy'), [])
  })
})

t.test('F4: a step that a later version adds to one part of the caster is run, and no other twice', async (t) => {
  const rig = await fleetRig(t, { plugins: { 'fleet-caster': fleetCaster }, sources: { 'ntrip-caster': {} } })
  const tables = async () => {
    const rows = await rig.database.query<{ name: string }>(
      `select relname as name from pg_class where relkind = 'r' and relname like 'fleet_caster_%' order by relname`,
    )
    return rows.map(({ name }) => name.replace('fleet_caster_', ''))
  }
  const present = ['account', 'connection', 'delivery', 'rover', 'signer']
  await rig.passes(async () => (await tables()).length === present.length, 'the tables')
  t.strictSame(await tables(), present)
  const steps = deliverySteps as string[]
  steps.push('create table fleet_caster_later (day text primary key)')
  t.teardown(() => steps.pop())
  await rig.fleet.reload('fleet-caster')
  await rig.fleet.clock.advance(5_000)
  await settled()
  t.strictSame(await tables(), [...present.slice(0, 3), 'later', ...present.slice(3)])
  t.notOk(rig.fleet.lines.some(({ msg }) => /cannot be made/.test(msg)))
})
