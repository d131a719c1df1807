/** What a network and a broker do to a link, with a real broker: it recovers, or it explains itself. */
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import {
  arpFrame,
  createTestStation,
  fakeReceiver,
  gateOnly,
  ManualClock,
  msmFrame,
  sample,
  until,
} from 'rtk-base/testing'
import t, { type Test } from 'tap'
import api from '../../plugins/mqtt/mqtt-api/index.js'
import link from '../../plugins/mqtt/mqtt-link/index.js'
import mqttRtcm from '../../plugins/mqtt/mqtt-rtcm/index.js'
import rtcm from '../../plugins/rtcm/rtcm/index.js'
import { createAuthority, createPki } from '../harness/peers/certificates.js'
import {
  clientArguments,
  clientCertificates,
  mosquittoFor,
  publish,
  retained,
  subscribe,
} from '../harness/peers/mosquitto.js'
import { noPeer } from '../harness/peers/peers.js'
import { startTcpProxy } from '../harness/peers/tcp-proxy.js'
import type { TestStation, TestStationOptions } from '../harness/station.js'

const sn = 'TEST0001'
const skip = gateOnly || noPeer('mosquitto') || noPeer('mosquitto_sub') || noPeer('openssl')
const unless = skip ? { skip } : {}
const anonymous = ['allow_anonymous true']

async function start(
  t: Test,
  port: number,
  options: Record<string, unknown>,
  more: TestStationOptions = {},
): Promise<TestStation> {
  const station = await createTestStation({
    ...more,
    plugins: { 'mqtt-api': api as never, 'mqtt-link': [link, options] as never, ...more.plugins },
    variant: { changes: { 'mqtt-host': '127.0.0.1', 'mqtt-port': port } },
  })
  t.teardown(() => station.stop())
  return station
}
const linkOf = (station: TestStation) => station.field('mqtt.state.link')
const upAgain = async (station: TestStation) => {
  // Each step may start an attempt, which takes real time.
  await until(async () => {
    if (linkOf(station) === 'down') await station.clock.advance(1_000)
    return linkOf(station) === 'up'
  }, 'up')
}

const restarts = sample(10, 100)
/** The heap is compared with that after so many. */
const warmUp = Math.min(20, restarts / 2)
t.test(`${restarts} broker restarts: back every time, y last every time, memory flat`, unless, async (t) => {
  const broker = await mosquittoFor(t, anonymous)
  const station = await start(t, broker.port, { insecure: true })
  await upAgain(station)
  let heap = 0
  for (let n = 1; n <= restarts; n++) {
    await broker.stop(n % 2 === 0 ? 'SIGTERM' : 'SIGKILL')
    await until(() => linkOf(station) !== 'up', 'down')
    await broker.start()
    await upAgain(station)
    if ((await retained(clientArguments(broker.port), `base/${sn}/online`)) !== 'y') t.fail(`restart ${n}: y`)
    if (n === warmUp) heap = await heapAfterCollection()
  }
  t.equal(station.field('mqtt.stat.sessions'), restarts + 1)
  const grown = (await heapAfterCollection()) - heap
  t.ok(grown < 4_000_000, `${Math.round(grown / 1024)} KiB in ${restarts - warmUp} restarts`)
  t.same(station.device.errors(), [])
})

async function heapAfterCollection(): Promise<number> {
  const { setFlagsFromString } = await import('node:v8')
  const { runInNewContext } = await import('node:vm')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let n = 0; n < 3; n++) {
    await new Promise<void>((resolve) => setImmediate(resolve))
    collect()
  }
  return process.memoryUsage().heapUsed
}

t.test('a connection that swallows everything is found within 60 s while RTCM is being written', unless, async (t) => {
  const broker = await mosquittoFor(t, anonymous)
  const proxy = await startTcpProxy(t, broker.port)
  const clock = new ManualClock()
  const receiver = fakeReceiver(() => clock.monotonic())
  const sub = await subscribe(t, clientArguments(broker.port))
  const plugins = { 'fake-receiver': receiver.definition, rtcm: rtcm as never, 'mqtt-rtcm': mqttRtcm as never }
  const station = await start(t, proxy.port, { insecure: true }, { clock, plugins })
  await upAgain(station)
  const arp = { x: 4_075_580, y: 931_854, z: 4_801_568 }
  const epoch = (n: number) => {
    receiver.emit(arpFrame(arp))
    receiver.emit(msmFrame(1074, n * 1_000, false))
  }
  epoch(0)
  await until(() => sub.of(`base/${sn}/drtk`).length > 0, 'RTCM')
  proxy.blackhole(true)
  let lasted_s = 0
  for (; lasted_s < 60 && linkOf(station) === 'up'; lasted_s++) {
    epoch(lasted_s + 1)
    await clock.advance(1_000)
  }
  t.ok(lasted_s <= 60 && linkOf(station) !== 'up', `found after ${lasted_s} s`)
  t.equal(station.field('mqtt.state.error.cause'), 'ping')
  proxy.blackhole(false)
  await upAgain(station)
  await until(() => /^y[rLy]*y$/.test(sub.online(sn)), 'y last, whatever order the old will comes in')
  await sub.fence()
  t.match(sub.online(sn), /^y[rLy]*y$/)
})

t.test('a broker that stops and goes on: r and y, not L', unless, async (t) => {
  const broker = await mosquittoFor(t, anonymous)
  const sub = await subscribe(t, clientArguments(broker.port))
  const station = await start(t, broker.port, { insecure: true })
  await upAgain(station)
  broker.child.kill('SIGSTOP')
  await station.clock.advance(40_000)
  t.match(station.field('mqtt.state'), { link: 'renewing', error: { cause: 'ping' } })
  broker.child.kill('SIGCONT')
  await upAgain(station)
  await until(() => sub.online(sn) === 'yry', 'r and y')
})

t.test(
  'a broker that takes small packets only: what is larger is dropped with a warning, the session stays',
  unless,
  async (t) => {
    const broker = await mosquittoFor(t, [...anonymous, 'max_packet_size 200'])
    const sub = await subscribe(t, clientArguments(broker.port))
    const station = await start(t, broker.port, { insecure: true })
    await until(() => station.device.errors().some(({ code }) => code === 'mqtt-info-size'), 'the error')
    t.match(station.device.errors()[0]?.text, /exceeds \d+ bytes, the limit of the broker/)
    const ask = (text: string) => publish(clientArguments(broker.port), `base/${sn}/change/post`, text)
    await ask(JSON.stringify({ unknown: 'x'.repeat(140) }))
    await until(() => station.lines.some(({ msg }) => /does not accept packets of this size/.test(msg)), 'the warning')
    await ask('{"unknown":1}')
    await until(() => sub.of(`base/${sn}/change/resp`).length === 1, 'an answer that fits')
    t.equal(sub.online(sn), 'y')
    t.same([station.field('mqtt.stat.sessions'), sub.of(`base/${sn}/info`)], [1, []])
  },
)

t.test('a message larger than any request stays with the broker', unless, async (t) => {
  const broker = await mosquittoFor(t, anonymous)
  const station = await start(t, broker.port, { insecure: true })
  await until(() => linkOf(station) === 'up', 'up')
  const client = await connectAsync({ host: '127.0.0.1', port: broker.port })
  t.teardown(() => void client.end(true))
  await client.publishAsync(`base/${sn}/cmd`, 'x'.repeat(300_000), { qos: 1 })
  await client.publishAsync(`base/${sn}/cmd`, '', { qos: 1 })
  await until(() => station.field('mqtt.stat.malformed') === 1, 'the one behind it')
  t.equal(station.lines.find(({ msg }) => /neither a command/.test(msg))?.bytes, 0)
  t.equal(station.field('mqtt.stat.sessions'), 1)
})

t.test('TLS', unless, async (t) => {
  const folder = t.testdir()
  const pki = createPki(join(folder, 'pki'), sn)
  const other = createAuthority(join(folder, 'other'), 'another authority')
  const broker = await mosquittoFor(t, clientCertificates(pki, join(folder, 'access')))
  const refused = async (t: Test, options: Record<string, unknown>, port = broker.port) => {
    const station = await start(t, port, options)
    await until(() => linkOf(station) === 'down', 'down')
    const error = station.field('mqtt.state.error') as { cause: string; text: string }
    const logged = station.lines.filter(({ msg }) => msg.startsWith(`the MQTT link is down: ${error.text}`))
    t.equal(logged.length, 1, 'logged once')
    t.match(logged[0], { cause: error.cause })
    return error
  }

  t.test('no certificate', async (t) => {
    t.match(await refused(t, { ca: pki.ca }), { cause: 'tls', text: /certificate required/i })
  })

  t.test('a certificate of another authority', async (t) => {
    const foreign = other.issue('device', `/CN=${sn}`, 'extendedKeyUsage=clientAuth\n')
    t.match(await refused(t, { ca: pki.ca, ...foreign }), { cause: 'tls', text: /unknown ca|certificate/i })
  })

  t.test('a certificate that has ended', async (t) => {
    const ended = pki.issue('ended', `/CN=${sn}`, 'extendedKeyUsage=clientAuth\n', -1)
    t.match(await refused(t, { ca: pki.ca, ...ended }), { cause: 'tls', text: /certificate expired/i })
  })

  t.test('a certificate that has ended is in base.state.errors', async (t) => {
    const ended = pki.issue('ended', `/CN=${sn}`, 'extendedKeyUsage=clientAuth\n', -1)
    const clock = new ManualClock(Date.now())
    const station = await start(t, broker.port, { ca: pki.ca, ...ended }, { clock })
    await until(() => station.device.errors().length > 0, 'the entry')
    t.match(station.device.errors(), [{ code: 'mqtt-cert', text: /expired on .*: replace it manually/ }])
  })

  t.test('a key that does not belong to the certificate', async (t) => {
    const mixed = { cert: pki.device.cert, key: pki.observer.key }
    t.match(await refused(t, { ca: pki.ca, ...mixed }), { cause: 'identity', text: /does not belong/ })
  })

  t.test('a key file that has no key', async (t) => {
    const key = join(folder, 'empty.key')
    writeFileSync(key, '', { mode: 0o600 })
    const error = await refused(t, { ca: pki.ca, cert: pki.device.cert, key })
    t.match(error, { cause: 'identity', text: /empty\.key is not a PEM private key/ })
  })

  t.test('a broker that nobody vouches for', async (t) => {
    t.match(await refused(t, { ...pki.device }), { cause: 'tls', text: /certificate/ })
    t.match(await refused(t, { ca: other.ca, ...pki.device }), { cause: 'tls', text: /certificate/ })
  })

  t.test('a broker with a certificate for another name', async (t) => {
    const wrong = { ...pki, server: pki.issue('wrong', '/CN=broker', 'subjectAltName=DNS:other.example\n') }
    const lines = clientCertificates(wrong, join(folder, 'access-wrong'))
    const impostor = await mosquittoFor(t, lines)
    const error = await refused(t, { ca: pki.ca, ...pki.device }, impostor.port)
    t.match(error, { cause: 'tls', text: /altnames/ })
  })

  t.test('a broker that does not let this station in', async (t) => {
    const file = join(folder, 'nobody')
    writeFileSync(file, '')
    const closed = await mosquittoFor(t, ['allow_anonymous false', `password_file ${file}`])
    t.match(await refused(t, { insecure: true }, closed.port), { cause: 'auth', text: /not authorized/i })
  })

  t.test('a broker without TLS', async (t) => {
    const plain = await mosquittoFor(t, anonymous)
    t.match(await refused(t, { ca: pki.ca, ...pki.device }, plain.port), { cause: /tls|closed/ })
  })

  t.test('nobody there, and a name that does not exist', async (t) => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    await once(server, 'close')
    t.match(await refused(t, { insecure: true }, port), { cause: 'refused' })
    const station = await start(t, port, { insecure: true })
    await station.station.change({ 'mqtt-host': 'no-such-broker.invalid' }, { source: 'http' })
    await until(() => station.field('mqtt.state.error.cause') === 'dns', 'dns')
  })

  t.test('a key that others can read is warned about, and used', async (t) => {
    const open = pki.issue('open', `/CN=${sn}`, 'extendedKeyUsage=clientAuth\n')
    chmodSync(open.key, 0o644)
    const station = await start(t, broker.port, { ca: pki.ca, ...open })
    await until(() => linkOf(station) === 'up', 'up')
    t.equal(station.lines.filter(({ msg }) => /other users can read/.test(msg)).length, 1)
  })

  t.test('no line of the log has anything of a key in it', async (t) => {
    const station = await start(t, broker.port, { ca: pki.ca, ...pki.device })
    await until(() => linkOf(station) === 'up', 'up')
    t.notMatch(JSON.stringify([station.lines, station.station.document()]), /PRIVATE KEY/)
  })
})
