/** The receiver made a base: what is written, what is left alone, and every way in which that can go wrong. */
import { createServer, type Socket } from 'node:net'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { AntennaWatch } from '../../../plugins/receivers/gnss/antenna-watch.js'
import { SignalWatch } from '../../../plugins/receivers/gnss/signal-watch.js'
import { apply } from '../../../plugins/receivers/gnss-zed/configure/apply.js'
import { firmwareOf } from '../../../plugins/receivers/gnss-zed/configure/firmware.js'
import { bytesPerSecond, lineLoad, neededRate } from '../../../plugins/receivers/gnss-zed/configure/load.js'
import { isBootText, RestartWatch } from '../../../plugins/receivers/gnss-zed/configure/restart-watch.js'
import { targetOf, tmodePairs } from '../../../plugins/receivers/gnss-zed/configure/tmode.js'
import { RadioReports } from '../../../plugins/receivers/gnss-zed/facts/radio-reports.js'
import gnssZed from '../../../plugins/receivers/gnss-zed/index.js'
import * as ubx from '../../../plugins/receivers/gnss-zed/ubx/index.js'
import rtcm from '../../../plugins/rtcm/rtcm/index.js'
import receiverSimulator from '../../../plugins/simulated/simulated-receiver/index.js'
import { keys as simulatedKeys } from '../../../plugins/simulated/simulated-receiver/ubx/keys.js'
import {
  decodeRtcm,
  distance,
  encodeRtcm,
  Framer,
  geodeticToEcef,
  offsetEnu,
  roundEcef,
  sameEcef,
  stationId,
} from '../../../runtime/lib/gnss/index.js'
import { definePlugin } from '../../../runtime/plugin.js'
import {
  type AntennaReading,
  antennaStatuses,
  type ConstellationName,
  type Device,
  device,
  procedureStatus,
  type Receiver,
  type ReceiverFix,
  type ReceiverTarget,
  type Reception,
  type RtcmFrame,
  receiver as receiverToken,
  reception,
  rtcmStream,
  type SatelliteEpoch,
  type SatelliteResidual,
  type SimulatedReceiver,
  simulatedReceiver,
} from '../../../schemas/services.js'
import { decodeValgetPoll } from '../../gnss/support/ubx-receiver.js'
import { capture, noCaptures } from '../../harness/captures.js'
import { createTestStation, few, gateOnly, ManualClock, sample, until } from '../../harness/index.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { f9p, planFor, scripted } from './zed-plan.js'

const installed = geodeticToEcef({ lat: 52, lon: 4, alt: 50 })
const arp = roundEcef(installed)
const fixed: ReceiverTarget = { mode: 'fixed', arp, acc_m: 0.02 }
const rover: ReceiverTarget = { mode: 'rover' }

interface Given {
  options?: Record<string, unknown>
  simulator?: Record<string, unknown>
  store?: MemoryStore
  /** What a plugin that runs the procedure says. */
  status?: string
  clock?: ManualClock
}

/** A station with a receiver as from the factory, and an onlooker that holds its services. */
async function start(t: Test, { options = {}, simulator = {}, store, status, clock }: Given = {}) {
  const seen = {
    frames: [] as RtcmFrame[],
    /** What went out. */
    sent: [] as RtcmFrame[],
    residuals: [] as (readonly SatelliteResidual[])[],
    second: [] as ReceiverFix[],
    warnings: [] as string[],
    /** What `configured` was at each call of onState. */
    configured: [] as boolean[],
  }
  let told: Device | undefined
  let services: { receiver: Receiver; simulated: SimulatedReceiver; received: Reception } | undefined
  const onlooker = definePlugin({
    name: 'onlooker',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [receiverToken, reception, rtcmStream],
    provides: status === undefined ? [] : [procedureStatus],
    setup(ctx) {
      if (status === undefined) return
      ctx.services.provide(procedureStatus, {
        status,
        onState: () => () => {},
        wantsCorrections: true,
        reference: undefined,
      })
    },
    start(ctx) {
      told = ctx.services.find(device)
      const receiver = ctx.services.use(receiverToken)
      // Without one nothing of it is used.
      const simulated = ctx.services.find(simulatedReceiver) as SimulatedReceiver
      services = { receiver, simulated, received: ctx.services.use(reception) }
      const take = (frame: RtcmFrame) => seen.sent.push(frame) > 0
      ctx.services.use(rtcmStream).subscribe({ via: 'test', name: 'onlooker', ip: '', take })
      ctx.defer(receiver.onRtcm((frame) => seen.frames.push(frame)))
      if (receiver.onResiduals) ctx.on(receiver.onResiduals, (residuals) => void seen.residuals.push(residuals))
      if (receiver.onSecondFix) ctx.on(receiver.onSecondFix, (fix) => void seen.second.push(fix))
      if (receiver.onWarning) ctx.on(receiver.onWarning, (text) => void seen.warnings.push(text))
      ctx.defer(receiver.onState(() => seen.configured.push(receiver.configured)))
    },
  })
  const zedOptions = { port: 'simulator', ...options }
  const station = await createTestStation({
    plugins: {
      ...(zedOptions.port === 'simulator' && {
        'simulated-receiver': [receiverSimulator as never, { boot: 'rover', ...simulator }],
      }),
      'gnss-zed': [gnssZed as never, zedOptions],
      rtcm: rtcm as never,
      onlooker: onlooker as never,
    },
    ...(store ? { store } : {}),
    ...(clock ? { clock } : {}),
  })
  t.teardown(() => station.stop())
  if (!services) throw new Error('the onlooker does not run')
  const { receiver, simulated, received } = services
  /** Lets time go on until a promise is settled. */
  const settle = async <T>(promise: Promise<T>, limit_s = 60) => {
    const outcome: { value?: T; error?: Error } = {}
    let done = false
    promise
      .then(
        (value) => {
          outcome.value = value
        },
        (error: Error) => {
          outcome.error = error
        },
      )
      .finally(() => {
        done = true
      })
    const begin_ms = station.clock.monotonic()
    while (!done) {
      await station.clock.advance(20)
      if (station.clock.monotonic() - begin_ms > limit_s * 1000) throw new Error(`not settled in ${limit_s} s`)
    }
    return { ...outcome, took_ms: station.clock.monotonic() - begin_ms }
  }
  return {
    station,
    seen,
    receiver,
    simulated,
    received,
    settle,
    advance: (ms: number) => station.clock.advance(ms),
    async seconds(count: number) {
      for (let i = 0; i < count; i++) await station.clock.advance(1000)
    },
    configure: (target: ReceiverTarget) => settle(receiver.configure(target)),
    field: (path: string) => station.field(`gnss.${path}`),
    command: (text: string) => station.station.command(text, { source: 'console' }),
    /** What is wrong right now, by code. */
    get errors() {
      return new Map(told?.errors().map(({ code, text }) => [code, text]))
    },
    /** The types of RTCM that came since the last call. */
    types() {
      return [...new Set(seen.frames.splice(0).map(({ type }) => type))].sort((p, q) => p - q)
    },
    newestArp() {
      const frame = seen.frames.findLast(({ type }) => type === 1005)
      const message = frame && decodeRtcm(frame.bytes)
      return message?.type === 1005 ? message : undefined
    },
  }
}

const required = 'CFG-NAVSPG-DYNMODEL'
const optionalKey = 'CFG-MSGOUT-UBX_MON_RF_USB'

for (const wiring of few(2, ['UART2', 'USB', 'UART1'] as const)) {
  t.test(`a receiver as from the factory becomes a base, in RAM alone: ${wiring}`, async (t) => {
    const context = await start(t, { simulator: { wiring } })
    const { receiver, simulated, seconds, configure } = context
    await seconds(5)
    t.equal(receiver.configured, false)
    const first = await configure(fixed)
    t.match(first.value, { refused: [] })
    t.ok((first.value?.written ?? 0) > 20)
    t.equal(receiver.configured, true)
    t.equal(receiver.mode, 'fixed')
    t.ok(first.took_ms < 3000, `it took ${first.took_ms} ms`)
    await seconds(15)
    t.same(context.types(), [1005, 1074, 1084, 1094, 1124, 1230])
    await seconds(2)
    t.ok(sameEcef(context.newestArp() ?? { x: 0, y: 0, z: 0 }, arp), 'to 0.1 mm')
    t.match(simulated.received, { bbr: 0, flash: 0 })
    t.equal(simulated.value('CFG-SIGNAL-SBAS_ENA'), 0)
    t.equal(simulated.value('CFG-NAVSPG-DYNMODEL'), 2)
    t.equal(simulated.value('CFG-TMODE-FIXED_POS_ACC'), 200)
    t.equal(simulated.value(`CFG-${wiring}OUTPROT-NMEA`), 0)
    const other = wiring === 'USB' ? 'UART1' : 'USB'
    t.equal(simulated.value(`CFG-${other}OUTPROT-NMEA`), 1, 'other ports are none of our business')
    t.equal(simulated.value(`CFG-MSGOUT-RTCM_3X_TYPE1005_${other}`), 0)
    for (const layer of ['bbr', 'flash'] as const) {
      t.equal(simulated.value('CFG-TMODE-MODE', layer), undefined, `nothing in ${layer}`)
    }
    const { ram } = simulated.received
    t.match((await configure(fixed)).value, { written: 0, refused: [] }, 'what is there is not written again')
    t.equal(simulated.received.ram, ram)
    t.notOk(context.errors.has('receiver-config'))
  })
}

t.test('only the time mode is written when that is all that changes', async (t) => {
  const { receiver, simulated, seconds, configure, seen, newestArp } = await start(t)
  await seconds(5)
  await configure(rover)
  t.equal(receiver.mode, 'rover')
  await seconds(3)
  t.equal(newestArp(), undefined, 'a rover has no reference')
  t.match((await configure(fixed)).value, { written: 9 }, 'mode, position and accuracy in one message')
  const elsewhere: ReceiverTarget = {
    mode: 'fixed',
    arp: roundEcef(offsetEnu(arp, { east: 1.2345, north: 0, up: 0 })),
    acc_m: 0.02,
  }
  t.match((await configure(elsewhere)).value, { written: 9 })
  await seconds(3)
  t.ok(sameEcef(newestArp() ?? arp, elsewhere.arp))
  t.match((await configure(rover)).value, { written: 1 })
  seen.frames.length = 0
  await seconds(5)
  t.equal(newestArp(), undefined)
  t.match(simulated.received, { bbr: 0, flash: 0 })
})

t.test('whole ambiguities are given up for 10 s on request', async (t) => {
  const { receiver, simulated, seconds, configure, settle, station } = await start(t)
  await configure(rover)
  const reset = receiver.resetAmbiguities?.() ?? Promise.reject(new Error('it cannot'))
  await seconds(5)
  t.equal(simulated.value('CFG-NAVHPG-DGNSSMODE', 'ram'), 2)
  t.notOk((await settle(reset)).error)
  t.equal(simulated.value('CFG-NAVHPG-DGNSSMODE', 'ram'), 3)
  t.strictSame(station.device.errors(), [])
  simulated.unplug()
  await seconds(2)
  t.match((await settle(receiver.resetAmbiguities?.() ?? reset)).error, { code: 'RTK_ERR_UNAVAILABLE' })
})

t.test('a time mode that someone left in the flash is overridden', async (t) => {
  const away = roundEcef(offsetEnu(arp, { east: 30, north: 0, up: 0 }))
  for (const mode of ['survey-in', { arp: away }] as const) {
    const { receiver, simulated, seconds, configure, settle, newestArp } = await start(t)
    simulated.flash(mode)
    simulated.set('CFG-NAVHPG-DGNSSMODE', 2, 'flash')
    await seconds(2)
    simulated.restart()
    await seconds(8)
    const found = (await settle(receiver.readTarget())).value
    if (mode === 'survey-in') t.same(found, { mode: 'survey-in' })
    else t.match(found, { mode: 'fixed', arp: away })
    t.ok((await configure(rover)).value)
    t.match((await settle(receiver.readTarget())).value, { mode: 'rover' })
    t.equal(simulated.value('CFG-NAVHPG-DGNSSMODE', 'ram'), 3, 'whole ambiguities again')
    t.ok((await configure(fixed)).value)
    await seconds(3)
    t.ok(sameEcef(newestArp() ?? away, arp))
    t.equal(simulated.value('CFG-TMODE-MODE', 'flash'), mode === 'survey-in' ? 1 : 2, 'the flash is as it was')
    t.match(simulated.received, { bbr: 0, flash: 0 })
  }
})

t.test('options shape what is sent', async (t) => {
  const context = await start(t, {
    options: {
      stationId: 1234,
      rtcm: { msm: 7, msmInterval_s: 2, referenceInterval_s: 5, biasInterval_s: 20 },
      antenna: { power: 'off', openDetection: 'on', recovery: 'keep' },
      secondFix: false,
      otherPorts: 'off',
    },
  })
  await context.seconds(5)
  t.match((await context.configure(fixed)).value, { refused: [] })
  await context.seconds(5)
  context.seen.frames.length = 0
  await context.seconds(40)
  const count = (type: number) => context.seen.frames.filter((frame) => frame.type === type).length
  t.same([1077, 1087, 1097, 1127, 1005, 1230, 1074].map(count), [20, 20, 20, 20, 8, 2, 0])
  t.equal(context.newestArp()?.stationId, 1234)
  t.equal(context.receiver.stationId, 1234)
  t.equal(context.simulated.value('CFG-HW-ANT_CFG_VOLTCTRL'), 0)
  t.equal(context.simulated.value('CFG-HW-ANT_CFG_OPENDET'), 1)
  t.equal(context.simulated.value('CFG-HW-ANT_CFG_RECOVER'), 0, 'kept')
  t.equal(context.seen.second.length, 0)
})

t.test('one refused optional key costs itself only, and is named until it works', async (t) => {
  const context = await start(t)
  const { receiver, simulated, seconds, configure, station } = context
  await seconds(5)
  simulated.nak('CFG-MSGOUT-RTCM_3X_TYPE1124_USB')
  simulated.nak('CFG-SIGNAL-SBAS_ENA')
  t.match((await configure(fixed)).value?.refused.sort(), ['CFG-MSGOUT-RTCM_3X_TYPE1124_USB', 'CFG-SIGNAL-SBAS_ENA'])
  t.equal(receiver.configured, true)
  t.notOk(context.errors.has('receiver-config'))
  t.strictSame([...(receiver.rejected ?? [])].sort(), ['CFG-MSGOUT-RTCM_3X_TYPE1124_USB', 'CFG-SIGNAL-SBAS_ENA'])
  t.ok(station.lines.some(({ refused }) => Array.isArray(refused) && refused.includes('CFG-SIGNAL-SBAS_ENA')))
  await seconds(15)
  t.same(context.types(), [1005, 1074, 1084, 1094, 1230])
  simulated.nak(undefined)
  t.match((await configure(fixed)).value, { refused: [], written: 2 })
  t.strictSame(receiver.rejected, [])
})

t.test('what some firmware lacks is told in the log alone', async (t) => {
  const context = await start(t)
  await context.seconds(5)
  context.simulated.nak('CFG-NAV2-OUT_ENABLED')
  t.match((await context.configure(fixed)).value, { refused: ['CFG-NAV2-OUT_ENABLED'] })
  t.notOk(context.errors.has('receiver-config'))
})

t.test('MON-HW tells of the antenna where MON-RF is refused', async (t) => {
  const { simulated, seconds, configure, field } = await start(t)
  simulated.nak(optionalKey)
  await seconds(5)
  t.match((await configure(fixed)).value, { refused: [optionalKey] })
  await seconds(3)
  t.equal(field('state.antenna.status'), 'ok')
  simulated.antenna('open')
  await seconds(3)
  t.match(field('state.antenna'), { status: 'open', failcnt: 1 })
})

t.test('a refused required key is no base: nothing is half done, and the key is named', async (t) => {
  const context = await start(t)
  const { receiver, simulated, seconds, configure } = context
  await seconds(5)
  simulated.nak(required)
  t.match((await configure(fixed)).error, { code: 'RTK_ERR_UNAVAILABLE', message: /refuses CFG-NAVSPG-DYNMODEL/ })
  t.equal(receiver.configured, false)
  t.match(context.errors.get('receiver-config'), /CFG-NAVSPG-DYNMODEL; no RTCM is sent until/)
  simulated.nak(undefined)
  t.ok((await configure(fixed)).value)
  t.notOk(context.errors.has('receiver-config'))
  simulated.nak('CFG-TMODE-ECEF_Z_HP')
  t.match((await configure(rover)).value, { written: 1 }, 'a rover needs no position')
  t.match((await configure(fixed)).error, { message: /CFG-TMODE-ECEF_Z_HP/ })
  t.equal(simulated.value('CFG-TMODE-MODE'), 0, 'no part of a position is written')
})

t.test('a silent receiver: told in seconds, and done when it speaks again', async (t) => {
  const context = await start(t)
  await context.seconds(5)
  context.simulated.silence(true)
  const { error, took_ms } = await context.configure(fixed)
  t.match(error, { code: 'RTK_ERR_UNAVAILABLE', message: /does not answer/ })
  t.ok(took_ms < 5000, `${took_ms} ms`)
  t.match(context.errors.get('receiver-config'), /does not answer/)
  context.simulated.silence(false)
  await context.seconds(2)
  t.ok((await context.configure(fixed)).value)
  t.notOk(context.errors.has('receiver-config'))
})

t.test('lost ACKs are asked for again', async (t) => {
  const context = await start(t)
  await context.seconds(5)
  context.simulated.dropAcks(2)
  t.match((await context.configure(fixed)).value, { refused: [] })
  await context.seconds(3)
  t.ok(sameEcef(context.newestArp() ?? { x: 0, y: 0, z: 0 }, arp))
  context.simulated.dropAcks(1)
  t.match((await context.configure(rover)).error, { message: /does not answer/ })
})

t.test('an ACK is no proof: the value is read back', async (t) => {
  const context = await start(t)
  const { simulated, seconds, configure, receiver } = context
  await seconds(5)
  simulated.ignore('CFG-TMODE-ECEF_X')
  t.match((await configure(fixed)).error, { message: /does not hold.*CFG-TMODE-ECEF_X is 0, not 392540580/ })
  t.equal(receiver.configured, false)
  simulated.ignore(undefined)
  t.ok((await configure(fixed)).value)

  const other = await start(t)
  await other.seconds(5)
  other.simulated.ignore('CFG-SIGNAL-SBAS_ENA')
  t.match((await other.configure(fixed)).value, { refused: ['CFG-SIGNAL-SBAS_ENA'] })
  t.strictSame(other.receiver.rejected, ['CFG-SIGNAL-SBAS_ENA'])
})

t.test(
  'configurations that overlap are done one after the other, and the newest replaces those that wait',
  async (t) => {
    const { receiver, seconds, settle, advance } = await start(t)
    await seconds(5)
    const first = receiver.configure(fixed)
    await advance(1)
    const outcome = (done: Promise<unknown>) =>
      done.then(
        () => 'done',
        (error: Error) => error.message,
      )
    const all = await settle(
      Promise.all([
        outcome(first),
        receiver.readTarget(),
        outcome(receiver.configure(fixed)),
        outcome(receiver.configure(rover)),
      ]),
    )
    const replaced = 'another configuration has replaced it'
    t.match(all.value, [replaced, { mode: 'fixed', acc_m: 0.02 }, replaced, 'done'])
    t.equal(receiver.mode, 'rover')
    t.match((await settle(receiver.readTarget())).value, { mode: 'rover' })
  },
)

for (const wiring of few(1, ['UART1', 'USB'] as const)) {
  t.test(`a restart in the middle never leaves a receiver that only seems configured: ${wiring}`, async (t) => {
    const planned = planFor(fixed, { port: wiring }).flatMap(({ pairs }) => pairs)
    for (let at_ms = 0; at_ms <= 700; at_ms += wiring === 'USB' ? sample(100, 7, 28) : sample(350, 23, 92)) {
      const { station, receiver, simulated, seconds, configure, settle } = await start(t, { simulator: { wiring } })
      await seconds(5)
      const first = settle(receiver.configure(fixed), 90)
      await station.clock.advance(at_ms)
      simulated.restart()
      await first
      await seconds(30)
      const holds = planned.every(([key, value]) => simulated.value(ubx.keyName(key)) === value)
      t.ok(holds || !receiver.configured, `restarted after ${at_ms} ms: configured ${receiver.configured}`)
      t.ok((await configure(fixed)).value, 'and then it works')
      await station.stop()
    }
  })

  t.test(`a receiver that restarts by itself is noticed and set up again: ${wiring}`, async (t) => {
    const { receiver, simulated, seconds, configure, seen, types } = await start(t, { simulator: { wiring } })
    await seconds(5)
    await configure(fixed)
    await seconds(10)
    const since = receiver.sinceReset_ms ?? 0
    t.ok(since > 10_000 && since < 30_000, `${since} ms since its start`)
    await seconds(1)
    t.equal((receiver.sinceReset_ms ?? 0) - since, 1000, 'its clock goes on between its messages')
    seen.configured.length = 0
    simulated.restart()
    await seconds(20)
    t.equal(receiver.configured, false)
    t.ok(seen.configured.includes(false), 'onState told')
    t.ok((receiver.sinceReset_ms ?? 0) <= 20_500)
    t.ok((await configure(fixed)).value)
    types()
    await seconds(12)
    t.same(types(), [1005, 1074, 1084, 1094, 1124, 1230])
  })
}

t.test('messages that are not read while the event loop is blocked are not missed', async (t) => {
  class BlockedClock extends ManualClock {
    blocked_ms = 0
    override monotonic(): number {
      return super.monotonic() + this.blocked_ms
    }
  }
  const clock = new BlockedClock()
  const { receiver, seconds, configure, advance } = await start(t, { clock })
  await seconds(5)
  await configure(fixed)
  await seconds(3)
  clock.blocked_ms = 9_000
  await advance(250)
  t.ok(receiver.configured, 'they have their time to come')
})

t.test('K23: after reboot-zed it is not configured, at once', async (t) => {
  for (const command of ['reboot-zed', 'reset-zed']) {
    const {
      receiver,
      seconds,
      advance,
      configure,
      seen,
      command: run,
    } = await start(t, { simulator: { wiring: 'UART1' } })
    await seconds(5)
    await configure(fixed)
    await seconds(3)
    t.equal(receiver.configured, true)
    seen.configured.length = 0
    const answer = run(command)
    // Before the receiver says anything itself.
    await advance(100)
    t.match(await answer, { status: 200 }, command)
    t.equal(receiver.configured, false, command)
    t.same(seen.configured, [false], 'onState reported it once')
  }
})

t.test('a restart is noticed in a moment, by its own clock or by what it says', async (t) => {
  for (const [what, key] of [
    ['by its clock, when it starts in silence', 'CFG-UART1OUTPROT-NMEA'],
    ['by its words, when its clock is not told', 'CFG-MSGOUT-UBX_NAV_STATUS_UART1'],
  ]) {
    const { receiver, simulated, seconds, configure, seen } = await start(t, {
      simulator: { wiring: 'UART1', boot: 'fixed' },
    })
    simulated.set(key, 0, 'flash')
    await seconds(5)
    await configure(fixed)
    await seconds(30)
    seen.configured.length = 0
    simulated.restart()
    await seconds(2)
    t.equal(receiver.configured, false, what)
    t.same(seen.configured, [false], 'told at once, and once')
  }
})

t.test('a mode that someone else changed is noticed; a base without satellites is still one', async (t) => {
  const { receiver, simulated, seconds, configure, station, settle } = await start(t)
  await seconds(5)
  await configure(rover)
  await seconds(5)
  await configure(fixed)
  await seconds(60)
  simulated.antenna('open')
  await seconds(60)
  t.equal(receiver.configured, true)
  t.notOk(station.lines.some(({ level, msg }) => level > 20 && /restarted or was changed/.test(msg)))
  simulated.antenna('ok')
  await seconds(10)
  simulated.set('CFG-TMODE-MODE', 0)
  await seconds(10)
  t.equal(receiver.configured, true, 'a few epochs may be of the mode before')
  await seconds(30)
  t.equal(receiver.configured, false)
  t.equal(receiver.mode, 'rover')
  t.match((await settle(receiver.readTarget())).value, { mode: 'rover' })
  simulated.set('CFG-TMODE-ECEF_X', 0)
  t.match((await configure(fixed)).value, { written: 9 })
  t.equal(receiver.mode, 'fixed')
})

t.test('messages that someone else switched off are switched on again', async (t) => {
  for (const key of ['CFG-MSGOUT-UBX_NAV_STATUS_USB', 'CFG-USBOUTPROT-UBX']) {
    const { receiver, simulated, seconds, configure } = await start(t)
    await seconds(5)
    await configure(fixed)
    await seconds(5)
    simulated.set(key, 0)
    await seconds(12)
    t.equal(receiver.configured, false, key)
  }
})

t.test(
  'any key that someone else changed is set back and reported, and the base goes on',
  { skip: gateOnly },
  async (t) => {
    const context = await start(t)
    const { receiver, simulated, seconds, configure, station } = context
    await seconds(5)
    await configure(fixed)
    await seconds(5)
    const changed = few(4, [
      ['CFG-RATE-MEAS', 500],
      ['CFG-RTCM-DF003_OUT', 77],
      ['CFG-TMODE-FIXED_POS_ACC', 9],
      ['CFG-MSGOUT-UBX_NAV_SAT_USB', 0],
      ['CFG-MSGOUT-UBX_NAV2_PVT_USB', 0],
      ['CFG-MSGOUT-RTCM_3X_TYPE1124_USB', 0],
      ['CFG-MSGOUT-UBX_NAV_DOP_USB', 1],
      ['CFG-NAVSPG-DYNMODEL', 4],
      ['CFG-ITFM-ENABLE', 0],
    ] as const)
    for (const [key, wrong] of changed) {
      const right = simulated.value(key)
      t.not(right, wrong)
      simulated.set(key, wrong)
      await seconds(25)
      t.equal(simulated.value(key), right, key)
      t.match(
        context.errors.get('receiver-changed'),
        new RegExp(`${key} was ${wrong}, not ${right}; the change is reverted`),
      )
      t.equal(receiver.configured, true)
    }
    t.equal(
      station.lines.filter(({ msg }) => /other software changed the receiver/.test(msg)).length,
      changed.length,
      'in the log too',
    )
    await seconds(610)
    t.notOk(context.errors.has('receiver-changed'), 'it is over after a while')
    const { ram } = simulated.received
    await seconds(100)
    t.equal(simulated.received.ram, ram, 'what is right is only read')
  },
)

t.test('a changed reference is no setting: the base is not configured any more', async (t) => {
  const { receiver, simulated, seconds, configure } = await start(t)
  await seconds(5)
  await configure(fixed)
  simulated.set('CFG-TMODE-ECEF_X', 390_000_000)
  await seconds(22)
  t.equal(receiver.configured, false)
  t.ok((await configure(fixed)).value)
  await seconds(60)
  t.equal(receiver.configured, true)
})

t.test('another MSM type or 4072 beside ours does not get through, and is switched off at once', async (t) => {
  const context = await start(t)
  const { simulated, seconds, configure } = context
  await seconds(5)
  await configure(fixed)
  await seconds(5)
  context.types()
  simulated.set('CFG-MSGOUT-RTCM_3X_TYPE1077_USB', 1)
  await seconds(3)
  t.equal(simulated.value('CFG-MSGOUT-RTCM_3X_TYPE1077_USB'), 0, 'not only after the next look')
  t.same(context.types(), [1005, 1074, 1084, 1094, 1124])
  t.match(context.errors.get('receiver-changed'), /TYPE1077_USB was 1, not 0/)
})

t.test('the age of corrections is a setting of the receiver too', async (t) => {
  const context = await start(t)
  const { simulated, seconds, configure, station } = context
  const change = (seconds: number) => station.station.change({ 'gnss-recvrtcm-max-age': seconds }, { source: 'http' })
  await seconds(5)
  t.equal(simulated.value('CFG-NAVSPG-CONSTR_DGNSSTO'), 60, 'as from the factory')
  await configure(rover)
  t.equal(simulated.value('CFG-NAVSPG-CONSTR_DGNSSTO'), 30)
  await change(7)
  await seconds(1)
  t.equal(simulated.value('CFG-NAVSPG-CONSTR_DGNSSTO'), 7)
  await change(3600)
  await seconds(1)
  t.equal(simulated.value('CFG-NAVSPG-CONSTR_DGNSSTO'), 255, 'what it can hold')
  await seconds(60)
  t.notOk(context.errors.has('receiver-changed'), 'nobody else did that')
})

t.test('signals are reported where the line has room for them', async (t) => {
  for (const [simulator, options, wanted] of [
    [{ wiring: 'USB' }, {}, 1],
    [{ wiring: 'USB' }, { baud: 9_600, raiseBaud: false }, 1],
    [{ wiring: 'UART1' }, {}, 0],
    [{ wiring: 'UART1' }, { rtcm: { msm: 7 }, raiseBaud: false }, 0],
  ] as const) {
    const { simulated, seconds, configure, receiver } = await start(t, { simulator, options })
    const epochs: SatelliteEpoch[] = []
    receiver.onSatellites?.((epoch) => epochs.push(epoch))
    await seconds(5)
    await configure(fixed)
    t.equal(simulated.value(`CFG-MSGOUT-UBX_NAV_SIG_${simulator.wiring}`), wanted)
    t.same(receiver.expectedSignals?.get('gps'), ['L1', 'L2'], 'what it is set to track')
    await seconds(60)
    const newest = receiver.satellites
    t.equal(newest, epochs.at(-1))
    t.equal(newest?.hasSignals, wanted === 1)
    t.ok(Math.abs(epochs.length - 60) < 10, 'once an epoch')
    const used = newest?.satellites.filter(({ used }) => used) ?? []
    t.ok(used.length > 12)
    for (const satellite of used) {
      t.match(satellite, { locked: true, cno_dbhz: Number, azimuth_deg: Number, elevation_deg: Number })
      if (wanted === 1) t.ok(satellite.signals.length >= 1 && satellite.signals.every(({ cno_dbhz }) => cno_dbhz > 20))
      else t.equal(satellite.signals.length, 0)
    }
    if (wanted === 0) continue
    const gps = used.find(({ constellation, elevation_deg = 0 }) => constellation === 'gps' && elevation_deg > 20)
    t.match(gps?.signals, [
      { signal: 'L1', locked: true, used: true },
      { signal: 'L2', locked: true },
    ])
    simulated.unplug()
    await seconds(6)
    t.equal(receiver.satellites, undefined, 'what is old is not now')
  }
})

t.test('interference: an error of the band while it is critical, with some rest on both sides', async (t) => {
  const context = await start(t)
  const { simulated, seconds, configure, received, field } = context
  const jammed: unknown[] = []
  received.onState(() => jammed.push(received.jammed))
  await seconds(5)
  await configure(fixed)
  await seconds(5)
  t.equal(simulated.value('CFG-ITFM-ENABLE'), 1)
  t.equal(field('state.rf.jamming'), 'ok')
  simulated.jam(15, 'L2')
  await seconds(60)
  t.equal(field('state.rf.jamming'), 'warning')
  t.notOk(context.errors.has('gnss-jammed'), 'a warning is shown, but no error')
  simulated.jam(25, 'L2')
  await seconds(3)
  simulated.jam(0)
  await seconds(40)
  t.notOk(context.errors.has('gnss-jammed'), 'a moment is none')
  simulated.jam(25, 'L2')
  await seconds(8)
  t.match(context.errors.get('gnss-jammed'), /strong interference in the L2 band/)
  t.match(received, { jammed: true, spoofed: false, held: '' })
  simulated.jam(25)
  await seconds(2)
  t.match(context.errors.get('gnss-jammed'), /L1 and L2 band/)
  simulated.jam(0)
  await seconds(20)
  t.ok(context.errors.has('gnss-jammed'), 'not over at once')
  await seconds(15)
  t.notOk(context.errors.has('gnss-jammed'))
  t.same(jammed.slice(-2), [true, false])
})

t.test('spoofing: an error, and by option no RTCM', async (t) => {
  for (const spoofedHold of [false, true]) {
    const context = await start(t, { options: { spoofedHold } })
    const { simulated, seconds, configure, received, seen } = context
    const types = () => new Set(seen.sent.splice(0).map(({ type }) => type))
    await seconds(5)
    await configure(fixed)
    await seconds(10)
    types()
    simulated.spoof(2)
    await seconds(1)
    simulated.spoof(1)
    await seconds(10)
    t.notOk(context.errors.has('gnss-spoofed'), 'one epoch is none')
    simulated.spoof(3)
    await seconds(6)
    t.match(context.errors.get('gnss-spoofed'), spoofedHold ? /no RTCM is sent/ : /RTCM is still sent/)
    t.match(received, { spoofed: true, held: spoofedHold ? 'spoofed' : '' })
    types()
    await seconds(5)
    t.equal(types().size > 0, !spoofedHold)
    await context.station.reload('gnss')
    await seconds(2)
    t.equal(types().size > 0, !spoofedHold, 'S2: nor while gnss is reloaded')
    simulated.spoof(1)
    await seconds(50)
    t.ok(context.errors.has('gnss-spoofed'))
    await seconds(15)
    t.notOk(context.errors.has('gnss-spoofed'))
    t.ok(types().has(1074), 'it continues')
  }
})

t.test('signals that are missing: a constellation, a band, everything, and slips', { skip: gateOnly }, async (t) => {
  const context = await start(t)
  const { simulated, seconds, configure, field } = context
  const text = () => context.errors.get('gnss-signals')
  await seconds(5)
  await configure(fixed)
  await seconds(400)
  t.equal(text(), undefined)
  const names = () => (field('state.rf.constellations') as { name: string }[]).map(({ name }) => name)
  t.same(new Set(names()), new Set(['beidou', 'galileo', 'glonass', 'gps']))

  simulated.jam(30, 'L2')
  await seconds(290)
  t.equal(text(), undefined, 'for some minutes')
  await seconds(25)
  t.match(text(), /^no signal of the L2 band for minutes/)
  simulated.jam(0)
  await seconds(15)
  t.equal(text(), undefined)

  simulated.antenna('open')
  await seconds(400)
  t.equal(text(), undefined, 'the antenna has an entry of its own')
  t.ok(context.errors.has('antenna-open'))
  simulated.antenna('ok')
  await seconds(30)
  t.equal(text(), undefined, 'everything has its time to come back')

  simulated.satellites(0)
  await seconds(70)
  t.match(text(), /^no satellite is received/)
  simulated.satellites(undefined)
  await seconds(30)
  t.equal(text(), undefined)

  for (let i = 0; i < 200; i++) {
    if (i % 10 === 0) simulated.slip('all', 3)
    await seconds(1)
  }
  t.match(text(), /^many signals lose lock/)
  t.ok((field('state.rf.slips') as number) > 3)
  await seconds(310)
  t.equal(text(), undefined)
})

t.test('a constellation that is switched off is not missed, one that is expected is', async (t) => {
  const watch = new SignalWatch()
  const signals = (names: ConstellationName[]): ubx.ExpectedSignals => new Map(names.map((name) => [name, ['L1']]))
  const epoch = (at_ms: number, names: ConstellationName[]): SatelliteEpoch => ({
    tow_ms: at_ms,
    arrival_ms: at_ms,
    hasSignals: false,
    satellites: names.map((constellation) => ({
      constellation,
      satellite: 1,
      azimuth_deg: 0,
      elevation_deg: 40,
      cno_dbhz: 40,
      locked: true,
      used: true,
      signals: [],
    })),
  })
  watch.begin(0)
  watch.expect(signals(['gps', 'galileo']), 0)
  for (let at_ms = 0; at_ms <= 400_000; at_ms += 1000) watch.satellites(epoch(at_ms, ['gps']))
  t.match(watch.troubles(400_000), [/^no satellite of Galileo for minutes/])
  t.match(watch.report(400_000), [
    { name: 'gps', expected: ['L1'], seen: [], satellites: 1 },
    { name: 'galileo', expected: ['L1'], seen: [], satellites: 0 },
  ])
  watch.expect(signals(['gps']), 400_000)
  t.same(watch.troubles(400_000), [])
})

t.test('a slow UART is made faster, in RAM, and the rate is remembered', async (t) => {
  const store = new MemoryStore()
  const { receiver, simulated, seconds, configure, station } = await start(t, {
    options: { rtcm: { msm: 7 } },
    simulator: { wiring: 'UART1' },
    store,
  })
  await seconds(5)
  t.match((await configure(fixed)).value, { refused: [] })
  t.equal(simulated.value('CFG-UART1-BAUDRATE'), 57_600)
  t.equal(receiver.link, 'up')
  t.notOk(
    station.lines.some(({ link }) => link === 'offline'),
    'nobody saw the line go',
  )
  await seconds(12)
  t.equal(receiver.link, 'up')
  t.match((await configure(fixed)).value, { written: 0 })
  t.match(simulated.received, { bbr: 0, flash: 0 })
  simulated.restart()
  await seconds(12)
  t.equal(simulated.value('CFG-UART1-BAUDRATE'), 38_400, 'its flash knows nothing of it')
  t.equal(receiver.link, 'up', 'found again in a few seconds')
  t.ok((await configure(fixed)).value)
  t.equal(simulated.value('CFG-UART1-BAUDRATE'), 57_600)
  await station.stop()
  const again = await start(t, { simulator: { wiring: 'UART1' }, store })
  await again.seconds(1)
  t.ok(
    again.station.lines.some(({ baud }) => baud === 57_600),
    'the first that is tried next time',
  )
})

t.test('a line that does not carry the rate goes back to what works', async (t) => {
  const { receiver, simulated, seconds, configure, station } = await start(t, {
    options: { rtcm: { msm: 7 } },
    simulator: { wiring: 'UART1' },
  })
  await seconds(5)
  simulated.deafAbove(38_400)
  t.match((await configure(fixed)).value, { refused: [] })
  t.equal(simulated.value('CFG-UART1-BAUDRATE'), 38_400)
  t.equal(receiver.configured, true)
  t.ok(station.lines.some(({ wanted }) => wanted === 57_600))
  await seconds(5)
  const { ram } = simulated.received
  await configure(fixed)
  t.equal(simulated.received.ram, ram, 'it is not tried again')

  for (const fault of ['nak', 'ignore'] as const) {
    const stubborn = await start(t, { options: { rtcm: { msm: 7 } }, simulator: { wiring: 'UART1' } })
    await stubborn.seconds(5)
    stubborn.simulated[fault]('CFG-UART1-BAUDRATE')
    t.ok((await stubborn.configure(fixed)).value, fault)
    t.equal(stubborn.receiver.link, 'up')
  }
  const fast = await start(t, { options: { rtcm: { msm: 7 }, raiseBaud: false }, simulator: { wiring: 'UART1' } })
  await fast.seconds(5)
  await fast.configure(fixed)
  t.equal(fast.simulated.value('CFG-UART1-BAUDRATE'), 38_400)
})

t.test('a line that is too slow for the observations is reported', async (t) => {
  const context = await start(t, { options: { raiseBaud: false }, simulator: { wiring: 'UART1' } })
  const { simulated, seconds, configure, receiver } = context
  await seconds(5)
  t.ok((await configure(fixed)).value)
  t.equal(context.errors.get('receiver-config'), undefined, 'MSM4 fits into 38,400 baud')
  simulated.set('CFG-UART1-BAUDRATE', 9600)
  await seconds(90)
  t.equal(receiver.link, 'up')
  t.ok((await configure(fixed)).value)
  t.match(
    context.errors.get('receiver-config'),
    /^the line carries 9600 baud, .* observations too: 38400 baud are needed/,
  )
  simulated.set('CFG-UART1-BAUDRATE', 38_400)
  await seconds(90)
  t.ok((await configure(fixed)).value)
  t.equal(context.errors.get('receiver-config'), undefined)
})

t.test('an X20P is not asked for what it lacks', async (t) => {
  for (const wiring of ['USB', 'UART2'] as const) {
    const context = await start(t, { simulator: { module: 'ZED-X20P', wiring } })
    await context.seconds(5)
    t.match(context.field('zed'), { module: 'ZED-X20P', vfirmware: 'HPG 2.00' })
    t.match((await context.configure(fixed)).value, { refused: [] }, wiring)
    await context.seconds(12)
    t.same(context.types(), [1005, 1074, 1094, 1124])
    t.match(context.field('state.antenna'), { status: 'ok' })
    t.equal(context.simulated.value('CFG-SIGNAL-PLAN'), 2, 'its signal plan is its own affair')
  }
  const context = await start(t, { options: { signalPlan: 1 }, simulator: { module: 'ZED-X20P' } })
  await context.seconds(5)
  t.match((await context.configure(fixed)).value, { refused: [] })
  t.equal(context.simulated.value('CFG-SIGNAL-PLAN'), 1)
})

t.test('an F9P is not asked for a signal plan', async (t) => {
  const context = await start(t, { options: { signalPlan: 1 } })
  await context.seconds(5)
  t.match((await context.configure(fixed)).value, { refused: [] })
})

t.test('nothing at all is written to a receiver that is only listened to', async (t) => {
  const context = await start(t, { options: { configure: false }, simulator: { boot: 'fixed' } })
  await context.seconds(8)
  for (const target of [fixed, rover]) {
    t.match((await context.configure(target)).error, { code: 'RTK_ERR_UNAVAILABLE', message: /only listened to/ })
  }
  t.equal((await context.settle(context.receiver.readTarget())).value, undefined)
  t.equal(context.receiver.configured, false)
  context.simulated.silence(true)
  await context.seconds(60)
  context.simulated.silence(false)
  context.simulated.restart()
  await context.seconds(60)
  t.same(context.simulated.received, { bytes: 0, ram: 0, bbr: 0, flash: 0 })
  t.equal(context.receiver.mode, 'listening')
})

t.test('a receiver that is not there is not configured', async (t) => {
  const { receiver, simulated, seconds, configure, settle } = await start(t)
  await seconds(5)
  await configure(fixed)
  simulated.unplug()
  await seconds(1)
  t.equal(receiver.configured, false)
  t.match((await configure(fixed)).error, { code: 'RTK_ERR_UNAVAILABLE', message: /offline/ })
  t.equal((await settle(receiver.readTarget())).value, undefined)
  t.equal(receiver.sinceReset_ms, undefined)
  simulated.replug()
  await seconds(3)
  t.ok((await configure(fixed)).value)
})

t.test('what tells a moved base: residuals, the second solution, its own words', async (t) => {
  const { seen, simulated, seconds, configure } = await start(t)
  await seconds(5)
  await configure(fixed)
  await seconds(30)
  const truth = simulated.truth
  t.ok(distance(seen.second.at(-1)?.position ?? arp, truth) < 8)
  t.match(seen.second.at(-1), { fix: '3d', ok: true }, 'it goes on in fixed mode')
  const before = offsetOf(seen.residuals.at(-1) ?? [])
  t.ok(Math.hypot(before.east, before.north) < 3, JSON.stringify(before))
  simulated.move(30, -20, 0)
  await seconds(70)
  const after = offsetOf(seen.residuals.at(-1) ?? [])
  t.ok(Math.hypot(after.east - 30, after.north + 20) < 3, JSON.stringify(after))
  t.ok(Math.abs(distance(seen.second.at(-1)?.position ?? arp, arp) - 36) < 9)
  simulated.move(60, 0, 0)
  await seconds(70)
  t.ok(seen.warnings.includes('Base station position seems incorrect'))
  const [one] = seen.residuals.at(-1) ?? []
  t.match(one, { constellation: String, satellite: Number, azimuth_deg: Number, elevation_deg: Number, used: Boolean })
})

/** The offset in metres that a receiver's residuals tell, by least squares with one clock for all. */
function offsetOf(residuals: readonly SatelliteResidual[]): { east: number; north: number; up: number } {
  const rows = residuals
    .filter(({ used }) => used)
    .map(({ azimuth_deg, elevation_deg, residual_m }) => {
      const [az, el] = [(azimuth_deg * Math.PI) / 180, (elevation_deg * Math.PI) / 180]
      return [-Math.cos(el) * Math.sin(az), -Math.cos(el) * Math.cos(az), -Math.sin(el), 1, residual_m]
    })
  const [normal, right] = [
    Array.from({ length: 4 }, (_, i) => Array.from({ length: 4 }, (_, j) => sum(rows.map((row) => row[i] * row[j])))),
    Array.from({ length: 4 }, (_, i) => sum(rows.map((row) => row[i] * row[4]))),
  ]
  for (let i = 0; i < 4; i++) {
    for (let j = i + 1; j < 4; j++) {
      const factor = normal[j][i] / normal[i][i]
      for (let k = i; k < 4; k++) normal[j][k] -= factor * normal[i][k]
      right[j] -= factor * right[i]
    }
  }
  const x = [0, 0, 0, 0]
  for (let i = 3; i >= 0; i--)
    x[i] = (right[i] - sum(x.map((value, k) => (k > i ? normal[i][k] * value : 0)))) / normal[i][i]
  return { east: x[0], north: x[1], up: x[2] }
}
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

t.test('the antenna: an error while it fails', async (t) => {
  const context = await start(t)
  const { simulated, seconds, configure, field } = context
  await seconds(5)
  await configure(fixed)
  await seconds(5)
  simulated.antenna('short')
  await seconds(2)
  t.match(context.errors.get('antenna-short'), /the antenna is short: check its cable and connectors$/)
  simulated.antenna('open')
  await seconds(2)
  t.notOk(context.errors.has('antenna-short'))
  t.ok(context.errors.has('antenna-open'))
  simulated.antenna('ok')
  await seconds(10)
  t.notOk(context.errors.has('antenna-open'))
  t.match(field('state.antenna'), { status: 'ok', power: 1, failcnt: 2 })
  context.types()
  await seconds(2)
  t.ok(context.types().includes(1005), 'and it goes on')
})

t.test('the antenna is as its worst band says, by MON-RF where there is one', async (t) => {
  const utc_s = 1_800_000_000
  const codes = { init: 0, unknown: 1, ok: 2, short: 3, open: 4 } as const
  type Status = keyof typeof codes
  const watched = () => {
    const watch = new AntennaWatch()
    let now_ms = 0
    const take = (reading: AntennaReading) => watch.read(reading, utc_s + now_ms / 1000)
    const radio = new RadioReports(take, () => {})
    const at = (name: 'monRf' | 'monHw') => (bytes: Uint8Array, at_ms: number) => {
      now_ms = at_ms
      radio[name](bytes, at_ms)
    }
    return { watch, reports: { monRf: at('monRf'), monHw: at('monHw') } }
  }
  const rf = (...bands: Status[]) =>
    ubx.payloadOf(
      ubx.encodeFrame(ubx.monRf, { blocks: bands.map((status) => ({ antStatus: codes[status], antPower: 1 })) }),
    )
  const hw = (status: Status) => ubx.payloadOf(ubx.encodeFrame(ubx.monHw, { antStatus: codes[status], antPower: 1 }))
  for (const [bands, worst] of [
    [['ok', 'short'], 'short'],
    [['open', 'ok'], 'open'],
    [['open', 'short'], 'short'],
    [['unknown', 'ok'], 'ok'],
    [['init', 'unknown'], 'unknown'],
  ] as const) {
    const { watch, reports } = watched()
    reports.monRf(rf(...bands), 0)
    t.equal(watch.report.status, worst, bands.join(' and '))
    t.equal(watch.fails, worst === 'short' || worst === 'open')
  }
  const { watch, reports } = watched()
  reports.monHw(hw('ok'), 0)
  t.match(watch.report, { status: 'ok', oktime: utc_s })
  reports.monRf(rf('open', 'open'), 1000)
  reports.monHw(hw('ok'), 10_000)
  t.match(watch.report, { status: 'open', failcnt: 1, oktime: utc_s }, 'MON-RF came a moment ago')
  reports.monHw(hw('ok'), 11_000)
  t.match(
    watch.report,
    { status: 'ok', failcnt: 1, failtime: utc_s + 1, oktime: utc_s + 11 },
    'there is only MON-HW now',
  )
  reports.monRf(rf(), 12_000)
  t.match(watch.report, { status: 'ok' }, 'without a band it says nothing')
})

t.test('a failing antenna holds RTCM back by option, whatever the receiver still sends', async (t) => {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  for (const antennaHold of [false, true]) {
    const { seen, station } = await start(t, {
      options: { port: `tcp://127.0.0.1:${port}`, configure: false, antennaHold },
    })
    await until(() => sockets.length > 0, 'the connection')
    const [socket] = sockets.splice(0)
    t.teardown(() => socket.destroy())
    const tell = async (antStatus: number) => {
      socket.write(ubx.encodeFrame(ubx.monRf, { blocks: [{ antStatus, antPower: 1 }] }))
      socket.write(encodeRtcm({ type: 1230, stationId: antStatus, biasesAligned: false, biases_m: {} }))
      // The rest of one write comes with the next at the latest.
      await until(() => station.field('gnss.state.antenna.status') === antennaStatuses[antStatus], 'the antenna')
    }
    await tell(2)
    await tell(4)
    await station.clock.advance(2000)
    const [message] = station.lines.filter(({ code }) => code === 'antenna-open')
    t.match(message?.msg, antennaHold ? /no RTCM is sent until then/ : /connectors$/)
    await tell(2)
    await until(() => seen.sent.length === (antennaHold ? 2 : 3), 'the frames')
    t.same(
      seen.sent.map(({ bytes }) => stationId(bytes)),
      antennaHold ? [2, 2] : [2, 4, 2],
    )
  }
})

t.test('the status is that of the procedure where one runs, and others may fill what is theirs', async (t) => {
  const with_ = await start(t, { status: 'survey' })
  await with_.seconds(3)
  t.equal(with_.field('state.status'), 'survey')
  t.equal(with_.field('state.want_corr'), 1)
  t.match(with_.field('ref'), { chosen: 'manual' }, 'the receiver tells its reference while nobody else does')

  const owner = definePlugin({
    name: 'owner',
    version: '1.0.0',
    api: '^1.0.0',
    setup(ctx) {
      ctx.info.block('gnss.ref', () => ({ chosen: 'survey' }))
      ctx.info.block('gnss.state.want_corr', () => 1)
      ctx.info.block('gnss.pos.delta', () => 0.5)
    },
  })
  const station = await createTestStation({
    plugins: { 'gnss-zed': [gnssZed as never, { port: 'simulator' }], owner: owner as never },
  })
  t.teardown(() => station.stop())
  await station.clock.advance(3000)
  t.match(station.field('gnss.ref'), { chosen: 'survey', survey: { config: {} } }, 'and the rest stands in')
  t.equal(station.field('gnss.state.want_corr'), 1)
  t.match(station.field('gnss.state.recvrtcm'), { count: 0, remote: '' })
  t.equal(station.field('gnss.pos.delta'), 0.5)
  t.notOk(station.station.plugins().some(({ reason }) => /another owner/.test(reason)))
  t.notOk('ref' in ((station.station.document(0x001).gnss ?? {}) as object), 'a mask without runtime has none of it')
})

t.test('the faults of a configuration are commands too', async (t) => {
  const { command, simulated, seconds } = await start(t)
  await seconds(2)
  t.match(await command('sim=flash survey-in'), { status: 200 })
  t.equal(simulated.value('CFG-TMODE-MODE', 'flash'), 1)
  t.match(await command('sim=flash fixed 30 0 0'), { status: 200 })
  t.equal(simulated.value('CFG-TMODE-MODE', 'flash'), 2)
  t.match(await command('sim=flash rover'), { status: 200 })
  t.match(await command('sim=ignore CFG-RATE-MEAS'), { text: /ignores 1 keys/ })
  t.match(await command('sim=set CFG-RATE-NAV 2'), { status: 200 })
  t.equal(simulated.value('CFG-RATE-NAV'), 2)
  t.match(await command('sim=drop-acks 3'), { text: /loses every 3/ })
  t.match(await command('sim=deaf-above 57600'), { text: /deaf above 57600/ })
  for (const text of ['ignore off', 'drop-acks off', 'deaf-above off', 'nak off']) await command(`sim=${text}`)
  t.notMatch((await command('sim')).text, /ignores|loses|deaf/)
  for (const text of [
    'sim=flash nothing',
    'sim=set',
    'sim=set CFG-RATE-NAV',
    'sim=set CFG-RATE-NAV 1 bbr',
    'sim=ignore CFG-NO',
    'sim=drop-acks x',
    'sim=deaf-above',
    'sim=flash fixed x',
  ]) {
    t.match(await command(text), { status: 400 }, text)
  }
})

// ── the pure parts ──────────────────────────────────────────────────────────────────────────────────────────────────

t.test('a plan writes every key once, in messages that the receiver takes', async (t) => {
  for (const port of ['USB', 'UART1', 'UART2'] as const) {
    for (const msm of [4, 7] as const) {
      const steps = planFor(fixed, { port, base: { msm } })
      const keys = steps.flatMap(({ pairs }) => pairs.map(([key]) => key))
      t.equal(new Set(keys).size, keys.length)
      t.ok(steps.every(({ pairs }) => pairs.length > 0 && pairs.length <= ubx.maxPairs))
      t.ok(
        keys.every((key) => ubx.keyOf(key)),
        'all of them are known',
      )
      const names = keys.map(ubx.keyName)
      const others = ['USB', 'UART1', 'UART2', 'I2C', 'SPI'].filter((other) => other !== port)
      t.strictSame(
        new Set(names.filter((name) => others.some((other) => name.includes(other)))),
        new Set(others.map((other) => `CFG-${other}INPROT-RTCM3X`)),
        'of the other ports, corrections alone are switched off',
      )
      const kept = planFor(fixed, { port, options: { otherPorts: 'keep' } }).flatMap(({ pairs }) => pairs)
      t.notOk(
        kept.some(([key]) => others.some((other) => ubx.keyName(key).includes(other))),
        'or left alone',
      )
      t.same(
        steps.filter(({ required }) => required).map(({ name }) => name),
        ['time mode', 'base'],
      )
      t.ok(
        steps.filter(({ name }) => name === 'time mode').every(({ pairs, whole }) => pairs.length === 9 && whole),
        'the reference is one message',
      )
    }
  }
})

t.test('a value that the receiver does not take costs its key alone, although it can be read', async (t) => {
  const { timers, dialog, store, settle } = scripted()
  const [stationKey, rateKey] = [ubx.keyId('CFG-RTCM-DF003_OUT'), ubx.keyId('CFG-RATE-NAV')]
  const pairs: ubx.ConfigPair[] = [
    [stationKey, 5000],
    [rateKey, 2],
  ]
  const outcome = (required: boolean) =>
    settle(apply(dialog, timers, [{ name: 'both', pairs, required }]).catch((error: Error) => error.message))
  t.match(await outcome(true), /refuses CFG-RTCM-DF003_OUT$/)
  t.match(await outcome(false), { refused: ['CFG-RTCM-DF003_OUT'], unexpected: ['CFG-RTCM-DF003_OUT'] })
  t.equal(store.get(rateKey), 2)
  t.equal(store.get(stationKey), 0)
})

t.test('firmware is told by its protocol', async (t) => {
  t.match(f9p, { nav2: true, glonass: true, correctionReport: 'RXM-RTCM', monHw: true })
  t.match(firmwareOf({ firmware: 'HPG 1.13', protocol: '27.12' }), { nav2: false, glonass: true })
  t.match(firmwareOf({ firmware: 'HPG 2.02', protocol: '50.11' }), {
    nav2: false,
    glonass: false,
    private4072: false,
    correctionReport: 'RXM-COR',
    monHw: false,
  })
  t.match(firmwareOf(undefined), { nav2: false, glonass: true })
})

t.test('a time mode reads as it was written, and as others write it', async (t) => {
  for (const target of [
    rover,
    fixed,
    { mode: 'fixed', arp: { x: -1.2345, y: -0.0099, z: 6_356_752.3142 }, acc_m: 3 },
  ] as const) {
    t.same(targetOf(new Map(tmodePairs(target))), target)
  }
  const llh: [string, number][] = [
    ['MODE', 2],
    ['POS_TYPE', 1],
    ['LAT', 520_000_000],
    ['LON', 40_000_000],
    ['HEIGHT', 5000],
    ['LAT_HP', 0],
    ['LON_HP', 0],
    ['HEIGHT_HP', 0],
    ['FIXED_POS_ACC', 100],
  ]
  const held = targetOf(new Map(llh.map(([name, value]) => [ubx.keyId(`CFG-TMODE-${name}`), value])))
  t.ok(held.mode === 'fixed' && sameEcef(held.arp, arp) && held.acc_m === 0.01)
  t.same(targetOf(new Map([[ubx.keyId('CFG-TMODE-MODE'), 1]])), { mode: 'survey-in' })
})

t.test('the needed rate follows from what is sent', async (t) => {
  const plan = (msm: 4 | 7) => planFor(fixed, { port: 'UART1', base: { msm } })
  const small = bytesPerSecond(plan(4), 'UART1')
  const large = bytesPerSecond(plan(7), 'UART1')
  t.ok(small > 1500 && large > small, `${small} and ${large} bytes a second`)
  for (const [bytes, present, wanted] of [
    [small, 38_400, 38_400],
    [small, 9600, 38_400],
    [large, 38_400, 57_600],
    [large, 115_200, 115_200],
    [1e9, 460_800, 921_600],
    [1e9, 3_000_000, 3_000_000],
  ]) {
    t.equal(neededRate(bytes, present), wanted, `${bytes} bytes at ${present}`)
  }
  t.equal(lineLoad(960, 9600), 1)
})

t.test('what the receiver holds, until it shows otherwise', async (t) => {
  const watch = new RestartWatch()
  t.equal(watch.sinceReset_ms(0), undefined)
  t.equal(watch.status(5000, 100), undefined)
  t.equal(watch.sinceReset_ms(1100), 6000)
  t.equal(watch.status(4500, 1100), undefined, 'a little play')
  t.match(watch.status(300, 2100), /clock/)
  t.equal(watch.status(1300, 3100), undefined)
  const old = new RestartWatch()
  t.equal(old.status(2 ** 32 - 200, 3200), undefined)
  t.equal(old.status(800, 4200), undefined, 'after 49.7 days its clock goes on at 0')
  t.equal(old.status(2 ** 32 - 200, 4300), undefined)
  t.match(old.status(800, 64_300), /clock/, 'that is no round of it')

  t.equal(watch.mode('fixed', undefined, 3100), undefined, 'nobody said what it should be')
  watch.begin(10_000)
  t.equal(watch.mode('rover', 'fixed', 11_000), '', 'left over')
  t.equal(watch.mode('fixed', 'fixed', 12_000), undefined)
  t.equal(watch.mode('rover', 'fixed', 50_000), '')
  t.match(watch.mode('rover', 'fixed', 80_000), /rover, not fixed/)

  const missing = (epoch_ms: number, isConfigured: boolean, now_ms: number) => {
    watch.epoch(epoch_ms)
    return watch.missing(isConfigured, now_ms)
  }
  t.equal(missing(17_000, true, 17_000), undefined)
  t.match(missing(19_000, true, 19_000), /missing/, 'epochs come, NAV-STATUS does not')
  t.equal(missing(19_100, true, 19_100), undefined, 'told once')
  watch.begin(20_000)
  t.equal(missing(40_000, false, 40_000), undefined)
  t.match(missing(40_000, false, 49_000), /missing/)

  t.ok(isBootText('u-blox AG - www.u-blox.com'))
  t.notOk(isBootText('txbuf alloc'))
})

// ── a real session ──────────────────────────────────────────────────────────────────────────────────────────────────

t.test('a session of u-center with a real receiver reads in full', { skip: noCaptures }, async (t) => {
  const bytes = capture('pyubx2_ucenter-ZEDF9P-configdebug.log') ?? new Uint8Array()
  const counts = { ack: 0, nak: 0, poll: 0, answer: 0 }
  const values = new Map<string, ubx.ConfigValue>()
  const framer = new Framer({
    onFrame(frame) {
      if (frame.kind !== 'ubx') return
      const payload = ubx.payloadOf(frame.bytes)
      if (frame.cls === 0x05) {
        t.ok(ubx.decode(ubx.ackAck, payload))
        counts[frame.id === ubx.ackAck.id ? 'ack' : 'nak']++
      } else if (frame.cls === ubx.CFG.cls && frame.id === ubx.CFG.valget) {
        const answer = ubx.decodeValget(payload)
        if (!answer) {
          t.ok(decodeValgetPoll(payload), 'a question then')
          counts.poll++
          return
        }
        counts.answer++
        for (const [key, value] of answer.values) {
          values.set(ubx.keyName(key), value)
          t.equal(ubx.encodePairs([[key, value]]).length, 4 + (ubx.valueSize(key) ?? 0))
        }
      }
    },
  })
  framer.push(bytes, 0)
  t.match(counts, { ack: 44, nak: 14 })
  t.equal(counts.poll + counts.answer, 48)
  t.equal(values.size, 1475, 'all of its RAM')
  // Its owner had switched the NMEA messages off.
  for (const { name, id, factory } of simulatedKeys.filter(({ name }) => !/NMEA_ID|SIGNAL-PLAN/.test(name))) {
    t.equal(ubx.keyName(id), name)
    t.equal(values.get(name), factory, name)
  }
  const lacks = ubx.configKeys.filter(({ name }) => !values.has(name)).map(({ name }) => name)
  t.same(lacks, ['CFG-SIGNAL-PLAN'], 'it knows every key that we write, but those of the X20P')
})

t.test('a capture is only listened to', { skip: noCaptures }, async (t) => {
  const folder = resolve(process.env.RTK_BASE_CAPTURES ?? '../shared/captures')
  const { receiver, settle, station } = await start(t, {
    options: { port: `replay:${join(folder, 'gpsd_ublox-zed-f9t-rtcm3.log')}`, delay: 0 },
  })
  await until(async () => {
    await station.clock.advance(1)
    return station.lines.some(({ msg }) => msg === 'end of the capture')
  }, 'the end')
  t.match((await settle(receiver.configure(rover))).error, { code: 'RTK_ERR_UNAVAILABLE', message: /a replay/ })
  t.equal(receiver.stationId, 0)
})
