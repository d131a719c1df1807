/** A reload of the receiver's plugin, whichever it is: RTCM is back within seconds where the carrier phases bridge the gap, and only there. */
import t, { type Test } from 'tap'
import { isMsm } from '../../../runtime/lib/gnss/index.js'
import { definePlugin } from '../../../runtime/plugin.js'
import type { ReceiverIdentity } from '../../../schemas/services.js'
import { gateOnly, ManualClock } from '../../harness/index.js'
import { type Definition, FakeBase, type Rig, setUp } from '../reference/survey-in-rig.js'

const nobody: ReceiverIdentity = { module: '', firmware: '', hardware: '', software: '', serial: '' }

interface Reload {
  /** Seconds in which nothing comes from the receiver. */
  away_s?: number
  meanwhile?: (base: FakeBase) => void
}

/** A base whose plugin knows nothing any more when it is reloaded, as that of a third party: its link, its identity, its mode. */
async function forgetful(t: Test, serial = 'A') {
  const base = new FakeBase(new ManualClock())
  const known: ReceiverIdentity = { maker: 'XY', module: 'M1', firmware: '1', hardware: '1', software: '1', serial }
  const device = { identity: known, away_s: 0, isOn: true, tellsUptime: true }
  const { definition } = base.receiver
  const plugin = definePlugin({
    ...definition,
    start(ctx) {
      const comes = () => {
        device.isOn = true
        const { mode } = base.receiver.target
        base.receiver.become({ link: 'up', mode, identity: device.identity })
      }
      if (device.away_s > 0) ctx.timers.after(device.away_s * 1000, comes)
      else comes()
    },
    stop(reason) {
      device.isOn = false
      base.receiver.become({ link: 'offline', mode: 'unknown', identity: nobody, configured: false, fix: undefined })
      return reason === 'reload' ? [] : undefined
    },
  })
  const rig = await setUp(t, { receiver: base, plugins: { 'fake-receiver': plugin as unknown as Definition } })
  const second = async () => {
    if (device.isOn) base.epoch()
    if (!device.tellsUptime) base.receiver.become({ sinceReset_ms: undefined })
    await rig.clock.advance(1000)
    await new Promise((done) => setImmediate(done))
  }
  const observations = () => rig.sent.filter(({ type }) => isMsm(type))
  return {
    rig,
    base,
    device,
    async fixed(watched_s = 30) {
      for (let i = 0; i < 90 && rig.sent.length === 0; i++) await second()
      for (let i = 0; i < watched_s; i++) await second()
    },
    /** @returns seconds of the station's clock without observations; infinite where none left within two minutes */
    async reload({ away_s = 1, meanwhile }: Reload = {}): Promise<number> {
      device.away_s = away_s
      await rig.station.reload('fake-receiver')
      meanwhile?.(base)
      const before = observations().length
      for (let seconds = 1; seconds <= 120; seconds++) {
        await second()
        if (observations().length > before) return seconds
      }
      return Number.POSITIVE_INFINITY
    },
  }
}

const log = (rig: Rig) => rig.station.lines.map(({ msg }) => msg).filter((msg) => /comes first/.test(msg))

t.test('RTCM is back within 5 s', async (t) => {
  for (const [what, serial, tellsUptime] of [
    ['of a receiver with a serial number', 'A', true],
    ['of one that does not tell how long it has been on', 'A', false],
  ] as const) {
    t.test(what, async (t) => {
      const { device, rig, fixed, reload } = await forgetful(t, serial)
      device.tellsUptime = tellsUptime
      await fixed()
      const seconds = await reload()
      t.ok(seconds <= 5, `${seconds} s`)
      t.equal(rig.state(), 'fixed')
      t.strictSame([log(rig).slice(1), rig.errors()], [[], []])
    })
  }
  t.test('of one without: it is waited for 4 s', { skip: gateOnly }, async (t) => {
    const { fixed, reload } = await forgetful(t, '')
    await fixed()
    const seconds = await reload()
    t.ok(seconds <= 8, `${seconds} s`)
  })
  t.test('of one that was away for 8 s, as soon as it is back', { skip: gateOnly }, async (t) => {
    const { fixed, reload } = await forgetful(t)
    await fixed(110)
    const seconds = await reload({ away_s: 8 })
    t.ok(seconds <= 11, `${seconds} s`)
  })
})

t.test('an antenna that was moved meanwhile: nothing leaves', { skip: gateOnly }, async (t) => {
  for (const [move_m, away_s, watched_s] of [
    [0.1, 1, 30],
    [0.1, 8, 110],
    [3, 2, 60],
  ] as const) {
    const { base, rig, fixed, reload } = await forgetful(t)
    await fixed(watched_s)
    const seconds = await reload({ away_s, meanwhile: () => base.move(move_m) })
    t.equal(seconds, Number.POSITIVE_INFINITY, `${move_m} m in ${away_s} s`)
    t.match([rig.state(), rig.errors()], ['moved', [/the carrier phases show a move/]])
  }
})

t.test('the start-up check comes first', { skip: gateOnly }, async (t) => {
  for (const [what, away_s, why, change] of [
    [
      'after another serial number',
      1,
      /another receiver/,
      ({ device }) => {
        device.identity = { ...device.identity, serial: 'B' }
      },
    ],
    [
      'after another model',
      1,
      /./,
      ({ device }) => {
        device.tellsUptime = false
        device.identity = { ...device.identity, module: 'M2' }
      },
    ],
    [
      'where it holds another reference',
      1,
      /holds another reference/,
      ({ base: { receiver } }) => {
        if (receiver.target.mode !== 'fixed') throw new Error('it is no base')
        const { arp } = receiver.target
        receiver.target = { ...receiver.target, arp: { ...arp, x: arp.x + 0.01 } }
      },
    ],
    [
      'without carrier phases',
      1,
      /tracked all the time/,
      ({ base }) => {
        base.sendsPhases = false
      },
    ],
    ['after a loss of lock', 1, /tracked all the time|bridge/, ({ base }) => base.loseLock()],
    ['after 11 s', 11, /away for 1\d s/, () => {}],
  ] as readonly [string, number, RegExp, (made: Awaited<ReturnType<typeof forgetful>>) => void][]) {
    t.test(what, async (t) => {
      const made = await forgetful(t)
      await made.fixed(110)
      const began = log(made.rig).length
      const seconds = await made.reload({ away_s, meanwhile: () => change(made) })
      t.ok(seconds > 10 + away_s, `${seconds} s`)
      t.match(log(made.rig)[began], why)
    })
  }
})
