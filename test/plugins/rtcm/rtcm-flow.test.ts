/** Whether RTCM flows is decided in one place, by the interval of the observations: everything that asks says the same. */
import t from 'tap'
import { StationSigns } from '../../../plugins/device/ota/signs.js'
import record from '../../../plugins/device/record/index.js'
import verdict from '../../../plugins/device/verdict/index.js'
import ntripServer from '../../../plugins/rtcm/ntrip-server/index.js'
import { Flow } from '../../../plugins/rtcm/rtcm/flow.js'
import { type AnyPlugin, definePlugin, type PluginContext } from '../../../runtime/plugin.js'
import { device } from '../../../schemas/services.js'
import { pass } from '../../harness/drive.js'
import { ManualClock } from '../../harness/index.js'
import { setUp } from '../receivers/simulator-rig.js'
import { fakeCaster } from './ntrip/rig.js'

for (const interval_s of [15, 30])
  t.test(`P1: with an epoch every ${interval_s} s RTCM flows, for everything that asks`, async (t) => {
    const caster = await fakeCaster(t, ({ socket }) => void socket.write('ICY 200 OK\r\n\r\n'))
    let ctx: PluginContext | undefined
    const rig = await setUp(t, {
      changes: {
        'gnss-msm-interval': interval_s,
        'gnss-reference-interval': interval_s,
        'gnss-bias-interval': interval_s,
      },
      plugins: {
        'ntrip-server': ntripServer as AnyPlugin,
        record: record as AnyPlugin,
        verdict: verdict as AnyPlugin,
        watcher: definePlugin({
          name: 'watcher',
          version: '1.0.0',
          api: '^1.0.0',
          needs: [device],
          setup: () => undefined,
          start: (context) => {
            ctx = context
          },
        }),
      },
    })
    const signs = new StationSigns(ctx as PluginContext)
    signs.watch()
    const target = { host: '127.0.0.1', port: caster.port, mount: 'ROOF', proof: 'off' }
    await rig.change({ 'ntrip-server': [target] })
    await rig.until(() => rig.field('state.status') === 'fixed', 300)
    await pass(rig.clock, 60_000)
    const began_ms = rig.clock.now()
    const seen = new Set<string>()
    for (let second = 0; second < 300; second++) {
      await pass(rig.clock, 1_000)
      const [push] = rig.station.field('ntrip.server') as { state: string }[]
      seen.add(`status ${rig.field('state.status')}`)
      seen.add(`base ${rig.station.field('base.state.base')}`)
      seen.add(`push ${push?.state}`)
      if (second % 5 === 0) seen.add(`sign ${(await signs.now()).rtcm}`)
    }
    t.same(
      new Set([...seen].filter((one) => !/^push (accepted|acknowledged)$/.test(one))),
      new Set(['base ready', 'sign true', 'status fixed']),
    )
    t.equal(caster.visits.length, 1, 'the push keeps its connection')
    const { text } = await rig.station.request(`/record/timeline?from=${new Date(began_ms).toISOString()}`)
    t.same(
      (JSON.parse(text) as { spans: { cause: string }[] }).spans.map(({ cause }) => cause),
      ['sent'],
    )
  })

t.test('P1: the flow of the observations', async (t) => {
  const flowOf = (interval_s?: number, isListening = false) => {
    const clock = new ManualClock()
    const state = { interval_s, changes: [] as (boolean | undefined)[] }
    const flow: Flow = new Flow({
      now_ms: () => clock.monotonic(),
      after: (ms, fn) => clock.timer(ms, fn),
      interval_s: () => state.interval_s,
      isListening: () => isListening,
      changed: () => state.changes.push(flow.flows),
    })
    return { clock, flow, state }
  }

  t.test('lasts three intervals from the last one, at least 5 s', async (t) => {
    for (const [interval_s, limit_ms] of [
      [0.5, 5_000],
      [1, 5_000],
      [2, 6_000],
      [15, 45_000],
      [30, 90_000],
      [255, 765_000],
    ] as const) {
      const { clock, flow, state } = flowOf(interval_s)
      t.equal(flow.flows, false)
      flow.begin()
      t.equal(flow.flows, undefined, 'nothing is known yet')
      await clock.advance(1_000)
      flow.count(1074)
      flow.count(1005)
      t.match(flow, { flows: true, since_ms: 1_000, newest_ms: 1_000, limit_ms })
      await clock.advance(limit_ms - 1)
      flow.count(1084)
      await clock.advance(limit_ms - 1)
      flow.count(1005)
      t.equal(flow.flows, true)
      await clock.advance(1)
      t.equal(flow.flows, false, 'a base without satellites sends its 1005 all the same')
      flow.count(1004)
      t.match(flow, { flows: true, since_ms: 999 + 2 * limit_ms })
      flow.end()
      t.same(state.changes, [undefined, true, false, true, false])
      t.equal(clock.pending, 0)
    }
  })

  t.test('has its time from the beginning, and from a change of the interval', async (t) => {
    const { clock, flow, state } = flowOf(30)
    flow.begin()
    await clock.advance(89_999)
    t.equal(flow.flows, undefined)
    await clock.advance(1)
    t.equal(flow.flows, false)
    flow.count(1074)
    await clock.advance(29_000)
    state.interval_s = 1
    flow.intervalChanged()
    await clock.advance(4_999)
    t.equal(flow.flows, true)
    await clock.advance(1)
    t.equal(flow.flows, false)
  })

  t.test('of a receiver that somebody else set up is told by its epochs', async (t) => {
    const { clock, flow } = flowOf(undefined, true)
    flow.begin()
    flow.count(1005)
    t.equal(flow.flows, true, 'any message counts where no observation ever came')
    flow.count(1074)
    flow.count(1084)
    t.equal(flow.limit_ms, 5_000, 'messages of one epoch are no interval')
    for (const [gap_ms, limit_ms, what] of [
      [20_000, 60_000, 'as the last epochs came'],
      [90_000, 60_000, 'an interruption is no interval'],
      [90_000, 270_000, 'unless it comes twice'],
    ] as const) {
      await clock.advance(gap_ms)
      flow.count(1005)
      flow.count(1074)
      t.equal(flow.limit_ms, limit_ms, what)
    }
  })

  t.test('does not end by a timer that was late: what came meanwhile is read first', async (t) => {
    const timers: (() => void)[] = []
    let now_ms = 0
    const flow = new Flow({
      now_ms: () => now_ms,
      after: (_, fn) => {
        timers.push(fn)
        return () => {}
      },
      interval_s: () => 1,
      isListening: () => false,
      changed() {},
    })
    flow.count(1074)
    now_ms = 20_000
    timers.shift()?.()
    t.equal(flow.flows, true)
    now_ms = 21_000
    timers.shift()?.()
    t.equal(flow.flows, false)
  })
})
