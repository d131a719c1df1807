/** Corrections of another station: who is taken, what reaches the receiver, and the corrected survey-in on top of it. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { Forwarder, receiverInputRate } from '../../../plugins/rtcm/rtcm-in/forwarder.js'
import rtcmIn from '../../../plugins/rtcm/rtcm-in/index.js'
import { Corrections, framesOf } from '../../../plugins/rtcm/rtcm-in/input.js'
import udpRtcm from '../../../plugins/rtcm/udp-rtcm/index.js'
import { distance, encodeRtcm, offsetEnu, roundEcef } from '../../../runtime/lib/gnss/index.js'
import type { Ecef } from '../../../schemas/services.js'
import { arpFrame, conformance, gateOnly, ManualClock, msmFrame, until } from '../../harness/index.js'
import { freeUdpPort } from '../../harness/process.js'
import { type Definition, FakeBase, home, quick, type Rig, type RigOptions, setUp } from '../reference/survey-in-rig.js'

const remoteArp = roundEcef(offsetEnu(home, { east: 12_000, north: 0, up: 0 }))
const packet = (...frames: Uint8Array[]) => new Uint8Array(Buffer.concat(frames))

t.test('a packet is taken when it is whole frames and nothing else', async (t) => {
  const frames = [
    arpFrame(home),
    msmFrame(1074, 1, false),
    encodeRtcm({ type: 1230, stationId: 0, biasesAligned: false, biases_m: {} }),
  ]
  const whole = packet(...frames)
  t.strictSame(
    framesOf(whole)?.map(({ type }) => type),
    [1005, 1074, 1230],
  )
  t.equal(framesOf(new Uint8Array(0)), undefined)
  fc.assert(
    fc.property(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const damaged = Uint8Array.from(whole)
      damaged[at] ^= by
      return framesOf(damaged) === undefined
    }),
  )
  const ends = frames.map((_, i) => packet(...frames.slice(0, i + 1)).length)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: whole.length - 1 }), (length) => {
      return (framesOf(whole.subarray(0, length)) !== undefined) === ends.includes(length)
    }),
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => framesOf(bytes) === undefined))
})

t.test('sources', async (t) => {
  function input(deps: Partial<ConstructorParameters<typeof Corrections>[0]> = {}) {
    const self = { now_ms: 0, forwarded: [] as Uint8Array[] }
    const corrections = new Corrections({
      now_ms: () => self.now_ms,
      wanted: () => true,
      maxAge_s: () => 30,
      own: () => undefined,
      position: () => home,
      allow: [],
      trusted: () => [],
      forward: (frame) => self.forwarded.push(frame),
      ...deps,
    })
    return { self, corrections }
  }
  const arp = arpFrame(remoteArp)

  t.test('the first one wins until it is older than the maximum age', async (t) => {
    const { self, corrections } = input()
    t.equal(corrections.take(arp, 'a', ''), '')
    t.match(corrections.take(arp, 'b', ''), /a is already the source/)
    self.now_ms = 30_000
    t.match(corrections.take(arp, 'b', ''), /a is already the source/)
    self.now_ms = 30_001
    t.equal(corrections.take(arp, 'b', ''), '')
    t.match(corrections.take(arp, 'a', ''), /b is already the source/)
    t.equal(self.forwarded.length, 2)
    t.match(corrections.block(), { remote: 'b', count: 1, packets: 1, elapsed: 0, age: 0, dist: 12_000 })
    t.equal(corrections.count, 2)
  })
  t.test('only while they are wanted, or forced', async (t) => {
    const { corrections } = input({ wanted: () => false })
    t.match(corrections.take(arp, 'a', ''), /wanted/)
    corrections.input = 'on'
    t.equal(corrections.take(arp, 'a', ''), '')
  })
  t.test('only those that are allowed', async (t) => {
    const { corrections } = input({ allow: ['10.0.0.1'] })
    t.match(corrections.take(arp, 'udp 10.0.0.2:1', '10.0.0.2'), /allow/)
    t.equal(corrections.take(arp, 'udp 10.0.0.1:1', '::ffff:10.0.0.1'), '')
    const { corrections: caster } = input({ allow: ['10.0.0.1'] })
    t.equal(caster.take(arp, 'ntrip caster:2101/A', 'caster'), '', 'the option is about UDP')
    const { corrections: vouched } = input({ trusted: () => ['udp 10.0.0.3', 'udp 10.0.0.4:7'] })
    t.match(vouched.take(arp, 'udp 10.0.0.4:8', '10.0.0.4'), /allow/)
    t.equal(vouched.take(arp, 'udp 10.0.0.3:8', '10.0.0.3'), '')
  })
  t.test(
    'over UDP without a name: the first after a person asked for it, for 10 min, until it is silent',
    async (t) => {
      const { self, corrections } = input()
      const take = (last: number, port = 1) => corrections.take(arp, `udp 10.0.0.${last}:${port}`, `10.0.0.${last}`)
      t.match(take(2), /not requested/)
      corrections.choose('on')
      t.equal(take(2), '')
      t.match(take(3), /not requested/)
      for (let n = 0; n < 40; n++) {
        self.now_ms += 20_000
        t.equal(take(2), '', 'also when the time is over')
      }
      self.now_ms += 31_000
      t.match(take(2), /not requested/, 'silent for too long')
      corrections.choose('on')
      self.now_ms += 600_001
      t.match(take(2), /not requested/, 'too late')
      corrections.choose('on')
      t.equal(take(3), '')
      self.now_ms += 31_000
      t.equal(take(4), '', 'the first was silent, and the time is not over')
      const { corrections: next } = input()
      next.restore(corrections.snapshot())
      t.match(next.take(arp, 'udp 10.0.0.9:1', '10.0.0.9'), /not requested/)
      corrections.choose('auto')
      self.now_ms += 31_000
      t.match(take(4), /not requested/)
    },
  )
  t.test('never ourselves: our station ID waits for its reference point, and ours is refused', async (t) => {
    const { corrections } = input({ own: () => ({ stationId: 7, arp: home }) })
    t.match(corrections.take(msmFrame(1074, 1, false, 7), 'a', ''), /has not announced its reference point/)
    t.match(corrections.take(arpFrame(home, 7), 'a', ''), /our own/)
    t.match(corrections.take(msmFrame(1074, 1, false, 7), 'a', ''), /our own/)
    t.equal(corrections.take(arpFrame(remoteArp, 7), 'b', ''), '', 'the same ID elsewhere')
    const { corrections: others } = input({ own: () => ({ stationId: 7, arp: home }) })
    t.equal(others.take(msmFrame(1074, 1, false, 8), 'c', ''), '', 'another ID')
    t.equal(corrections.sharesId, true, 'which is said')
    t.equal(others.sharesId, false)
  })
  t.test('never ourselves, also before we have a reference: then our own fix tells', async (t) => {
    const near = roundEcef(offsetEnu(home, { east: 30, north: 0, up: 0 }))
    const own = () => ({ stationId: 0, arp: undefined })
    const { corrections } = input({ own })
    t.match(corrections.take(msmFrame(1074, 1, false, 0), 'a', ''), /has not announced its reference point/)
    t.match(corrections.take(arpFrame(near, 0), 'a', ''), /our own/)
    t.equal(corrections.take(arpFrame(remoteArp, 0), 'b', ''), '', 'another base with the ID that both have by default')
    const { corrections: lost } = input({ own, position: () => undefined })
    t.match(lost.take(arpFrame(remoteArp, 0), 'a', ''), /has not announced/, 'nobody knows where we are')
    t.equal(lost.take(arpFrame(remoteArp, 9), 'b', ''), '', 'another ID is somebody else')
  })
  t.test('say nothing before the first one', async (t) => {
    const { corrections } = input()
    t.strictSame(corrections.block(), { elapsed: 0, age: 0, count: 0, packets: 0, remote: '', dist: 0 })
    t.equal(corrections.age_s(), Number.POSITIVE_INFINITY)
  })
})

/** A station with corrections from `base/OTHER/drtk`, which arrive each second as long as `flows`. */
async function corrected(
  t: Test,
  options: RigOptions = {},
): Promise<Rig & { remote: { flows: boolean; step_m: number } }> {
  const rig = await setUp(t, {
    ...options,
    options: { trustedSources: ['mqtt base/OTHER/drtk'], ...options.options },
    plugins: { 'rtcm-in': [rtcmIn as unknown as Definition, { topic: 'base/OTHER/drtk' }], ...options.plugins },
  })
  const remote = { flows: true, step_m: 0 }
  const bus = rig.bus()
  const { base } = rig
  const plain = () => FakeBase.prototype.epoch.call(base)
  let steady = base.receiver.corrections.length
  const { truth } = base
  base.epoch = () => {
    if (remote.flows) {
      const payload = packet(arpFrame(remoteArp, 9), msmFrame(1074, steady * 1000, false, 9))
      bus.deliver({ topic: 'base/OTHER/drtk', payload, retain: false })
    }
    const reached = base.receiver.corrections.length > steady
    steady = base.receiver.corrections.length
    base.fixName = reached ? 'rtk-fixed' : '3d'
    base.acc_m = reached ? 0.014 : 1.2
    base.truth = offsetEnu(truth, { east: remote.step_m, north: 0, up: 0 })
    plain()
  }
  return Object.assign(rig, { remote })
}

t.test('a corrected survey-in', { skip: gateOnly }, async (t) => {
  t.test('with a base 12 km away ends within accuracy_corr_dyn', async (t) => {
    const rig = await corrected(t, { changes: { 'gnss-survey-mintime': 60 } })
    await rig.until(() => rig.state() === 'survey', 60)
    t.equal(rig.field('state.want_corr'), 1)
    await rig.until(() => rig.field('ref.survey.state') === 'complete', 300)
    const survey = rig.field('ref.survey') as Record<string, unknown>
    t.match(survey, {
      corr: true,
      accuracy_corr_dyn: 0.042,
      acc: survey.acc_corr,
      rtcm: { remote: 'mqtt base/OTHER/drtk', dist: 12_000 },
    })
    t.ok((survey.acc as number) <= 0.042 && (survey.acc as number) >= 0.017, `${String(survey.acc)} m`)
    t.ok(distance(survey as never, home) < 0.05)
    const { count } = survey as { count: number }
    t.ok(count >= 35 && count < 240, `${count} epochs: the first 30 s of each of three fixes do not count`)
    t.match(rig.field('state.recvrtcm'), { remote: 'mqtt base/OTHER/drtk', dist: 12_000 })
    t.equal(rig.base.receiver.corrections[0].length, packet(arpFrame(remoteArp, 9), msmFrame(1074, 0, false, 9)).length)
    await rig.until(() => rig.arps().length > 0, 40)
    t.equal(rig.field('state.want_corr'), 0)
    const positions = (await rig.station.request('/positions')).json()
    t.match(positions, { entries: [{ provenance: 'rtk-averaged', source: 'mqtt base/OTHER/drtk' }] })
  })

  t.test('is aborted with the reason when corrections stop for 10 min, and does not become a plain one', async (t) => {
    const rig = await corrected(t, { changes: { 'gnss-survey-mintime': 3600 } })
    await rig.until(() => (rig.field('ref.survey.count') as number) > 10, 120)
    rig.remote.flows = false
    const seconds = await rig.until(() => rig.field('ref.survey.state') === 'aborted', 700)
    t.ok(seconds >= 595 && seconds <= 615, `${seconds} s`)
    t.match(rig.errors(), [
      /^the survey-in is aborted: no corrections were received for 10 min; .*no RTCM is sent; start-survey-in starts a new one$/,
    ])
    await rig.seconds(600)
    t.equal(rig.sent.length, 0)
    t.equal(rig.field('ref.survey.state'), 'aborted')
    await rig.station.stop()
    const after = await setUp(t, { receiver: rig.base, store: rig.store, changes: { 'gnss-survey-mintime': 10 } })
    await after.until(() => after.state() === 'survey', 60)
    await after.seconds(60)
    t.match(after.field('ref.survey'), { state: 'running', corr: true, count: 0 }, 'not after a restart either')
  })

  t.test('begins its averaging anew after a step of 5 cm, drops single wild epochs, follows a drift', async (t) => {
    const rig = await corrected(t, { changes: { 'gnss-survey-mintime': 600 } })
    await rig.until(() => (rig.field('ref.survey.count') as number) > 100, 200)
    // The fix steps, not the antenna: no carrier phase shows it.
    rig.base.observes = false
    rig.remote.step_m = 0.2
    await rig.seconds(1)
    rig.remote.step_m = 0
    const before = rig.field('ref.survey.count') as number
    await rig.seconds(2)
    t.equal(rig.field('ref.survey.count'), before + 2, 'a single one is dropped')
    for (let i = 0; i < 100; i++) {
      rig.remote.step_m += 0.001
      await rig.seconds(1)
    }
    t.ok((rig.field('ref.survey.count') as number) > before + 95, 'a drift is averaged')
    rig.remote.step_m += 0.2
    await rig.seconds(3)
    t.equal(rig.field('ref.survey.count'), 1)
    t.ok((rig.field('ref.survey.elapsed') as number) <= 2)
  })

  t.test('is what rtcmin=1 makes of it even before corrections come; a wrong value is refused', async (t) => {
    const rig = await corrected(t, { changes: { 'gnss-survey-mintime': 30 } })
    rig.remote.flows = false
    t.match(await rig.command('rtcmin=2'), { status: 400, text: /0, 1 or auto/ })
    t.match(await rig.command('rtcmin=toString'), { status: 400 })
    t.match(await rig.command('rtcmin'), { status: 400 })
    t.match(await rig.command('rtcmin=1'), { status: 200 })
    await rig.until(() => rig.state() === 'survey', 60)
    await rig.seconds(100)
    t.match(rig.field('ref.survey'), { state: 'running', corr: true, count: 0 })
    rig.remote.flows = true
    await rig.until(() => rig.field('ref.survey.state') === 'complete', 400)
    await rig.until(() => rig.arps().length > 0, 20)
    const taken = rig.base.receiver.corrections.length
    await rig.seconds(3)
    t.ok(rig.base.receiver.corrections.length > taken, 'taken as a base too')
    await rig.station.reload('rtcm-in')
    await rig.seconds(3)
    t.ok((rig.field('state.recvrtcm.count') as number) > 0)
    t.equal(rig.field('state.want_corr'), 1, 'forced on')
    t.match(await rig.command('rtcmin=auto'), { status: 200 })
    t.equal(rig.field('state.want_corr'), 0, 'a base wants none')
    const last = rig.base.receiver.corrections.length
    await rig.seconds(3)
    t.ok(rig.base.receiver.corrections.length <= last + 1)
  })

  t.test('rtcmin=0 forces the input off, rtcmin=auto leaves it to the procedure; neither is stored', async (t) => {
    const rig = await corrected(t, { changes: { 'gnss-survey-mintime': 30 } })
    t.match(await rig.command('rtcmin=0'), { status: 200, text: /no corrections/ })
    await rig.until(() => rig.state() === 'initial', 30)
    await rig.seconds(5)
    t.equal(rig.field('state.want_corr'), 0)
    t.equal(rig.base.receiver.corrections.length, 0)
    await rig.station.reload('rtcm-in')
    await rig.until(() => rig.field('ref.survey.state') === 'complete', 200)
    t.match(rig.field('ref.survey'), { corr: false })
    t.equal(rig.base.receiver.corrections.length, 0, 'after a reload too')
    await rig.command('rtcmin=auto')
    t.match(await rig.command('start-survey-in'), { status: 200 })
    await rig.until(() => rig.field('state.want_corr') === 1, 60)
    await rig.seconds(5)
    t.ok(rig.base.receiver.corrections.length > 0)
  })

  t.test('holds the next start against the closer limit', async (t) => {
    const rig = await corrected(t, { changes: { 'gnss-survey-mintime': 60 } })
    await rig.until(() => rig.arps().length > 0, 300)
    await rig.station.stop()
    rig.base.restart()
    rig.base.truth = offsetEnu(home, { east: 1, north: 0, up: 0 })
    const after = await corrected(t, { receiver: rig.base, store: rig.store, changes: { 'gnss-survey-mintime': 60 } })
    await after.until(() => after.state() === 'survey', 120)
    t.match(after.errors(), [/^reference moved by E \+1\.0/])
  })
})

t.test('a plain survey-in that runs takes no corrections', async (t) => {
  const rig = await corrected(t, { changes: { 'gnss-survey-mintime': 100, 'gnss-survey-accuracy': 5 } })
  rig.remote.flows = false
  await rig.until(() => rig.state() === 'survey', 60)
  rig.remote.flows = true
  await rig.seconds(30)
  t.equal(rig.base.receiver.corrections.length, 0)
  t.match(rig.field('ref.survey'), { corr: false, accuracy_corr_dyn: 0 })
})

t.test(
  'corrections that come by another port of the receiver, of a base that is wrong by 8 m',
  { skip: gateOnly },
  async (t) => {
    const byPort = (t: Test, second: boolean, more: RigOptions = {}) => {
      const base = more.receiver ?? new FakeBase(new ManualClock())
      Object.assign(base, { fixName: 'rtk-fixed', acc_m: 0.014, baseError_m: 8, second })
      return setUp(t, { receiver: base, plugins: { 'rtcm-in': rtcmIn as unknown as Definition }, ...more })
    }

    t.test('a plain survey-in takes the second solution instead', async (t) => {
      const rig = await byPort(t, true)
      await rig.until(() => rig.arps().length > 0, 200)
      const survey = rig.field('ref.survey') as Ecef & { acc: number }
      t.match(survey, { state: 'complete', corr: false })
      const error_m = distance(rig.arps()[0] as Ecef, home)
      t.ok(error_m < 3, `${error_m} m`)
      t.strictSame(rig.errors(), [])
    })

    t.test('without one no epoch counts, which is reported; the survey-in continues when they end', async (t) => {
      const rig = await byPort(t, false)
      await rig.until(() => rig.state() === 'survey', 60)
      await rig.until(() => rig.errors().length > 0, 310)
      t.match(rig.errors(), [/^the survey-in without corrections gets no position: .* another of its ports/])
      t.match(rig.field('ref.survey'), { state: 'running', corr: false, count: 0 })
      Object.assign(rig.base, { fixName: '3d', acc_m: 1.2 })
      await rig.until(() => rig.arps().length > 0, 100)
      t.ok(distance(rig.arps()[0] as Ecef, home) < 3)
      t.strictSame(rig.errors(), [])
    })

    t.test('they begin in the middle of a survey-in without corrections: its epochs are kept', async (t) => {
      const rig = await setUp(t, { changes: { ...quick, 'gnss-survey-mintime': 200 } })
      await rig.until(() => (rig.field('ref.survey.count') as number) === 100, 200)
      Object.assign(rig.base, { fixName: 'rtk-fixed', acc_m: 0.014, baseError_m: 8 })
      await rig.seconds(60)
      t.equal(rig.field('ref.survey.count'), 100)
      Object.assign(rig.base, { fixName: '3d', acc_m: 1.2 })
      await rig.until(() => rig.arps().length > 0, 300)
      t.ok(distance(rig.arps()[0] as Ecef, home) < 3)
    })

    t.test('with nothing else to go by, the start-up check waits 10 min, and names them', async (t) => {
      const rig = await setUp(t)
      await rig.until(() => rig.state() === 'fixed', 200)
      await rig.station.stop()
      rig.base.restart()
      const after = await byPort(t, false, { receiver: rig.base, store: rig.store })
      await after.until(() => after.errors().length > 0, 60)
      t.match(after.errors(), [/awaited.*; this position rests on corrections that come by a port of the receiver/])
      t.ok((await after.until(() => after.state() === 'survey', 620)) > 550)
      t.match(after.errors()[0], /^reference moved by E \+[78]\.\d .*; this position rests on corrections/)
      t.equal(after.sent.length, 0)
    })
  },
)

t.test('what a broker kept is of any age, and is not taken', async (t) => {
  const rig = await corrected(t, { changes: { 'gnss-survey-mintime': 100 } })
  rig.remote.flows = false
  await rig.until(() => rig.state() === 'initial', 30)
  const payload = packet(arpFrame(remoteArp, 9), msmFrame(1074, 0, false, 9))
  const taken = () => rig.field('state.recvrtcm.packets')
  rig.bus().deliver({ topic: 'base/OTHER/drtk', payload, retain: true })
  t.equal(taken(), 0)
  rig.bus().deliver({ topic: 'base/OTHER/drtk', payload, retain: false })
  t.equal(taken(), 1)
})

t.test('over UDP', async (t) => {
  const port = await freeUdpPort()
  const rig = await setUp(t, {
    changes: { 'gnss-survey-mintime': 3600, 'udp-port': port },
    plugins: {
      'udp-rtcm': [udpRtcm as unknown as Definition, { host: '127.0.0.1' }],
      'rtcm-in': [rtcmIn as unknown as Definition, {}],
    },
  })
  await rig.until(() => rig.state() === 'initial', 20)
  const senders = [createSocket('udp4'), createSocket('udp4')]
  for (const sender of senders) {
    sender.bind(0, '127.0.0.1')
    await once(sender, 'listening')
    t.teardown(() => sender.close())
  }
  const [one, two] = senders
  t.match(await rig.command('rtcmin=1'), { status: 200 })
  const frames = [arpFrame(remoteArp, 9), msmFrame(1074, 1, true, 9), msmFrame(1084, 1, false, 9)]
  for (const frame of frames) one.send(frame, port, '127.0.0.1')
  await until(() => rig.field('state.recvrtcm.count') === 3, 'three datagrams')
  two.send(frames[0], port, '127.0.0.1')
  one.send(Buffer.from([0xd3, 0, 1, 2, 3, 4, 5]), port, '127.0.0.1')
  one.send(frames[1], port, '127.0.0.1')
  await until(() => rig.field('state.recvrtcm.count') === 4, 'the first source goes on')
  await rig.clock.advance(100)
  const received = Buffer.concat(rig.base.receiver.corrections)
  t.strictSame(received, Buffer.concat([...frames, frames[1]]), 'whole frames, those of the first source alone')
  t.match(rig.field('state.recvrtcm'), { packets: 4, remote: `udp 127.0.0.1:${one.address().port}` })
  t.ok(Math.abs((rig.field('state.recvrtcm.dist') as number) - 12_000) < 5)
  t.equal((rig.field('rtcm.subscribers') as unknown[]).length, 1, 'nobody subscribed by sending RTCM')
})

t.test(
  'frames reach the receiver epoch by epoch, at a rate that it can take; what it rejects is told once',
  async (t) => {
    const sent: Buffer[] = []
    const told: boolean[] = []
    const self = { takes: true, now_ms: 0, due: [] as (() => void)[] }
    const forwarder = new Forwarder({
      now_ms: () => self.now_ms,
      after: (_ms, fn) => {
        self.due.push(fn)
        return () => undefined
      },
      send: (frames) => {
        if (self.takes) sent.push(Buffer.from(frames))
        return self.takes
      },
      changed: (taken) => told.push(taken),
    })
    const pass = (ms: number) => {
      for (let left_ms = ms; left_ms > 0; left_ms -= 50) {
        self.now_ms += 50
        for (const fn of self.due.splice(0)) fn()
      }
    }
    const epoch = (time: number) => [arpFrame(home), msmFrame(1074, time, true, 9), msmFrame(1084, time, false, 9)]
    for (const frame of epoch(1_000)) forwarder.push(frame)
    t.strictSame(sent, [])
    pass(50)
    t.strictSame(sent, [Buffer.concat(epoch(1_000))])
    // A thousand epochs at once: the newest ones of them alone.
    for (let n = 2; n <= 1_000; n++) for (const frame of epoch(n * 1_000)) forwarder.push(frame)
    pass(10_000)
    const bytes = Buffer.concat(sent).length
    t.ok(bytes <= 2 * receiverInputRate.burst_bytes + epoch(1)[0].length, `${bytes} bytes`)
    t.strictSame(sent.at(-1), Buffer.concat(epoch(1_000_000)), 'the newest')
    for (const batch of sent) t.equal(batch.length, sent[0].length, 'whole epochs')
    const before = Buffer.concat(sent).length
    for (let second = 0; second < 20; second++) {
      for (let n = 0; n < 200; n++) for (const frame of epoch(n * 1_000)) forwarder.push(frame)
      pass(1_000)
    }
    const rate = (Buffer.concat(sent).length - before - receiverInputRate.burst_bytes) / 20
    t.ok(rate <= receiverInputRate.bytes_s * 1.05, `${rate} bytes a second`)
    self.takes = false
    for (const frame of epoch(1)) forwarder.push(frame)
    pass(10_000)
    self.takes = true
    for (const frame of epoch(1)) forwarder.push(frame)
    pass(10_000)
    t.strictSame(told, [false, true])
  },
)

t.test('the topic of the station itself is refused', async (t) => {
  const rig = await setUp(t, {
    plugins: { 'rtcm-in': [rtcmIn as unknown as Definition, { topic: 'base/TEST0001/drtk' }] },
  })
  t.ok(rig.station.lines.some(({ msg }) => /the option topic names this station itself/.test(msg)))
})

t.test('stands start, stop, start and leaves nothing behind', async (t) => {
  const base = new FakeBase((await setUp(t)).clock)
  await conformance(rtcmIn as unknown as Definition, {}, { plugins: { 'fake-receiver': base.receiver.definition } })
  t.pass('conforms')
})
