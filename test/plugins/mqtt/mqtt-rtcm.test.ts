import { verify, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { definePlugin } from 'rtk-base/plugin'
import type { RtcmSignature } from 'rtk-base/schemas'
import {
  type GateReason,
  type MqttDriver,
  type MqttLink,
  mqttLink,
  type RtcmEpoch,
  type RtcmFrame,
  type RtcmStream,
  rtcmStream,
} from 'rtk-base/services'
import {
  arpFrame,
  conformance,
  createTestStation,
  fakeReceiver,
  ManualClock,
  msmFrame,
  partOf,
  until,
} from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { Identity } from '../../../plugins/mqtt/mqtt-link/identity/identity.js'
import { Epochs } from '../../../plugins/mqtt/mqtt-rtcm/epochs.js'
import rtcm from '../../../plugins/mqtt/mqtt-rtcm/index.js'
import { PublishPace } from '../../../plugins/mqtt/mqtt-rtcm/publisher.js'
import { block } from '../../../plugins/mqtt/mqtt-rtcm/sequence.js'
import rtcmStation from '../../../plugins/rtcm/rtcm/index.js'
import { isEphemeris, messageNumber, signedBytes } from '../../../runtime/lib/gnss/index.js'
import { roughness, Streams } from '../../harness/baseline-streams.js'
import { settled } from '../../harness/drive.js'
import { MemoryStore } from '../../harness/memory-store.js'
import { isUp, sn, startBroker, startLinkStation } from '../../harness/peers/brokers.js'
import { createAuthority, openssl } from '../../harness/peers/certificates.js'
import { noPeer } from '../../harness/peers/peers.js'

const topic = `base/${sn}/drtk`
const frame = (type: number, ...bytes: number[]): RtcmFrame => ({ type, bytes: Uint8Array.from(bytes), arrival_ms: 0 })

/** A gated stream that does what a test says. */
function fakeStream() {
  const listeners = new Set<(epoch: RtcmEpoch) => void>()
  const states = new Set<(state: { open: boolean; reason: GateReason | undefined }) => void>()
  let isOpen = true
  const stream = {
    get open() {
      return isOpen
    },
    set open(open: boolean) {
      isOpen = open
      for (const fn of states) fn({ open, reason: undefined })
    },
    onState: (fn: (state: { open: boolean; reason: GateReason | undefined }) => void) => {
      states.add(fn)
      return () => void states.delete(fn)
    },
    flows: true,
    reason: undefined as GateReason | undefined,
    reference: () => [frame(1005, 5)],
    onEpoch: (fn: (epoch: RtcmEpoch) => void) => {
      listeners.add(fn)
      return () => void listeners.delete(fn)
    },
    list: () => ({ touch: () => {}, close: () => {} }),
  }
  const definition = definePlugin({
    name: 'source',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [rtcmStream],
    setup: (ctx) => ctx.services.provide(rtcmStream, partOf(rtcmStream, stream as Partial<RtcmStream>)),
  })
  const epoch = (n: number, complete = true) => {
    for (const fn of listeners) fn({ complete, time: n, satellites: 0, frames: [frame(1074, n), frame(1084, n)] })
  }
  return { stream, definition: definition as never, epoch }
}

t.test('without signatures', async (t) => {
  const { stream, definition, epoch } = fakeStream()
  const broker = await startBroker(t)
  const plugins = { source: definition, 'mqtt-rtcm': rtcm as never }
  const station = await startLinkStation(t, broker.port, {}, { plugins })
  await until(() => broker.texts('info').length === 1, 'the first document')
  const published = async () => {
    // What comes over the same connection before this document came before it.
    const before = broker.texts('info').length
    await broker.observer.publishAsync(`base/${sn}/info/get`, '', { qos: 1 })
    await until(() => broker.texts('info').length > before, 'the document')
    return broker.seen.filter((one) => one.topic === topic).map(({ payload }) => [...payload])
  }
  const change = (values: Record<string, unknown>) => station.station.change(values, { source: 'http' })

  t.test('each epoch with the reference in front of it, as it comes; nothing without a new one', async (t) => {
    epoch(1)
    t.same(await published(), [[5, 1, 1]])
    await station.clock.advance(1_000)
    epoch(2)
    t.same(await published(), [
      [5, 1, 1],
      [5, 2, 2],
    ])
    t.match(station.field('mqtt.rtcm'), { enabled: true, active: true, topic, rate: 1, sign: false })
    await station.clock.advance(5_000)
    t.equal((await published()).length, 2)
    t.equal(station.field('mqtt.rtcm.active'), true, 'P1: the next epoch may come later than the next publication')
    stream.flows = false
    t.equal(station.field('mqtt.rtcm.active'), false)
    stream.flows = true
  })

  t.test('several epochs a second: the newest, once a second', async (t) => {
    const before = (await published()).length
    for (let n = 10; n < 60; n++) {
      epoch(n)
      await station.clock.advance(200)
    }
    const payloads = (await published()).slice(before)
    t.ok(payloads.length >= 10 && payloads.length <= 11, `${payloads.length} in 10 s`)
  })

  t.test('mqtt-rtcm-rate holds at once', async (t) => {
    await station.clock.advance(1_000)
    await change({ 'mqtt-rtcm-rate': 10 })
    const before = (await published()).length
    for (let n = 0; n < 30; n++) {
      epoch(n)
      await station.clock.advance(1_000)
    }
    const made = (await published()).length - before
    t.ok(made >= 2 && made <= 3, `${made} in 30 s`)
    await change({ 'mqtt-rtcm-rate': 1 })
    await station.clock.advance(1_000)
    epoch(99)
    t.same((await published()).at(-1), [5, 99, 99], 'the next epoch does not wait for the 10 s')
    t.match(await change({ 'mqtt-rtcm-rate': 0 }), { result: 'failed' })
  })

  t.test(
    'nothing goes out while the gate is closed, forced or not, nor what was measured before it closed',
    async (t) => {
      await station.clock.advance(1_000)
      const before = (await published()).length
      stream.open = false
      stream.reason = { code: 'moved', text: 'the antenna moved' }
      epoch(7)
      await station.clock.advance(3_000)
      t.match(await station.station.command('rtcm-mqtt-force', { source: 'http' }), {
        status: 503,
        text: /the antenna moved/,
      })
      stream.open = true
      await station.clock.advance(3_000)
      t.equal((await published()).length, before)
      t.match(await station.station.command('rtcm-mqtt-force', { source: 'http' }), { status: 503, text: /no epoch/ })
      epoch(8)
      t.match(await station.station.command('rtcm-mqtt-force', { source: 'http' }), { status: 200 })
      t.same((await published()).slice(before), [
        [5, 8, 8],
        [5, 8, 8],
      ])
    },
  )

  t.test('signing is refused while there is nothing to sign with', async (t) => {
    t.match(await change({ 'mqtt-rtcm-sign': 1 }), {
      result: 'failed',
      errors: [{ name: 'mqtt-rtcm-sign', message: /needs a certificate/ }],
    })
    t.match(await change({ 'mqtt-rtcm-sign': 0 }), { result: 'ok' })
  })

  t.test('mqtt-en 0: not enabled; without a link the command says so', async (t) => {
    await change({ 'mqtt-en': 0 })
    t.match(station.field('mqtt.rtcm'), { enabled: false })
    await change({ 'mqtt-en': 1 })
    await until(isUp(station), 'up')
    await station.unload('mqtt-link')
    epoch(9)
    t.match(await station.station.command('rtcm-mqtt-force', { source: 'http' }), { status: 503, text: /link is down/ })
    t.match(station.field('mqtt.rtcm'), { enabled: false, active: Boolean })
  })
})

t.test('the topic is one of gnss.rtcm.subscribers while its publications reach the broker', async (t) => {
  const clock = new ManualClock()
  const receiver = fakeReceiver(() => clock.monotonic())
  const broker = await startBroker(t)
  const plugins = { 'fake-receiver': receiver.definition, rtcm: rtcmStation as never, 'mqtt-rtcm': rtcm as never }
  const station = await startLinkStation(t, broker.port, {}, { clock, plugins })
  const subscribers = () => station.field('gnss.rtcm.subscribers')
  const epoch = (n: number) => {
    receiver.emit(arpFrame({ x: 4_075_580, y: 931_854, z: 4_801_568 }))
    receiver.emit(msmFrame(1074, n * 1_000, false))
  }
  await until(isUp(station), 'up')
  t.same(subscribers(), [], 'not before the first publication')
  epoch(1)
  await until(() => broker.texts('drtk').length === 1, 'a publication')
  t.same(subscribers(), [{ via: 'mqtt', name: topic, seen: 0, ip: '127.0.0.1' }])
  await station.clock.advance(2_500)
  t.match(subscribers(), [{ name: topic, seen: 2.5 }])
  epoch(2)
  t.match(subscribers(), [{ name: topic, seen: 0 }])
  await station.reload('mqtt-rtcm')
  t.same(subscribers(), [], 'gone with its plugin')
  await station.clock.advance(1_000)
  epoch(3)
  t.match(subscribers(), [{ name: topic, seen: 0 }])
  await station.station.change({ 'mqtt-en': 0 }, { source: 'http' })
  await station.clock.advance(1_000)
  epoch(4)
  t.same(subscribers(), [], 'gone with the link')
})

t.test('an incomplete epoch is left out, unless the receiver never completes one', (t) => {
  const epochs = new Epochs({ open: true, reference: () => [frame(1005, 5)] })
  const add = (n: number, complete: boolean) =>
    epochs.onEpoch({ complete, time: n, satellites: 0, frames: [frame(1074, n)] })
  add(1, true)
  add(2, false)
  t.same([...(epochs.payload() ?? [])], [5, 1])
  for (let n = 3; n < 20; n++) add(n, false)
  t.same([...(epochs.payload() ?? [])], [5, 19])
  t.end()
})

t.test('the pace', async (t) => {
  /** Plays epochs, and returns when each publication went out and which epoch it had. */
  const play = (comes_ms: readonly number[], rate_s: number) => {
    const pace = new PublishPace()
    const out: { at_ms: number; epoch_ms: number }[] = []
    let due: { at_ms: number; wait_ms: number; epoch_ms: number } | undefined
    const publish = (at_ms: number, epoch_ms: number, waited_ms: number) => {
      out.push({ at_ms, epoch_ms })
      pace.published(at_ms, rate_s, waited_ms)
      due = undefined
    }
    for (const now_ms of [...comes_ms, Number.POSITIVE_INFINITY]) {
      if (due !== undefined && due.at_ms <= now_ms) publish(due.at_ms, due.epoch_ms, due.wait_ms)
      if (!Number.isFinite(now_ms)) break
      const wait_ms = pace.wait_ms(now_ms, rate_s)
      if (wait_ms <= 0) publish(now_ms, now_ms, 0)
      else due = { at_ms: now_ms + wait_ms, wait_ms, epoch_ms: now_ms }
    }
    return out
  }
  const every = (ms: number, count: number) => Array.from({ length: count }, (_, n) => n * ms)

  t.test('at 1 Hz nothing waits, whatever the jitter below 100 ms', async () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 49 }), { minLength: 2, maxLength: 100 }), (jitter) => {
        const out = play(
          jitter.map((late, n) => n * 1_000 + late),
          1,
        )
        return out.length === jitter.length && out.every(({ at_ms, epoch_ms }) => at_ms === epoch_ms)
      }),
    )
  })

  t.test('what a late epoch put out of step is made good within ten publications', (t) => {
    const comes = every(1_000, 30).map((ms, n) => (n === 5 ? ms + 900 : ms))
    const out = play(comes, 1)
    t.ok(out.slice(18).every(({ at_ms, epoch_ms }) => at_ms === epoch_ms))
    t.ok(out.length >= 29, `${out.length} of 30`)
    t.end()
  })

  t.test('at 10 Hz the rate is kept', (t) => {
    for (const rate_s of [1, 2, 7]) {
      const out = play(every(100, 1_000), rate_s)
      t.ok(Math.abs(out.length - 100 / rate_s) <= 2, `${out.length} at rate ${rate_s}`)
    }
    t.end()
  })
})

/** A station whose link is whatever the test says: signatures need no broker. */
async function signingStation(
  t: Test,
  { store = new MemoryStore(), version = 4 as 4 | 5, clock = new ManualClock() } = {},
) {
  const authority = createAuthority(join(t.testdir(), 'pki'))
  const files = authority.issue('device', `/CN=${sn}`, 'extendedKeyUsage=clientAuth\n')
  const cert = readFileSync(files.cert, 'utf8')
  const identity = new Identity({ cert, key: readFileSync(files.key, 'utf8') })
  const link = {
    enabled: true,
    up: true,
    version,
    certificate: cert as string | undefined,
    sign: (data: Uint8Array) => identity.sign(data),
  }
  const sent: { topic: string; payload: Buffer; retain: boolean; properties: Record<string, string> | undefined }[] = []
  const room = { bytes: Number.POSITIVE_INFINITY }
  const linkPlugin = definePlugin({
    name: 'link',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [mqttLink],
    setup: (ctx) => ctx.services.provide(mqttLink, link as unknown as MqttLink),
  })
  const { mqttBus } = await import('rtk-base/services')
  const driver = definePlugin({
    name: 'driver',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [mqttBus],
    setup: () => {},
    start(ctx) {
      const attach = {
        publish: (
          to: string,
          payload: string | Uint8Array,
          { retain, properties, followedBy }: Parameters<MqttDriver['publish']>[2],
        ) => {
          const both = [{ topic: to, payload }, ...(followedBy ? [followedBy] : [])]
          if (both.reduce((bytes, one) => bytes + one.payload.length, 0) > room.bytes) return 'full' as const
          for (const one of both)
            sent.push({
              topic: one.topic,
              payload: Buffer.from(one.payload as Uint8Array),
              retain,
              properties: properties?.userProperties,
            })
          return 'sent' as const
        },
        subscribe: () => {},
      }
      ctx.defer(ctx.services.use(mqttBus).attach(attach))
    },
  })
  const { stream, definition, epoch } = fakeStream()
  const station = await createTestStation({
    store,
    clock,
    plugins: { link: linkPlugin as never, driver: driver as never, source: definition, 'mqtt-rtcm': rtcm as never },
    variant: { changes: { 'mqtt-rtcm-sign': 1 } },
  })
  t.teardown(() => station.stop())
  const signed = () => sent.filter((one) => one.topic === topic)
  const next = async (n: number) => {
    const before = signed().length
    await station.clock.advance(1_000)
    epoch(n)
    await until(() => signed().length > before, 'a publication')
  }
  const signatures = () =>
    version === 5
      ? signed().map(({ properties }) => properties as unknown as RtcmSignature)
      : sent
          .filter((one) => one.topic === `${topic}/sig`)
          .map(({ payload }) => JSON.parse(payload.toString()) as RtcmSignature)
  return { station, stream, epoch, next, sent, signed, signatures, link, cert, store, room }
}

const skip = noPeer('openssl')
t.test('S4: on MQTT 3.1.1 there is no RTCM without its signature', skip ? { skip } : {}, async (t) => {
  const { epoch, next, sent, room, station } = await signingStation(t, { version: 4 })
  await next(1)
  const counts = () => [topic, `${topic}/sig`].map((one) => sent.filter((message) => message.topic === one).length)
  const before = counts()
  const rtcm = sent.find((message) => message.topic === topic)
  // Room for the RTCM, and not for the signature behind it.
  room.bytes = (rtcm?.payload.length ?? 0) + 10
  await station.clock.advance(1_000)
  epoch(2)
  await settled()
  t.same(counts(), before)
  room.bytes = Number.POSITIVE_INFINITY
  await next(3)
  t.same(
    counts(),
    before.map((count) => count + 1),
  )
})

t.test('signed', skip ? { skip } : {}, async (t) => {
  const check = (cert: string, signature: RtcmSignature, payload: Buffer) =>
    verify(
      'sha256',
      signedBytes(topic, Number(signature['sig-seq']), Number(signature['sig-time']), payload),
      new X509Certificate(cert).publicKey,
      Buffer.from(signature.sig, 'base64'),
    )

  for (const version of [4, 5] as const) {
    t.test(`MQTT ${version === 4 ? '3.1.1: as JSON beside it' : '5: as user properties'}`, async (t) => {
      const { next, signed, signatures, cert, sent, station } = await signingStation(t, { version })
      for (let n = 1; n <= 3; n++) await next(n)
      t.same(signatures().length, 3)
      for (const [index, signature] of signatures().entries()) {
        const payload = signed()[index]?.payload ?? Buffer.alloc(0)
        t.same([...payload], [5, index + 1, index + 1], 'plain RTCM')
        t.ok(check(cert, signature, payload))
        t.notOk(check(cert, signature, Buffer.concat([payload, Buffer.from([0])])))
        t.equal(signature['sig-cert'], new X509Certificate(cert).serialNumber)
        t.equal(signature['sig-alg'], 'ECDSA-SHA256')
      }
      const [a, b, c] = signatures().map((one) => Number(one['sig-seq'])) as [number, number, number]
      t.same([b - a, c - b], [1, 1])
      t.equal(a, station.clock.now() - 2_000, 'begins at the time')
      t.same(
        sent.filter((one) => one.topic === `${topic}/cert`).map(({ payload, retain }) => [payload.toString(), retain]),
        [[cert, true]],
      )
      await station.station.change({ 'mqtt-rtcm-sign': 0 }, { source: 'http' })
      t.same(
        sent.filter((one) => one.topic === `${topic}/cert`).map(({ payload, retain }) => [payload.toString(), retain]),
        [
          [cert, true],
          ['', true],
        ],
        'without signatures the retained certificate is deleted',
      )
    })
  }

  t.test('what openssl says: the layout is the documented one', async (t) => {
    const { next, signed, signatures, cert } = await signingStation(t)
    await next(1)
    const folder = t.testdir({ 'cert.pem': cert })
    const { writeFileSync } = await import('node:fs')
    const signature = signatures()[0] as RtcmSignature
    const numbers = Buffer.alloc(16)
    numbers.writeBigUInt64BE(BigInt(signature['sig-seq']), 0)
    numbers.writeBigUInt64BE(BigInt(signature['sig-time']), 8)
    const file = (name: string) => join(folder, name)
    writeFileSync(file('data'), Buffer.concat([Buffer.from(`${topic}\0`), numbers, signed()[0]?.payload as Buffer]))
    writeFileSync(file('sig'), Buffer.from(signature.sig, 'base64'))
    writeFileSync(file('key.pem'), openssl('x509', '-in', file('cert.pem'), '-noout', '-pubkey'))
    const answer = openssl('dgst', '-sha256', '-verify', file('key.pem'), '-signature', file('sig'), file('data'))
    t.match(answer.toString(), 'Verified OK')
  })

  t.test('the sequence does not fall: not after a restart, not with an earlier clock, not without one', async (t) => {
    const store = new MemoryStore()
    const run = async (utc_ms: number) => {
      const { station, next, signatures } = await signingStation(t, { store, clock: new ManualClock(utc_ms) })
      for (let n = 1; n <= 3; n++) await next(n)
      await station.reload('mqtt-rtcm')
      await next(4)
      const numbers = signatures().map((one) => Number(one['sig-seq']))
      await station.stop()
      return numbers
    }
    const first = await run(Date.UTC(2026, 10, 21))
    const second = await run(Date.UTC(2026, 9, 1))
    const third = await run(0)
    const fourth = await run(Date.UTC(2026, 10, 22))
    const all = [...first, ...second, ...third, ...fourth]
    t.same(
      all,
      [...all].sort((a, b) => a - b),
    )
    t.equal(new Set(all).size, all.length)
    t.same(
      first.map((n) => n - (first[0] as number)),
      [0, 1, 2, 3],
      'a reload leaves no gap',
    )
    t.equal(second[0], (first[0] as number) + block, 'what was reserved may have been used')
  })

  t.test('a store that takes no writes ends it before a number could come twice, and says so', async (t) => {
    const store = new MemoryStore()
    const { station, next, epoch, signed } = await signingStation(t, { store })
    store.failure = 'disk full'
    epoch(1)
    await until(() => station.device.errors().some(({ code }) => code === 'mqtt-rtcm-sign'), 'the error')
    t.equal(signed().length, 0)
    t.match(await station.station.command('rtcm-mqtt-force', { source: 'http' }), {
      status: 503,
      text: /cannot be signed/,
    })
    store.failure = undefined
    await next(2)
    t.same(station.device.errors(), [])
  })

  t.test('nothing goes out unsigned: without a certificate there is an error instead', async (t) => {
    const { station, link, epoch, sent } = await signingStation(t)
    link.sign = () => Promise.reject(new Error('there is no certificate'))
    link.certificate = undefined
    epoch(1)
    await until(() => station.device.errors().some(({ code }) => code === 'mqtt-rtcm-sign'), 'the error')
    t.same(
      sent.filter((one) => one.topic === topic),
      [],
    )
  })

  t.test('a gate that closes while it is being signed holds it back', async (t) => {
    const { station, stream, link, epoch, signed } = await signingStation(t)
    const { sign } = link
    let done = false
    let opensAgain = true
    link.sign = async (data) => {
      stream.open = false
      if (opensAgain) {
        stream.open = true
        epoch(2)
      }
      const signature = await sign(data)
      done = true
      return signature
    }
    epoch(1)
    await until(() => done, 'the signature')
    await settled()
    t.same(signed(), [], 'S4: another reference goes out by now')
    opensAgain = false
    done = false
    await station.clock.advance(1_000)
    epoch(3)
    await until(() => done, 'the signature')
    await station.clock.advance(1_000)
    const answer = await station.station.command('rtcm-mqtt-force', { source: 'http' })
    t.equal(answer.status, 503)
    t.same(signed(), [])
  })
})

t.test('conformance', async (t) => {
  const { definition } = fakeStream()
  await t.resolves(conformance(rtcm as never, {}, { plugins: { source: definition } }))
})

t.test('ephemerides follow a publication, every ten minutes and at each connect', async (t) => {
  const begin_ms = Date.UTC(2026, 5, 1, 12)
  const clock = new ManualClock(begin_ms)
  const receiver = fakeReceiver(() => clock.monotonic())
  const broker = await startBroker(t)
  const plugins = { 'fake-receiver': receiver.definition, rtcm: rtcmStation as never, 'mqtt-rtcm': rtcm as never }
  const station = await startLinkStation(t, broker.port, {}, { clock, plugins })
  await until(isUp(station), 'up')
  const place = { lat: 52, lon: 4.5, alt: 40 }
  const sky = new Streams({ seed: 1, from: place, to: { ...place, lat: 52.1 }, roughness: roughness.calm })
  const orbits = sky.epoch(begin_ms, 30).from.filter((frame) => isEphemeris(messageNumber(frame)))
  t.ok(orbits.length > 10)
  let n = 0
  const epoch = async () => {
    n += 1
    receiver.emit(arpFrame({ x: 4_075_580, y: 931_854, z: 4_801_568 }))
    receiver.emit(msmFrame(1074, n * 1_000, false))
    const before = broker.texts('drtk').length
    await clock.advance(1_000)
    await until(() => broker.texts('drtk').length > before, 'a publication')
  }
  const published = () => broker.seen.filter((one) => one.topic === `${topic}/eph`).map(({ payload }) => payload)
  await epoch()
  t.equal(published().length, 0, 'nothing before there are some')
  for (const frame of [...orbits, ...orbits, Uint8Array.of(0xd3, 0, 2, 0x3f, 0xb0)]) receiver.emit(frame)
  await epoch()
  await until(() => published().length === 1, 'ephemerides')
  t.equal(
    published()[0]?.length,
    orbits.reduce((sum, { length }) => sum + length, 0),
    'each satellite once',
  )
  /** In steps, as the broker answers in real time. */
  const minutes = async (count: number) => {
    for (let part = 0; part < 3 * count; part++) {
      await clock.advance(19_000)
      await epoch()
    }
  }
  await minutes(9)
  t.equal(published().length, 1)
  await minutes(2)
  t.equal(published().length, 2, 'ten minutes later')
  await minutes(70)
  t.ok(published().length <= 8, 'those that the receiver does not send any more are old')
  t.ok(published().length >= 6)
})
