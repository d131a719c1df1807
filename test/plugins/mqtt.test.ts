import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from 'node:net'
import { Aedes } from 'aedes'
import fc from 'fast-check'
import { connect, type MqttClient } from 'mqtt'
import { definePlugin } from 'rtk-base/plugin'
import { type RtcmEpoch, type RtcmFrame, type RtcmStream, rtcmStream } from 'rtk-base/services'
import { conformance, createTestStation, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import Type from 'typebox'
import broker from '../../plugins/mqtt-broker/index.js'
import { backoff_ms } from '../../plugins/mqtt-link/backoff.js'
import { failureOf } from '../../plugins/mqtt-link/failure.js'
import link from '../../plugins/mqtt-link/index.js'
import { linkStates, outboxLimit } from '../../plugins/mqtt-link/link.js'
import { commandText } from '../../plugins/mqtt-link/requests.js'
import rtcm from '../../plugins/mqtt-rtcm/index.js'
import { EpochPublisher } from '../../plugins/mqtt-rtcm/publisher.js'

const sn = 'TEST0001'

interface ConnectPacket {
  clientId: string
  clean: boolean
  keepalive: number
  will?: { topic: string; payload: Buffer; retain: boolean; qos: number }
}

/** A broker in the test's process, with an observer that sees every message under `base/`. */
async function startBroker(t: Test) {
  const connects: ConnectPacket[] = []
  const aedes = await Aedes.createBroker({
    preConnect: (_client, packet, done) => {
      if (packet.clientId !== 'observer') connects.push(packet as unknown as ConnectPacket)
      done(null, true)
    },
  })
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    aedes.handle(socket)
  })
  const port = await listen(server)
  const observer = connect({ port, host: '127.0.0.1', clientId: 'observer', protocolVersion: 4, reconnectPeriod: 0 })
  const seen: { topic: string; text: string; retain: boolean }[] = []
  observer.on('message', (topic, payload, { retain }) => void seen.push({ topic, text: payload.toString(), retain }))
  await observer.subscribeAsync('base/#', { qos: 1 })
  t.teardown(async () => {
    observer.end(true)
    for (const socket of sockets) socket.destroy()
    server.close()
    await new Promise<void>((resolve) => aedes.close(resolve))
  })
  const texts = (name: string) => seen.filter(({ topic }) => topic === `base/${sn}/${name}`).map(({ text }) => text)
  return {
    port,
    aedes,
    observer,
    connects,
    seen,
    texts,
    online: () => texts('online').join(''),
    /** Ends the station's connection without a word. */
    cut: () => (aedes as unknown as { clients: Record<string, { conn: Socket }> }).clients[sn]?.conn.destroy(),
  }
}

const connected = (client: MqttClient) => new Promise<void>((resolve) => client.once('connect', () => resolve()))
const message = (client: MqttClient) =>
  new Promise<{ payload: string; retain: boolean }>((resolve) =>
    client.once('message', (_topic, payload, { retain }) => resolve({ payload: payload.toString(), retain })),
  )

async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function startStation(
  t: Test,
  port: number,
  options: Record<string, unknown> = {},
  more: Parameters<typeof createTestStation>[0] = {},
) {
  const station = await createTestStation({
    ...more,
    plugins: { 'mqtt-link': [link as never, { insecure: true, ...options }], ...more.plugins },
    variant: { changes: { 'mqtt-host': '127.0.0.1', 'mqtt-port': port } },
  })
  t.teardown(() => station.stop())
  return station
}

type Station = Awaited<ReturnType<typeof createTestStation>>
const isUp = (station: Station) => () => station.field('mqtt.state.link') === 'up'

/** Speaks just enough MQTT to accept a session, then does what `then` says. */
async function fakeBroker(t: Test, then: (socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(Buffer.from([0x20, 0x03, 0x00, 0x00, 0x00])) // CONNACK of MQTT 5: accepted, no properties
      then(socket)
    })
  })
  const port = await listen(server)
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port, sockets }
}

t.test('the link', async (t) => {
  t.test('a session: will before connecting, 3.1.1 where 5 is refused, y, subscriptions, the document', async (t) => {
    const broker = await startBroker(t)
    const station = await startStation(t, broker.port)
    await until(() => broker.texts('info').length > 0, 'the document')
    t.match(broker.connects.at(-1), {
      clientId: sn,
      clean: true,
      keepalive: 120,
      will: { topic: `base/${sn}/online`, retain: true, qos: 0 },
    })
    t.equal(broker.connects.at(-1)?.will?.payload.toString(), 'L')
    t.equal(broker.online(), 'y')
    t.same(JSON.parse(broker.texts('info')[0] as string).mqtt.host, '127.0.0.1')
    t.match(station.field('mqtt'), {
      via: '',
      host: '127.0.0.1',
      port: broker.port,
      state: { link: 'up', cert: { from: 0, until: 0, serial: '' }, error: { cause: '', text: '' } },
    })
    const late = connect({ port: broker.port, host: '127.0.0.1', protocolVersion: 4, reconnectPeriod: 0 })
    t.teardown(() => void late.end(true))
    await late.subscribeAsync('base/+/online')
    const { payload, retain } = await message(late)
    t.same([payload, retain], ['y', true], 'y is retained')
  })

  t.test('a graceful stop ends with q and no L', async (t) => {
    const broker = await startBroker(t)
    const station = await startStation(t, broker.port)
    await until(isUp(station), 'up')
    await station.unload('mqtt-link')
    await until(() => broker.online().endsWith('q'), 'q')
    await broker.observer.publishAsync('base/fence', '', { qos: 1 })
    t.equal(broker.online(), 'yq')
  })

  t.test('a reload says r, then y, and no L', async (t) => {
    const broker = await startBroker(t)
    const station = await startStation(t, broker.port)
    await until(isUp(station), 'up')
    await station.reload('mqtt-link')
    await until(() => broker.online() === 'yry', 'yry')
    await until(isUp(station), 'up again')
    t.equal(
      broker.connects.length,
      3,
      'one attempt with 5 only: the new instance knows that the broker speaks 3.1.1 only',
    )
  })

  t.test('a lost connection: the broker says L, the link comes back by itself with y and the document', async (t) => {
    const broker = await startBroker(t)
    const station = await startStation(t, broker.port)
    await until(() => broker.texts('info').length === 1, 'first document')
    broker.cut()
    await until(() => broker.online() === 'yL', 'the will')
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.equal(station.field('mqtt.state.error.cause'), 'closed')
    await station.clock.advance(1_000)
    await until(() => broker.texts('info').length === 2, 'second document')
    t.equal(broker.online(), 'yLy')
    t.equal(station.field('mqtt.state.error.cause'), '')
  })

  t.test('a will that comes late is answered with y', async (t) => {
    const broker = await startBroker(t)
    await startStation(t, broker.port)
    await until(() => broker.texts('info').length === 1, 'the document')
    await broker.observer.publishAsync(`base/${sn}/online`, 'L', { retain: true })
    await until(() => broker.online() === 'yLy', 'y again')
  })

  t.test('a connection that goes dead without an end is given up by its pings', async (t) => {
    const dead = await fakeBroker(t, () => {})
    const station = await startStation(t, dead.port)
    await until(isUp(station), 'up')
    await station.clock.advance(20_000)
    t.equal(station.field('mqtt.state.link'), 'up', 'one ping is out')
    await station.clock.advance(20_000)
    t.match(station.field('mqtt.state'), { link: /down|connecting/, error: { cause: 'ping' } })
  })

  t.test('a connection whose pings are answered stays', async (t) => {
    let documents = 0
    const alive = await fakeBroker(t, (socket) =>
      socket.on('data', (data) => {
        if (data.includes('"mqtt":{')) documents++
        // The request behind the PINGRESP is answered with a document, which shows that both have arrived.
        const topic = `base/${sn}/info/get`
        const request = Buffer.concat([
          Buffer.from([0x30, topic.length + 3, 0, topic.length]),
          Buffer.from(`${topic}\0`),
        ])
        if (data.includes(Buffer.from([0xc0, 0x00]))) socket.write(Buffer.concat([Buffer.from([0xd0, 0x00]), request]))
      }),
    )
    const station = await startStation(t, alive.port)
    await until(isUp(station), 'up')
    for (let n = 0; n < 5; n++) {
      await station.clock.advance(20_000)
      await until(() => documents > n, 'an answered ping')
    }
    t.equal(station.field('mqtt.state.link'), 'up')
    t.equal(alive.sockets.size, 1)
  })

  t.test('another broker: the answer first, then r, a DISCONNECT, and y there', async (t) => {
    const [first, second] = [await startBroker(t), await startBroker(t)]
    const station = await startStation(t, first.port)
    await until(isUp(station), 'up')
    await first.observer.publishAsync(`base/${sn}/change/post`, JSON.stringify({ 'mqtt-port': second.port }))
    await until(() => second.online() === 'y', 'y at the other broker')
    await until(() => first.online() === 'yr', 'r at the first')
    const order = first.seen.map(({ topic }) => topic)
    t.ok(order.indexOf(`base/${sn}/change/resp`) < order.lastIndexOf(`base/${sn}/online`))
    t.equal(station.field('mqtt.port'), second.port)
  })

  t.test('mqtt-en switches it off with q and on again', async (t) => {
    const broker = await startBroker(t)
    const station = await startStation(t, broker.port)
    await until(isUp(station), 'up')
    t.match(await station.station.change({ 'mqtt-en': 0 }, { source: 'http' }), { result: 'ok' })
    await until(() => broker.online() === 'yq', 'q')
    t.equal(station.field('mqtt.state.link'), 'disabled')
    await station.station.change({ 'mqtt-en': true }, { source: 'http' })
    await until(() => broker.online() === 'yqy', 'y')
  })

  t.test('what keeps it down is in the document, told once, and tried again', async (t) => {
    const server = createServer()
    const port = await listen(server)
    server.close()
    await once(server, 'close')
    const station = await startStation(t, port)
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.match(station.field('mqtt.state.error'), { cause: 'refused', text: /ECONNREFUSED/ })
    for (let n = 0; n < 5; n++) {
      await station.clock.advance(60_000)
      await until(() => station.field('mqtt.state.link') === 'down', 'down again')
    }
    t.equal(station.lines.filter(({ msg }) => /MQTT link is down: connect/.test(msg)).length, 1)
    await listen(server, port)
    const aedes = await Aedes.createBroker()
    server.on('connection', (socket) => aedes.handle(socket))
    t.teardown(async () => {
      await station.unload('mqtt-link')
      server.close()
      await new Promise<void>((resolve) => aedes.close(resolve))
    })
    await station.clock.advance(60_000)
    await until(isUp(station), 'up')

    await station.station.change({ 'mqtt-host': '' }, { source: 'http' })
    await until(() => station.field('mqtt.state.error.cause') === 'config', 'no broker set')
    t.match(await station.station.change({ 'mqtt-host': 'a b' }, { source: 'http' }), { result: 'failed' })
  })

  t.test('files that cannot be used are named', async (t) => {
    const station = await startStation(t, 1, { ca: '/nowhere/ca.pem' })
    await until(() => station.field('mqtt.state.error.cause') === 'identity', 'identity')
    t.match(station.field('mqtt.state.error.text'), /ca file.*\/nowhere\/ca\.pem/)
  })

  t.test('without insecure a plain broker gets no byte of MQTT', async (t) => {
    let first: Buffer | undefined
    const server = createServer((socket) =>
      socket
        .on('error', () => {})
        .once('data', (data) => {
          first = data
          socket.destroy()
        }),
    )
    const port = await listen(server)
    t.teardown(() => void server.close())
    const station = await startStation(t, port, { insecure: false })
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.equal(first?.[0], 0x16, 'a TLS handshake')
  })

  t.test('the outbox: one of any size when empty, else 64 KiB; offline while down', async (t) => {
    const stuck = await fakeBroker(t, (socket) => socket.pause())
    const results: string[] = []
    const sender = definePlugin({
      name: 'sender',
      version: '1.0.0',
      api: '^1.0.0',
      options: Type.Object({}),
      setup(ctx) {
        ctx.commands.add('send', 'sends', ({ arg }) => {
          const result = ctx.mqtt.publish('x', Buffer.alloc(Number(arg)))
          results.push(result)
          return result
        })
      },
    })
    const station = await startStation(t, stuck.port, {}, { plugins: { sender: sender as never } })
    const send = async (bytes: number) => (await station.station.command(`send=${bytes}`, { source: 'plugin' })).text
    await until(isUp(station), 'up')
    let sent = 0
    while ((await send(131_072)) === 'sent') sent++
    t.ok(sent >= 1, 'larger than the outbox, admitted because it was empty')
    t.equal(results.at(-1), 'full')
    t.equal(await send(outboxLimit), 'full')
    for (const socket of stuck.sockets) socket.destroy()
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.equal(await send(1), 'offline')
    t.equal(await send(1), 'offline')
    t.equal(station.lines.filter(({ msg }) => /publications are dropped/.test(msg)).length, 1, 'told once')
  })

  t.test('the table of states: each is reached, and none is a dead end', (t) => {
    const reached = new Set(Object.values(linkStates).flatMap((events) => Object.values(events)))
    t.same(reached, new Set(Object.keys(linkStates)))
    for (const [state, events] of Object.entries(linkStates)) t.ok(Object.keys(events).length > 0, state)
    t.end()
  })

  t.test('the back-off doubles from 1 s to 60 s, with full jitter', async () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const wait_ms = backoff_ms(attempt, random)
        return wait_ms >= 0 && wait_ms <= Math.min(60_000, 1_000 * 2 ** attempt)
      }),
    )
    t.same(
      [0, 1, 5, 6, 500].map((attempt) => backoff_ms(attempt, 1)),
      [1_000, 2_000, 32_000, 60_000, 60_000],
    )
  })

  t.test('failures have a cause', (t) => {
    const coded = (code: string | number, message = 'x') => Object.assign(new Error(message), { code })
    const table: [unknown, string][] = [
      [undefined, 'closed'],
      [coded('ENOTFOUND'), 'dns'],
      [coded('EAI_AGAIN'), 'dns'],
      [coded('ECONNREFUSED'), 'refused'],
      [coded('EHOSTUNREACH'), 'unreachable'],
      [coded('ETIMEDOUT'), 'timeout'],
      [new Error('connack timeout'), 'timeout'],
      [coded('CERT_HAS_EXPIRED'), 'tls'],
      [coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'tls'],
      [coded(5), 'auth'],
      [coded(135), 'auth'],
      [coded(1), 'protocol'],
      [coded(3), 'refused'],
      [coded('ECONNRESET'), 'closed'],
    ]
    for (const [error, cause] of table) t.equal(failureOf(error).cause, cause)
    t.end()
  })
})

t.test('requests', async (t) => {
  const broker = await startBroker(t)
  const calls: { name: string; arg: string | undefined }[] = []
  const target = definePlugin({
    name: 'target',
    version: '1.0.0',
    api: '^1.0.0',
    setup(ctx) {
      ctx.config.define('udp-port', Type.Integer({ minimum: 1, maximum: 65_535 }), { default: 2_102 })
      for (const name of ['mobile-scan', 'firmware'])
        ctx.commands.add(name, name, ({ arg }) => {
          calls.push({ name, arg })
          return 'started'
        })
    },
  })
  await broker.observer.publishAsync(`base/${sn}/cmd`, 'mobile-scan', { retain: true, qos: 1 })
  await broker.observer.publishAsync(`base/${sn}/info/get`, 'x', { retain: true, qos: 1 })
  const station = await startStation(t, broker.port, {}, { plugins: { target: target as never } })
  await until(() => broker.texts('info').length === 1, 'the document')
  const send = (name: string, text: string) => broker.observer.publishAsync(`base/${sn}/${name}`, text, { qos: 1 })
  const answers = () => broker.texts('change/resp').map((text) => JSON.parse(text))

  t.test('info/get is answered with the document', async () => {
    await send('info/get', '')
    await until(() => broker.texts('info').length === 2, 'the document')
  })

  t.test('retained requests are dropped, told once', async (t) => {
    t.same(calls, [])
    t.equal(station.lines.filter(({ msg }) => /retained request/.test(msg)).length, 1)
  })

  t.test('a change is answered with its result', async (t) => {
    await send('change/post', JSON.stringify({ 'udp-port': 2_200, unknown: [1] }))
    await until(() => answers().length === 1, 'the answer')
    t.same(answers()[0], { result: 'ok', leftover: { unknown: [1] } })
    await send('change/post', JSON.stringify({ 'udp-port': '2200' }))
    await until(() => answers().length === 2, 'the answer')
    t.match(answers()[1], { result: 'failed', leftover: { 'udp-port': '2200' }, errors: [{ name: 'udp-port' }] })
  })

  t.test('every malformed change is answered with failed', async (t) => {
    const bad = ['', '{', 'null', '[]', '"x"', '\xff', JSON.stringify({ a: 'x'.repeat(70_000) })]
    const before = answers().length
    for (const text of bad) await send('change/post', text)
    await until(() => answers().length === before + bad.length, 'an answer to each')
    for (const answer of answers().slice(before))
      t.match(answer, { result: 'failed', leftover: {}, errors: [{ message: String }] })
  })

  t.test('commands: plain text, and updateBase', async (t) => {
    await send('cmd', 'mobile-scan')
    await send('cmd', JSON.stringify({ cmd_type: 'updateBase', cmd_param: { url: 'https://x/y?a=b' } }))
    await send('cmd', 'no-such-command')
    await send('cmd', '{"cmd_type":"other"}')
    await until(() => calls.length === 2, 'both')
    t.same(calls, [
      { name: 'mobile-scan', arg: undefined },
      { name: 'firmware', arg: 'https://x/y?a=b' },
    ])
  })

  t.test('what is no command is none', (t) => {
    const table: [string, string | undefined][] = [
      [' log=d \n', 'log=d'],
      ['', undefined],
      ['a\nb', undefined],
      ['{', undefined],
      ['{}', undefined],
      ['{"cmd_type":"updateBase"}', undefined],
      ['{"cmd_type":"updateBase","cmd_param":{"url":7}}', undefined],
      ['{"cmd_type":"updateBase","cmd_param":null}', undefined],
      ['x'.repeat(5_000), undefined],
    ]
    for (const [text, command] of table) t.equal(commandText(Buffer.from(text)), command, text.slice(0, 40))
    t.end()
  })
})

const frame = (type: number, ...bytes: number[]): RtcmFrame => ({ type, bytes: Uint8Array.from(bytes), arrival_ms: 0 })

t.test('mqtt-rtcm', async (t) => {
  const listeners = new Set<(epoch: RtcmEpoch) => void>()
  const stream = {
    open: true,
    reason: '',
    reference: () => [frame(1005, 5)],
    onEpoch: (fn: (epoch: RtcmEpoch) => void) => {
      listeners.add(fn)
      return () => void listeners.delete(fn)
    },
  }
  const source = definePlugin({
    name: 'source',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [rtcmStream],
    setup: (ctx) => ctx.services.provide(rtcmStream, stream as unknown as RtcmStream),
  })
  const epoch = (n: number, complete = true) => {
    for (const fn of listeners) fn({ complete, time: n, satellites: 0, frames: [frame(1074, n), frame(1084, n)] })
  }
  const broker = await startBroker(t)
  const station = await startStation(
    t,
    broker.port,
    {},
    { plugins: { source: source as never, 'mqtt-rtcm': rtcm as never } },
  )
  await until(isUp(station), 'up')
  const published = async () => {
    // What comes over the same connection before this document came before it.
    const before = broker.texts('info').length
    await broker.observer.publishAsync(`base/${sn}/info/get`, '', { qos: 1 })
    await until(() => broker.texts('info').length > before, 'the document')
    return broker.texts('drtk').map((text) => [...Buffer.from(text)])
  }
  await until(() => broker.texts('info').length === 1, 'the first document')

  t.test('each second the newest epoch behind the reference, and nothing without a new one', async (t) => {
    epoch(1)
    epoch(2)
    await station.clock.advance(1_000)
    t.same(await published(), [[5, 2, 2]])
    t.match(station.field('mqtt.rtcm'), { enabled: true, active: true, topic: `base/${sn}/drtk`, rate: 1, sign: false })
    await station.clock.advance(5_000)
    t.equal((await published()).length, 1)
    t.equal(station.field('mqtt.rtcm.active'), false)
  })

  t.test('mqtt-rtcm-rate counts from the last publication, at once', async (t) => {
    await station.station.change({ 'mqtt-rtcm-rate': 10 }, { source: 'http' })
    for (let n = 0; n < 20; n++) {
      epoch(n)
      await station.clock.advance(1_000)
    }
    const before = (await published()).length
    t.ok(before >= 3 && before <= 4, `${before - 1} in 20 s`)
    await station.station.change({ 'mqtt-rtcm-rate': 1 }, { source: 'http' })
    t.match(await station.station.change({ 'mqtt-rtcm-rate': 0 }, { source: 'http' }), { result: 'failed' })
  })

  t.test(
    'nothing goes out while the gate is closed, forced or not, nor what was measured before it closed',
    async (t) => {
      await station.clock.advance(1_000)
      const before = (await published()).length
      epoch(7)
      stream.open = false
      stream.reason = 'the antenna moved'
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
      t.same((await published()).at(-1), [5, 8, 8])
    },
  )

  t.test('signing is refused with the reason', async (t) => {
    t.match(await station.station.change({ 'mqtt-rtcm-sign': 1 }, { source: 'http' }), {
      result: 'failed',
      errors: [{ name: 'mqtt-rtcm-sign', message: /cannot sign/ }],
    })
    t.match(await station.station.change({ 'mqtt-rtcm-sign': 0 }, { source: 'http' }), { result: 'ok' })
  })

  t.test('an incomplete epoch is left out, unless the receiver never completes one', (t) => {
    const publisher = new EpochPublisher(stream as unknown as RtcmStream)
    const add = (n: number, complete: boolean) =>
      publisher.onEpoch({ complete, time: n, satellites: 0, frames: [frame(1074, n)] })
    add(1, true)
    add(2, false)
    t.same([...(publisher.payload() ?? [])], [5, 1])
    for (let n = 3; n < 20; n++) add(n, false)
    t.same([...(publisher.payload() ?? [])], [5, 19])
    t.end()
  })

  t.test('without a link the command says so', async (t) => {
    await station.unload('mqtt-link')
    epoch(9)
    t.match(await station.station.command('rtcm-mqtt-force', { source: 'http' }), { status: 503, text: /link is down/ })
  })
})

t.test('mqtt-broker', async (t) => {
  const start = async (t: Test, port: number) => {
    const station = await createTestStation({ plugins: { 'mqtt-broker': [broker as never, { port }] } })
    t.teardown(() => station.stop())
    const reason = () => station.station.plugins().find(({ name }) => name === 'mqtt-broker')?.reason ?? ''
    return { station, reason }
  }
  const client = (t: Test, port: number): MqttClient => {
    const made = connect({ host: '127.0.0.1', port, protocolVersion: 4, reconnectPeriod: 0, connectTimeout: 2_000 })
    made.on('error', () => {})
    t.teardown(() => void made.end(true))
    return made
  }
  const portOf = (reason: string) => Number(/127\.0\.0\.1:(\d+)/.exec(reason)?.[1])

  t.test('carries messages and keeps retained ones', async (t) => {
    const { reason } = await start(t, 0)
    const port = portOf(reason())
    const a = client(t, port)
    await a.publishAsync('a/b', 'kept', { retain: true, qos: 1 })
    const b = client(t, port)
    await b.subscribeAsync('a/#')
    t.equal((await message(b)).payload, 'kept')
  })

  t.test('a reload frees the port and takes it again, connected clients or not', async (t) => {
    const server = createServer()
    const port = await listen(server)
    server.close()
    await once(server, 'close')
    const { station, reason } = await start(t, port)
    const a = client(t, port)
    await connected(a)
    for (let n = 0; n < 3; n++) await station.reload('mqtt-broker')
    t.match(reason(), /listening/)
    await connected(client(t, port))
  })

  t.test('a port that is taken is a state that heals itself', async (t) => {
    const other = createServer()
    const port = await listen(other)
    const { station, reason } = await start(t, port)
    t.match(reason(), /EADDRINUSE/)
    t.equal(station.station.plugins().find(({ name }) => name === 'mqtt-broker')?.state, 'running')
    other.close()
    await once(other, 'close')
    await station.clock.advance(5_000)
    await until(() => /listening/.test(reason()), 'listening')
    await connected(client(t, port))
  })

  t.test('limits: payload, connections, garbage', async (t) => {
    const { reason } = await start(t, 0)
    const port = portOf(reason())
    const large = client(t, port)
    const closed = new Promise((resolve) => large.once('close', () => resolve(undefined)))
    await connected(large)
    large.publish('x', Buffer.alloc(200_000))
    await closed
    const garbage = connectTcp(port, '127.0.0.1')
    garbage.on('error', () => {})
    garbage.write(Buffer.alloc(100, 0xff))
    await new Promise((resolve) => garbage.once('close', resolve))
    await connected(client(t, port))
  })
})

t.test('conformance', async (t) => {
  const stream = definePlugin({
    name: 'source',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [rtcmStream],
    setup: (ctx) =>
      ctx.services.provide(rtcmStream, {
        open: false,
        reason: '',
        reference: () => [],
        onEpoch: () => () => {},
      } as unknown as RtcmStream),
  })
  await t.resolves(conformance(link as never, { insecure: true }), 'mqtt-link')
  await t.resolves(conformance(rtcm as never, {}, { plugins: { source: stream as never } }), 'mqtt-rtcm')
  await t.resolves(conformance(broker as never, { port: 0 }), 'mqtt-broker')
})
