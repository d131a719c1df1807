/** The parts by which the kernel decides which plugins run: who waits, who is retried, and who stays out of a start. */
import t from 'tap'
import { Type } from 'typebox'
import { newEntry } from '../../runtime/kernel/plugins/entry.js'
import { PluginGraph } from '../../runtime/kernel/plugins/plugin-graph.js'
import { Retry } from '../../runtime/kernel/plugins/retry.js'
import { startOrder } from '../../runtime/kernel/plugins/start-order.js'
import type { Watchdog } from '../../runtime/platform/supervision/index.js'
import { type AnyPlugin, definePlugin, type PluginContext } from '../../runtime/plugin.js'
import { createTestStation, ManualClock, until } from '../harness/index.js'

const plugin = (name: string, rest: object = {}): AnyPlugin =>
  definePlugin({ name, version: '1.0.0', api: '^1.0.0', setup: () => {}, ...rest })

t.test('what a plugin waits for is named with the plugin that would provide it', async (t) => {
  const homes = { clock: 'here', map: 'away' }
  const graph = new PluginGraph({ find: () => undefined, ownIds: [] }, homes, () => {})
  graph.add(newEntry('here', { source: 'here', options: {} }))
  const provider = newEntry('other', { source: 'other', options: {} })
  graph.add(Object.assign(provider, { state: 'failed', version: { definition: { provides: [{ id: 'sky' }] } } }))
  for (const [service, home] of [
    ['sky', 'plugin other, which is failed'],
    ['clock', 'plugin here, which does not run'],
    ['map', 'plugin away, which this variant does not have'],
    ['toString', 'no known plugin provides it'],
  ] as const)
    t.equal(graph.named([service]), `${service} (${home})`)
})

t.test('code that could not be loaded takes its own name once that is known, unless another one has it', async (t) => {
  const graph = new PluginGraph({ find: () => undefined, ownIds: [] }, {}, () => {})
  const [source, taken] = ['./roof.js', 'mast'].map((name) => newEntry(name, { source: name, options: {} }))
  if (!source || !taken) return
  graph.add(source)
  graph.add(taken)
  const called = (name: string) => plugin(name) as never
  t.throws(() => graph.rename(source, called('mast')), { code: 'RTK_ERR_ALREADY_LOADED' })
  t.same([graph.find('./roof.js'), graph.find('mast')], [source, taken])
  graph.rename(source, called('roof'))
  t.same([source.name, graph.find('./roof.js'), graph.find('roof')], ['roof', undefined, source])
  source.version = { definition: called('roof'), digest: '', options: {} }
  graph.rename(source, called('roof'))
  t.throws(() => graph.rename(source, called('tower')), { code: 'RTK_ERR_PLUGIN_INVALID' })
  t.equal(graph.find('roof'), source)
})

t.test('whoever needs a plugin that waits, or one of a circle, waits as well, however many they are', async (t) => {
  const node = (name: string, needs: string[], provides: string[] = []) => ({ name, needs, provides })
  const waiter = node('waiter', ['nothing'], ['waited'])
  const dependants = ['first', 'second', 'third'].map((name) => node(name, ['waited']))
  const { order, waiting, cycles } = startOrder([waiter, ...dependants], new Set())
  t.same([order, cycles.size], [[], 0])
  t.same([...waiting].sort(), [
    ['first', ['waited']],
    ['second', ['waited']],
    ['third', ['waited']],
    ['waiter', ['nothing']],
  ])
  const circle = [node('egg', ['hen'], ['egg']), node('hen', ['egg'], ['hen'])]
  const fed = [node('farmer', ['egg']), node('cook', ['egg'])]
  const round = startOrder([...circle, ...fed], new Set())
  t.same(
    [round.order, [...round.cycles.keys()].sort(), [...round.waiting.keys()].sort()],
    [[], ['egg', 'hen'], ['cook', 'farmer']],
  )
})

t.test('a plugin that fails is retried after 1 s, 5 s and every 5 min; five good minutes count anew', async (t) => {
  const clock = new ManualClock()
  const entry = newEntry('wild', { source: 'wild', options: {} })
  const tried: number[] = []
  let utc_s = 1_000
  const graph = new PluginGraph({ find: () => undefined, ownIds: [] }, {}, () => {})
  graph.add(entry)
  const log = { error() {} } as never
  const counted: string[] = []
  const tryAgain = () => tried.push(clock.monotonic())
  const retry = new Retry({ log, clock, utc_s: () => utc_s, tryAgain, pluginFailed: (n) => counted.push(n) }, graph)
  const fails = () => retry.failed(entry, new Error('broken'), 'start')
  const retriedAfter = async (ms: number) => {
    const before = tried.length
    await clock.advance(ms - 1)
    t.equal(tried.length, before, `not before ${ms} ms`)
    await clock.advance(1)
    t.equal(tried.length, before + 1, `${ms} ms`)
  }
  for (const [ms, state] of [
    [1_000, 'failed'],
    [5_000, 'failed'],
    [300_000, 'quarantined'],
    [300_000, 'quarantined'],
  ] as const) {
    fails()
    utc_s++
    t.equal(entry.state, state)
    const why = 'plugin wild does not run: broken'
    const advice = `it is retried after ${ms / 1000} s, or at once with "rtk-base plugins reload wild"`
    const values = { plugin: 'wild', reason: 'broken', retry_s: ms / 1000 }
    const error = {
      code: 'plugin-failed',
      text: `${why}; ${advice}`,
      why,
      advice,
      severity: 'silences',
      values,
      t: 1_000,
    }
    t.same(graph.troubles(), [error], 'since the first failure')
    await retriedAfter(ms)
  }
  t.equal(counted.length, 4)
  entry.startedAt_ms = clock.monotonic()
  await clock.advance(300_000)
  fails()
  t.equal(entry.state, 'quarantined', 'not quite')
  entry.startedAt_ms = clock.monotonic()
  await clock.advance(300_001)
  utc_s = 5_000
  const { length } = tried
  fails()
  t.equal(entry.state, 'failed')
  t.match(graph.troubles(), [{ t: 5_000, advice: /^it is retried/ }])
  const inWay = Object.assign(new Error('not a directory'), { code: 'ENOTDIR' })
  retry.failed(entry, new Error('no folder', { cause: inWay }), 'start')
  t.match(graph.troubles(), [{ why: /no folder$/, advice: /^a file is where a folder is needed: remove it; it is/ }])
  fails()
  await clock.advance(4_999)
  t.equal(tried.length, length, 'one retry at a time, and the one from before is void')
  retry.stopTrying(entry)
  await clock.advance(1_000_000)
  t.equal(tried.length, length)
  const blocked = newEntry('blocked', { source: 'blocked', options: {} })
  retry.blocked(blocked, { plugin: 'blocked', reason: 'it ended the process', quarantine_ms: 60_000 } as never)
  t.match(blocked, { state: 'quarantined', reason: 'it ended the process', failedAt_s: 5_000 })
  await retriedAfter(60_000)
  entry.state = 'running'
  t.same(graph.troubles(), [])
})

t.test('the plugin that ended the process before stays out of the start for its time, the others run', async (t) => {
  const reason = 'it blocked the service for 30 s'
  const watchdog = {
    blocker: () => ({ plugin: 'wild', reason, quarantine_ms: 60_000 }),
    ...{ onStall: () => () => {}, onAlive: () => () => {}, know() {}, booted() {} },
  } as unknown as Watchdog
  let setUps = 0
  // A plugin of another key than its name is known by its name as well.
  for (const key of ['wild', 'other-key']) {
    const wild = plugin('wild', { setup: () => void setUps++ })
    const station = await createTestStation({ plugins: { [key]: wild, tame: plugin('tame') }, watchdog })
    t.teardown(() => station.stop())
    t.match(station.station.plugins(), [
      { name: 'wild', state: 'quarantined', reason },
      { name: 'tame', state: 'running' },
    ])
    await station.clock.advance(59_999)
    t.equal(station.station.plugins()[0]?.state, 'quarantined')
    await station.clock.advance(1)
    await until(() => station.station.plugins()[0]?.state === 'running', 'its time is over')
  }
  t.ok(setUps >= 2)
})

t.test(
  'a start with a mistake in the options of a plugin names that alone: its parameters are not known',
  async (t) => {
    const options = Type.Object({ pin: Type.Integer() }, { additionalProperties: false })
    const lamp = plugin('lamp', { options })
    const start = (pin: unknown, variant: object) =>
      createTestStation({ plugins: { lamp: [lamp, { pin } as Record<string, unknown>] }, variant })
    const told = await start('x', { changes: { 'lamp-en': 1 } }).catch(({ message }: Error) => message)
    t.match(told, /lamp.*pin.*must be integer/)
    t.notMatch(told, /lamp-en/)
    await t.rejects(start(1, { changes: { 'lamp-en': 1 } }), { message: /lamp-en is an unknown parameter/ })
  },
)

t.test(
  'parameters of a plugin that waits are known at the start; of one that cannot be set up they may be',
  async (t) => {
    const waits = plugin('waits', {
      needs: [{ id: 'nowhere' }],
      setup: (ctx: PluginContext) => {
        ctx.config.define('depth', Type.Integer(), { default: 1 })
        ctx.action({ name: 'dig', summary: 'digs', parameter: 'trigger', run: () => 'dug' })
      },
    })
    const start = (plugins: Record<string, AnyPlugin>, changes: Record<string, unknown>) =>
      createTestStation({ plugins, variant: { changes } as never })
    const station = await start({ waits }, { depth: 2 })
    t.teardown(() => station.stop())
    t.match(station.station.plugins(), [{ name: 'waits', state: 'waiting' }])
    await t.rejects(start({ waits }, { width: 2 }), { message: /width is an unknown parameter/ })
    const setup = () => {
      throw new Error('no')
    }
    const other = await start({ broken: plugin('broken', { setup }), waits }, { width: 2 })
    t.teardown(() => other.stop())
    t.match(
      other.lines.find(({ parameter }) => parameter === 'width'),
      { msg: /kept until one has it/, plugins: ['broken'] },
    )
  },
)

t.test('a plugin whose routes do not fit costs the others none of theirs', async (t) => {
  const route = (ctx: PluginContext, url: string) =>
    ctx.http.route({ method: 'GET', url, handler: async () => 'answer' })
  const good = plugin('good', { setup: (ctx: PluginContext) => route(ctx, '/good') })
  let undone = 0
  const setup = (ctx: PluginContext) => {
    ctx.defer(() => void undone++)
    route(ctx, 'no slash')
  }
  for (const plugins of [
    { bad: plugin('bad', { setup }), good },
    { good, bad: plugin('bad', { setup }) },
  ]) {
    undone = 0
    const station = await createTestStation({ plugins })
    t.teardown(() => station.stop())
    t.match(
      station.station.plugins().find(({ name }) => name === 'bad'),
      { state: 'failed', reason: /bad/ },
    )
    t.ok(undone >= 1, 'what it did in its setup is undone')
    t.equal((await station.request('/good')).text, 'answer')
  }
  const alone = await createTestStation({ plugins: { bad: plugin('bad', { setup }) } })
  t.teardown(() => alone.stop())
  t.equal((await alone.request('/nowhere')).status, 404)
})

t.test('while a plugin starts, nothing of it is asked', async (t) => {
  let started = () => {}
  const slow = plugin('slow', {
    setup(ctx: PluginContext) {
      ctx.action({ name: 'go', summary: 'goes', run: () => 'gone' })
      ctx.info.block('slow', () => ({ x: 1 }))
      ctx.config.define('slow-en', Type.Boolean(), { default: true })
      ctx.http.route({ method: 'GET', url: '/slow', handler: async () => 'answer' })
    },
    start: () => new Promise<void>((resolve) => (started = resolve)),
  })
  const quick = plugin('slow', slow)
  const station = await createTestStation({ plugins: { slow: plugin('slow', { ...quick, start: undefined }) } })
  t.teardown(() => station.stop())
  const seen = async () => ({
    command: (await station.station.command('go', { source: 'http' })).status,
    block: station.field('slow'),
    route: (await station.request('/slow')).status,
    parameters: station.station.parameters().length,
  })
  const all = { command: 200, block: { x: 1 }, route: 200, parameters: 1 }
  t.same(await seen(), all)
  station.define('slow', slow)
  const reloaded = station.reload('slow')
  await until(() => station.station.plugins()[0]?.state === 'starting', 'the start')
  t.same(await seen(), { command: 503, block: undefined, route: 503, parameters: 0 })
  started()
  await reloaded
  t.same(await seen(), all)
})

t.test('a plugin that a person loads again while it is retried is retried on, from then', async (t) => {
  let starts = 0
  const start = () => {
    starts++
    throw new Error('no')
  }
  const station = await createTestStation({ plugins: { wild: plugin('wild', { start }) } })
  t.teardown(() => station.stop())
  await t.rejects(station.reload('wild'), { code: 'RTK_ERR_PLUGIN_START' })
  t.match(station.station.plugins(), [{ state: 'failed' }])
  const before = starts
  await station.clock.advance(4_999)
  t.equal(starts, before, 'its second failure: 5 s')
  await station.clock.advance(1)
  await until(() => starts > before, 'it is tried again')
  await station.unload('wild')
  const last = starts
  await station.clock.advance(600_000)
  t.equal(starts, last, 'one that was unloaded is not')
})

t.test('while a plugin is replaced, those that need it are stopped, and say for what', async (t) => {
  const sky = { id: 'sky' }
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const provider = plugin('provider', {
    provides: [sky],
    setup: (ctx: PluginContext) => ctx.services.provide(sky as never, {} as never),
    stop: () => held,
  })
  const station = await createTestStation({ plugins: { provider, consumer: plugin('consumer', { needs: [sky] }) } })
  t.teardown(() => station.stop())
  const reloaded = station.reload('provider')
  await until(() => station.station.plugins()[0]?.state === 'stopping', 'the old version stops')
  t.match(station.station.plugins(), [
    { name: 'provider', state: 'stopping', reason: 'reload' },
    { name: 'consumer', state: 'stopped', reason: 'reload' },
  ])
  release()
  await reloaded
  t.ok(station.station.plugins().every(({ state }) => state === 'running'))
})

t.test('a plugin that failed by itself is neither started nor forgiven by a reload of one that it needs', async (t) => {
  const sky = { id: 'sky' }
  let starts = 0
  const start = () => {
    starts++
    throw new Error('no antenna')
  }
  const provider = plugin('provider', {
    provides: [sky],
    setup: (ctx: PluginContext) => ctx.services.provide(sky as never, {} as never),
  })
  const consumer = plugin('consumer', { needs: [sky], start })
  const station = await createTestStation({ plugins: { provider, consumer } })
  t.teardown(() => station.stop())
  await station.reload('provider')
  t.equal(starts, 1)
  t.match(station.station.plugins(), [{ state: 'running' }, { state: 'failed', reason: /no antenna/ }])
})
