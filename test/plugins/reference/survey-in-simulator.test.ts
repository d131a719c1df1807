/** The whole GNSS path on the simulated receiver: what `npm start` shows. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import system from '../../../plugins/device/system/index.js'
import { drawnStationId } from '../../../plugins/receivers/gnss/index.js'
import { decodeRtcm, distance, stationId } from '../../../runtime/lib/gnss/index.js'
import type { Ecef, RtcmFrame } from '../../../schemas/services.js'
import { few, gateOnly } from '../../harness/index.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { type SimulatorRig, setUp } from '../receivers/simulator-rig.js'

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
})

for (const rtcm of [{ msmInterval_s: 15, referenceInterval_s: 15, biasInterval_s: 30 }, { referenceInterval_s: 120 }]) {
  t.test(
    `a base that sends rarely by order is a steady one: ${JSON.stringify(rtcm)}`,
    { skip: gateOnly },
    async (t) => {
      const rig = await setUp(t, { rtcm })
      await rig.until(() => rig.arps().length > 0, 300)
      const states = new Set<unknown>()
      for (let i = 0; i < 200; i++) {
        await rig.seconds(1)
        states.add(rig.field('state.status'))
      }
      t.strictSame([...states], ['fixed'])
      t.strictSame(rig.station.device.errors(), [])
    },
  )
}

t.test('a station ID', async (t) => {
  const ids = (frames: readonly RtcmFrame[]) => new Set(frames.map(({ bytes }) => stationId(bytes)))
  const drawn = 3461 // of TEST0001

  t.test(
    'of a new station is drawn from its serial number, and kept over restarts and a change of others',
    async (t) => {
      const store = new MemoryStore()
      for (const start of ['the first start', 'the second']) {
        const rig = await setUp(t, { store })
        await rig.until(() => rig.arps().length > 3, 120)
        t.strictSame(ids(rig.sent), new Set([drawn]), start)
        t.equal(rig.field('config.station.id'), drawn)
        await rig.change({ 'gnss-recvrtcm-max-age': 20 })
        await rig.station.stop()
      }
      t.equal(drawnStationId('TEST0001'), drawn)
      t.not(drawnStationId('TEST0002'), drawn)
      fc.assert(fc.property(fc.string(), (serial) => drawnStationId(serial) >= 1 && drawnStationId(serial) <= 4095))
    },
  )

  t.test('that somebody chose is never drawn, also where it is 0', async (t) => {
    t.equal((await setUp(t, { zed: { stationId: 0 } })).field('config.station.id'), 0)
    t.equal((await setUp(t, { changes: { 'gnss-station-id': 0 } })).field('config.station.id'), 0)
    const store = new MemoryStore()
    const rig = await setUp(t, { store })
    await rig.change({ 'gnss-station-id': 0 })
    await rig.station.stop()
    t.equal((await setUp(t, { store })).field('config.station.id'), 0)
  })

  t.test('P3: a change is written to the receiver once', async (t) => {
    const rig = await setUp(t)
    await rig.until(() => rig.arps().length > 3, 60)
    for (const values of [{ 'gnss-station-id': 4095 }, { 'gnss-elevation-mask': 12 }]) {
      const { ram } = rig.simulated.received
      t.match(await rig.change(values), { result: 'ok' })
      await rig.seconds(60)
      t.equal(rig.field('state.status'), 'fixed')
      t.equal(rig.simulated.received.ram, ram + 1, Object.keys(values).join())
    }
  })

  t.test('that the receiver does not take costs nothing: it is expected with 0', async (t) => {
    const rig = await setUp(t)
    rig.simulated.nak('CFG-RTCM-DF003_OUT')
    await rig.until(() => rig.arps().length > 3, 120)
    t.strictSame(ids(rig.sent), new Set([0]))
    t.equal(rig.field('config.station.id'), 0)
    t.strictSame(rig.station.device.errors(), [], 'N7: a setting that the receiver lacks is a remark, no error')
    t.strictSame(rig.field('receiver.rejected'), ['CFG-RTCM-DF003_OUT'])
  })

  t.test(
    'that is set while the base is in use goes over within seconds, and never mixes with the one before',
    async (t) => {
      const rig = await setUp(t)
      await rig.until(() => rig.arps().length > 3, 60)
      t.strictSame(ids(rig.sent.splice(0)), new Set([drawn]))
      t.match(await rig.change({ 'gnss-station-id': 4095 }), { result: 'ok' })
      t.equal(rig.stream.open, false, 'held at once')
      const seconds = await rig.until(() => rig.field('state.status') === 'fixed', 10)
      await rig.seconds(3)
      t.ok(seconds <= 5, `${seconds} s`)
      t.strictSame(ids(rig.sent), new Set([4095]))
      t.equal(rig.sent[0].type, 1005)
      t.equal(rig.field('config.station.id'), 4095)
      t.strictSame(rig.station.device.errors(), [])
      rig.simulated.restart()
      rig.sent.length = 0
      await rig.until(() => rig.arps().length > 0, 120)
      t.strictSame(ids(rig.sent), new Set([4095]), 'also when the receiver has forgotten it')
    },
  )

  t.test('that is set during a survey-in is the one that goes out', async (t) => {
    const rig = await setUp(t)
    await rig.until(() => rig.field('state.status') === 'survey', 60)
    await rig.change({ 'gnss-station-id': 7, 'gnss-antenna-descriptor': 'ADVNULLANTENNA', 'gnss-antenna-height': 0.5 })
    await rig.until(() => rig.sent.length > 20, 60)
    t.strictSame(ids(rig.sent), new Set([7]), 'in the station’s own messages too')
    t.strictSame(
      rig.sent.slice(0, 3).map(({ type }) => type),
      [1006, 1008, 1033],
    )
    t.match(decodeRtcm(rig.sent[2].bytes), { receiverType: 'ZED-F9P', receiverFirmware: /^HPG/ })
  })

  for (const wrong of [-1, 4096, 1.5, '7', null]) {
    t.test(`that is ${JSON.stringify(wrong)} is rejected`, async (t) => {
      const rig = await setUp(t)
      t.match(await rig.change({ 'gnss-station-id': wrong }), {
        result: 'failed',
        errors: [{ name: 'gnss-station-id' }],
      })
      t.equal(rig.field('config.station.id'), drawn)
    })
  }
})

t.test('what the receiver does by itself', { skip: gateOnly }, async (t) => {
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
    const rig = await setUp(t, { simulator: { boot: 'fixed' } })
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

  for (const chosen of few(1, ['survey', 'manual'] as const)) {
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

  t.test('its 1005 is wrong while it is in use: the reason says so everywhere, as long as that is true', async (t) => {
    const rig = await setUp(t, { plugins: { system } })
    await rig.until(() => rig.arps().length > 3, 60)
    const [arp] = rig.arps()
    t.equal((await rig.command('sim=wrong-1005 1')).status, 200)
    const reason = new RegExp(`sends ${(arp.x + 1).toFixed(4)} .* in 1005, not the reference ${arp.x.toFixed(4)}`)
    const states = new Set<unknown>()
    for (let i = 0; i < 150; i++) {
      await rig.seconds(1)
      states.add(rig.field('state.status'))
      const { errors } = rig.station.field('base.state') as { errors: { text: string }[] }
      t.match(rig.stream.reason?.text, reason)
      t.match(rig.station.station.plugins().find(({ name }) => name === 'rtcm')?.reason, reason)
      t.match(errors, [{ code: 'gnss-fault', text: reason }])
      t.equal(errors.length, 1)
    }
    t.ok(states.has('acquire') && states.has('fault'), [...states].join())
    await rig.command('sim=wrong-1005 off')
    await rig.until(() => rig.field('state.status') === 'fixed', 120)
    t.equal(rig.stream.reason, undefined)
    t.match(rig.station.field('base.state'), { base: 'ready', verdict: { fitness: 'fit', code: 'ok' }, errors: [] })
  })

  for (const key of ['CFG-USBOUTPROT-RTCM3X', 'CFG-MSGOUT-RTCM_3X_TYPE1005_USB']) {
    t.test(`someone else switches ${key} off: it is switched on again`, async (t) => {
      const rig = await start(t)
      await rig.seconds(5)
      rig.simulated.set(key, 0)
      const before = rig.arps().length
      const seconds = await rig.until(() => rig.arps().length > before + 3, 60)
      // Without observations for some seconds nobody knows where the antenna is.
      t.ok(seconds <= (key.includes('1005') ? 20 : 40), `${seconds} s`)
      t.equal(rig.field('state.status'), 'fixed')
    })
  }

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

t.test('a base that nobody vouches for is wrong', { skip: gateOnly }, async (t) => {
  const elsewhere = (rig: SimulatorRig) => distance(rig.arps().at(-1) as Ecef, rig.simulated.truth)
  const codes = (rig: SimulatorRig) => rig.station.device.errors().map(({ code }) => code)

  t.test('by 8 m, and is let in during a plain survey-in: the result does not follow it', async (t) => {
    const rig = await setUp(t, { changes: { 'gnss-survey-mintime': 120, 'gnss-survey-accuracy': 5 } })
    await rig.until(() => rig.field('state.status') === 'survey', 200)
    await rig.command('rtcmin=1')
    rig.simulated.corrections(12_000, { east: 8, north: 0, up: 0 })
    await rig.until(() => rig.arps().length > 0, 400)
    t.match(rig.field('ref.survey'), { state: 'complete', corr: false })
    t.ok(elsewhere(rig) < 3, `${elsewhere(rig)} m`)
    t.strictSame(codes(rig), [])
  })

  for (const [what, nav2] of few(1, [
    ['the second solution', true],
    ['a position without its corrections', false],
  ] as const)) {
    t.test(`by 10 m, and the receiver restarts: ${what} keeps the reference, and they are named`, async (t) => {
      const rig = await setUp(t, { simulator: { nav2 }, survey: { initial_s: 60 } })
      await rig.until(() => rig.field('state.status') === 'fixed', 400)
      const [before] = rig.arps()
      rig.simulated.corrections(12_000, { east: 10, north: 0, up: 0 })
      await rig.seconds(10)
      await rig.command('sim=restart cold')
      await rig.until(() => rig.field('state.status') !== 'fixed', 10)
      const shown = new Set<string>()
      const seconds = await rig.until(() => {
        for (const code of codes(rig)) shown.add(code)
        return rig.field('state.status') === 'fixed'
      }, 400)
      t.strictSame(rig.arps().at(-1), before)
      t.ok(seconds < (nav2 ? 120 : 300), `${seconds} s`)
      t.equal(shown.has('gnss-initial'), !nav2)
      t.notOk(shown.has('gnss-reference-moved'))
      if (nav2) {
        t.strictSame(codes(rig), ['gnss-corrections'])
        t.match(
          rig.station.device.errors()[0]?.text,
          /the corrections of simulated base put the antenna \d+\.\d m \(E \+(9|10)\./,
        )
      }
    })
  }

  t.test('by 6 m since it gave the reference: that is kept, and it is named', async (t) => {
    const rig = await setUp(t, { survey: { initial_s: 60 } })
    rig.simulated.corrections(12_000)
    await rig.until(() => rig.field('state.status') === 'fixed', 900)
    t.match(rig.field('ref.survey'), { corr: true })
    const [before] = rig.arps()
    rig.simulated.corrections(12_000, { east: 6, north: 0, up: 0 })
    await rig.seconds(10)
    await rig.command('sim=restart cold')
    await rig.until(() => rig.field('state.status') !== 'fixed', 10)
    await rig.until(() => rig.field('state.status') === 'fixed', 200)
    t.strictSame(rig.arps().at(-1), before)
    t.strictSame(codes(rig), ['gnss-corrections'])
  })
})

t.test('a corrected survey-in with another base 12 km away', { skip: gateOnly }, async (t) => {
  t.test('ends within accuracy_corr_dyn, the document telling of the corrections', async (t) => {
    const rig = await setUp(t, { survey: { trustedSources: ['simulated base'] } })
    rig.simulated.corrections(12_000)
    const fixes = new Set<unknown>()
    await rig.until(() => {
      fixes.add(rig.field('state.gps_fix'))
      t.strictSame(rig.check(), [])
      return rig.field('ref.survey.state') === 'complete'
    }, 400)
    for (const fix of ['3d', 'rtk-float', 'rtk-fixed']) t.ok(fixes.has(fix), fix)
    const survey = rig.field('ref.survey') as Ecef & { acc: number }
    t.match(survey, { corr: true, accuracy_corr_dyn: 0.042, acc_corr: survey.acc, rtcm: { remote: 'simulated base' } })
    t.ok(survey.acc <= 0.042, `${survey.acc} m`)
    t.ok(distance(survey, rig.simulated.truth) < 3 * survey.acc)
    t.ok(Math.abs((rig.field('state.recvrtcm.dist') as number) - 12_000) < 1)
    await rig.until(() => rig.arps().length > 0, 20)
  })

  t.test('states what the position of a base that nobody vouches for leaves open: 2 m wrong is covered', async (t) => {
    const rig = await setUp(t)
    rig.simulated.corrections(12_000, { east: 2, north: 0, up: 0 })
    await rig.until(() => rig.arps().length > 0, 600)
    const survey = rig.field('ref.survey') as Ecef & { acc: number; acc_corr: number }
    t.match(survey, { state: 'complete', corr: true })
    t.ok(survey.acc_corr <= 0.042, `${survey.acc_corr} m relative to that base`)
    const error_m = distance(rig.arps()[0] as Ecef, rig.simulated.truth)
    t.ok(error_m > 1.9 && error_m < 3 * survey.acc, `${error_m} m wrong, ${survey.acc} m stated`)
  })

  t.test('uses no others than the trustedSources, where these are set', async (t) => {
    const rig = await setUp(t, { survey: { trustedSources: ['udp 192.168.1.9'] } })
    rig.simulated.corrections(12_000)
    await rig.until(() => rig.field('ref.survey.state') === 'aborted', 800)
    t.match(
      rig.station.device.errors()[0]?.text,
      /the corrections of simulated base were not used for 10 min: it is not one of the trustedSources/,
    )
    t.equal(rig.sent.length, 0)
  })

  t.test('is aborted when the position of that base is wrong by 12 m, and nothing leaves', async (t) => {
    const rig = await setUp(t)
    rig.simulated.corrections(12_000, { east: 12, north: 0, up: 0 })
    await rig.until(() => rig.field('ref.survey.state') === 'aborted', 400)
    t.match(
      rig.station.device.errors()[0]?.text,
      /aborted: the corrections of simulated base put the antenna 1\d\.\d m \(E \+1\d\.\d .* the position of that base may be wrong/,
    )
    await rig.seconds(60)
    t.equal(rig.sent.length, 0)
  })

  t.test('after that the station returns to the reference that it had, without those corrections', async (t) => {
    const rig = await setUp(t)
    await rig.until(() => rig.field('state.status') === 'fixed', 400)
    rig.simulated.corrections(12_000, { east: 0, north: 0, up: 20 })
    t.equal((await rig.command('start-survey-in')).status, 200)
    await rig.until(() => rig.field('ref.survey.state') === 'aborted', 400)
    await rig.until(() => rig.field('state.status') === 'fixed', 200)
    t.equal(rig.field('state.corrected'), false)
    const codes = rig.station.device.errors().map(({ code }) => code)
    t.strictSame(codes, ['gnss-survey'], 'nobody says that the antenna was moved')
  })

  for (const [what, first, then] of [
    ['first', 1, 0],
    ['second', 0, 1],
  ] as const) {
    const skip = what === 'second' ? false : gateOnly
    t.test(`does not use a wrong ${what} fix: the ambiguities are determined again`, { skip }, async (t) => {
      const rig = await setUp(t)
      rig.simulated.corrections(12_000)
      rig.simulated.wrongFix(first, { east: 0.19, north: 0, up: 0.1 })
      await rig.until(() => (rig.field('ref.survey.count') as number) > 5, 200)
      rig.simulated.wrongFix(then, { east: 0.19, north: 0, up: 0.1 })
      const lines = () => rig.station.lines.filter(({ msg }) => /jumped/.test(String(msg))).length
      await rig.until(() => lines() > 0, 300)
      rig.simulated.wrongFix(0)
      await rig.until(() => rig.arps().length > 0, 500)
      for (const arp of rig.arps()) t.ok(distance(arp, rig.simulated.truth) < 0.1)
    })
  }

  t.test('is aborted with the reason when the corrections stop for 10 min', async (t) => {
    const rig = await setUp(t, { changes: { 'gnss-survey-mintime': 3600 } })
    rig.simulated.corrections(12_000)
    await rig.until(() => (rig.field('ref.survey.count') as number) > 10, 200)
    rig.simulated.corrections(undefined)
    const seconds = await rig.until(() => rig.field('ref.survey.state') === 'aborted', 700)
    t.ok(seconds >= 600, `${seconds} s: not before`)
    t.match(rig.station.device.errors()[0]?.text, /aborted: no corrections were received for 10 min/)
    t.equal(rig.sent.length, 0)
  })

  t.test('begins its averaging anew when the fix steps by more than 5 cm, as a wrong one does', async (t) => {
    const rig = await setUp(t, { changes: { 'gnss-survey-mintime': 3600 } })
    rig.simulated.corrections(12_000)
    await rig.until(() => (rig.field('ref.survey.count') as number) > 60, 200)
    rig.simulated.move(0.12, 0, 0)
    const before = rig.field('ref.survey.count') as number
    const seconds = await rig.until(() => (rig.field('ref.survey.count') as number) < before, 10)
    t.ok(seconds >= 3, 'three epochs in a row')
    await rig.seconds(100)
    t.ok(distance(rig.field('ref.survey') as Ecef, rig.simulated.truth) < 0.05, 'nothing of the wrong fix is left')
  })
})
