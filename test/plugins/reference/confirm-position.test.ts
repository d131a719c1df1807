/** "It is where it was": a person's answer to a move, how it is reported, and when it ends. */
import t, { type Test } from 'tap'
import verdict from '../../../plugins/device/verdict/index.js'
import httpApi from '../../../plugins/page/http-api/index.js'
import { offsetEnu, roundEcef } from '../../../runtime/lib/gnss/index.js'
import { gateOnly } from '../../harness/index.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { type Definition, historyOf, home, quick, type Rig, type RigOptions, setUp } from './survey-in-rig.js'

const plugins = { verdict: verdict as unknown as Definition, 'http-api': httpApi as unknown as Definition }
const isFixed = (rig: Rig) => () => rig.state() === 'fixed'
const near = roundEcef(home)
const manual = (arp = near) => ({
  'gnss-ref-manual-x': arp.x,
  'gnss-ref-manual-y': arp.y,
  'gnss-ref-manual-z': arp.z,
  'gnss-ref-manual-acc': 0.02,
  'gnss-ref-chosen': 'manual',
})

async function fixed(t: Test, options: RigOptions = {}): Promise<Rig> {
  const rig = await setUp(t, { plugins, ...options })
  await rig.until(isFixed(rig), 300)
  await rig.seconds(30)
  return rig
}

async function restarted(t: Test, { station, base, store }: Rig): Promise<Rig> {
  await station.stop()
  // Off for so long that nothing is known of the antenna meanwhile.
  base.restart()
  return setUp(t, { receiver: base, store, plugins })
}

const history = ({ station }: Rig) => historyOf(station)
const verdictOf = ({ station }: Rig) => station.field('base.state.verdict')

t.test('a knock that was none: the station returns to the same reference and says so for ever', async (t) => {
  const rig = await fixed(t)
  const [reference] = rig.arps().slice(-1)
  rig.base.move(0.59)
  await rig.until(() => rig.state() === 'moved', 10)
  t.match(rig.errors(), [/no RTCM is sent; if the antenna is where it was, send confirm-position; /])
  await rig.seconds(20)
  rig.sent.length = 0
  const text = /used again; the carrier phases showed a move of 5[89]\.\d ± \d\.\d cm east$/
  t.match(await rig.command('confirm-position'), { text }, 'W3: as the error said it, and the override has it')
  await rig.until(isFixed(rig), 60)
  await rig.seconds(5)
  t.same(rig.arps().at(-1), reference)
  t.same(rig.errors(), [])
  const override = rig.field('ref.override') as Record<string, number | string>
  t.match(override, { by: 'console', evidence: /the carrier phases show a move of/ })
  const { t: at, tm, distance, east, north, up } = override as Record<string, number>
  t.ok(at > 0 && String(tm).startsWith('20'))
  t.ok(Math.abs(Math.hypot(east, north, up) - distance) < 0.01, `${distance} m`)
  t.ok(Math.abs(distance - 0.59) < 0.03, `S1: ${distance} m, as the phases said, and not by positions`)
  t.match(
    (await history(rig)).map(({ what }) => what),
    ['used', 'moved', 'confirmed'],
  )
  t.match((await history(rig)).at(-1), { by: 'console', offset: { east: Number }, evidence: /carrier phases/ })
  await rig.seconds(120)
  t.match(verdictOf(rig), {
    ...{ fitness: 'fit', code: 'override', why_code: 'override', why: /that a person confirmed: .* \d\.\d\d m away/ },
    values: { method: 'survey', accuracy_m: Number, override_m: distance, override_by: 'console', override_t: at },
  })

  const after = await restarted(t, rig)
  await after.until(isFixed(after), 300)
  t.match(after.field('ref.override'), override, 'after a restart too')

  after.base.move(0, 0.5)
  await after.until(() => after.state() === 'moved', 60)
  await after.seconds(20)
  await after.command('confirm-position')
  await after.until(isFixed(after), 60)
  t.not((after.field('ref.override') as { t: number }).t, at, 'another move needs another word')
  await after.change(manual(roundEcef(after.base.truth)))
  await after.until(isFixed(after), 120)
  t.equal(after.field('ref.override'), undefined, 'it ends with another reference')
  await after.change({ 'gnss-ref-chosen': 'survey' })
  await after.seconds(1)
  t.equal(after.field('ref.override'), undefined, 'for good')
})

t.test(
  'an entered position far from the antenna: a person answers for it, over restarts',
  { skip: gateOnly },
  async (t) => {
    const far = roundEcef(offsetEnu(home, { east: 40, north: 0, up: 0 }))
    const rig = await setUp(t, { plugins, changes: manual(far) })
    await rig.until(() => rig.state() === 'moved', 300)
    t.match(rig.station.device.errors(), [
      { code: 'gnss-moved', values: { method: 'manual', distance_m: Number, east_m: Number, returns: true } },
    ])
    await rig.command('confirm-position')
    await rig.seconds(1)
    t.notOk(isFixed(rig)(), 'it is checked first')
    t.match(verdictOf(rig), { code: 'starting', why_code: 'starting-confirmed' }, 'a wait, not the move again')
    t.same(rig.errors(), [])
    await rig.until(isFixed(rig), 60)
    t.match(rig.field('ref.override'), { evidence: '' })
    const { east } = rig.field('ref.override') as { east: number }
    t.ok(Math.abs(east + 40) < 8, `${east} m`)
    await rig.seconds(5)
    t.match(
      verdictOf(rig),
      { fitness: 'degraded', code: 'override-far', advice: /choose the reference again \(gnss-ref-chosen\)/ },
      'every rover is off by 40 m',
    )
    await rig.seconds(1300)
    t.equal(rig.state(), 'fixed', 'where it was confirmed is where it is expected')
    const after = await restarted(t, rig)
    await after.until(isFixed(after), 300)
    after.base.move(60)
    await after.until(() => after.state() === 'moved', 60)
    t.equal(after.sent.filter(({ type }) => type !== 1005).length > 0, true)
    const again = await restarted(t, after)
    await again.until(() => again.state() === 'moved', 300)
    t.equal(again.sent.length, 0, 'confirmed was that place, and no other')
  },
)

t.test(
  'a person takes a confirmation back by sending the choice again: the reference is checked without it',
  async (t) => {
    for (const east of [40, 5]) {
      const far = roundEcef(offsetEnu(home, { east, north: 0, up: 0 }))
      const rig = await setUp(t, { plugins, changes: manual(far) })
      await rig.until(() => rig.state() === 'moved', 900)
      await rig.command('confirm-position')
      await rig.until(isFixed(rig), 60)
      await rig.change({ 'gnss-ref-manual-acc': 0.03 })
      t.match(rig.field('ref.override'), { distance: Number }, 'another parameter leaves it')
      await rig.until(isFixed(rig), 120)
      await rig.change({ 'gnss-ref-chosen': 'manual' })
      t.equal(rig.field('ref.override'), undefined)
      rig.sent.length = 0
      await rig.until(() => rig.state() === 'moved', 900)
      t.match(rig.errors(), [/no RTCM is sent; if the antenna is where it was, send confirm-position/])
      t.equal(rig.sent.length, 0, `W4: ${east} m`)
    }
  },
)

t.test('W4: a move that positions do not see is suspected again when its confirmation is taken back', async (t) => {
  const rig = await fixed(t)
  rig.base.move(0.6)
  await rig.until(() => rig.state() === 'moved', 10)
  await rig.seconds(20)
  const isMoved = [/the carrier phases show a move of (59|60)\.\d ± \d\.\d cm east: no RTCM is sent/]
  t.match(rig.errors(), isMoved)
  const { values } = rig.station.device.errors()[0] ?? {}
  await rig.command('confirm-position')
  await rig.until(isFixed(rig), 60)
  const after = await restarted(t, rig)
  await after.until(isFixed(after), 300)
  await after.change({ 'gnss-ref-chosen': 'survey' })
  t.equal(after.field('ref.override'), undefined)
  t.equal(after.state(), 'moved', 'at once')
  t.match(after.errors(), isMoved)
  t.strictSame(after.station.device.errors()[0]?.values, values, 'W3: with its size')
  after.sent.length = 0
  await after.seconds(1_300)
  t.equal(after.sent.length, 0, 'positions that agree are no return')
  t.equal((await after.command('confirm-position')).status, 200, 'it can be answered again')
  await after.until(isFixed(after), 60)
})

t.test('W4: to send the same reference again is no confirmation of a move that positions do not see', async (t) => {
  for (const chosen of gateOnly ? (['survey'] as const) : (['survey', 'manual'] as const)) {
    const rig = await fixed(t, chosen === 'manual' ? { changes: manual() } : {})
    const { station } = rig
    rig.base.move(0.6)
    await rig.until(() => rig.state() === 'moved', 10)
    await rig.seconds(20)
    const isMoved = [/the carrier phases show a move of (59|60)\.\d ± \d\.\d cm east: no RTCM is sent/]
    t.match(rig.errors(), isMoved)
    rig.sent.length = 0
    const choice = { 'gnss-ref-chosen': chosen }
    for (const source of ['mqtt', 'console'] as const) await station.station.change(choice, { source })
    const init = { method: 'POST', body: JSON.stringify(choice) }
    t.match((await station.request('/change', init)).json(), { result: 'ok' })
    const used = (await history(rig)).find(({ what }) => what === 'used')
    t.equal((await station.request(`/positions/${used?.position}`, { method: 'POST' })).status, 200, 'of the history')
    await rig.change({ 'gnss-ref-manual-hp': false, 'gnss-ref-manual-acc': 0.05 })
    await rig.seconds(300)
    t.equal(rig.sent.length, 0, chosen)
    t.equal(rig.state(), 'moved')
    t.match(rig.errors(), isMoved, 'it stays, with what to do')
    t.ok(
      rig.station.lines.some(({ msg }) =>
        /the chosen reference is the same.* send confirm-position; to use another position, /.test(msg),
      ),
      'and says so',
    )
    const after = await restarted(t, rig)
    await after.seconds(300)
    t.equal(after.state(), 'moved', 'after a restart too')
    await after.change(manual(roundEcef(after.base.truth)))
    await after.until(isFixed(after), 120)
    t.same(after.errors(), [], 'another reference is one')
  }
})

t.test('W4: another reference and back again is no confirmation of a move that positions do not see', async (t) => {
  const rig = await fixed(t)
  rig.base.move(0.6)
  await rig.until(() => rig.state() === 'moved', 10)
  await rig.seconds(20)
  const isMoved = [/the carrier phases show a move of (59|60)\.\d ± \d\.\d cm east: no RTCM is sent/]
  t.match(rig.errors(), isMoved)
  await rig.change(manual(roundEcef(rig.base.truth)))
  await rig.until(isFixed(rig), 300)
  t.same(rig.errors(), [], 'the other one is where the antenna is')
  const after = await restarted(t, rig)
  await after.until(isFixed(after), 300)
  after.sent.length = 0
  await after.change({ 'gnss-ref-chosen': 'survey' })
  await after.seconds(900)
  t.equal(after.sent.length, 0, 'nothing from the place that the antenna has left')
  t.equal(after.state(), 'moved')
  t.match(after.errors(), isMoved)
  await after.change({ 'gnss-ref-chosen': 'manual' })
  await after.until(isFixed(after), 300)
  t.same(after.errors(), [])

  await after.seconds(60)
  after.base.move(0.6)
  await after.until(() => after.state() === 'moved', 10)
  await after.seconds(20)
  after.sent.length = 0
  await after.change({ 'gnss-ref-chosen': 'survey' })
  await after.seconds(900)
  t.equal(after.sent.length, 0, 'nor from there after a move away from the other one')
  t.equal(after.state(), 'moved')
})

t.test('W4: the same reference takes a confirmation back that is not checked yet, and the move stands', async (t) => {
  const rig = await fixed(t)
  rig.base.move(0.5)
  await rig.until(() => rig.state() === 'moved', 10)
  const answered = await rig.station.request('/actions/confirm-position', { method: 'POST' })
  t.match(answered.json(), { text: /is checked as soon as/, value: { used: false, needed_m: Number } })
  await rig.change({ 'gnss-ref-chosen': 'survey' })
  t.match(rig.errors(), [/the carrier phases show a move .*if the antenna is where it was, send confirm-position/])
  rig.sent.length = 0
  await rig.seconds(300)
  t.equal(rig.state(), 'moved')
  t.equal(rig.sent.length, 0)
  t.equal((await rig.command('confirm-position')).status, 200)
  await rig.until(isFixed(rig), 60)
})

t.test('the start-up check found another place and surveys: a person ends that', async (t) => {
  const rig = await fixed(t)
  const [reference] = rig.arps().slice(-1)
  rig.base.move(30)
  const { station, base, store } = rig
  await station.stop()
  base.restart()
  const after = await setUp(t, { receiver: base, store, plugins, changes: { ...quick, 'gnss-survey-mintime': 3600 } })
  await after.until(() => after.state() === 'survey', 300)
  t.match(after.errors(), [/^reference moved by .*if the antenna is where it was, send confirm-position/])
  await after.seconds(20)
  t.match(await after.command('confirm-position'), { text: /used again/ })
  await after.until(isFixed(after), 60)
  await after.seconds(5)
  t.same(after.arps().at(-1), reference)
  t.same(after.errors(), [])
  t.match(after.field('ref.survey.state'), 'aborted')
  t.match(after.field('ref.override'), { distance: Number })
})

t.test('a knock that was confirmed while positions were poor loosens no later start', { skip: gateOnly }, async (t) => {
  for (const acc_m of [3, 20]) {
    const rig = await fixed(t)
    await rig.seconds(700)
    rig.base.move(0.3)
    await rig.until(() => rig.state() === 'moved', 10)
    rig.base.acc_m = acc_m
    await rig.seconds(120)
    if (acc_m > 5) {
      t.match(await rig.command('confirm-position'), { text: /checked as soon as/ })
      await rig.seconds(300)
      t.equal(rig.state(), 'moved', 'such a position recognises no place later')
      continue
    }
    t.match(await rig.command('confirm-position'), { text: /used again/ })
    await rig.until(isFixed(rig), 60)
    rig.base.acc_m = 1.2
    await rig.seconds(100)
    rig.base.move(6)
    const after = await restarted(t, rig)
    await after.seconds(300)
    t.equal(after.sent.length, 0)
  }
})

t.test('W12: a confirmation needs no position: it is taken at once and is checked when there is one', async (t) => {
  const rig = await fixed(t)
  rig.base.move(0.5)
  await rig.until(() => rig.state() === 'moved', 10)
  t.match(await rig.command('confirm-position'), { text: /confirmed.* is checked as soon as/ })
  t.match(rig.errors(), [/^a person confirmed the position: it is checked as soon as the receiver has one/])
  await rig.seconds(2)
  t.match(verdictOf(rig), { code: 'moved', why: /a person confirmed/ })
  await rig.until(isFixed(rig), 60)
  t.match(rig.field('ref.override'), { by: 'console', evidence: /carrier phases/ })
  t.same(rig.errors(), [])
})

t.test('W12: a confirmation outlasts a restart, and another move ends it', async (t) => {
  for (const isCarried of [false, true]) {
    const rig = await fixed(t)
    rig.base.move(0.5)
    await rig.until(() => rig.state() === 'moved', 10)
    rig.base.hears = false
    t.match(await rig.command('confirm-position'), { text: /is checked as soon as/ })
    await rig.seconds(60)
    t.equal(rig.state(), 'moved')
    const after = await restarted(t, rig)
    await after.until(() => after.state() === 'acquire', 60)
    if (!isCarried) {
      after.base.hears = true
      await after.until(isFixed(after), 300)
      t.match(after.field('ref.override'), { by: 'console' })
      continue
    }
    await after.change({ 'gnss-ref-chosen': 'survey' })
    after.base.hears = true
    await after.seconds(300)
    t.equal(after.field('ref.override'), undefined, 'another choice is another answer')
  }
  const rig = await fixed(t)
  rig.base.move(0.5)
  await rig.until(() => rig.state() === 'moved', 10)
  rig.base.acc_m = 20
  t.match(await rig.command('confirm-position'), { text: /is checked as soon as/ })
  await rig.seconds(8)
  rig.base.move(0.5)
  await rig.seconds(5)
  t.match(rig.errors(), [/the carrier phases show a move of .*in 2 moves/], 'it was said of the first move')
  rig.base.acc_m = 1.2
  await rig.seconds(120)
  t.equal(rig.state(), 'moved')
})

t.test('where there is nothing to confirm it is refused', async (t) => {
  const rig = await setUp(t, { plugins })
  const refused = async (what: string, message: RegExp) =>
    t.match(await rig.command('confirm-position'), { status: 503, text: message }, what)
  await refused('at the start', /nothing to confirm/)
  await rig.until(() => rig.state() === 'survey', 100)
  await refused('in a first survey-in', /nothing to confirm/)
  await rig.until(isFixed(rig), 300)
  await refused('in fixed', /nothing to confirm/)
  await rig.seconds(30)
  rig.base.move(1)
  await rig.until(() => rig.state() === 'moved', 10)
  rig.base.hears = false
  t.match(await rig.command('confirm-position=yes'), { status: 400 })
  t.match((await rig.station.request('/actions')).text, /confirm-position/)
})

t.test('a damaged override is none', async (t) => {
  const rig = await fixed(t)
  await rig.station.stop()
  for (const value of [7, null, 'x', {}, { reference: 'x', t: 0 }]) {
    const store = new MemoryStore()
    for (const name of await rig.store.namespaces())
      for (const [key, kept] of Object.entries(await rig.store.entries(name)))
        await store.batch([{ namespace: name, key, value: kept }])
    await store.batch([{ namespace: 'survey-in', key: 'override', value }])
    const after = await setUp(t, { store, plugins })
    await after.until(isFixed(after), 300)
    t.equal(after.field('ref.override'), undefined, JSON.stringify(value))
    await after.station.stop()
  }
})
