/** The plugin `integrity` beside `survey-in`: what it answers, what a reload of it costs, and data folders of other releases. */
import t, { type Test } from 'tap'
import integrityPlugin from '../../../plugins/reference/integrity/index.js'
import { isMsm } from '../../../runtime/lib/gnss/index.js'
import { type AnyPlugin, definePlugin } from '../../../runtime/plugin.js'
import { type Integrity, integrity, type Receiver, receiver } from '../../../schemas/services.js'
import { conformance, createTestStation, gateOnly, ManualClock, until } from '../../harness/index.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { type Definition, FakeBase, home, type Rig, setUp } from './survey-in-rig.js'

const isFixed = (rig: Rig) => () => rig.state() === 'fixed'

/** A station, and its integrity as another plugin sees it. */
async function watched(t: Test, options: Parameters<typeof setUp>[1] = {}) {
  let seen: () => Integrity | undefined = () => undefined
  const onlooker = definePlugin({
    name: 'onlooker',
    version: '1.0.0',
    api: '^1.0.0',
    setup(ctx) {
      seen = () => ctx.services.find(integrity)
    },
  })
  const rig = await setUp(t, {
    ...options,
    plugins: { onlooker: onlooker as unknown as Definition, ...options.plugins },
  })
  const monitor = (): Integrity => {
    const service = seen()
    if (!service) throw new Error('nobody provides integrity')
    return service
  }
  return { rig, monitor }
}

/** The same with a base that sends, and that has been watched for half a minute. */
async function fixed(t: Test, options: Parameters<typeof setUp>[1] = {}) {
  const { rig, monitor } = await watched(t, options)
  await rig.until(() => rig.arps().length > 0, 60)
  await rig.seconds(30)
  rig.sent.length = 0
  return { rig, monitor }
}

/** Another version of the plugin, whose stop and start take so long. */
function slowly(rig: Rig, stop_s: number, start_s: number): AnyPlugin {
  const wait = (seconds: number) =>
    new Promise<void>((done) => {
      rig.clock.timer(seconds * 1000, done)
    })
  const { start, stop } = integrityPlugin
  return definePlugin({
    ...integrityPlugin,
    async start(ctx, handoff, state) {
      await wait(start_s)
      await start?.(ctx, handoff, state)
    },
    async stop(reason, state, ctx) {
      const left = await stop?.(reason, state, ctx)
      if (reason === 'reload') await wait(stop_s)
      return left
    },
  }) as unknown as AnyPlugin
}

/** Lets the station go on until something is done that waits for its clock. @returns after how many seconds */
async function meanwhile(rig: Rig, job: Promise<unknown>): Promise<number> {
  let isDone = false
  const done = job.finally(() => {
    isDone = true
  })
  let seconds = 0
  for (; !isDone; seconds++) {
    await rig.seconds(1)
    await new Promise((next) => setImmediate(next))
  }
  await done
  return seconds
}

t.test('every answer is unknown before there is something to say', async (t) => {
  const { rig, monitor } = await watched(t)
  t.same(
    [monitor().seesMoves, monitor().stayed, monitor().position, monitor().suspicion],
    [undefined, undefined, undefined, undefined],
  )
  const place = { arp: home, acc_m: 1, corr: false }
  t.same([monitor().isAt(place, 'window'), monitor().distance_m(place)], [undefined, undefined])
  t.match(monitor().beginVerification(place, 'not asked'), { answer: false, why: 'nothing was trusted before' })
  t.match(monitor().verify(true), { answer: false })
  await rig.until(isFixed(rig), 60)
  await rig.seconds(30)
  t.same([monitor().seesMoves, monitor().stayed], [true, true])
  t.match(rig.field('state.motion'), { net: Number, sway: Number, satellites: 24, lost: 0 })
  rig.base.loseLock()
  await rig.seconds(1)
  t.equal(monitor().stayed, undefined, 'the base is not in use any more')
  const off = await watched(t, { options: { phases: { enabled: false } } })
  t.equal(off.monitor().seesMoves, false, 'known, and no')
})

t.test('the option of a variant that is older goes to it', async (t) => {
  const { rig } = await watched(t)
  const names = rig.station.station.plugins().map(({ name }) => name)
  t.ok(names.indexOf('integrity') >= 0 && names.indexOf('integrity') < names.indexOf('survey-in'))
})

t.test('a reload', async (t) => {
  t.test('loses no frame and no evidence: a move right after it is found as fast', async (t) => {
    const { rig, monitor } = await fixed(t)
    for (let i = 0; i < 3; i++) {
      await rig.station.reload('integrity')
      await rig.seconds(2)
    }
    t.equal(rig.sent.length, 3 * 2 * 5)
    t.same([rig.state(), monitor().seesMoves, monitor().stayed], ['fixed', true, true])
    await rig.station.reload('integrity')
    rig.base.move(0.05)
    t.ok((await rig.until(() => rig.state() === 'moved', 10)) <= 4)
  })

  t.test('keeps where code saw the antenna, and an error that stands', { skip: gateOnly }, async (t) => {
    const { rig } = await fixed(t)
    await rig.seconds(700)
    rig.base.evident = false
    await rig.until(() => rig.errors().length > 0, 300)
    const before = rig.station.device.errors()
    t.match(before, [{ code: 'gnss-unwatched' }])
    for (const name of ['integrity', 'survey-in', 'rtcm']) {
      await rig.station.reload(name)
      await rig.seconds(3)
      t.strictSame(rig.station.device.errors(), before, name)
    }
    const { trusted } = await rig.store.entries('plugin.survey-in')
    t.match(trusted, { baselines: { residuals: { east: Number } } })
  })

  t.test('that takes long: the gate keeps its verdict for 10 s, then nothing leaves before a check', async (t) => {
    const { rig } = await fixed(t)
    rig.station.define('integrity', slowly(rig, 4, 9))
    await meanwhile(rig, rig.station.reload('integrity'))
    await rig.seconds(30)
    t.equal(rig.state(), 'fixed')
    const before = rig.sent.length
    const seconds = await meanwhile(rig, rig.station.reload('integrity'))
    t.ok(seconds >= 13, `${seconds} s`)
    t.ok(rig.sent.length - before <= (seconds - 13 + 10) * 5, 'no longer than 10 s')
    const sent = rig.sent.length
    await rig.seconds(3)
    t.equal(rig.sent.length, sent, 'held, as nobody watched it meanwhile')
    t.not(rig.state(), 'fixed')
    await rig.until(isFixed(rig), 60)
    t.strictSame(rig.errors(), [])
  })

  t.test('that takes longer than the carrier phases bridge: held before anything else leaves', async (t) => {
    const { rig } = await fixed(t)
    rig.station.define('integrity', slowly(rig, 0, 8))
    const reloaded = rig.station.reload('integrity')
    await rig.seconds(1)
    rig.base.move(9)
    await meanwhile(rig, reloaded)
    await rig.seconds(1)
    t.not(rig.state(), 'fixed')
    const left = rig.sent.length
    await rig.seconds(60)
    t.equal(rig.sent.slice(left).filter(({ type }) => isMsm(type)).length, 0, 'nothing leaves')
  })

  t.test('of survey-in during which the antenna moves: held as soon as it is back', async (t) => {
    const { rig, monitor } = await fixed(t)
    const { store } = rig
    const entries = store.entries.bind(store)
    let goOn: (() => void) | undefined
    store.entries = async (namespace) => {
      if (namespace === 'plugin.survey-in') await new Promise<void>((done) => (goOn = done))
      return entries(namespace)
    }
    const reloaded = rig.station.reload('survey-in')
    await until(() => goOn !== undefined, 'survey-in is away')
    await rig.seconds(2)
    rig.base.move(0.5)
    await rig.seconds(5)
    t.match(monitor().stayed, { moved: true, by: 'phases' })
    store.entries = entries
    goOn?.()
    await reloaded
    const left = rig.sent.length
    await rig.seconds(2)
    t.equal(rig.state(), 'moved')
    t.equal(rig.sent.slice(left).filter(({ type }) => isMsm(type)).length, 0, 'nothing leaves')
    t.match(rig.errors(), [/the carrier phases show a move of 5\d\.\d ± \d\.\d cm east/])
  })
})

t.test('without it nobody verifies the reference: held after 10 s, and checked when it is back', async (t) => {
  const { rig } = await fixed(t)
  await rig.station.unload('integrity')
  await rig.seconds(11)
  const sent = rig.sent.length
  await rig.seconds(30)
  t.equal(rig.sent.length, sent)
  t.match(rig.station.station.plugins().find(({ name }) => name === 'rtcm')?.reason, /^closed/)
  await rig.station.load('integrity')
  await rig.until(isFixed(rig), 90)
  await rig.seconds(2)
  t.ok(rig.sent.length > sent)
})

t.test('without survey-in it says what it sees', async (t) => {
  const clock = new ManualClock()
  const base = new FakeBase(clock)
  const station = await createTestStation({
    clock,
    plugins: {
      'fake-receiver': base.receiver.definition,
      integrity: integrityPlugin as unknown as AnyPlugin,
    },
  })
  t.teardown(() => station.stop())
  for (let i = 0; i < 40; i++) {
    base.epoch()
    await clock.advance(1000)
  }
  t.match(station.field('gnss.state.motion'), { satellites: 24, lost: 0 })
  t.match(station.field('gnss.config.startup'), { accuracy: 5, delta_max: 15, delta_max_corr: 0.5 })
})

t.test('a receiver that tells neither ranges nor directions nor warnings is a base all the same', async (t) => {
  const base = new FakeBase(new ManualClock())
  let told: Receiver | undefined
  const services = { provide: (_token: unknown, value: Receiver) => (told = value) }
  base.receiver.definition.setup({ services } as never, {})
  const hidden: PropertyKey[] = ['onResiduals', 'onSecondFix', 'onWarning', 'onSatellites']
  const bare = new Proxy(told as unknown as Receiver, {
    get: (all, name) => (hidden.includes(name) ? undefined : (Reflect.get(all, name) as unknown)),
  })
  const definition = definePlugin({
    name: 'fake-receiver',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [receiver],
    setup: (ctx) => ctx.services.provide(receiver, bare),
  })
  const plugins = { 'fake-receiver': definition as unknown as Definition }
  const { rig, monitor } = await watched(t, { receiver: base, plugins })
  await rig.until(isFixed(rig), 90)
  t.same([monitor().seesMoves, monitor().stayed], [undefined, true])
  base.loseLock()
  await rig.until(() => rig.state() !== 'fixed', 3)
  await rig.until(isFixed(rig), 90)
  await rig.until(() => rig.errors().length > 0, 300)
  t.match(rig.errors(), [/^for 3 min neither the ranges of at least 8 satellites nor a second fix/])
})

t.test('observations that pause for as long as the carrier phases bridge', async (t) => {
  for (const moved_m of [0, 0.1, 1]) {
    await t.test(`the antenna moves by ${moved_m} m meanwhile`, async (t) => {
      const { rig } = await fixed(t)
      await rig.seconds(110)
      rig.base.observes = false
      await rig.until(() => rig.state() !== 'fixed', 10)
      rig.base.move(moved_m)
      rig.base.observes = true
      const left = rig.sent.length
      await rig.seconds(60)
      const sent = rig.sent.slice(left).filter(({ type }) => isMsm(type)).length
      t.equal(rig.state(), moved_m > 0 ? 'moved' : 'fixed')
      t.equal(sent > 0, moved_m === 0, `${sent} observations left`)
    })
  }
})

// ── data folders of other releases ──────────────────────────────────────────────────────────────────────────────────

/** What release 0.2.0 stored of a base that was fixed for 100 s, and stopped in order. */
const arp = { x: 3_925_406.4161, y: 274_491.3724, z: 5_002_842.2735 }
const stored = {
  survey: {
    ...{ state: 'complete', corrected: false, by: 'survey', mean: arp, acc_m: 1.2077286301973018, needed_m: 5 },
    ...{ elapsed_s: 15, count: 16, t: 1_795_219_226, allowUse: false, reason: '' },
    rtcm: { age_s: 0, count: 0, remote: '', dist_m: 0 },
  },
  trusted: {
    reference: {
      ...{ method: 'survey', arp, acc_m: 1.2077286301973018, corr: false, t: 1_795_219_226, by: 'survey' },
      ...{ samples: 16, elapsed_s: 15 },
    },
    ...{ uid: '00', msss_ms: 187_000, t: 1_795_219_328, baselines: {} },
    live: { x: 3_925_406.5375888124, y: 274_491.44800468883, z: 5_002_842.273301158 },
  },
}

/** A base that went on while 0.2.0 was replaced: 3 s ago. */
async function updated(t: Test, values: object) {
  const clock = new ManualClock()
  await clock.advance(131_000)
  const base = new FakeBase(clock)
  base.bootedAt_ms = -59_000
  base.lockedAt_ms = -59_000
  base.receiver.target = { mode: 'fixed', arp, acc_m: 1.2 }
  base.receiver.become({ mode: 'fixed' })
  return setUp(t, { receiver: base, store: new MemoryStore({ 'plugin.survey-in': { ...values } }) })
}

t.test('a data folder of 0.2.0', async (t) => {
  t.test('of a fixed base: the start is warm, with the reference that it had', async (t) => {
    const rig = await updated(t, stored)
    t.ok((await rig.until(() => rig.arps().length > 0, 30)) <= 25)
    t.strictSame(rig.arps()[0], arp)
    t.match(rig.field('ref.survey'), { state: 'complete', ...arp })
  })
  t.test('of a base that is suspected to have moved: it still is', async (t) => {
    const rig = await updated(t, { ...stored, suspicion: 'the ranges say 28.4 m' })
    await rig.until(() => rig.state() === 'moved', 60)
    t.match(rig.errors(), [/the antenna seems to have moved/])
    t.equal(rig.sent.length, 0)
  })
})

t.test('what is stored is where an earlier release looks for it, with all that it needs', async (t) => {
  const { rig } = await fixed(t)
  rig.base.move(0.5)
  await rig.until(() => rig.state() === 'moved', 10)
  await rig.station.stop()
  t.notOk((await rig.store.namespaces()).includes('plugin.integrity'))
  const kept = await rig.store.entries('plugin.survey-in')
  t.match(kept.suspicion, { evidence: /the carrier phases show a move/, size_m: Number })
  const { reference } = stored.trusted
  t.same(
    Object.keys(reference).filter((name) => !Object.hasOwn((kept.trusted as typeof stored.trusted).reference, name)),
    [],
  )
  t.match(kept.trusted, { uid: '00', msss_ms: Number, t: Number, baselines: {}, seen: { acc_m: Number } })
})

t.test('stands start, stop, start and leaves nothing behind', async (t) => {
  const base = new FakeBase(new ManualClock())
  await conformance(
    integrityPlugin as unknown as Definition,
    {},
    { plugins: { 'fake-receiver': base.receiver.definition } },
  )
  t.pass('conforms')
})
