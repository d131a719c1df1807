/** A plugin of a third party that does everything wrong costs its own part of the station, and nothing of another plugin's. */
import { connect, createServer, type Server } from 'node:net'
import t from 'tap'
import { Type } from 'typebox'
import {
  type AnyPlugin,
  definePlugin,
  defineService,
  type Event,
  type EventSource,
  type PluginContext,
  type PluginDefinition,
} from '../../runtime/plugin.js'
import { type Metrics, type MqttBus, metrics, mqttBus } from '../../schemas/services.js'
import { drive, pass } from '../harness/drive.js'
import { createTestStation, ManualClock, type TestStation } from '../harness/index.js'

const source = defineService<{ onNews: Event<number> }>('source')

/** Everything of a plugin that the runtime or another plugin calls. */
const callbacks = [
  ...['block', 'rule', 'change', 'action', 'command tap', 'document tap', 'session tap', 'route', 'topic', 'message'],
  ...['timer', 'metric', 'banner', 'listener', 'watch', 'connection', 'data', 'handover'],
] as const
type CallbackName = (typeof callbacks)[number]

/** A plugin with one of each. @param called may throw */
function withAll(
  name: string,
  called: (what: CallbackName) => void,
  more: Partial<PluginDefinition<never, { port: () => number }>> = {},
) {
  const made = { ports: [] as number[], inherited: 0 }
  const definition = definePlugin({
    ...{ name, version: '1.0.0', api: '^1.0.0', needs: [source] },
    setup(ctx) {
      const key = ctx.config.define(`${name}-value`, Type.Integer(), { default: 0 })
      key.onChange(() => called('change'))
      const ruled = ctx.config.define(`${name}-ruled`, Type.Integer(), { default: 0 })
      ctx.config.rule([ruled.name], () => void called('rule'))
      ctx.info.block(name, () => {
        called('block')
        return { value: key.get() }
      })
      const run = () => {
        called('action')
        return `${name} ran`
      }
      ctx.action({ name: `${name}-go`, summary: 'x', run })
      ctx.hooks.onSystemCommand.tap(() => void called('command tap'))
      ctx.hooks.onInfoBuild.tap(() => called('document tap'))
      ctx.hooks.onMqttConnect.tap(async () => called('session tap'))
      ctx.http.route({ method: 'GET', url: `/${name}`, handler: async () => called('route') ?? name })
      const topic = () => {
        called('topic')
        return `${name}/followed`
      }
      ctx.mqtt.on(topic, () => {})
      ctx.mqtt.on(`${name}/m`, () => called('message'))
      ctx.timers.every(1_000, () => called('timer'))
      ctx.metrics.gauge({ name: `${name}_things`, help: 'x', collect: () => called('metric') })
      ctx.banner(name, () => {
        called('banner')
        return 'up'
      })
    },
    async start(ctx) {
      ctx.on(ctx.services.use(source).onNews, () => called('listener'))
      ctx.services.watch(source, () => called('watch'))
      const door = ctx.net.listen({ name: `${name}-door`, host: '127.0.0.1', port: 0 }, () => called('connection'))
      const inheriting = ctx.net.listen(
        { name, host: '127.0.0.1', port: 0, inherits: true },
        (connection, inherited) => {
          if (inherited) made.inherited += 1
          connection.onData(() => called('data'))
          connection.inheritable(() => called('handover'))
        },
      )
      made.ports = [(await door.opened).port, (await inheriting.opened).port]
    },
    ...more,
  } as PluginDefinition) as AnyPlugin
  return { definition, made }
}

interface World {
  readonly station: TestStation
  readonly clock: ManualClock
  readonly bus: MqttBus
  readonly metrics: Metrics
  readonly news: EventSource<number>
}

async function worldOf(plugins: Record<string, AnyPlugin>): Promise<World> {
  const clock = new ManualClock()
  let ctx: PluginContext | undefined
  let news: EventSource<number> | undefined
  const provider = definePlugin({
    ...{ name: 'provider', version: '1.0.0', api: '^1.0.0', needs: [mqttBus, metrics], provides: [source] },
    setup(own) {
      ctx = own
      news = own.event<number>()
      own.services.provide(source, { onNews: news.on })
    },
    start: (own) => void own.services.use(mqttBus).attach({ publish: () => 'sent', subscribe: () => {} }),
  }) as AnyPlugin
  const station = await createTestStation({ clock, plugins: { provider, ...plugins } })
  const { services } = ctx as PluginContext
  return {
    station,
    clock,
    bus: services.use(mqttBus),
    metrics: services.use(metrics),
    news: news as EventSource<number>,
  }
}

/** Lets time pass until the runtime has done it. */
async function drivenBy<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  await drive(clock, () => isOver, 'the work of the runtime')
  return over
}

/** Has everything called that `withAll` registers, but for the handover: a reload asks for it. */
async function useAll({ station, clock, bus, metrics, news }: World, name: string, ports: readonly number[]) {
  const changes = []
  for (const field of ['value', 'ruled'])
    changes.push((await station.station.change({ [`${name}-${field}`]: 1 }, { source: 'http' })).result)
  const ran = await station.station.command(`${name}-go`, { source: 'http' })
  await bus.connected({ clientId: 'x', reconnect: false })
  bus.deliver({ topic: `${name}/m`, payload: Buffer.from(''), retain: false })
  news.emit(1)
  const { status } = await station.request(`/${name}`)
  const block = station.field(name)
  await metrics.text()
  station.banner()
  const clients = ports.map((port) => connect(port, '127.0.0.1').on('error', () => {}))
  for (const client of clients) client.write('x')
  await pass(clock, 1_000)
  return { changes, ran, status, block, clients }
}

t.test('every callback that throws is the fault of its plugin; those of the other one are all called', async (t) => {
  const seen = { bad: new Set<CallbackName>(), good: new Set<CallbackName>() }
  const bad = withAll('bad', (what) => {
    seen.bad.add(what)
    throw new Error(`bad ${what}`)
  })
  const good = withAll('good', (what) => void seen.good.add(what))
  const world = await worldOf({ bad: bad.definition, good: good.definition })
  const { station, clock } = world
  t.teardown(() => station.stop())
  const badly = await useAll(world, 'bad', bad.made.ports)
  const well = await useAll(world, 'good', good.made.ports)
  t.match(badly, { changes: ['failed', 'failed'], ran: { status: 500 }, status: 500, block: undefined })
  t.match(well, { changes: ['ok', 'ok'], ran: { status: 200, text: 'good ran' }, status: 200, block: { value: 1 } })
  t.same(
    badly.clients.map(({ closed }) => closed),
    [true, true],
    'connections whose handler failed are cut off',
  )

  const left = connect(bad.made.ports[1] as number, '127.0.0.1').on('error', () => {})
  await pass(clock, 1_000)
  for (const name of ['bad', 'good']) t.match(await drivenBy(clock, station.reload(name)), { state: 'running' })
  await pass(clock, 1_000)
  t.ok(left.closed, 'without its state a connection is not inherited')
  t.notOk(well.clients[1]?.closed)
  t.same([bad.made.inherited, good.made.inherited], [0, 1])
  for (const client of well.clients) client.destroy()

  for (const [name, called] of Object.entries(seen)) t.same([...called].sort(), [...callbacks].sort(), name)
  const isFault = new RegExp(`bad (${callbacks.join('|')})\\b`)
  const faults = station.lines.filter(({ msg, err }) => isFault.test(`${msg} ${(err as Error | undefined)?.message}`))
  t.same([...new Set(faults.map(({ plugin }) => plugin))], ['bad'])
  t.ok(faults.length <= 2 * callbacks.length, `${faults.length} lines of the log`)
  t.match(station.station.plugins(), [{ reason: '' }, { state: 'running', reason: /bad/ }, { reason: '' }])
})

t.test('a version that hangs in start and in stop, and leaves things open, holds up nobody but itself', async (t) => {
  const seen = new Set<CallbackName>()
  const good = withAll('good', (what) => void seen.add(what))
  let opened: Server | undefined
  const hang = () => new Promise<never>(() => {})
  const bad = withAll('bad', () => {}, {
    start: () => {
      setInterval(() => {}, 1_000).unref()
      opened ??= createServer().listen(0, '127.0.0.1')
      return hang()
    },
    stop: hang,
  })
  const world = await worldOf({ bad: withAll('bad', () => {}).definition, good: good.definition })
  const { station, clock } = world
  t.teardown(() => station.stop())
  t.teardown(() => opened?.close())
  station.define('bad', bad.definition)
  const reload = station.reload('bad').then(
    () => 'reloaded',
    ({ code }) => code as string,
  )
  await pass(clock, 1_000)
  t.ok(opened, 'it hangs')
  const well = await useAll(world, 'good', good.made.ports)
  for (const client of well.clients) client.destroy()
  t.match(well, { changes: ['ok', 'ok'], ran: { status: 200 }, status: 200, block: { value: 1 } })
  t.equal(await drivenBy(clock, reload), 'RTK_ERR_RELOAD_FAILED')
  t.match(station.station.plugins()[1], { name: 'bad', state: 'running' }, 'the version before is back')
  await drivenBy(clock, station.unload('bad'))
  t.equal((await station.request('/bad')).status, 404)
  t.match(station.station.plugins(), [{ name: 'provider' }, { name: 'good', state: 'running', reason: '' }])
})
