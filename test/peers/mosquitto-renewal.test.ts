/** The certificate is renewed by a real EST exchange over TLS, issued by openssl, and shown to a real broker. */
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import {
  createTestStation,
  freeUdpPort,
  gateOnly,
  ManualClock,
  type StationProcess,
  startStation as startProcess,
  until,
} from 'rtk-base/testing'
import t, { type Test } from 'tap'
import api from '../../plugins/mqtt/mqtt-api/index.js'
import link from '../../plugins/mqtt/mqtt-link/index.js'
import { openStore, type Store } from '../../runtime/platform/store/store.js'
import { drive, pass } from '../harness/drive.js'
import { MemoryStore } from '../harness/memory-store.js'
import { createAuthority, createPki, openssl } from '../harness/peers/certificates.js'
import { type EstMode, startEstServer } from '../harness/peers/est-server.js'
import { clientArguments, clientCertificates, mosquittoFor, request, subscribe } from '../harness/peers/mosquitto.js'
import { noPeer } from '../harness/peers/peers.js'

t.setTimeout(900_000)

const sn = 'TEST0001'
const day_ms = 86_400_000
const skip = gateOnly || noPeer('mosquitto') || noPeer('mosquitto_sub') || noPeer('openssl')
const unless = skip ? { skip } : {}
const namespace = 'protected.mqtt-link'

interface Stored {
  cert: string
  key: string
}

/** A broker that wants certificates, an EST server, and a station that has one. */
async function surroundings(t: Test, options: Record<string, unknown> = {}, ownStore?: Store) {
  const folder = t.testdir()
  const pki = createPki(join(folder, 'pki'), sn)
  const other = createAuthority(join(folder, 'other'), 'another authority')
  const est = await startEstServer(folder, pki, pki.server, other)
  t.teardown(() => est.close())
  const broker = await mosquittoFor(t, clientCertificates(pki, join(folder, 'access')))
  const sub = await subscribe(t, clientArguments(broker.port, pki))
  const store = new MemoryStore()
  const clock = new ManualClock(Date.now())
  const startStation = async (more: Record<string, unknown> = {}) => {
    const station = await createTestStation({
      store: ownStore ?? store,
      clock,
      plugins: {
        'mqtt-api': api as never,
        'mqtt-link': [link, { ca: pki.ca, ...pki.device, est: est.url, ...options, ...more }] as never,
      },
      variant: { changes: { 'mqtt-host': '127.0.0.1', 'mqtt-port': broker.port } },
    })
    t.teardown(() => station.stop())
    await until(() => station.field('mqtt.state.link') === 'up', 'up')
    return station
  }
  const station = await startStation()
  const serial = () => station.field('mqtt.state.cert.serial') as string
  const renew = () => station.station.command('mqtt-renew', { source: 'http' })
  const stored = async () => (await store.entries(namespace)) as { identity?: Stored; candidate?: Stored }
  const errors = () => station.device.errors().filter(({ code }) => code === 'mqtt-renew')
  const old = new X509Certificate(readFileSync(pki.device.cert)).serialNumber
  return { folder, pki, est, broker, sub, store, clock, station, startStation, serial, renew, stored, errors, old }
}

t.test('mqtt-renew', unless, async (t) => {
  const { folder, pki, est, broker, sub, store, station, startStation, serial, renew, stored, old } =
    await surroundings(t)
  t.equal(serial(), old)
  const answer = await renew()
  t.match(answer, { status: 200, text: /certificate [0-9A-F]+ is valid until \d{4}-\d\d-\d\d; reconnecting/ })
  // No step of the clock: nothing but the handshake stands between the two.
  await until(() => sub.online(sn) === 'yry', 'r, then y')
  await until(async () => (await stored()).candidate === undefined, 'the swap')

  t.test('the request is good, for the same name, and came from who held the old certificate', (t) => {
    t.match(est.requests, [{ path: '/.well-known/est/simplereenroll', client: sn, verified: true }])
    t.match(est.requests[0]?.subject, `CN=${sn}`)
    t.end()
  })

  t.test('the new serial is shown, the key is a new one and belongs to the certificate', async (t) => {
    const { identity } = await stored()
    t.not(serial(), old)
    t.equal(new X509Certificate(identity?.cert ?? '').serialNumber, serial())
    t.match(answer.text, serial())
    const [cert, key] = [join(folder, 'new.pem'), join(folder, 'new.key')]
    writeFileSync(cert, identity?.cert ?? '')
    writeFileSync(key, identity?.key ?? '')
    const publicOf = (...args: string[]) => openssl(...args).toString()
    const ours = publicOf('pkey', '-in', key, '-pubout')
    t.equal(publicOf('x509', '-in', cert, '-noout', '-pubkey'), ours)
    t.not(publicOf('pkey', '-in', pki.device.key, '-pubout'), ours)
    t.match(publicOf('verify', '-CAfile', pki.ca, cert), 'OK')
  })

  t.test('after the next one the key in between is nowhere any more', async (t) => {
    const between = (await stored()).identity?.key as string
    t.match(await renew(), { status: 200 })
    await until(() => sub.online(sn) === 'yryry', 'y')
    await until(async () => (await stored()).identity?.key !== between, 'the swap')
    t.same(Object.keys(await stored()), ['identity'])
    t.notMatch(JSON.stringify(await stored()), between.slice(40, 80))
  })

  t.test('who asks over MQTT gets the answer before the reconnect', async (t) => {
    const before = serial()
    const args = clientArguments(broker.port, pki)
    const text = await request(args, `base/${sn}/cmd`, 'mqtt-renew', `base/${sn}/resp/a`)
    await until(() => serial() !== before, 'the new certificate')
    t.match(text, `certificate ${serial()} is valid until`)
  })

  t.test('a restart goes on with it, also without the files', async (t) => {
    const now = serial()
    await station.stop()
    const again = await startStation()
    t.equal(again.field('mqtt.state.cert.serial'), now)
    await again.stop()
    rmSync(pki.device.key)
    rmSync(pki.device.cert)
    const third = await startStation()
    t.equal(third.field('mqtt.state.cert.serial'), now)
    t.notMatch(JSON.stringify([third.lines, third.station.document()]), /PRIVATE KEY/)
    await t.rejects(third.station.nvs.read(namespace), { code: 'RTK_ERR_NVS_PROTECTED' })
    // What became of the file of its authority must not leave the broker to any authority of the system.
    const ca = readFileSync(pki.ca)
    for (const damage of [() => rmSync(pki.ca), () => writeFileSync(pki.ca, '')]) {
      damage()
      await third.reload('mqtt-link')
      await until(() => third.field('mqtt.state.link') === 'up', 'up with the authority that was kept')
      t.equal(third.field('mqtt.state.cert.serial'), now)
    }
    const { identity } = await stored()
    await store.batch([{ namespace, key: 'identity', value: { ...identity, ca: undefined } }])
    await third.reload('mqtt-link')
    await until(() => third.field('mqtt.state.error.cause') === 'identity', 'no link without it')
    t.match(third.field('mqtt.state.error.text'), pki.ca)
    writeFileSync(pki.ca, ca)
    // Somebody puts another certificate there by hand.
    const fresh = pki.issue('device', `/CN=${sn}`, 'extendedKeyUsage=clientAuth\n')
    await third.reload('mqtt-link')
    await until(() => third.field('mqtt.state.link') === 'up', 'up')
    t.equal(third.field('mqtt.state.cert.serial'), new X509Certificate(readFileSync(fresh.cert)).serialNumber)
  })
})

/** The contents of all files below a folder that is in use: a file that goes away meanwhile is left out. */
function bytesBelow(folder: string): Buffer[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile()) return []
    try {
      return [readFileSync(join(entry.parentPath, entry.name))]
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  })
}

t.test('the old key is in no file of the store any more', unless, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-store-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const store = await openStore(folder, pino({ level: 'silent' }))
  const { startStation, station, serial, renew } = await surroundings(t, {}, store)
  const stored = async () => (await store.entries(namespace)) as { identity?: Stored; candidate?: Stored }
  /** A line of the private key's PEM that is nobody else's. */
  const lineOf = (key: string) => key.split('\n')[2] as string
  const held = (key: string) => bytesBelow(folder).some((bytes) => bytes.includes(lineOf(key)))
  const renewed = async () => {
    const before = serial()
    t.match(await renew(), { status: 200 })
    await until(() => serial() !== before && station.field('mqtt.state.link') === 'up', 'the new one')
    await until(async () => (await stored()).candidate === undefined, 'the swap')
    return (await stored()).identity?.key as string
  }
  const first = await renewed()
  t.ok(held(first), 'in force, and found where it is looked for')
  const second = await renewed()
  await until(() => !held(first), 'gone')
  t.ok(held(second))
  const last = serial()
  await station.stop()
  t.notOk(held(first))
  const again = await startStation()
  t.equal(again.field('mqtt.state.cert.serial'), last)
  await again.stop()
})

t.test('what goes wrong on the way leaves the old identity working, and an error entry', unless, async (t) => {
  const modes: [EstMode, RegExp][] = [
    ['broken', /500: no HSM today/],
    ['garbage', /could not be renewed/],
    ['flood', /more than 262144 bytes/],
    ['other-key', /no certificate for the new key/],
    ['other-name', /is for "CN=somebody" instead of "CN=TEST0001"/],
    ['expired', /expired on .* already/],
    ['hang-up', /could not be renewed/],
    ['approve', /come back in 120 s/],
    // P8: from the date of the answer, as the clock of a station may not be set.
    ['approve-at', /come back in 180 s/],
  ]
  const { est, sub, station, serial, renew, stored, errors, old, store } = await surroundings(t)
  for (const [mode, text] of modes) {
    est.mode = mode
    t.match(await renew(), { status: 503, text }, mode)
    t.match(errors(), [{ text }])
    t.equal(serial(), old)
    t.equal(sub.online(sn), 'y', 'the link was not touched')
    t.same(await stored(), {})
  }

  t.test('a store that takes no writes', async (t) => {
    est.mode = 'issue'
    store.failure = 'disk full'
    t.match(await renew(), { status: 503, text: /disk full/ })
    store.failure = undefined
    t.equal(sub.online(sn), 'y')
    t.same(await stored(), {})
  })

  t.test('an EST server that is gone', async (t) => {
    est.close()
    t.match(await renew(), { status: 503, text: /nothing listens there/ })
    t.equal(station.field('mqtt.state.link'), 'up')
  })
})

t.test(
  'an EST server that nobody vouches for, or with a certificate for another name, gets no request',
  unless,
  async (t) => {
    const { folder, pki, est, startStation, station, old } = await surroundings(t)
    await station.stop()
    const wrong = pki.issue('wrong', '/CN=est', 'subjectAltName=DNS:other.example\n')
    const other = createAuthority(join(folder, 'stranger'), 'a stranger')
    const impostor = await startEstServer(folder, pki, wrong, other)
    t.teardown(() => impostor.close())
    const empty = join(folder, 'empty.pem')
    writeFileSync(empty, '')
    const table: [Record<string, unknown>, RegExp][] = [
      [{ est: impostor.url }, /altnames/],
      [{ estCa: other.ca }, /certificate/],
      [{ estCa: join(folder, 'none.pem') }, /none\.pem/],
      [{ estCa: empty }, /empty\.pem is not a PEM certificate/],
    ]
    for (const [options, text] of table) {
      const again = await startStation(options)
      t.match(await again.station.command('mqtt-renew', { source: 'http' }), { status: 503, text })
      t.match(again.field('mqtt.state'), { link: 'up', cert: { serial: old } })
      await again.stop()
    }
    t.same([...est.requests, ...impostor.requests], [])
  },
)

t.test('a swap that cannot be stored: the new one is in use, and stored with the next connect', unless, async (t) => {
  const { station, broker, store, clock, serial, renew, stored, errors, old } = await surroundings(t)
  const { batch } = store
  store.batch = (ops) => (ops.length > 1 ? Promise.reject(new Error('disk full')) : batch.call(store, ops))
  t.match(await renew(), { status: 200 })
  await until(() => errors().length === 1, 'the error')
  t.match(errors(), [{ text: /could not be stored \(disk full\)/ }])
  t.not(serial(), old)
  t.same(Object.keys(await stored()), ['candidate'])
  store.batch = batch
  await broker.stop('SIGKILL')
  await until(() => station.field('mqtt.state.link') === 'down', 'down')
  await broker.start()
  await clock.advance(1_000)
  await until(async () => Object.keys(await stored()).join() === 'identity', 'the swap')
  await until(() => errors().length === 0, 'the entry goes')
  t.equal(station.field('mqtt.state.link'), 'up')
})

t.test('a 202 gets the same request again', unless, async (t) => {
  const { est, renew, errors } = await surroundings(t)
  est.mode = 'approve'
  await renew()
  est.mode = 'issue'
  t.match(await renew(), { status: 200 })
  t.equal(est.requests.length, 2)
  t.same(est.requests[0]?.request, est.requests[1]?.request)
  await until(() => errors().length === 0, 'the entry goes')
})

t.test('a new certificate that the broker refuses: back with the old one at once', unless, async (t) => {
  const { est, sub, station, serial, renew, stored, errors, old } = await surroundings(t)
  est.mode = 'other-authority'
  t.match(await renew(), { status: 200 })
  // No step of the clock: nothing but the handshake stands between the two.
  await until(() => sub.online(sn) === 'yry', 'r, then y')
  await until(() => errors().length === 1, 'the error')
  t.match(errors(), [{ text: /renewed certificate was not accepted .*unknown ca.*: the old one stays in use/i }])
  t.equal(serial(), old)
  await until(async () => Object.keys(await stored()).length === 0, 'the new one is dropped')
  est.mode = 'issue'
  t.match(await renew(), { status: 200 })
  await until(() => serial() !== old && station.field('mqtt.state.link') === 'up', 'the next one is accepted')
  await until(() => errors().length === 0, 'the entry goes')
})

t.test('a broker that is gone while the certificate is exchanged: neither identity is lost', unless, async (t) => {
  const { broker, station, clock, renew, stored, serial, old, startStation } = await surroundings(t)
  // The link does not know yet that the broker is gone: it has stopped, and the new session will find nobody.
  await broker.stop('SIGKILL')
  await until(() => station.field('mqtt.state.link') === 'down', 'down')
  t.match(await renew(), { status: 200 })
  for (let n = 0; n < 20; n++) {
    await clock.advance(5_000)
    await until(() => station.field('mqtt.state.link') === 'down', 'still down')
  }
  t.ok((await stored()).candidate, 'still there')
  // Power cut.
  await station.stop()
  await broker.start()
  const again = await startStation()
  const now = again.field('mqtt.state.cert.serial')
  t.not(now, old)
  t.not(serial(), '')
  await until(async () => (await stored()).candidate === undefined, 'the swap')
})

t.test('it is renewed by itself in the last third of its life, and not before', unless, async (t) => {
  const { est, clock, station, serial, old, sub } = await surroundings(t)
  /** The system clock goes on by days, the watch looks every 10 min. */
  const onDay = async (day: number) => {
    clock.stepUtc(Date.now() + day * day_ms - clock.now())
    // In steps in which the broker answers the pings; a link that is made again waits for the clock.
    await pass(clock, 610_000)
    await drive(clock, () => station.field('mqtt.state.link') === 'up', 'up')
  }
  await onDay(17)
  t.equal(est.requests.length, 0)
  await onDay(21)
  await drive(clock, () => serial() !== old, 'a new certificate')
  await drive(clock, () => /ry$/.test(sub.online(sn)), 'r, then y')
  t.equal(est.requests.length, 1)
  await drive(clock, () => station.field('mqtt.state.link') === 'up', 'up')
  est.mode = 'broken'
})

t.test(
  'in a process of its own, as it is installed: mqtt-renew, and a restart with the new certificate',
  unless,
  async (t) => {
    const folder = t.testdir()
    const pki = createPki(join(folder, 'pki'), 'SIM00001')
    const est = await startEstServer(folder, pki, pki.server, pki)
    t.teardown(() => est.close())
    const broker = await mosquittoFor(t, clientCertificates(pki, join(folder, 'access')))
    const sub = await subscribe(t, clientArguments(broker.port, pki))
    const options = { ca: pki.ca, ...pki.device, est: est.url }
    const args = [
      ...Object.entries(options).flatMap(([name, value]) => ['--set', `mqtt-link.${name}=${value}`]),
      ...['--set', 'mqtt-broker.port=0', '--set', 'udp-rtcm.host=127.0.0.1'],
      ...['--change', `mqtt-port=${broker.port}`, '--change', `udp-port=${await freeUdpPort()}`],
    ]
    // A short path: the control socket is in there.
    const data = mkdtempSync(join(tmpdir(), 'rtk-base-renewal-'))
    t.teardown(() => rmSync(data, { recursive: true, force: true }))
    const start = async () => {
      const station = await startProcess(args, { data })
      t.teardown(() => station.end('SIGKILL'))
      await until(async () => (await certOf(station)).link === 'up', 'up')
      return station
    }
    const certOf = async (station: StationProcess) => {
      const { mqtt } = await station.info<{ mqtt: { state: { link: string; cert: { serial: string } } } }>()
      return { link: mqtt.state.link, serial: mqtt.state.cert.serial }
    }
    const station = await start()
    const old = (await certOf(station)).serial
    const answer = await fetch(`${station.url}/system?mqtt-renew`, { method: 'POST' })
    t.equal(answer.status, 200, await answer.text())
    await until(() => sub.online('SIM00001') === 'yry', 'r, then y')
    const renewed = (await certOf(station)).serial
    t.not(renewed, old)
    await station.end('SIGKILL')
    const again = await start()
    t.equal((await certOf(again)).serial, renewed)
    t.notMatch(again.output() + station.output(), /PRIVATE KEY/)
    await again.end()
  },
)

t.test('adopt: the files can be removed', unless, async (t) => {
  const { pki, station, startStation, serial, old } = await surroundings(t, { adopt: true })
  t.equal(serial(), old)
  await station.stop()
  for (const file of [pki.device.cert, pki.device.key, pki.ca]) rmSync(file)
  const again = await startStation()
  t.equal(again.field('mqtt.state.cert.serial'), old)
})

t.test('without an EST server mqtt-renew says so', unless, async (t) => {
  const station = await createTestStation({ plugins: { 'mqtt-link': [link, { insecure: true }] as never } })
  t.teardown(() => station.stop())
  t.match(await station.station.command('mqtt-renew', { source: 'http' }), { status: 503, text: /mqtt-link\.est/ })
})
