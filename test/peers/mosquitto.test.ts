import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'mqtt'
import { createTestStation, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import link from '../../plugins/mqtt-link/index.js'

const sn = 'TEST0001'
const program = ['/usr/sbin/mosquitto', 'mosquitto'].find((name) => spawnSync(name, ['-h']).error === undefined)
const openssl = spawnSync('openssl', ['version']).error === undefined
/** In CI nothing may be left out, so what is missing is a failure there. */
const unless = (able: boolean, reason: string) => (able || process.env.CI === 'true' ? {} : { skip: reason })

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function startMosquitto(t: Test, port: number, lines: string[]): Promise<ChildProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'rtk-base-mosquitto-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'mosquitto.conf')
  const user = process.getuid?.() === 0 ? ['user root'] : []
  writeFileSync(config, [...user, `listener ${port} 127.0.0.1`, 'persistence false', ...lines, ''].join('\n'))
  const child = spawn(program as string, ['-c', config], { stdio: 'ignore' })
  t.teardown(() => {
    child.kill('SIGCONT')
    child.kill('SIGKILL')
  })
  await until(
    () =>
      new Promise<boolean>((resolve) => {
        const probe = connectTcp(port, '127.0.0.1')
        probe.once('connect', () => resolve(true)).once('error', () => resolve(false))
        probe.once('connect', () => probe.destroy())
      }),
    'mosquitto listens',
  )
  return child
}

async function observe(t: Test, port: number, tls: object = {}) {
  const protocol = 'ca' in tls ? ('mqtts' as const) : ('mqtt' as const)
  const observer = connect({
    host: '127.0.0.1',
    port,
    protocol,
    clientId: 'observer',
    reconnectPeriod: 0,
    protocolVersion: 5,
    ...tls,
  })
  t.teardown(() => void observer.end(true))
  const seen: { topic: string; text: string }[] = []
  observer.on('message', (topic, payload) => void seen.push({ topic, text: payload.toString() }))
  await observer.subscribeAsync('base/#', { qos: 1 })
  return {
    observer,
    online: () =>
      seen
        .filter(({ topic }) => topic === `base/${sn}/online`)
        .map(({ text }) => text)
        .join(''),
    texts: (name: string) => seen.filter(({ topic }) => topic === `base/${sn}/${name}`).map(({ text }) => text),
  }
}

async function startStation(t: Test, port: number, options: Record<string, unknown>) {
  const station = await createTestStation({
    plugins: { 'mqtt-link': [link as never, options] },
    variant: { changes: { 'mqtt-host': '127.0.0.1', 'mqtt-port': port } },
  })
  t.teardown(() => station.stop())
  return station
}

t.test('mosquitto over plain TCP', unless(program !== undefined, 'mosquitto is missing'), async (t) => {
  for (const protocol of ['auto', '4', '5']) {
    t.test(`protocol ${protocol}: y and the document, a change and its answer, q at the end`, async (t) => {
      const port = await freePort()
      await startMosquitto(t, port, ['allow_anonymous true'])
      const { observer, online, texts } = await observe(t, port)
      const station = await startStation(t, port, { insecure: true, protocol })
      await until(() => texts('info').length === 1, 'the document')
      t.equal(online(), 'y')
      t.match(
        station.lines.find(({ msg }) => /link is up/.test(msg)),
        { version: protocol === '4' ? 4 : 5 },
      )
      await observer.publishAsync(`base/${sn}/change/post`, '{"unknown":1}', { qos: 1 })
      await until(() => texts('change/resp').length === 1, 'the answer')
      t.same(JSON.parse(texts('change/resp')[0] as string), { result: 'ok', leftover: { unknown: 1 } })
      await station.reload('mqtt-link')
      await until(() => online() === 'yry', 'yry')
      await station.unload('mqtt-link')
      await until(() => online() === 'yryq', 'q')
      await observer.publishAsync('base/fence', '', { qos: 1 })
      t.equal(online(), 'yryq', 'a proper DISCONNECT: no L')
    })
  }

  t.test('the broker stops answering: given up after two pings, back when it answers again', async (t) => {
    const port = await freePort()
    const mosquitto = await startMosquitto(t, port, ['allow_anonymous true'])
    const { online, texts } = await observe(t, port)
    const station = await startStation(t, port, { insecure: true })
    await until(() => texts('info').length === 1, 'the document')
    mosquitto.kill('SIGSTOP')
    await station.clock.advance(40_000)
    t.equal(station.field('mqtt.state.error.cause'), 'ping')
    mosquitto.kill('SIGCONT')
    await until(() => online().includes('L'), 'the will')
    await station.clock.advance(60_000)
    await until(() => station.field('mqtt.state.link') === 'up', 'up')
    await until(() => online().endsWith('y'), 'y last, whatever the order of will and session')
  })
})

const able = program !== undefined && openssl
t.test('mosquitto over TLS with client certificates', unless(able, 'mosquitto or openssl is missing'), async (t) => {
  const files = certificates(join(t.testdir(), 'pki'))
  const port = await freePort()
  await startMosquitto(t, port, [
    `cafile ${files.ca}`,
    `certfile ${files.server.cert}`,
    `keyfile ${files.server.key}`,
    'require_certificate true',
    'use_identity_as_username true',
  ])
  const tls = { ca: readFileSync(files.ca), cert: readFileSync(files.device.cert), key: readFileSync(files.device.key) }

  t.test('a session; the certificate is in the document', async (t) => {
    const { online } = await observe(t, port, tls)
    const station = await startStation(t, port, { ca: files.ca, ...files.device })
    await until(() => online() === 'y', 'y')
    const cert = station.field('mqtt.state.cert') as { from: number; until: number; serial: string }
    t.match(cert.serial, /^[0-9A-F]+$/)
    t.equal(cert.until - cert.from, 30 * 86_400)
    await station.unload('mqtt-link')
    await until(() => online() === 'yq', 'q')
  })

  t.test('without a certificate of its own it is refused, and says why', async (t) => {
    const station = await startStation(t, port, { ca: files.ca })
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.match(station.field('mqtt.state.error.cause'), /tls|closed/)
  })

  t.test('a broker that nobody vouches for gets nothing', async (t) => {
    const station = await startStation(t, port, { ...files.device })
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.match(station.field('mqtt.state.error'), { cause: 'tls', text: /certificate/ })
  })

  t.test('a key that others can read is warned about, and used', async (t) => {
    chmodSync(files.device.key, 0o644)
    const station = await startStation(t, port, { ca: files.ca, ...files.device })
    await until(() => station.field('mqtt.state.link') === 'up', 'up')
    t.equal(station.lines.filter(({ msg }) => /can be read by others/.test(msg)).length, 1)
  })
})

/** An authority, a broker's certificate for 127.0.0.1 and a device's for {SN}. */
function certificates(folder: string) {
  mkdirSync(folder, { recursive: true })
  const file = (name: string) => join(folder, name)
  const run = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  run(
    'req',
    '-x509',
    ...curve,
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.pem'),
    '-days',
    '30',
    '-subj',
    '/CN=test authority',
  )
  const issue = (name: string, subject: string, extension: string) => {
    writeFileSync(file(`${name}.ext`), extension)
    run('req', ...curve, '-keyout', file(`${name}.key`), '-out', file(`${name}.csr`), '-subj', subject)
    const signer = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '30']
    run(
      'x509',
      '-req',
      '-in',
      file(`${name}.csr`),
      ...signer,
      '-extfile',
      file(`${name}.ext`),
      '-out',
      file(`${name}.pem`),
    )
    chmodSync(file(`${name}.key`), 0o600)
    return { cert: file(`${name}.pem`), key: file(`${name}.key`) }
  }
  return {
    ca: file('ca.pem'),
    server: issue('server', '/CN=broker', 'subjectAltName=IP:127.0.0.1\n'),
    device: issue('device', `/CN=${sn}`, 'extendedKeyUsage=clientAuth\n'),
  }
}
