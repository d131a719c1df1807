/** Positions with a name: kept without being used, used on demand, renamed, deleted. */
import t, { type Test } from 'tap'
import { offsetEnu, roundEcef } from '../../../runtime/lib/gnss/index.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { home, quick, type Rig, type RigOptions, setUp } from './survey-in-rig.js'

const near = roundEcef(offsetEnu(home, { east: 0.5, north: -0.5, up: 1 }))
const manual = (arp = near) => ({
  'gnss-ref-manual-x': arp.x,
  'gnss-ref-manual-y': arp.y,
  'gnss-ref-manual-z': arp.z,
  'gnss-ref-chosen': 'manual',
})

/** Has what a power cut after each of its writes would leave. */
class CutStore extends MemoryStore {
  readonly cuts: MemoryStore[] = []

  override async batch(ops: Parameters<MemoryStore['batch']>[0]): Promise<void> {
    await super.batch(ops)
    const contents = (await this.namespaces()).map(async (name) => [name, await this.entries(name)] as const)
    this.cuts.push(new MemoryStore(Object.fromEntries(await Promise.all(contents))))
  }
}

/** From nothing to a base that sends. */
async function fixedStation(t: Test, options: RigOptions = {}): Promise<Rig> {
  const rig = await setUp(t, options)
  await rig.until(() => rig.arps().length > 0, 60)
  return rig
}

const north = { name: 'North marker', ...near, acc: 0.02, corr: true, frame: 'ETRF2000', epoch: '2010.0' }

function listOf({ station }: Pick<Rig, 'station'>) {
  const ask = async (method: string, path = '', body?: unknown) => {
    const answer = await station.request(`/positions${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: answer.status, text: answer.text, value: answer.status === 200 ? answer.json() : undefined }
  }
  const names = async () =>
    ((await ask('GET')).value as { entries: { name: string }[] }).entries.flatMap(({ name }) => name || []).sort()
  return { ask, names }
}

t.test('saved positions', async (t) => {
  t.test('one is kept without being used, renamed and deleted, also over a restart', async (t) => {
    const store = new MemoryStore()
    const rig = await fixedStation(t, { store })
    const { ask, names } = listOf(rig)
    t.strictSame(await names(), [])
    const before = JSON.stringify(rig.field('ref'))
    const far = { ...north, ...roundEcef(offsetEnu(near, { east: 50, north: 0, up: 0 })), name: 'Far' }
    t.match(await ask('POST', '', far), { status: 200, value: { id: 2, name: 'Far', frame: { name: 'ETRF2000' } } })
    t.match(await ask('POST', '', { ...north, name: '  A ' }), { status: 200, value: { id: 3, name: 'A' } })
    t.equal(JSON.stringify(rig.field('ref')), before, 'the reference stays')
    t.equal(rig.state(), 'fixed')
    t.match(await ask('PUT', '/3', { name: 'Zenith' }), { status: 200, value: { id: 3, name: 'Zenith' } })
    t.strictSame(await names(), ['Far', 'Zenith'])
    await rig.station.stop()
    const again = listOf(await setUp(t, { store }))
    t.strictSame(await again.names(), ['Far', 'Zenith'])
    t.match(await again.ask('DELETE', '/2'), { status: 200, value: { deleted: 2 } })
    t.strictSame(await again.names(), ['Zenith'])
  })

  t.test('what cannot be stored is refused, and the list is as before', async (t) => {
    const store = new MemoryStore()
    const { ask, names } = listOf(await fixedStation(t, { store }))
    await ask('POST', '', { ...north, name: 'A' })
    store.failure = 'no space left on device'
    const refused = [
      await ask('POST', '', { ...north, ...roundEcef(offsetEnu(near, { east: 9, north: 0, up: 0 })), name: 'B' }),
      await ask('PUT', '/2', { name: 'C' }),
      await ask('DELETE', '/2'),
    ]
    for (const one of refused) t.match(one, { status: 503, text: /no space left/ })
    t.strictSame(await names(), ['A'])
    store.failure = undefined
    t.match(await ask('PUT', '/2', { name: 'C' }), { status: 200 })
    t.strictSame(await names(), ['C'])
  })

  t.test('one is made the reference, which is checked before it is used', async (t) => {
    const rig = await fixedStation(t, { changes: manual(roundEcef(offsetEnu(near, { east: 0.5, north: 0, up: 0 }))) })
    const { ask } = listOf(rig)
    await ask('POST', '', north)
    t.match(await ask('POST', '/2'), { status: 200, value: { result: 'ok' } })
    await rig.until(() => rig.state() === 'fixed' && rig.arps().at(-1)?.x === near.x, 40)
    t.match(rig.field('ref'), { chosen: 'manual', manual: { ...near, frame: 'ETRF2000', acc: 0.02, corr: true } })
    t.match(await ask('GET'), {
      value: { active: 2, entries: [{ id: 1 }, { name: north.name, events: [{ what: 'used' }] }] },
    })
    t.match(await ask('DELETE', '/2'), { status: 200 })
    t.match(rig.field('ref.manual'), near, 'deleting it takes nothing back')
    t.match(await ask('GET'), { value: { active: 2, entries: [{ id: 1 }, { name: '', events: [{ what: 'used' }] }] } })
  })

  t.test('a surveyed one keeps being surveyed under its name', async (t) => {
    const rig = await fixedStation(t)
    const [surveyed] = rig.arps()
    const { ask, names } = listOf(rig)
    t.match(await ask('PUT', '/1', { name: 'Roof' }), { status: 200, value: { provenance: 'surveyed', ...surveyed } })
    t.strictSame(await names(), ['Roof'])
    await rig.change(manual())
    await rig.until(() => rig.state() === 'fixed' && rig.arps().at(-1)?.x === near.x, 60)
    t.match(await ask('POST', '/1'), { status: 200, value: { result: 'ok' } })
    await rig.until(() => rig.state() === 'fixed' && rig.arps().at(-1)?.x === surveyed?.x, 60)
    t.match(rig.field('ref'), { chosen: 'survey', survey: { ...surveyed, state: 'complete' } })
  })

  t.test('what is not a position or a name, or is not there, is refused', async (t) => {
    const rig = await fixedStation(t)
    const { ask, names } = listOf(rig)
    await ask('POST', '', north)
    const bad = [
      { ...north, name: '' },
      { ...north, name: '   ' },
      { ...north, name: 'x'.repeat(64) },
      { ...north, name: 'a\nb' },
      { ...north, name: 'a\u202eb' },
      { ...north, x: 8e6 },
      { ...north, x: '1' },
      { ...north, acc: -1 },
      { ...north, more: 1 },
      { name: 'North' },
      north,
    ]
    for (const one of bad) t.equal((await ask('POST', '', one)).status, 400, JSON.stringify(one))
    t.match((await ask('POST', '', north)).text, /already called North marker/)
    t.equal((await ask('PUT', '/7', { name: 'x' })).status, 404)
    t.equal((await ask('DELETE', '/7')).status, 404)
    t.equal((await ask('POST', '/7')).status, 404)
    const hostile = '<img src=x onerror=alert(1)>"\'\\'
    t.match(await ask('PUT', '/2', { name: hostile }), { status: 200, value: { name: hostile } })
    t.strictSame(await names(), [hostile])
  })
  t.test('a power cut leaves the reference that was, or the one that was asked for', async (t) => {
    const store = new CutStore()
    const rig = await fixedStation(t, { store })
    const { ask } = listOf(rig)
    const [first] = rig.arps()
    await rig.command('start-survey-in')
    await rig.until(() => rig.state() === 'fixed' && rig.arps().at(-1)?.x !== first?.x, 90)
    await rig.change(manual())
    await rig.until(() => rig.state() === 'fixed' && rig.arps().at(-1)?.x === near.x, 60)
    store.cuts.length = 0
    t.match(await ask('POST', '/1'), { status: 200, value: { result: 'ok' } })
    const answered = store.cuts.length
    t.ok(answered > 0, 'what was answered is stored')
    const found = []
    for (const cut of store.cuts.slice(0, answered)) {
      const again = listOf(await setUp(t, { store: cut }))
      const { active, entries } = (await again.ask('GET')).value as {
        active: number
        entries: { id: number; x: number }[]
      }
      found.push(entries.find(({ id }) => id === active)?.x)
    }
    t.same(
      found.filter((x) => x !== near.x && x !== first?.x),
      [],
    )
    t.equal(found.at(-1), first?.x)
  })

  t.test('one that is chosen after a survey-in was asked for is what the person wants now', async (t) => {
    const rig = await fixedStation(t, { changes: { ...quick, ...manual() } })
    const { ask } = listOf(rig)
    const [first] = rig.arps()
    t.match(await ask('POST', '', { ...north, ...home, name: 'Home' }), { status: 200, value: { id: 2 } })
    rig.base.hears = false
    await rig.command('start-survey-in')
    await rig.seconds(3)
    t.match(await ask('POST', '/2'), { status: 200, value: { result: 'ok' } })
    rig.base.hears = true
    const states = new Set<string | undefined>()
    await rig.until(() => states.add(rig.state()) && rig.state() === 'fixed' && rig.arps().at(-1)?.x !== first?.x, 90)
    t.notOk(states.has('survey'), [...states].join())
  })

  t.test('the reference itself, chosen during a survey-in, ends that', async (t) => {
    const rig = await fixedStation(t)
    const { ask } = listOf(rig)
    const [first] = rig.arps()
    await rig.command('start-survey-in')
    await rig.until(() => rig.state() === 'survey', 60)
    t.match(await ask('POST', '/1'), { status: 200, value: { result: 'ok' } })
    await rig.until(() => rig.state() === 'fixed', 60)
    t.match([rig.arps().at(-1), rig.field('ref.survey.state')], [first, 'complete'])
  })

  t.test('what is saved can be used', async (t) => {
    const rig = await fixedStation(t)
    const { ask } = listOf(rig)
    const unusual = [{ acc: 100_001 }, { frame: 'Gauß-Krüger' }, { epoch: '２０１０' }, { frame: 'a\u0000b' }]
    for (const [index, one] of unusual.entries()) {
      const saved = await ask('POST', '', { ...north, name: `no. ${index}`, ...one })
      if (saved.status === 400) continue
      const { id } = saved.value as { id: number }
      t.match(await ask('POST', `/${id}`), { status: 200, value: { result: 'ok' } }, JSON.stringify(one))
    }
  })
})
