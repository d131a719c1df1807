import { createTestStation } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import httpApi from '../../plugins/page/http-api/index.js'
import {
  type AnyPlugin,
  definePlugin,
  type Gauge,
  type HistogramOptions,
  type MetricOptions,
  type PluginContext,
} from '../../runtime/plugin.js'
import { type Metrics, metrics as token } from '../../schemas/services.js'

/** A plugin that does `setup`, and hands the station's metrics to the test. */
function counting(name: string, setup: (ctx: PluginContext) => void, start?: () => Promise<void>): AnyPlugin {
  return definePlugin({ name, version: '1.0.0', api: '^1.0.0', setup, start }) as AnyPlugin
}

async function stationWith(t: Test, plugins: Record<string, AnyPlugin>) {
  let metrics: Metrics | undefined
  const reader = definePlugin({
    name: 'reader',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [token],
    setup() {},
    start: (ctx) => {
      metrics = ctx.services.use(token)
    },
  }) as AnyPlugin
  const station = await createTestStation({ plugins: { ...plugins, reader } })
  t.teardown(() => station.stop())
  const text = () => (metrics as Metrics).text()
  const value = async (series: string) =>
    (await text())
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1)
  return { station, metrics: metrics as unknown as Metrics, text, value }
}

const frames = { name: 'rtcm_frames_total', help: 'RTCM frames.', labels: ['type'] }

t.test('counters, gauges and histograms are read as Prometheus wants them', async (t) => {
  let made: { count(n: number): void; observe(s: number): void } | undefined
  const plugin = counting('rtcm', (ctx) => {
    const counter = ctx.metrics.counter(frames)
    const histogram = ctx.metrics.histogram({ name: 'epoch_delay_seconds', help: 'Delay.', buckets: [0.01, 0.1] })
    let rovers = 3
    ctx.metrics.gauge({ name: 'rovers', help: 'Rovers.', collect: (gauge) => gauge.set(rovers++) })
    made = { count: (n) => counter.inc(n, { type: 1077 }), observe: (s) => histogram.observe(s) }
  })
  const { text, value, metrics } = await stationWith(t, { rtcm: plugin })
  made?.count(2)
  made?.count(1)
  for (const s of [0.001, 0.05, 3]) made?.observe(s)
  t.equal(metrics.contentType, 'text/plain; version=0.0.4; charset=utf-8')
  const first = await text()
  for (const line of [
    '# HELP rtk_base_rtcm_frames_total RTCM frames.',
    '# TYPE rtk_base_rtcm_frames_total counter',
    'rtk_base_rtcm_frames_total{type="1077"} 3',
    'rtk_base_epoch_delay_seconds_bucket{le="0.1"} 2',
    'rtk_base_epoch_delay_seconds_count 3',
    'rtk_base_rovers 3',
    'rtk_base_plugins{state="running"} 2',
  ]) {
    t.ok(first.split('\n').includes(line), line)
  }
  t.equal(await value('rtk_base_rovers'), '4', 'asked at each reading')
  t.ok(Number(await value('process_resident_memory_bytes')) > 1e6)
  t.ok(Number(await value('process_cpu_seconds_total')) > 0)
  metrics.reset('reader')
  t.equal(await value('rtk_base_rtcm_frames_total{type="1077"}'), '3')
  metrics.reset('rtcm')
  t.equal(await value('rtk_base_rtcm_frames_total{type="1077"}'), undefined)
  t.equal(await value('rtk_base_epoch_delay_seconds_count'), '0')
})

t.test('a metric goes with its plugin; a reload keeps what was counted', async (t) => {
  let count = () => {}
  const version = (labels: string[], help = 'Frames.') =>
    counting('rtcm', (ctx) => {
      const counter = ctx.metrics.counter({ name: 'frames_total', help, labels })
      ctx.metrics.gauge({ name: 'clients', help: 'Clients.' }).set(2)
      const given = Object.fromEntries(labels.map((label) => [label, 'x']))
      count = () => counter.inc(1, given)
    })
  const { station, value } = await stationWith(t, { rtcm: version([]) })
  const name = 'rtk_base_frames_total'
  count()
  await station.reload('rtcm')
  count()
  t.equal(await value(name), '2')
  t.equal(await value('rtk_base_clients'), '2')

  const bad = counting(
    'rtcm',
    (ctx) => void ctx.metrics.counter({ name: 'frames_total', help: 'x', labels: ['other'] }),
    () => Promise.reject(new Error('not today')),
  )
  station.define('rtcm', bad)
  await t.rejects(station.reload('rtcm'), { code: 'RTK_ERR_RELOAD_FAILED' })
  t.equal(await value(name), '2', 'a version that does not start changes nothing')
  station.define('rtcm', version([]))
  await station.reload('rtcm')
  count()
  t.equal(await value(name), '3')

  station.define('rtcm', version(['type']))
  await station.reload('rtcm')
  count()
  t.equal(await value(name), undefined, 'other labels: another metric')
  t.equal(await value(`${name}{type="x"}`), '1')
  await station.unload('rtcm')
  t.equal(await value(`${name}{type="x"}`), undefined)
  t.equal(await value('rtk_base_clients'), undefined)
})

t.test('series are bounded: what is too much is dropped and counted', async (t) => {
  let count = (_type: string) => {}
  const plugin = counting('rtcm', (ctx) => {
    const counter = ctx.metrics.counter({ ...frames, maxSeries: 10 })
    count = (type) => counter.inc(1, { type })
  })
  const { text, value } = await stationWith(t, { rtcm: plugin })
  for (let i = 0; i < 1_000; i++) count(`${i % 50}`)
  count(`0${'x'.repeat(10_000)}`)
  const lines = (await text()).split('\n').filter((line) => line.startsWith('rtk_base_rtcm_frames_total{'))
  t.equal(lines.length, 10)
  t.equal(lines[0], 'rtk_base_rtcm_frames_total{type="0"} 20')
  t.equal(await value('rtk_base_metric_values_dropped_total{metric="rtk_base_rtcm_frames_total"}'), '801')
})

t.test('a gauge that was not set is not there: 0 would be a figure', async (t) => {
  let level_m: number | undefined = 2
  const plugin = counting('mast', (ctx) => {
    const collect = (gauge: Gauge) => level_m !== undefined && gauge.set(level_m)
    ctx.metrics.gauge({ name: 'level_meters', help: 'Level.', collect })
  })
  const { value } = await stationWith(t, { mast: plugin })
  t.equal(await value('rtk_base_level_meters'), '2')
  level_m = undefined
  t.equal(await value('rtk_base_level_meters'), undefined)
  level_m = 3
  t.equal(await value('rtk_base_level_meters'), '3')
})

t.test('faults are those of the plugin, and cost its metric alone', async (t) => {
  let calls: (() => void)[] = []
  const plugin = counting('rtcm', (ctx) => {
    const counter = ctx.metrics.counter(frames)
    ctx.metrics.gauge({
      name: 'broken',
      help: 'Broken.',
      collect: () => {
        throw new Error('no figures today')
      },
    })
    calls = [
      () => counter.inc(-1, { type: 1 }),
      () => counter.inc(Number.NaN, { type: 1 }),
      () => counter.inc(1),
      () => counter.inc(1, { type: 1, other: 2 }),
      () => counter.inc(1, { type: Object.create(null) }),
    ]
  })
  const { station, text } = await stationWith(t, { rtcm: plugin })
  for (const call of calls) call()
  t.match(
    station.lines.filter(({ plugin: name, level }) => name === 'rtcm' && level === 50),
    [
      { msg: /-1 is not a valid value for a counter/ },
      { msg: /NaN is not a valid value/ },
      { msg: /its label type is missing/ },
      { msg: /it has no label other/ },
      { msg: /its label type has no text/ },
    ],
  )
  t.match(await text(), /rtk_base_plugins/)
  t.match(station.station.plugins()[0], { state: 'running', reason: /no figures today/ })
})

t.test('a figure that is returned and not set is a fault of its plugin', async (t) => {
  const plugin = counting('mast', (ctx) => {
    ctx.metrics.gauge({ name: 'level_meters', help: 'Level.', collect: () => 2 })
  })
  const { station, value } = await stationWith(t, { mast: plugin })
  t.equal(await value('rtk_base_level_meters'), undefined)
  t.match(
    station.lines.filter(({ plugin: name, level }) => name === 'mast' && level === 50),
    [{ msg: /metric rtk_base_level_meters.*collect returned 2: it has to call gauge\.set/ }],
  )
})

t.test('failures of plugins are counted', async (t) => {
  const broken = counting(
    'broken',
    () => {},
    () => Promise.reject(new Error('no')),
  )
  const { station, value } = await stationWith(t, { broken })
  await station.clock.advance(1_000)
  t.equal(await value('rtk_base_plugin_failures_total{plugin="broken"}'), '2')
  t.equal(await value('rtk_base_plugins{state="failed"}'), '1')
})

t.test('names are held to the rules of promtool', async (t) => {
  const good: MetricOptions[] = [
    { name: 'rtcm_bytes_total', help: 'Bytes.' },
    { name: 'survey_accuracy_meters', help: 'Accuracy.' },
    { name: 'restarts_total', help: 'Restarts.', labels: ['plugin'] },
  ]
  const bad: [MetricOptions, RegExp][] = [
    [{ name: 'Frames_total', help: 'x' }, /lower-case words/],
    [{ name: 'frames-total', help: 'x' }, /lower-case words/],
    [{ name: 'rtk_base_frames_total', help: 'x' }, /put before it/],
    [{ name: 'frames', help: 'x' }, /a counter ends in _total/],
    [{ name: 'frames_total', help: ' ' }, /no help/],
    [{ name: 'uptime_ms_total', help: 'x' }, /its unit is seconds, not ms/],
    [{ name: 'delay_milliseconds', help: 'x' }, /its unit is seconds/],
    [{ name: 'accuracy_m', help: 'x' }, /its unit is seconds|meters/],
    [{ name: 'load_percent', help: 'x' }, /its unit is ratio/],
    [{ name: 'frame_counter_total', help: 'x' }, /counter is not allowed in a name/],
    [{ name: 'clients_count', help: 'x' }, /for other kinds/],
    [{ name: 'frames_total', help: 'x', labels: ['le'] }, /"le" can't be a label/],
    [{ name: 'frames_total', help: 'x', labels: ['a', 'a'] }, /same name/],
  ]
  const errors: Error[] = []
  const tryAll = counting('rules', (ctx) => {
    for (const options of good) {
      if (options.name.endsWith('_total')) ctx.metrics.counter(options)
      else ctx.metrics.gauge(options)
    }
    const attempt = (fn: () => void) => {
      try {
        fn()
      } catch (error) {
        errors.push(error as Error)
      }
    }
    for (const [options] of bad) {
      const isGauge = /milliseconds|_m$|percent|count$/.test(options.name)
      attempt(() => (isGauge ? ctx.metrics.gauge(options) : ctx.metrics.counter(options)))
    }
    attempt(() => ctx.metrics.histogram({ name: 'delay_seconds', help: 'x', buckets: [2, 1] } as HistogramOptions))
    attempt(() => ctx.metrics.gauge({ name: 'plugins', help: 'x' }))
    attempt(() => ctx.metrics.counter(good[0]))
  })
  const other = counting('other', (ctx) => void ctx.metrics.counter(good[0]))
  const { station } = await stationWith(t, { rules: tryAll, other })
  for (const [index, [, message]] of bad.entries()) t.match(errors[index], { code: 'RTK_ERR_METRIC', message })
  t.match(errors.slice(bad.length), [
    { code: 'RTK_ERR_METRIC', message: /ascending/ },
    { code: 'RTK_ERR_METRIC_TAKEN', message: /by the runtime/ },
    { code: 'RTK_ERR_METRIC_TAKEN', message: /by plugin rules/ },
  ])
  t.match(station.station.plugins()[1], { name: 'other', state: 'failed', reason: /taken by plugin rules/ })
})

t.test('GET /metrics serves them, to a viewer as well', async (t) => {
  const station = await createTestStation({ plugins: { 'http-api': httpApi as AnyPlugin } })
  t.teardown(() => station.stop())
  const { status, text, headers } = await station.request('/metrics')
  t.equal(status, 200)
  t.match(headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  t.match(text, /^# HELP rtk_base_\w+ .*\n# TYPE rtk_base_/)
  for (const line of text.split('\n'))
    t.match(line, /^(# (HELP|TYPE) \w+ .+|[a-z_]\w*(\{.*\})? [-+0-9.eInfNa]+|)$/, line)
})
