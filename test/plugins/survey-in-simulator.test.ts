/** The whole GNSS path on the simulated receiver: what `npm start` shows. */
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import gnssZed from '../../plugins/gnss-zed/index.js'
import rtcm from '../../plugins/rtcm/index.js'
import rtcmIn from '../../plugins/rtcm-in/index.js'
import surveyIn from '../../plugins/survey-in/index.js'
import { decodeRtcm, distance, offsetEnu, roundEcef } from '../../runtime/gnss/index.js'
import { definePlugin } from '../../runtime/plugin.js'
import { MemoryStore } from '../../runtime/ports/memory-store.js'
import { GnssInfo } from '../../schemas/info/gnss.js'
import {
  type CorrectionInput,
  correctionInput,
  type Ecef,
  type RtcmFrame,
  rtcmStream,
  type SimulatedReceiver,
  simulatedReceiver,
} from '../../schemas/services.js'
import { arpFrame, createTestStation, ManualClock, msmFrame } from '../harness/index.js'
import { type Definition, quick } from './survey-in-rig.js'

async function setUp(t: Test, simulator: Record<string, unknown> = {}, plugins: Record<string, Definition> = {}) {
  const clock = new ManualClock()
  const store = new MemoryStore()
  const sent: RtcmFrame[] = []
  let simulated: SimulatedReceiver | undefined
  let input: CorrectionInput | undefined
  let everySecond = () => {}
  const probe = definePlugin({
    name: 'probe',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [rtcmStream, simulatedReceiver],
    setup: () => undefined,
    start(ctx) {
      simulated = ctx.services.use(simulatedReceiver)
      input = ctx.services.find(correctionInput)
      const take = (frame: RtcmFrame) => sent.push(frame) > 0
      ctx.services.use(rtcmStream).subscribe({ via: 'test', name: 'probe', ip: '', take })
    },
  })
  const station = await createTestStation({
    clock,
    store,
    variant: { changes: quick },
    plugins: {
      'gnss-zed': [gnssZed as unknown as Definition, { port: 'simulator', simulator: { boot: 'rover', ...simulator } }],
      rtcm: rtcm as unknown as Definition,
      'survey-in': [surveyIn as unknown as Definition, { initial_s: 10 }],
      ...plugins,
      probe: probe as unknown as Definition,
    },
  })
  t.teardown(() => station.stop())
  const field = (path: string) => station.field(`gnss.${path}`)
  const check = () => {
    const { gnss } = station.station.document()
    return [...Value.Errors(GnssInfo, gnss)].map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
  return {
    station,
    clock,
    store,
    sent,
    field,
    check,
    get input() {
      return input
    },
    everySecond(fn: () => void) {
      everySecond = fn
    },
    get simulated() {
      if (!simulated) throw new Error('the probe does not run')
      return simulated
    },
    arps: () =>
      sent.flatMap(({ bytes }): Ecef[] => {
        const message = decodeRtcm(bytes)
        return message?.type === 1005 ? [{ x: message.x, y: message.y, z: message.z }] : []
      }),
    async until(condition: () => unknown, limit_s: number): Promise<number> {
      for (let i = 0; i <= limit_s; i++) {
        if (condition()) return i
        everySecond()
        await clock.advance(1000)
      }
      throw new Error(`not within ${limit_s} s: ${String(condition)}; ${JSON.stringify(field(''))}`)
    },
  }
}

/** Every field of the block, and what the simulated truth says of it once the base is fixed. */
const truths: [path: string, is: (value: never, rig: Awaited<ReturnType<typeof setUp>>) => boolean][] = [
  ['zed.module', (value) => value === 'ZED-F9P'],
  ['zed.vfirmware', (value: string) => value.startsWith('HPG')],
  ['zed.vhardware', (value) => value !== ''],
  ['zed.vsoftware', (value) => value !== ''],
  ['zed.serial', (value) => value === '5A45440001'],
  ['state.time', (value: number, { clock }) => Math.abs(value - clock.now() / 1000) < 3],
  ['state.tm', (value: string) => value.startsWith('2026-11-21_00:0')],
  ['state.status', (value) => value === 'fixed'],
  ['state.gps_fix', (value) => value === 'time'],
  ['state.corrected', (value) => value === false],
  ['state.uptime', (value: number, { clock }) => Math.abs(value - clock.monotonic() / 1000) < 3],
  ['state.time_first_fix', (value: number) => value > 0 && value < 15],
  ['state.satvis', (value: number) => value >= 15],
  ['state.satuse', (value: number) => value >= 12],
  ['state.want_corr', (value) => value === 0],
  ['state.antenna.status', (value) => value === 'ok'],
  ['state.antenna.power', (value) => value === 1],
  ['state.antenna.failcnt', (value) => value === 0],
  ['state.antenna.failtime', (value) => value === 0],
  ['state.antenna.oktime', (value: number, { clock }) => Math.abs(value - clock.now() / 1000) < 5],
  ...['elapsed', 'age', 'count', 'packets', 'dist'].map(
    (name) => [`state.recvrtcm.${name}`, (value: never) => value === 0] as (typeof truths)[number],
  ),
  ['state.recvrtcm.remote', (value) => value === ''],
  ['config.startup.accuracy', (value) => value === 5],
  ['config.startup.delta_max', (value) => value === 15],
  ['config.startup.delta_max_corr', (value) => value === 0.5],
  ['config.recvrtcm.max_age', (value) => value === 30],
  ['pos.lat', (value: number) => Math.abs(value - 52) < 1e-4],
  ['pos.lon', (value: number) => Math.abs(value - 4) < 1e-4],
  ['pos.alt', (value: number) => Math.abs(value - 50) < 10],
  ...(['x', 'y', 'z'] as const).flatMap((axis): typeof truths => [
    [`pos.${axis}`, (value, { field }) => value === field(`ref.survey.${axis}`)],
    [`ref.survey.${axis}`, (value: number, { simulated }) => Math.abs(value - simulated.truth[axis]) < 5],
    [`ref.manual.${axis}`, (value) => value === 0],
  ]),
  ['pos.acc', (value: number, { field }) => value >= (field('ref.survey.acc') as number) - 0.01 && value < 10],
  ['pos.delta', (value: number) => value > 0 && value < 6],
  ['pos.geoidal-seperation', (value: number) => Math.abs(value - 44.568) < 0.01],
  ['pos.t', (value: number, { clock }) => Math.abs(value - clock.now() / 1000) < 3],
  ['pos.tm', (value: string) => value.startsWith('2026-11-21_00:0')],
  ['ref.manual.type', (value) => value === ''],
  ['ref.manual.acc', (value) => value === 0],
  ['ref.manual.t', (value) => value === 0],
  ['ref.manual.tm', (value) => value === ''],
  ['ref.manual.hp', (value) => value === true],
  ['ref.manual.corr', (value) => value === false],
  ['ref.survey.type', (value) => value === 'ecef'],
  ['ref.survey.acc', (value: number) => value > 0.2 && value <= 5],
  ['ref.survey.t', (value: number, { clock }) => Math.abs(value - clock.now() / 1000) < 90],
  ['ref.survey.tm', (value: string) => value.startsWith('2026-11-21_00:0')],
  ['ref.survey.hp', (value) => value === true],
  ['ref.survey.corr', (value) => value === false],
  ['ref.survey.state', (value) => value === 'complete'],
  ['ref.survey.allow_use', (value) => value === 0],
  ['ref.survey.accuracy_corr_dyn', (value) => value === 0],
  ['ref.survey.elapsed', (value: number) => value >= 15 && value < 30],
  ['ref.survey.count', (value: number) => value >= 14 && value < 30],
  ['ref.survey.rtcm.age', (value) => value === 0],
  ['ref.survey.rtcm.count', (value) => value === 0],
  ['ref.survey.rtcm.remote', (value) => value === ''],
  ['ref.survey.rtcm.dist', (value) => value === 0],
  ['ref.survey.config.mintime', (value) => value === 15],
  ['ref.survey.config.maxtime', (value) => value === 86_400],
  ['ref.survey.config.accuracy', (value) => value === 5],
  ['ref.survey.config.accuracy_corr', (value) => value === 0.03],
  ['ref.chosen', (value) => value === 'survey'],
  ['rtcm.stat.recvd', (value: number) => value > 50],
  ['rtcm.stat.corrupt', (value) => value === 0],
  [
    'rtcm.msgs',
    (value: { id: number; interval: number; since: number }[]) =>
      [1005, 1074, 1084, 1094, 1124].every((id) =>
        value.some((message) => message.id === id && message.interval === 1 && message.since <= 2),
      ),
  ],
  ['rtcm.subscribers', (value: unknown[]) => value.length === 1],
]

t.test('from nothing to fixed in 45 s, the document right all the way', async (t) => {
  const rig = await setUp(t)
  const seen = new Set<unknown>()
  let running = false
  const seconds = await rig.until(() => {
    t.strictSame(rig.check(), [])
    seen.add(rig.field('state.status'))
    running ||= rig.field('ref.survey.state') === 'running' && (rig.field('ref.survey.count') as number) > 5
    return rig.arps().length > 0
  }, 60)
  t.ok(seconds <= 45, `${seconds} s`)
  t.strictSame([...seen].slice(-4), ['acquire', 'initial', 'survey', 'fixed'])
  t.ok(running, 'the survey-in was seen while it ran')
  const { x, y, z } = rig.field('ref.survey') as Ecef
  t.strictSame(rig.arps()[0], { x, y, z })
  t.ok(distance({ x, y, z }, rig.simulated.truth) < 5)
  await rig.until(() => (rig.field('pos.delta') as number) > 0, 10)
  for (const [path, is] of truths) {
    const value = rig.field(path)
    t.ok(is(value as never, rig), `${path} is ${JSON.stringify(value)}`)
  }
  const named = new Set(truths.map(([path]) => path))
  const leaves = (part: unknown, path: string): string[] =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.entries(part).flatMap(([name, value]) => leaves(value, path ? `${path}.${name}` : name))
      : [path]
  t.strictSame(
    leaves(rig.station.station.document().gnss, '').filter((path) => !named.has(path)),
    [],
    'no field is left out here',
  )
})

t.test('what the receiver does by itself', async (t) => {
  const start = async (t: Test) => {
    const rig = await setUp(t)
    await rig.until(() => rig.arps().length > 0, 60)
    return rig
  }

  t.test('restarted with another position in its flash: its 1005 never leaves', async (t) => {
    const rig = await start(t)
    const [arp] = rig.arps()
    rig.simulated.flash({ arp: { ...arp, x: arp.x + 5 } })
    rig.simulated.restart()
    await rig.until(() => rig.field('state.status') !== 'fixed', 20)
    await rig.until(() => rig.field('state.status') === 'fixed', 60)
    await rig.until(() => false, 5).catch(() => undefined)
    t.ok(rig.arps().length > 3)
    for (const each of rig.arps()) t.strictSame(each, arp)
  })

  t.test('a first start with another position in its flash: its 1005 never leaves', async (t) => {
    const rig = await setUp(t, { boot: 'fixed' })
    await rig.until(() => rig.arps().length > 2, 60)
    t.equal(rig.field('ref.survey.state'), 'complete')
    const { x, y, z } = rig.field('ref.survey') as Ecef
    for (const each of rig.arps()) t.strictSame(each, { x, y, z })
  })

  t.test('moved by 30 m while it runs: held in 30 s', async (t) => {
    const rig = await start(t)
    await rig.until(() => false, 20).catch(() => undefined)
    rig.simulated.move(0, 30, 0)
    const seconds = await rig.until(() => rig.field('state.status') === 'moved', 40)
    t.ok(seconds <= 30, `${seconds} s`)
    const sent = rig.sent.length
    await rig.until(() => false, 120).catch(() => undefined)
    t.equal(rig.sent.length, sent)
    t.ok(Math.abs((rig.field('pos.delta') as number) - 30) < 6, `${String(rig.field('pos.delta'))} m`)
    t.strictSame(rig.check(), [])
  })

  for (const chosen of ['survey', 'manual'] as const) {
    t.test(`unplugged, carried 30 m and plugged in, with the ${chosen} reference chosen`, async (t) => {
      const rig = await start(t)
      if (chosen === 'manual') {
        const { x, y, z } = rig.arps()[0]
        const manual = { 'gnss-ref-manual-x': x, 'gnss-ref-manual-y': y, 'gnss-ref-manual-z': z }
        await rig.station.station.change({ ...manual, 'gnss-ref-chosen': chosen }, { source: 'http' })
        await rig.until(() => rig.field('state.status') === 'fixed', 60)
      }
      rig.simulated.unplug()
      rig.simulated.move(30, 0, 0)
      rig.simulated.replug()
      await rig.until(() => rig.field('state.status') !== 'fixed', 10)
      const sent = rig.sent.length
      const wanted = chosen === 'manual' ? 'moved' : 'fixed'
      await rig.until(() => rig.field('state.status') === wanted, 90)
      await rig.until(() => false, 30).catch(() => undefined)
      t.match(rig.station.device.errors()[0]?.text, /^reference moved by E \+[23]\d\.\d/)
      if (chosen === 'manual') t.equal(rig.sent.length, sent)
      else t.ok(distance(rig.arps().at(-1) as Ecef, rig.simulated.truth) < 5)
    })
  }

  t.test('a 1005 that is wrong after configuration: nothing leaves, and it is a fault', async (t) => {
    const rig = await setUp(t)
    await rig.until(() => rig.field('state.status') === 'survey', 60)
    rig.simulated.wrongReference(0.01)
    await rig.until(() => rig.field('state.status') === 'fault', 90)
    t.equal(rig.sent.length, 0)
    rig.simulated.wrongReference(0)
    await rig.until(() => rig.arps().length > 0, 120)
  })

  t.test('its plugin is reloaded: RTCM is back within 5 s', async (t) => {
    const rig = await start(t)
    const [arp] = rig.arps()
    await rig.station.reload('gnss-zed')
    rig.sent.length = 0
    const seconds = await rig.until(() => rig.arps().length > 0, 20)
    t.ok(seconds <= 5, `${seconds} s`)
    t.strictSame(rig.arps()[0], arp)
  })
})

t.test('a corrected survey-in with another base 12 km away', async (t) => {
  const remote = (rig: Awaited<ReturnType<typeof setUp>>) => {
    const arp = roundEcef(offsetEnu(rig.simulated.truth, { east: 0, north: 12_000, up: 0 }))
    let second = 0
    rig.everySecond(() => {
      second++
      const frames = [msmFrame(1074, second * 1000, true, 42), msmFrame(1084, second, false, 42), arpFrame(arp, 42)]
      rig.input?.take(new Uint8Array(Buffer.concat(frames)), 'test', '127.0.0.1')
    })
  }
  const corrected = { 'rtcm-in': rtcmIn as unknown as Definition }

  t.test('ends within accuracy_corr_dyn, the document telling of the corrections', async (t) => {
    const rig = await setUp(t, {}, corrected)
    remote(rig)
    const fixes = new Set<unknown>()
    await rig.until(() => {
      fixes.add(rig.field('state.gps_fix'))
      t.strictSame(rig.check(), [])
      return rig.field('ref.survey.state') === 'complete'
    }, 400)
    for (const fix of ['3d', 'rtk-float', 'rtk-fixed']) t.ok(fixes.has(fix), fix)
    const survey = rig.field('ref.survey') as Ecef & { acc: number }
    t.match(survey, { corr: true, accuracy_corr_dyn: 0.042, rtcm: { remote: 'test' } })
    t.ok(survey.acc <= 0.042, `${survey.acc} m`)
    t.ok(distance(survey, rig.simulated.truth) < 3 * survey.acc)
    t.ok(Math.abs((rig.field('state.recvrtcm.dist') as number) - 12_000) < 1)
    await rig.until(() => rig.arps().length > 0, 20)
  })

  t.test('is aborted with the reason when the corrections stop for 10 min', async (t) => {
    const rig = await setUp(t, {}, corrected)
    await rig.station.station.change({ 'gnss-survey-mintime': 3600 }, { source: 'http' })
    remote(rig)
    await rig.until(() => (rig.field('ref.survey.count') as number) > 10, 200)
    rig.everySecond(() => undefined)
    await rig.until(() => rig.field('ref.survey.state') === 'aborted', 700)
    t.match(rig.station.device.errors()[0]?.text, /aborted: no corrections came for 10 min/)
    t.equal(rig.sent.length, 0)
  })
})

t.test('two simulated hours unmoved raise no alarm', async (t) => {
  const rig = await setUp(t)
  await rig.until(() => rig.arps().length > 0, 60)
  let far_m = 0
  for (let minute = 0; minute < 120; minute++) {
    await rig.clock.advance(60_000)
    far_m = Math.max(far_m, rig.field('pos.delta') as number)
    rig.sent.length = 0
  }
  t.equal(rig.field('state.status'), 'fixed')
  t.strictSame(rig.station.device.errors(), [])
  t.ok(far_m < 8, `at most ${far_m.toFixed(1)} m`)
})
