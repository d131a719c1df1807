/** The plugin as a whole, on its simulated receiver and on captures. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { Value } from 'typebox/value'
import { drawnStationId } from '../../../plugins/receivers/gnss/index.js'
import type { Observed } from '../../../plugins/receivers/gnss/observed.js'
import { watchTrouble } from '../../../plugins/receivers/gnss/trouble.js'
import gnssZed from '../../../plugins/receivers/gnss-zed/index.js'
import * as ubx from '../../../plugins/receivers/gnss-zed/ubx/index.js'
import { decodeEphemeris, Framer } from '../../../runtime/lib/gnss/index.js'
import { definePlugin } from '../../../runtime/plugin.js'
import { GnssInfo } from '../../../schemas/info/gnss.js'
import {
  type Receiver,
  type ReceiverFix,
  type RtcmFrame,
  receiver as receiverToken,
  type SimulatedReceiver,
  simulatedReceiver,
} from '../../../schemas/services.js'
import { knownPages } from '../../gnss/support/orbit-pages.js'
import { infFrame } from '../../gnss/support/ubx-receiver.js'
import { captures, noCaptures } from '../../harness/captures.js'
import { conformance, createTestStation, ManualClock, type TestStation, until } from '../../harness/index.js'
import { errorsOf, into } from '../../harness/standing-errors.js'

/** A station with the plugin and an onlooker that holds its services. */
async function start(
  t: Test,
  options: Record<string, unknown> = { port: 'simulator' },
  more: Record<string, unknown> = {},
) {
  const seen = { frames: [] as RtcmFrame[], fixes: [] as ReceiverFix[], states: 0 }
  let services: { receiver: Receiver; simulated: SimulatedReceiver | undefined } | undefined
  const onlooker = definePlugin({
    name: 'onlooker',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [receiverToken],
    setup: () => undefined,
    start(ctx) {
      services = { receiver: ctx.services.use(receiverToken), simulated: ctx.services.find(simulatedReceiver) }
      ctx.defer(services.receiver.onRtcm((frame) => seen.frames.push(frame)))
      ctx.defer(services.receiver.onFix((fix) => seen.fixes.push(fix)))
      ctx.defer(
        services.receiver.onState(() => {
          seen.states++
        }),
      )
    },
  })
  const station = await createTestStation({
    plugins: { 'gnss-zed': [gnssZed as never, options], onlooker: onlooker as never, ...(more as object) },
    // Whether RTCM flows is told by its stream.
    sources: { rtcm: {} },
  })
  t.teardown(() => station.stop())
  const seconds = async (count: number) => {
    for (let i = 0; i < count; i++) await station.clock.advance(1000)
  }
  const command = (text: string) => station.station.command(text, { source: 'console' })
  return {
    station,
    seen,
    seconds,
    command,
    field: (path: string) => station.field(`gnss.${path}`),
    get receiver() {
      if (!services) throw new Error('the onlooker does not run')
      return services.receiver
    },
    get simulated() {
      if (!services?.simulated) throw new Error('there is no simulated receiver')
      return services.simulated
    },
  }
}
function checkDocument(t: Test, station: TestStation) {
  const { gnss } = station.station.document()
  const problems = [...Value.Errors(GnssInfo, gnss)].map(({ instancePath, message }) => `${instancePath} ${message}`)
  t.same(problems, [], 'the block is as documented')
}

t.test('stands what every plugin must stand', async () => {
  await conformance(gnssZed as never, { port: 'simulator' })
})

t.test('a base on the simulator: from nothing to fixed, with every field of the block', async (t) => {
  const { station, seconds, field, seen, receiver } = await start(t)
  checkDocument(t, station)
  t.match(field('state.status'), /^(offline|stalled)$/)
  t.match(field('pos'), { t: 0, tm: '', lat: 0 })
  await seconds(8)
  checkDocument(t, station)
  t.equal(field('state.status'), 'fixed')
  t.match(field('zed'), { module: 'ZED-F9P', vfirmware: 'HPG 1.32', vhardware: '00190000', serial: '5A45440001' })
  t.match(field('state'), { gps_fix: 'time', corrected: false, tm: /^2026-11-21_00:00:0\d$/, want_corr: 0 })
  t.match(field('state.antenna'), { power: 1, status: 'ok', failcnt: 0, failtime: 0 })
  t.match(field('pos'), { x: 3925405.8088, y: 274491.1138, z: 5002842.746, 'geoidal-seperation': 44.568, delta: 0 })
  t.match(field('ref.manual'), { type: 'ecef', x: 3925405.8088, hp: true, corr: false })
  t.equal(field('ref.chosen'), 'manual')
  t.equal(receiver.mode, 'fixed')
  t.equal(receiver.link, 'up')
  t.same([...new Set(seen.frames.map(({ type }) => type))].sort(), [1005, 1074, 1084, 1094, 1124])
  t.match(seen.fixes.at(-1), { fix: 'time', ok: true, position: { x: 3925405.8088 } })
  t.match(station.station.plugins().find(({ name }) => name === 'gnss-zed')?.reason, /^up; simulator/)
  t.equal(station.station.plugins().find(({ name }) => name === 'gnss')?.reason, 'fixed')
})

t.test('a receiver as from the factory is switched on as far as needed, in RAM', async (t) => {
  const { seconds, field, receiver } = await start(t, { port: 'simulator', simulator: { boot: 'rover' } })
  await seconds(12)
  t.match(field('state'), { status: 'acquire', gps_fix: '3d' })
  t.ok((field('state.satuse') as number) > 10)
  t.equal(receiver.mode, 'rover')
  t.match(field('ref.manual'), { type: '' })
  t.ok((field('pos.acc') as number) > 0.5)
})

t.test('configure: false writes nothing at all, and trusts what it hears', async (t) => {
  const { seconds, field, receiver, command } = await start(t, { port: 'simulator', configure: false })
  await seconds(8)
  t.equal(field('state.status'), 'fixed')
  t.equal(receiver.mode, 'listening')
  t.match(field('zed'), { module: '', serial: '' }, 'nobody asked')
  t.match(field('state.antenna'), { status: 'ok' })
  t.notOk(receiver.sendCorrections(new Uint8Array(10)))
  for (const name of ['reboot-zed', 'reset-zed']) {
    const answer = await command(name)
    t.equal(answer.status, 503)
    t.match(answer.text, /only listened to/)
  }
  const rover = await start(t, { port: 'simulator', configure: false, simulator: { boot: 'rover' } })
  await rover.seconds(120)
  t.equal(rover.field('state.status'), 'stalled', 'a receiver that sends nothing stays silent')
})

t.test('a receiver that someone set up to send MSM4 beside MSM7 has no slips for it', async (t) => {
  const { seconds, seen, field, simulated } = await start(t, { port: 'simulator', configure: false })
  for (const type of [1074, 1077, 1084, 1087] as const) simulated.set(`CFG-MSGOUT-RTCM_3X_TYPE${type}_USB`, 1)
  await seconds(120)
  t.ok(seen.frames.some(({ type }) => type === 1074) && seen.frames.some(({ type }) => type === 1077))
  t.equal(field('state.rf.slips'), 0)
})

t.test('antenna failures are counted, dated, and told as an error until they end', async (t) => {
  const { station, seconds, field, simulated } = await start(t)
  await seconds(5)
  const troubles = () => station.lines.filter(({ code }) => String(code).startsWith('antenna-')).length
  simulated.antenna('short')
  await seconds(3)
  t.match(field('state.antenna'), { power: 0, status: 'short', failcnt: 1 })
  const { failtime, oktime } = field('state.antenna') as { failtime: number; oktime: number }
  t.ok(failtime > oktime && oktime > 0)
  simulated.antenna('open')
  await seconds(2)
  t.match(field('state.antenna'), { status: 'open', failcnt: 2 }, 'another failure')
  simulated.antenna('ok')
  await seconds(2)
  simulated.antenna('open')
  await seconds(2)
  t.match(field('state.antenna'), { failcnt: 3 })
  t.equal(field('state.status'), 'fixed', 'for a moment')
  await seconds(5)
  t.equal(field('state.status'), 'acquire', 'no RTCM, no base')
  t.equal(troubles(), 3, 'short, open, and open again')
})

t.test('of a receiver that is away the antenna is not known; the same fault is not counted again', async (t) => {
  const { station, seconds, field, simulated } = await start(t)
  const errors = () => station.device.errors().flatMap(({ code }) => (code.startsWith('antenna-') ? [code] : []))
  await seconds(5)
  simulated.antenna('short')
  await seconds(3)
  t.strictSame(errors(), ['antenna-short'])
  const { failtime } = field('state.antenna') as { failtime: number }
  simulated.unplug()
  await seconds(3)
  t.match(field('state'), { status: 'offline', uptime: 0, time_first_fix: 0 })
  t.match(field('state.antenna'), { power: 2, status: 'unknown', failcnt: 1, failtime }, 'what was stays')
  t.strictSame(errors(), [], 'a fault of the antenna is not known either')
  await seconds(60)
  simulated.replug()
  await seconds(10)
  t.match(field('state.antenna'), { power: 0, status: 'short', failcnt: 1 }, 'the same fault')
  t.strictSame(errors(), ['antenna-short'])
  simulated.silence(true)
  await seconds(15)
  t.match(field('state'), { status: 'stalled', antenna: { status: 'unknown' } })
  t.strictSame(errors(), [], 'a silent one says nothing of its antenna')
})

t.test('a receiver that was pulled out works again when it is back, and is set up again', async (t) => {
  const { seconds, field, simulated, seen, receiver } = await start(t, {
    port: 'simulator',
    simulator: { boot: 'rover' },
  })
  await seconds(10)
  simulated.unplug()
  await seconds(1)
  t.equal(field('state.status'), 'offline')
  t.equal(receiver.mode, 'unknown')
  await seconds(60)
  simulated.replug()
  const before = seen.fixes.length
  await seconds(2)
  t.equal(receiver.link, 'up')
  await seconds(6)
  t.ok(seen.fixes.length > before + 2, 'RAM was lost, and what is needed is on again')
  t.equal(field('state.gps_fix'), '3d')
})

t.test('a receiver that restarts by itself on a UART is set up again', async (t) => {
  const { seconds, simulated, seen } = await start(t, {
    port: 'simulator',
    simulator: { boot: 'rover', wiring: 'UART1' },
  })
  await seconds(10)
  simulated.restart()
  const before = seen.fixes.length
  await seconds(25)
  t.ok(seen.fixes.length > before + 8)
})

t.test('finds the rate of a UART', async (t) => {
  const { seconds, receiver } = await start(t, {
    port: 'simulator',
    baud: [9600, 115_200, 38_400],
    simulator: { wiring: 'UART1' },
  })
  await seconds(35)
  t.equal(receiver.link, 'up')
})

t.test('what only shows it is verified too, and a refused key costs itself only', async (t) => {
  for (const [fault, key, shows] of [
    ['nak', 'CFG-MSGOUT-UBX_MON_RF_USB', { gps_fix: '3d', antenna: { status: 'unknown' } }],
    ['nak', 'CFG-MSGOUT-UBX_NAV_SAT_USB', { gps_fix: '3d', antenna: { status: 'ok' } }],
    ['ignore', 'CFG-MSGOUT-UBX_NAV_SAT_USB', { gps_fix: '3d', antenna: { status: 'ok' } }],
  ] as const) {
    const { station, seconds, field, simulated } = await start(t, { port: 'simulator', simulator: { boot: 'rover' } })
    simulated[fault](key)
    await seconds(12)
    t.match(field('state'), shows)
    t.ok(
      station.lines.some(({ refused }) => Array.isArray(refused) && refused.join() === key),
      `the log names ${key} alone`,
    )
    const remarks = () => field('receiver.rejected')
    t.same(remarks(), [key])
    t.notOk(station.device.errors().some(({ code }) => code === 'receiver-config'))
    simulated[fault](undefined)
    simulated.restart()
    await seconds(12)
    t.same(remarks(), [], 'until it is taken')
  }
})

t.test('silence: stalled, an error that says what to do, and back', async (t) => {
  const { seconds, field, simulated, command } = await start(t)
  await seconds(5)
  await command('sim=silence on')
  await seconds(5)
  t.equal(field('state.status'), 'stalled')
  t.equal(field('state.gps_fix'), 'none', 'an old fix is none')
  t.match(field('pos'), { x: 3925405.8088 }, 'the last position stays, with its time')
  simulated.silence(false)
  await seconds(5)
  t.equal(field('state.status'), 'fixed')
})

t.test('reset-zed deletes what was stored and restarts; reboot-zed and reboot-receiver only restart', async (t) => {
  const { seconds, command, receiver, field } = await start(t)
  await seconds(20)
  for (const name of ['reboot-zed', 'reboot-receiver']) {
    const reboot = command(name)
    await seconds(1)
    t.match(await reboot, { status: 200, text: 'the receiver restarts' })
    await seconds(10)
    t.ok((field('state.uptime') as number) <= 11, `${name}: it has started again`)
  }
  await seconds(10)
  t.equal(receiver.mode, 'fixed', 'its flash is as it was')
  const hot_s = field('state.time_first_fix') as number
  const reset = command('reset-zed')
  await seconds(1)
  t.match(await reset, { status: 200 })
  await seconds(20)
  t.equal(receiver.mode, 'rover', 'nothing is left of the base')
  t.match(field('state'), { gps_fix: '3d', status: 'acquire' })
  const cold_s = field('state.time_first_fix') as number
  t.ok(hot_s > 0 && cold_s > hot_s + 3, `first fix after ${hot_s} s, and ${cold_s} s cold`)
})

t.test('the faults of the simulator are a command', async (t) => {
  const { station, seconds, command, simulated } = await start(t)
  await seconds(2)
  t.match(await command('sim=move 30 0 -1'), { status: 200, text: /moved E 30 N 0 U -1 m/ })
  t.match(await command('sim=antenna open'), { text: /antenna open/ })
  t.match(await command('sim=unplug'), { text: /^unplugged/ })
  t.match(await command('sim=replug'), { text: /^plugged/ })
  for (const text of [
    'sim=fly',
    'sim=move x',
    'sim=antenna wet',
    'sim=silence maybe',
    'sim=noise loud',
    'sim=lose-lock some',
    'sim=slip 2 1 quietly',
    'sim=spoof 4',
    'sim=jam 3 L7',
    'sim=satellites -1',
    'sim=move 1 0 0 -5',
    'sim=wrong-fix often',
    'sim=nak CFG-NO',
    'sim=toString',
  ]) {
    t.match(await command(text), { status: 400, text: /sim: / }, text)
  }
  t.match(await command('sim=nak CFG-TMODE-MODE'), { text: /refuses 1 keys/ })
  t.match(await command('sim'), { status: 200 })
  t.ok(simulated.truth.x !== 3925405.8088)
  t.ok(station.station.actions().some(({ name }) => name === 'sim'))
  const real = await start(t, { port: 'replay:/no/such/file' })
  t.notOk(real.station.station.actions().some(({ name }) => name === 'sim'))
  t.throws(() => real.simulated, /there is no simulated receiver/)
})

t.test('every fault of the simulator is a command with help, and a function with the same effect', async (t) => {
  const { command, simulated } = await start(t)
  const help = (await command('sim=help')).text.split('\n')
  const names = help.map((line) => /^sim ([\w-]+)/.exec(line)?.[1] ?? '')
  for (const line of help) t.match(line, /^sim [\w-]+.* {2,}\S/, 'usage and what it does')
  const functions: Record<string, keyof SimulatedReceiver> = {
    'drop-acks': 'dropAcks',
    'deaf-above': 'deafAbove',
    'wrong-1005': 'wrongReference',
    'wrong-fix': 'wrongFix',
    'lose-lock': 'loseLock',
  }
  for (const name of names) t.type(simulated[functions[name] ?? (name as keyof SimulatedReceiver)], 'function', name)
  const readme = readFileSync('plugins/simulated/simulated-receiver/README.md', 'utf8')
  const rows = readme.slice(readme.indexOf('| `sim=` |')).matchAll(/^\| `([a-z0-9-]+).*\| `\w+` \|/gm)
  t.same(new Set([...rows].map(([, name]) => name)), new Set(names), 'the README has the same ones')

  const effects: [text: string, by: () => void][] = [
    ['move 1 2 3', () => simulated.move(1, 2, 3)],
    ['jam 5', () => simulated.jam(5)],
    ['jam 7 L2', () => simulated.jam(7, 'L2')],
    ['spoof 2', () => simulated.spoof(2)],
    ['noise typical', () => simulated.noise('typical')],
    ['satellites 7 20', () => simulated.satellites(7, 20)],
    ['wrong-fix 0.5 1 2 3', () => simulated.wrongFix(0.5, { east: 1, north: 2, up: 3 })],
    ['antenna open', () => simulated.antenna('open')],
    ['nak CFG-RATE-MEAS', () => simulated.nak('CFG-RATE-MEAS')],
    ['ignore CFG-RATE-NAV', () => simulated.ignore('CFG-RATE-NAV')],
    ['drop-acks 3', () => simulated.dropAcks(3)],
    ['deaf-above 57600', () => simulated.deafAbove(57_600)],
    ['wrong-1005 2', () => simulated.wrongReference(2)],
    ['silence on', () => simulated.silence(true)],
    ['corrections 12000', () => simulated.corrections(12_000)],
    ['unplug', () => simulated.unplug()],
    ['replug', () => simulated.replug()],
  ]
  const other = await start(t)
  for (const [text, by] of effects) {
    const before = simulated.describe()
    by()
    t.not(simulated.describe(), before, text)
    t.match(await other.command(`sim=${text}`), { status: 200, text: simulated.describe() })
  }
  for (const [text] of effects) await command(`sim=${text.split(' ')[0]} ${text.startsWith('noise') ? 'quiet' : 'off'}`)
  t.notMatch(
    simulated.describe(),
    /refuses|ignores|loses|deaf|wrong|silent|corrections|jam [1-9]|L2|spoof|surroundings|satellites/,
  )
})

t.test('a cold start takes longer to its first fix, which converges again', async (t) => {
  const { seconds, field, command } = await start(t, {
    port: 'simulator',
    simulator: { boot: 'rover', wiring: 'UART1' },
  })
  const settled = async () => {
    await seconds(60)
    return field('pos.acc') as number
  }
  const best = await settled()
  const firstFix: number[] = []
  for (const how of ['', ' cold']) {
    t.match(await command(`sim=restart${how}`), { status: 200 })
    let worst = 0
    for (let i = 0; i < 30; i++) {
      await seconds(1)
      worst = Math.max(worst, field('pos.acc') as number)
    }
    t.ok(worst > 2 * best, `${worst} m at first, ${best} m later`)
    firstFix.push(field('state.time_first_fix') as number)
    t.ok((await settled()) < 1.2 * best)
  }
  t.ok(firstFix[1] > firstFix[0] + 3, `${firstFix[1]} s cold, ${firstFix[0]} s else`)
  t.match(await command('sim=restart lukewarm'), { status: 400 })
})

t.test('corrupt RTCM is counted, over reloads too', async (t) => {
  const context = await start(t)
  await context.seconds(5)
  context.simulated.corrupt(3)
  await context.seconds(2)
  t.equal(context.receiver.corruptRtcm, 3)
  await context.station.reload('gnss-zed')
  await context.seconds(2)
  t.equal(context.receiver.corruptRtcm, 3)
})

t.test('a reload keeps identity, antenna counters and the receiver itself', async (t) => {
  const context = await start(t)
  await context.seconds(10)
  context.simulated.antenna('open')
  await context.seconds(2)
  context.simulated.antenna('ok')
  await context.seconds(5)
  const uptime = context.field('state.uptime') as number
  const identity = context.field('zed')
  const rtcm = context.seen.frames.length
  await context.station.reload('gnss-zed')
  t.same(context.field('zed'), identity, 'at once')
  t.equal(context.field('state.antenna.failcnt'), 1)
  await context.seconds(2)
  t.ok((context.field('state.uptime') as number) >= uptime, 'the receiver was not switched off')
  t.ok(context.seen.frames.length > rtcm, 'RTCM goes on at once')
})

t.test('settings have their bounds and show in the document', async (t) => {
  const { station, field } = await start(t)
  const startup = { accuracy: 0, delta_max: 0, delta_max_corr: 0 }
  t.strictSame(
    field('config'),
    { startup, station: { id: drawnStationId('TEST0001') }, recvrtcm: { max_age: 30 } },
    'without survey-in nothing is checked',
  )
  const change = (values: Record<string, unknown>) => station.station.change(values, { source: 'http' })
  t.match(await change({ 'gnss-recvrtcm-max-age': 60 }), { result: 'ok' })
  t.match(field('config'), { recvrtcm: { max_age: 60 } })
  for (const values of [
    { 'gnss-recvrtcm-max-age': 0 },
    { 'gnss-recvrtcm-max-age': 1.5 },
    { 'gnss-recvrtcm-max-age': 86_401 },
  ]) {
    t.match(await change(values), { result: 'failed' }, JSON.stringify(values))
  }
})

t.test('a receiver that sends but never answers', async (t) => {
  const identity = { module: '', firmware: '', hardware: '', software: '', serial: '' }
  const watched = (more: Partial<Receiver>) => {
    const clock = new ManualClock()
    const errors = new Map<string, string>()
    const place = { port: 'a port', reason: '', advice: 'check it' }
    const receiver = { link: 'up', mode: 'rover', identity, place, ...more }
    const every = (ms: number, fn: () => void) => {
      const again = () => {
        fn()
        clock.timer(ms, again)
      }
      clock.timer(ms, again)
    }
    const entries = errorsOf('gnss', into(errors))
    const observed = {
      receiver,
      antenna: 'ok',
      radio: { jammed: false, spoofed: false },
      signals: { troubles: () => [] },
      antennaWatch: { fails: false },
      now_ms: () => clock.monotonic(),
      awake_ms: () => clock.monotonic(),
    }
    watchTrouble({ clock, timers: { every }, errors: entries } as never, observed as unknown as Observed)
    const told = () => errors.get('gnss-link') ?? ''
    return { receiver, seconds: (count: number) => clock.advance(count * 1000), told }
  }

  t.test('is told, and one that is only listened to need not answer', async (t) => {
    for (const [state, text] of [
      [{}, /^no answer from the receiver at a port: check it/],
      [{ identity: { ...identity, module: 'UM980' } }, /^$/],
      [{ mode: 'listening' }, /^$/],
    ] as const) {
      const { seconds, told } = watched(state)
      await seconds(20)
      t.match(told(), text)
    }
  })

  t.test('one that came back a moment ago has its time to answer', async (t) => {
    const { receiver, seconds, told } = watched({})
    receiver.link = 'offline'
    await seconds(20)
    t.match(told(), /^no data/)
    receiver.link = 'up'
    await seconds(3)
    t.equal(told(), '')
    await seconds(10)
    t.match(told(), /^no answer/)
  })
})

t.test('a device that is not there leaves the plugin running, and says so', async (t) => {
  const { station, seconds, field, command } = await start(t, { port: '/dev/serial/by-id/not-there' })
  await seconds(15)
  t.equal(field('state.status'), 'offline')
  t.match(await command('reboot-zed'), { status: 503, text: /offline/ })
  const why = /by-id\/not-there does not exist: nothing is plugged in there, or .*; it is opened again/
  t.match(station.device.errors(), [{ code: 'gnss-link', text: why }])
  checkDocument(t, station)
})

// ── captures ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Oracle field → ours; a function where the unit differs. */
const compared: Record<string, [layout: ubx.Layout, fields: Record<string, [oracle: string, per?: number]>]> = {
  'NAV-PVT': [
    ubx.navPvt,
    {
      iTOW_ms: ['iTOW_ms'],
      fixType: ['fixType'],
      carrSoln: ['carrSoln'],
      numSV: ['numSV'],
      lat_deg: ['lat_deg'],
      lon_deg: ['lon_deg'],
      height_m: ['height_m'],
      hMSL_m: ['hMSL_m'],
      hAcc_m: ['hAcc_mm', 1000],
      vAcc_m: ['vAcc_mm', 1000],
      velD_mps: ['velD_mm_s', 1000],
      sAcc_mps: ['sAcc_mm_s', 1000],
      pDOP: ['pDOP_0.01', 100],
      nano_ns: ['nano_ns'],
    },
  ],
  'NAV-HPPOSECEF': [
    ubx.navHpPosEcef,
    { x_m: ['ecefX_m'], y_m: ['ecefY_m'], z_m: ['ecefZ_m'], pAcc_m: ['pAcc_m'], iTOW_ms: ['iTOW_ms'] },
  ],
  'NAV-HPPOSLLH': [
    ubx.navHpPosLlh,
    {
      lat_deg: ['lat_deg'],
      lon_deg: ['lon_deg'],
      height_m: ['height_m'],
      hMSL_m: ['hMSL_m'],
      hAcc_m: ['hAcc_0.1mm', 1e4],
      vAcc_m: ['vAcc_0.1mm', 1e4],
    },
  ],
  'NAV-SVIN': [
    ubx.navSvin,
    {
      dur_s: ['dur_s'],
      x_m: ['meanX_m'],
      y_m: ['meanY_m'],
      z_m: ['meanZ_m'],
      meanAcc_m: ['meanAcc_m'],
      obs: ['obs'],
      valid: ['valid'],
      active: ['active'],
    },
  ],
  'NAV-STATUS': [ubx.navStatus, { gpsFix: ['gpsFix'], ttff_ms: ['ttff_ms'], msss_ms: ['msss_ms'] }],
  'NAV-SAT': [ubx.navSat, { iTOW_ms: ['iTOW_ms'], numSvs: ['numSvs'] }],
  'MON-HW': [
    ubx.monHw,
    {
      noisePerMs: ['noisePerMS'],
      agcCnt: ['agcCnt'],
      antStatus: ['aStatus'],
      antPower: ['aPower'],
      jamInd: ['jamInd'],
    },
  ],
  'RXM-RTCM': [
    ubx.rxmRtcm,
    { version: ['version'], msgUsed: ['msgUsed'], refStation: ['refStation'], msgType: ['msgType'] },
  ],
}

t.test('every message of the captures reads as the oracle read it', { skip: noCaptures }, async (t) => {
  for (const { name, bytes, oracle } of captures()) {
    const decoded = new Map<string, Record<string, unknown>[]>()
    const framer = new Framer({
      onFrame(frame) {
        if (frame.kind !== 'ubx') return
        for (const [message, [layout]] of Object.entries(compared)) {
          if (frame.cls !== layout.cls || frame.id !== layout.id) continue
          const values = ubx.decode(layout, ubx.payloadOf(frame.bytes))
          // Undefined: a poll, in a capture that has both directions.
          if (values) decoded.set(message, [...(decoded.get(message) ?? []), values as Record<string, unknown>])
        }
      },
    })
    framer.push(bytes, 0)
    framer.flush()
    for (const [message, [, fields]] of Object.entries(compared)) {
      const expected = oracle.values[message]
      if (!expected) continue
      const all = decoded.get(message) ?? []
      t.equal(all.length, expected.count, `${name}: ${message}`)
      for (const [which, values] of [
        [expected.first, all[0]],
        [expected.last, all.at(-1)],
      ] as const) {
        for (const [field, [theirs, per = 1]] of Object.entries(fields)) {
          const wanted = Number(which[theirs]) / per
          t.ok(Math.abs(Number(values?.[field]) - wanted) < 1e-9, `${name}: ${message}.${field} is ${wanted}`)
        }
      }
    }
  }
})

t.test('a recording without a valid frame is no quiet end', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-replay-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, 'holiday.jpg'),
    Uint8Array.from({ length: 9_000 }, (_, i) => (i * i) % 251),
  )
  const { station } = await start(t, { port: `replay:${join(folder, 'holiday.jpg')}`, configure: false, delay: 0 })
  await until(async () => {
    await station.clock.advance(1)
    return station.lines.some(({ msg }) => msg === 'end of the capture')
  }, 'the end')
  await station.clock.advance(11_000)
  t.match(station.device.errors(), [{ code: 'gnss-link', text: /holiday.jpg: it contains no valid frame; check / }])
})

t.test('the pages of satellites become their ephemerides', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-pages-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const known = knownPages.slice(0, 3)
  writeFileSync(join(folder, 'pages.ubx'), Buffer.concat(known.flatMap(({ pages }) => pages)))
  const heard: Uint8Array[] = []
  const listener = definePlugin({
    name: 'listener',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [receiverToken],
    setup: () => {},
    start(ctx) {
      const { onEphemeris } = ctx.services.use(receiverToken)
      if (onEphemeris) ctx.on(onEphemeris, (frame) => heard.push(frame))
    },
  })
  const { station } = await start(
    t,
    { port: `replay:${join(folder, 'pages.ubx')}`, configure: false, delay: 0 },
    { listener },
  )
  await until(async () => {
    await station.clock.advance(10)
    return heard.length >= known.length
  }, 'every ephemeris')
  t.strictSame(
    heard.map((frame, i) => {
      const { week = 0, tow_s = 0 } = known[i] ?? {}
      return decodeEphemeris(frame, week * 604_800 + tow_s)?.satellite
    }),
    known.map(({ satellite }) => satellite),
  )
})

async function replay(t: Test, name: string) {
  const folder = resolve(process.env.RTK_BASE_CAPTURES ?? '../shared/captures')
  const context = await start(t, { port: `replay:${join(folder, name)}`, configure: false, delay: 0 })
  await until(async () => {
    await context.station.clock.advance(1)
    return context.station.lines.some(({ msg }) => msg === 'end of the capture')
  }, `the end of ${name}`)
  await context.station.clock.advance(500)
  checkDocument(t, context.station)
  return context
}

t.test('a capture replayed: the receiver of then, not the time of now', { skip: noCaptures }, async (t) => {
  t.test('a base of someone else, whose 1005 is the reference', async (t) => {
    const { field, seen, seconds } = await replay(t, 'gpsd_ublox-zed-f9t-rtcm3.log')
    t.equal(seen.frames.filter(({ type }) => type === 1005).length, 26)
    t.match(field('state'), { gps_fix: 'time', time: Number, tm: /^2019-10-17_/ })
    t.match(field('ref.manual'), { type: 'ecef', x: -2386072.731, y: -3922192.5049, z: 4414363.4131 })
    t.equal(field('state.status'), 'stalled', 'its end is no fault')
    await seconds(30)
    t.equal(field('state.status'), 'stalled')
  })
  t.test('a finished survey-in', async (t) => {
    const { field } = await replay(t, 'hazer_simplertk2b_base.dat')
    t.match(field('ref'), { chosen: 'survey', manual: { type: '' } })
    t.match(field('ref.survey'), { type: 'ecef', x: -1283141.8523, state: 'complete', elapsed: 60, count: 61 })
    t.match(field('state'), { gps_fix: 'time', time_first_fix: 28, antenna: { status: 'unknown', power: 2 } })
    t.match(field('pos'), { 'geoidal-seperation': -21.5 })
  })
  t.test('a running survey-in', async (t) => {
    const { field } = await replay(t, 'hazer_ubx-zed-f9p-2.dat')
    t.match(field('ref.survey'), { type: '', state: 'running', elapsed: 90, count: 91 })
    t.match(field('pos'), { lat: Number, 'geoidal-seperation': Number })
    t.ok((field('pos.acc') as number) > 1)
  })
  t.test('high precision positions', async (t) => {
    const { field } = await replay(t, 'gpsd_ublox-zed-f9p-hp.log')
    t.match(field('pos'), { x: -4387117.2823, y: 734143.8292, z: -4555800.8581, acc: 19.4383 })
  })
  t.test('NMEA alone', async (t) => {
    const { field } = await replay(t, 'gpsd_ublox-zed-f9p-nmea.log')
    t.match(field('pos'), { 'geoidal-seperation': 1.8, acc: 0 })
    t.match(field('state'), { gps_fix: '3d' })
  })
  t.test('a rover under corrections, which it reports itself', async (t) => {
    const { field, seconds } = await replay(t, 'hazer_simplertk2b_rover.dat')
    const oracle = captures().find(({ name }) => name === 'hazer_simplertk2b_rover.dat')?.oracle.values
    const { count, last } = oracle?.['RXM-RTCM'] ?? {}
    t.match(field('state'), { gps_fix: 'rtk-float', corrected: true })
    t.match(field('state.recvrtcm'), { count, packets: count, age: 0, remote: `station ${last?.refStation}`, dist: 0 })
    const gga = oracle?.['NMEA-GGA'].last
    t.ok(Math.abs((field('pos.lat') as number) - (gga?.lat_deg as number)) < 1e-8)
    t.ok(Math.abs((field('pos.lon') as number) - (gga?.lon_deg as number)) < 1e-8)
    t.match(field('pos'), { 'geoidal-seperation': gga?.geoidSep_m })
    await seconds(31)
    t.match(field('state.recvrtcm'), { count, age: 31, remote: '' }, 'older than the maximum age')
  })
  t.test('a session of u-center with a rover: who it is, where it is, its antenna, no survey-in', async (t) => {
    const name = 'pyubx2_ucenter-ZEDF9P-configdebug.log'
    const { field } = await replay(t, name)
    const oracle = captures().find((capture) => capture.name === name)?.oracle.values
    const pvt = oracle?.['NAV-PVT'].last
    t.match(field('zed'), { module: 'ZED-F9P', vfirmware: 'HPG 1.32', vsoftware: 'EXT CORE 1.00 (0fa0ae)' })
    t.match(field('pos'), { lat: pvt?.lat_deg, lon: pvt?.lon_deg, alt: pvt?.height_m })
    t.match(field('state'), { gps_fix: '3d', corrected: false, satuse: pvt?.numSV, satvis: 11 })
    t.match(field('state.antenna'), { status: 'unknown', power: oracle?.['MON-HW'].last.aPower })
    t.match(
      field('ref.survey'),
      { type: '', state: 'none', count: 0, acc: 0 },
      'its accuracy before any survey-in is none',
    )
  })
  t.test('an identity', async (t) => {
    const { field } = await replay(t, 'gpsd_ublox8-uniqid-monhw.log')
    t.match(field('zed'), { vfirmware: 'SPG 3.01', vhardware: '00080000', serial: 'CFFB03D259' })
  })
})

t.test(
  'a receiver that repeats itself without end fills no log, and its words keep the level of the line',
  async (t) => {
    const sockets: Socket[] = []
    const server = createServer((socket) => sockets.push(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as { port: number }
    const station = await createTestStation({
      plugins: { 'gnss-zed': [gnssZed as never, { port: `tcp://127.0.0.1:${port}`, configure: false }] },
    })
    t.teardown(() => station.stop())
    await until(() => sockets.length > 0, 'the connection')
    t.teardown(() => sockets[0]?.destroy())
    const say = (text: string) => sockets[0]?.write(infFrame(1, text))
    const reports = () => station.lines.filter(({ msg }) => msg.startsWith('the receiver reports'))
    for (let n = 0; n < 200; n++) say('txbuf alloc')
    // Lines that differ in a number alone are of one kind, which has a limit of its own.
    for (let n = 0; n < 200; n++)
      say(`error ${String(n).replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)] as string)}`)
    await until(() => reports().length >= 32, 'the first ones')
    sockets[0]?.write(ubx.encodeFrame(ubx.monRf, { blocks: [{ antStatus: 2, antPower: 1 }] }))
    await until(() => station.field('gnss.state.antenna.status') === 'ok', 'what came last')
    await station.clock.advance(60_000)
    await until(() => {
      say('a minute later')
      return reports().some(({ msg }) => msg.endsWith('a minute later'))
    }, 'the next minute')
    t.equal(reports().length, 33)
    t.equal(reports().filter(({ msg }) => msg.endsWith('txbuf alloc')).length, 1)
    t.match(reports()[0], { level: 40, severity: 'warning' })
    const omitted = reports().reduce((sum, line) => sum + Number(line.omitted ?? 0), 0)
    t.equal(omitted, 400 - 32, 'and how many lines were left out is said')
  },
)
