import { createTestStation, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { createLogger, LogControl } from '../../runtime/platform/log/log.js'
import { reportAlive } from '../../runtime/platform/supervision/supervisor.js'
import { type AnyPlugin, definePlugin, type PluginContext } from '../../runtime/plugin.js'
import { type LogLine, type Logs, logs as token } from '../../schemas/services.js'

async function stationWith(t: Test, listen: (ctx: PluginContext, logs: Logs) => void = () => {}) {
  let logs: Logs | undefined
  const talkers: PluginContext[] = []
  const talker = (name: string) =>
    definePlugin({
      name,
      version: '1.0.0',
      api: '^1.0.0',
      setup() {},
      start: (ctx) => void talkers.push(ctx),
    }) as AnyPlugin
  const listener = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [token],
    setup() {},
    start(ctx) {
      logs = ctx.services.use(token)
      listen(ctx, logs)
    },
  }) as AnyPlugin
  const plugins = { one: talker('one'), two: talker('two'), listener }
  const station = await createTestStation({ plugins })
  t.teardown(() => station.stop())
  return { station, logs: logs as unknown as Logs, talkers }
}

t.test('who listens gets every line as it is written, without secrets', async (t) => {
  const seen: LogLine[] = []
  const { station, talkers } = await stationWith(t, (ctx, logs) => {
    ctx.on(logs.onLine, (line) => {
      seen.push(line)
      ctx.log.info('I log as well')
    })
  })
  const [one] = talkers
  seen.length = 0
  one.log.warn({ key: 'hush', nested: { password: 'hush' }, count: 3 }, 'three of them')
  t.match(seen, [{ level: 40, plugin: 'one', msg: 'three of them', key: '…', nested: { password: '…' }, count: 3 }])
  t.equal(seen.length, 1, 'what a listener logs is not shown to it')
  t.ok(
    station.lines.some(({ msg }) => msg === 'I log as well'),
    'but written',
  )
  await station.unload('listener')
  seen.length = 0
  one.log.info('nobody listens')
  t.strictSame(seen, [])
})

t.test('a listener that fails is reported, and nothing else is lost', async (t) => {
  const { station, talkers } = await stationWith(t, (ctx, logs) => {
    ctx.on(logs.onLine, () => {
      throw new Error('bad listener')
    })
  })
  talkers[0].log.info('a line')
  t.ok(station.lines.some(({ msg }) => msg === 'a line'))
  t.match(
    station.lines.find(({ msg }) => msg.includes('bad listener')),
    { plugin: 'listener', level: 50 },
  )
})

t.test('levels change while it runs: of one plugin, of all, for what is there and what comes', async (t) => {
  const { station, logs, talkers } = await stationWith(t)
  const [one, two] = talkers
  const child = one.log.child({ part: 'deep' })
  const written = (log: { trace(text: string): void; debug(text: string): void }) => {
    const before = station.lines.length
    log.trace('t')
    log.debug('d')
    return station.lines.slice(before).map(({ msg }) => msg)
  }
  t.equal(logs.level(), 'debug')
  t.strictSame(written(one.log), ['d'])
  logs.setLevel('trace', 'one')
  t.strictSame([logs.level('one'), logs.level('two'), logs.level()], ['trace', 'debug', 'debug'])
  t.strictSame(written(one.log), ['t', 'd'])
  t.strictSame(written(child), ['t', 'd'], 'also what the plugin made of its log before')
  t.strictSame(written(two.log), ['d'])
  await station.reload('one')
  t.strictSame(written((talkers.at(-1) as PluginContext).log), ['t', 'd'], 'also the next version')
  logs.setLevel('error')
  t.strictSame(written((talkers.at(-1) as PluginContext).log), [])
  t.strictSame(written(two.log), [])
  t.equal(logs.level('one'), 'error')
  t.throws(() => logs.setLevel('loud' as 'info'), /"loud" is not a level/)
})

t.test('a line costs no more when nobody listens', async (t) => {
  let parsed = 0
  const log = createLogger({ destination: { write() {} } })
  LogControl.of(log).listen({
    wanted: () => false,
    show: () => {
      parsed++
    },
  })
  log.child({ plugin: 'x' }).info('line')
  t.equal(parsed, 0)
})

t.test('the supervisor hears that the service is up, that it lives, and that it stops', async (t) => {
  const calls: string[] = []
  const supervisor = {
    ready: () => void calls.push('ready'),
    alive: () => void calls.push('alive'),
    status: (text: string) => void calls.push(text),
    extendStart: () => {},
    stopping: () => void calls.push('stopping'),
  }
  let started = false
  const slow = definePlugin({
    name: 'slow',
    version: '1.0.0',
    api: '^1.0.0',
    setup() {},
    async start() {
      await new Promise((resolve) => setImmediate(resolve))
      t.strictSame(calls, [], 'not before the plugins have started')
      started = true
    },
  }) as AnyPlugin
  const station = await createTestStation({ plugins: { slow }, supervisor })
  await until(() => started, 'start')
  t.strictSame(calls, ['ready'])
  await station.stop()
  t.strictSame(calls, ['ready', 'stopping'])

  let beat = () => {}
  let now_ms = 0
  const undo = reportAlive(
    supervisor,
    (fn) => {
      beat = fn
      return () => {
        beat = () => {}
      }
    },
    () => now_ms,
  )
  calls.length = 0
  for (; now_ms < 3_000; now_ms += 100) beat()
  t.equal(calls.length, 3, 'once a second')
  undo()
  now_ms += 1_000
  beat()
  t.equal(calls.length, 3)
})
