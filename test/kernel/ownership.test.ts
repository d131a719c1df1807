/** Who owns what: events, watches and callbacks run on behalf of the plugin that gave them, and go with it. */
import t from 'tap'
import {
  type AnyPlugin,
  definePlugin,
  defineService,
  type Event,
  type EventSource,
  guarded,
  type PluginContext,
  type PluginDefinition,
} from '../../runtime/plugin.js'
import { createTestStation, ManualClock, until } from '../harness/index.js'

interface Ticker {
  readonly onTick: Event<number>
  each(fn: (value: number) => number): void
}
const ticker = defineService<Ticker>('ticker')

function plugin(name: string, parts: Partial<PluginDefinition> = {}): AnyPlugin {
  return definePlugin({ name, version: '1.0.0', api: '^1.0.0', setup: () => {}, ...parts })
}

/** A provider of one event and of a call that keeps a callback. */
function provider() {
  const made = { source: undefined as EventSource<number> | undefined, kept: [] as ((value: number) => unknown)[] }
  const definition = plugin('provider', {
    provides: [ticker],
    setup(ctx) {
      made.source = ctx.event<number>()
      made.kept = []
      ctx.services.provide(ticker, {
        onTick: made.source.on,
        each: (fn) => void made.kept.push(guarded(fn)),
      })
    },
  })
  return { definition, made, emit: (value: number) => made.source?.emit(value) }
}

const consumer = (start: (ctx: PluginContext) => void | Promise<void>) => plugin('consumer', { needs: [ticker], start })

t.test('a listener that fails is the fault of the plugin that subscribed, whichever way it subscribed', async (t) => {
  const ways: Record<string, (ctx: PluginContext, fn: (value: number) => unknown) => unknown> = {
    'ctx.on': (ctx, fn) => ctx.on(ctx.services.use(ticker).onTick, fn),
    'the event itself': (ctx, fn) => ctx.services.use(ticker).onTick(fn),
    'a callback that the provider keeps': (ctx, fn) => ctx.services.use(ticker).each(fn as (value: number) => number),
  }
  for (const [way, subscribe] of Object.entries(ways)) {
    for (const kind of ['throws', 'rejects'] as const) {
      await t.test(`${way}, ${kind}`, async (t) => {
        const { definition, made, emit } = provider()
        const seen: number[] = []
        const bad = consumer((ctx) => {
          subscribe(ctx, (value) => {
            if (kind === 'throws') throw new Error(`no ${value}`)
            return Promise.reject(new Error(`no ${value}`))
          })
        })
        const good = plugin('good', {
          needs: [ticker],
          start: (ctx) => void ctx.on(ctx.services.use(ticker).onTick, (value) => seen.push(value)),
        })
        const station = await createTestStation({ plugins: { provider: definition, consumer: bad, good } })
        t.teardown(() => station.stop())
        for (let i = 0; i < 300; i++) {
          emit(7)
          for (const kept of made.kept) kept(7)
        }
        await until(() => station.station.plugins()[1].reason.includes('no 7'), 'the fault')
        t.equal(seen.length, 300, 'the other listener misses nothing')
        t.match(station.station.plugins(), [{ reason: '' }, { state: 'running', reason: /no 7/ }, { reason: '' }])
        const lines = station.lines.filter(({ msg }) => msg.includes('no 7'))
        t.equal(lines.length, 1, 'one line in a minute')
        t.equal(lines[0].plugin, 'consumer')
      })
    }
  }
})

t.test('a listener goes with its plugin, and with the provider', async (t) => {
  const { definition, made, emit } = provider()
  const seen: number[] = []
  const station = await createTestStation({
    plugins: {
      provider: definition,
      consumer: consumer((ctx) => void ctx.on(ctx.services.use(ticker).onTick, (value) => seen.push(value))),
    },
  })
  t.teardown(() => station.stop())
  emit(1)
  await station.reload('consumer')
  emit(2)
  t.strictSame(seen, [1, 2], 'once after a reload')
  const before = made.source
  await station.reload('provider')
  before?.emit(3)
  emit(4)
  t.strictSame(seen, [1, 2, 4])
  await station.unload('consumer')
  t.equal(made.source?.listeners, 0)
})

t.test('a listener that returns a promise that does not end is reported after 10 s', async (t) => {
  const { definition, emit } = provider()
  const clock = new ManualClock()
  const hangs = consumer((ctx) => void ctx.on(ctx.services.use(ticker).onTick, () => new Promise(() => {})))
  const station = await createTestStation({ clock, plugins: { provider: definition, consumer: hangs } })
  t.teardown(() => station.stop())
  emit(1)
  await clock.advance(10_000)
  t.match(station.station.plugins()[1], { state: 'running', reason: /listener took longer than 10 s/ })
})

t.test('a watch follows a service that comes, is replaced and goes', async (t) => {
  const { definition } = provider()
  const seen: string[] = []
  const watcher = plugin('watcher', {
    start(ctx) {
      ctx.services.watch(ticker, (service) => {
        seen.push(service ? 'there' : 'absent')
        return () => seen.push('undo')
      })
    },
  })
  const station = await createTestStation({ plugins: { watcher, provider: definition } })
  t.teardown(() => station.stop())
  const take = () => seen.splice(0)
  t.strictSame(take(), ['absent', 'undo', 'there'])
  await station.reload('provider')
  t.strictSame(take(), ['undo', 'absent', 'undo', 'there'])
  await station.unload('provider')
  t.strictSame(take(), ['undo', 'absent'])
  await station.unload('watcher')
  t.strictSame(take(), ['undo'])
})

t.test('errors raise an event, at most ten times a second', async (t) => {
  const clock = new ManualClock()
  let events = 0
  let say = (_text: string) => {}
  const talker = plugin('talker', {
    setup: (ctx) => {
      say = (text) => void ctx.errors.while('talker', { text })
    },
  })
  const { device: token } = await import('../../schemas/services.js')
  const follower = plugin('follower', {
    needs: [token],
    start: (ctx) =>
      void ctx.on(ctx.services.use(token).onErrors, () => {
        events += 1
      }),
  })
  const station = await createTestStation({ clock, plugins: { talker, follower } })
  t.teardown(() => station.stop())
  await clock.advance(1_000)
  events = 0
  for (let i = 0; i < 50; i++) {
    say(`step ${i}`)
    await clock.advance(20)
  }
  t.ok(events >= 9 && events <= 11, `${events} events in a second of 50 changes`)
  await clock.advance(1_000)
  const rest = events
  await clock.advance(10_000)
  t.equal(events, rest, 'none without a change')
})
