import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTcp, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Aedes } from 'aedes'
import fc from 'fast-check'
import { connect, MqttClient } from 'mqtt'
import { definePlugin } from 'rtk-base/plugin'
import { type MqttLink, mqttLink } from 'rtk-base/services'
import { childEnv, conformance, createTestStation, freeTcpPort, ManualClock, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import Type from 'typebox'
import embedded from '../../../plugins/mqtt/mqtt-broker/index.js'
import { failureOf } from '../../../plugins/mqtt/mqtt-link/failure.js'
import { Identity } from '../../../plugins/mqtt/mqtt-link/identity/identity.js'
import link from '../../../plugins/mqtt/mqtt-link/index.js'
import { defaultGateways, viaOf } from '../../../plugins/mqtt/mqtt-link/link/outbound.js'
import { Retry, waits } from '../../../plugins/mqtt/mqtt-link/link/retry.js'
import { linkStates } from '../../../plugins/mqtt/mqtt-link/link/states.js'
import { mostAtOnce } from '../../../plugins/mqtt/mqtt-link/session/inspection.js'
import { outboxLimit, Session } from '../../../plugins/mqtt/mqtt-link/session/session.js'
import { SessionFactory } from '../../../plugins/mqtt/mqtt-link/session/session-factory.js'
import { systemNetwork } from '../../../runtime/platform/ports/system-network.js'
import { Backoff } from '../../../runtime/platform/time/backoff.js'
import { drive, pass } from '../../harness/drive.js'
import { MemoryStore } from '../../harness/memory-store.js'
import {
  connected,
  fakeBroker,
  isUp,
  listen,
  message,
  sn,
  startBroker,
  startLinkStation,
} from '../../harness/peers/brokers.js'
import type { TestStation } from '../../harness/station.js'

/** A plugin that looks after a network interface. */
function radio() {
  const held: { link?: MqttLink } = {}
  const definition = definePlugin({
    name: 'radio',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [mqttLink],
    setup: () => {},
    start: (ctx) => {
      held.link = ctx.services.use(mqttLink)
    },
  })
  const link = () => held.link as MqttLink
  return { link, plugins: { radio: definition as never } }
}

/** A plugin with a command that publishes so many bytes, and says what came of it. */
const sender = (results: string[]) =>
  definePlugin({
    name: 'sender',
    version: '1.0.0',
    api: '^1.0.0',
    options: Type.Object({}),
    setup(ctx) {
      ctx.action({
        name: 'send',
        summary: 'sends',
        input: { bytes: Type.Integer() },
        run: ({ input }) => {
          const result = ctx.mqtt.publish('x', Buffer.alloc(input.bytes))
          results.push(result)
          return result
        },
      })
    },
  }) as never

/** A port that answers no SYN: its process stands still, and the queue of connections that it would accept is full. */
async function deafPort(t: Test): Promise<number> {
  const script = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
    console.log(this.address().port)
  })`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'], env: childEnv() })
  t.teardown(() => void child.kill('SIGKILL'))
  const [port] = await once(child.stdout, 'data')
  child.kill('SIGSTOP')
  for (let n = 0; n < 4; n++) {
    const socket = connectTcp(Number(port), '127.0.0.1').on('error', () => {})
    t.teardown(() => void socket.destroy())
  }
  return Number(port)
}

t.test('the link', async (t) => {
  t.test('a session: will before connecting, 3.1.1 where 5 is refused, y, subscriptions, the document', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port)
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
    const station = await startLinkStation(t, broker.port)
    await until(isUp(station), 'up')
    await station.unload('mqtt-link')
    await until(() => broker.online().endsWith('q'), 'q')
    await broker.observer.publishAsync('base/fence', '', { qos: 1 })
    t.equal(broker.online(), 'yq')
  })

  t.test('a reload says r, then y, and no L', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port)
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

  t.test('stopped or switched off after r, before y: q takes its place', async (t) => {
    for (const end of ['unload', 'switch off'] as const) {
      const broker = await startBroker(t)
      const station = await startLinkStation(t, broker.port, { brokerTrial: 0 })
      await until(isUp(station), 'up')
      await station.station.change({ 'mqtt-port': await freeTcpPort() }, { source: 'http' })
      await until(() => station.field('mqtt.state.link') === 'down', 'nobody there')
      await until(() => broker.online() === 'yr', 'r')
      if (end === 'unload') await station.unload('mqtt-link')
      else await station.station.change({ 'mqtt-en': 0 }, { source: 'http' })
      await until(() => broker.online() === 'yrq', 'q')
      if (end === 'switch off') {
        await station.station.change({ 'mqtt-en': 1, 'mqtt-port': broker.port }, { source: 'http' })
        await until(() => broker.online() === 'yrqy', 'y')
      }
    }
  })

  t.test('a reconnect that a stop meets anywhere ends with q', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port, { brokerTrial: 0, protocol: '4' })
    for (const [index, turns] of [0, 1, 2, 3, 5, 8, 13, 21, 34].entries()) {
      await until(isUp(station), 'up')
      await station.station.change({ 'mqtt-host': index % 2 === 0 ? 'localhost' : '127.0.0.1' }, { source: 'http' })
      for (let n = 0; n < turns; n++) await new Promise<void>((resolve) => setImmediate(resolve))
      if (index % 3 === 0) await station.reload('mqtt-link')
      await station.unload('mqtt-link')
      await broker.observer.publishAsync('base/fence', '', { qos: 1 })
      await until(() => broker.seen.filter(({ topic }) => topic === 'base/fence').length === index + 1, 'the fence')
      t.match(broker.online(), /q$/, `after ${turns} turns`)
      await station.load('mqtt-link')
    }
  })

  t.test('a change that changes nothing leaves the session alone', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port)
    await until(() => broker.texts('info').length === 1, 'the document')
    await station.station.change({ 'mqtt-en': 1, 'mqtt-port': broker.port }, { source: 'http' })
    await broker.observer.publishAsync(`base/${sn}/info/get`, '', { qos: 1 })
    await until(() => broker.texts('info').length === 2, 'the document over the same session')
    t.equal(broker.online(), 'y')
  })

  t.test('a lost connection: the broker says L, the link comes back by itself with y and the document', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port)
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
    await startLinkStation(t, broker.port)
    await until(() => broker.texts('info').length === 1, 'the document')
    await broker.observer.publishAsync(`base/${sn}/online`, 'L', { retain: true })
    await until(() => broker.online() === 'yLy', 'y again')
  })

  t.test('a connection that goes dead is given up by its pings, with r and a DISCONNECT, and made anew', async (t) => {
    const heard: Buffer[][] = []
    const dead = await fakeBroker(t, (socket) => {
      const mine: Buffer[] = []
      heard.push(mine)
      socket.on('data', (data) => mine.push(data))
    })
    const station = await startLinkStation(t, dead.port)
    await until(isUp(station), 'up')
    await station.clock.advance(20_000)
    t.equal(station.field('mqtt.state.link'), 'up', 'one ping is out')
    await station.clock.advance(20_000)
    const error = { cause: 'ping', text: 'the broker answered no ping for 20 s' }
    t.match(station.field('mqtt.state'), { link: 'renewing', error })
    await until(isUp(station), 'up again')
    t.equal(station.field('mqtt.state.error.cause'), '')
    const bytes = Buffer.concat(heard[0] ?? [])
    t.ok(bytes.includes(Buffer.concat([Buffer.from(`base/${sn}/online`), Buffer.from([0]), Buffer.from('r')])), 'r')
    t.same([...bytes.subarray(-4)], [0xe0, 0x02, 0x00, 0x00], 'DISCONNECT')
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
    const station = await startLinkStation(t, alive.port)
    await until(() => documents > 0, 'up')
    for (let n = 1; n < 6; n++) {
      await station.clock.advance(20_000)
      await until(() => documents > n, 'an answered ping')
    }
    t.equal(station.field('mqtt.state.link'), 'up')
    t.equal(alive.sockets.size, 1)
  })

  t.test('another broker: the answer first, then r, a DISCONNECT, and y there', async (t) => {
    const [first, second] = [await startBroker(t), await startBroker(t)]
    const station = await startLinkStation(t, first.port)
    await until(isUp(station), 'up')
    await first.observer.publishAsync(`base/${sn}/change/post`, JSON.stringify({ 'mqtt-port': second.port }))
    await until(() => second.online() === 'y', 'y at the other broker')
    await until(() => first.online() === 'yr', 'r at the first')
    const order = first.seen.map(({ topic }) => topic)
    t.ok(order.indexOf(`base/${sn}/change/resp`) < order.lastIndexOf(`base/${sn}/online`))
    t.equal(station.field('mqtt.port'), second.port)
    await until(isUp(station), 'up')
    await station.unload('mqtt-link')
    await until(() => second.online() === 'yq', 'q')
    await first.observer.publishAsync('base/fence', '', { qos: 1 })
    t.equal(first.online(), 'yr', 'the first one hears no more of it')
  })

  t.test('mqtt-en switches it off with q and on again', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port)
    await until(isUp(station), 'up')
    t.match(await station.station.change({ 'mqtt-en': 0 }, { source: 'http' }), { result: 'ok' })
    await until(() => broker.online() === 'yq', 'q')
    t.equal(station.field('mqtt.state.link'), 'disabled')
    await station.station.change({ 'mqtt-en': true }, { source: 'http' })
    await until(() => broker.online() === 'yqy', 'y')
  })

  t.test('switched on, off and on again while it still leaves, it makes one session', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port)
    await until(isUp(station), 'up')
    await Promise.all([0, 1, 0, 1].map((on) => station.station.change({ 'mqtt-en': on }, { source: 'http' })))
    await until(isUp(station), 'up again')
    await until(() => broker.online().length === 3, 'y')
    t.same([broker.online(), station.field('mqtt.stat.sessions')], ['yqy', 2])
  })

  t.test('what keeps it down is in the document, told once, and tried again', async (t) => {
    const server = createServer()
    const port = await listen(server)
    server.close()
    await once(server, 'close')
    const station = await startLinkStation(t, port)
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
    for (const bad of ['a b', '-', '.', 'broker-', '-broker', '_'])
      t.match(await station.station.change({ 'mqtt-host': bad }, { source: 'http' }), { result: 'failed' }, bad)
  })

  t.test('files that cannot be used are named', async (t) => {
    const station = await startLinkStation(t, 1, { ca: '/nowhere/ca.pem' })
    await until(() => station.field('mqtt.state.error.cause') === 'identity', 'identity')
    t.match(station.field('mqtt.state.error.text'), /ca file.*\/nowhere\/ca\.pem/)
  })

  t.test('an authority without a certificate in it is none, and lets nobody else vouch for the broker', async (t) => {
    for (const text of ['', 'nonsense']) {
      const ca = join(t.testdir({ 'ca.pem': text }), 'ca.pem')
      const broker = await startBroker(t)
      const station = await startLinkStation(t, broker.port, { ca, insecure: true })
      await until(() => station.field('mqtt.state.link') === 'down', 'down')
      t.match(station.field('mqtt.state.error'), { cause: 'identity', text: /ca\.pem is not a PEM certificate/ })
      t.same(broker.connects, [])
    }
  })

  t.test('what kept one broker away is not told of the next one', async (t) => {
    const mute = createServer((socket) => void socket.on('error', () => {}).resume())
    t.teardown(() => void mute.close())
    const station = await startLinkStation(t, await freeTcpPort())
    await until(() => station.field('mqtt.state.error.cause') === 'refused', 'refused')
    await station.station.change({ 'mqtt-port': await listen(mute) }, { source: 'http' })
    await until(() => station.field('mqtt.state.link') === 'connecting', 'the next one')
    t.equal(station.field('mqtt.state.error.cause'), '')
  })

  t.test('somebody who does not speak MQTT is told at once', async (t) => {
    const web = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
    })
    t.teardown(() => void web.close())
    const station = await startLinkStation(t, await listen(web))
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.match(station.field('mqtt.state.error'), { cause: 'protocol', text: /does not speak MQTT/ })
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
    const station = await startLinkStation(t, port, { insecure: false })
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.equal(first?.[0], 0x16, 'a TLS handshake')
  })

  t.test('a stop while the broker still thinks about CONNECT leaves no L', async (t) => {
    const broker = await startBroker(t)
    const slow = createServer((near) => {
      // The broker has the CONNECT, the station does not have the CONNACK yet.
      const far = connectTcp(broker.port, '127.0.0.1')
      near.pipe(far)
      far.once('data', (connack) => {
        connackHeld = () => {
          near.write(connack)
          far.pipe(near)
        }
        far.pause()
      })
      for (const socket of [near, far]) socket.on('error', () => {})
      near.once('close', () => far.destroy())
    })
    let connackHeld: (() => void) | undefined
    const port = await listen(slow)
    t.teardown(() => void slow.close())
    const station = await startLinkStation(t, port, { protocol: '4' })
    await until(() => connackHeld, 'CONNACK')
    const stopped = station.unload('mqtt-link')
    connackHeld?.()
    await stopped
    await until(() => broker.online() !== '', 'a status')
    await broker.observer.publishAsync('base/fence', '', { qos: 1 })
    t.equal(broker.online(), 'q')
  })

  t.test('hold says q and stays away until it is released', async (t) => {
    const broker = await startBroker(t)
    const { link, plugins } = radio()
    const station = await startLinkStation(t, broker.port, {}, { plugins })
    await until(isUp(station), 'up')
    const release = await link().hold('an operator scan')
    await until(() => broker.online() === 'yq', 'q')
    t.match(station.field('mqtt.state'), { link: 'down', error: { cause: 'held', text: 'an operator scan' } })
    const attempts = () => station.lines.filter(({ next }) => next === 'connecting').length
    const before = attempts()
    link().networkUp()
    t.equal(attempts(), before, 'a network that comes up makes none while it is held')
    await station.clock.advance(300_000)
    t.equal(station.field('mqtt.state.link'), 'down', 'no attempt while it is held')
    await station.station.change({ 'mqtt-en': 1 }, { source: 'http' })
    await until(() => station.field('mqtt.state.link') === 'down', 'held, whatever is changed')
    release()
    await until(() => broker.online() === 'yqy', 'y')
    await link().hold('forgotten')
    await station.clock.advance(600_000)
    await until(() => broker.online() === 'yqyqy', 'back after 10 min')
  })

  t.test('two that hold it for the same reason: the last one lets go, and each has its own 10 min', async (t) => {
    const broker = await startBroker(t)
    const { link, plugins } = radio()
    const station = await startLinkStation(t, broker.port, {}, { plugins })
    await until(isUp(station), 'up')
    const [first, second] = [await link().hold('scan'), await link().hold('scan')]
    await until(() => broker.online() === 'yq', 'q')
    first()
    first()
    await station.clock.advance(1_000)
    t.equal(station.field('mqtt.state.error.cause'), 'held')
    second()
    await until(() => broker.online() === 'yqy', 'y')
    await station.clock.advance(300_000)
    await until(isUp(station), 'up')
    await link().hold('scan')
    await station.clock.advance(599_000)
    t.equal(station.field('mqtt.state.error.cause'), 'held', 'the time of one that let go does not count')
  })

  t.test('hold while it is switched off is no failure', async (t) => {
    const { link, plugins } = radio()
    const station = await startLinkStation(t, 1, {}, { plugins, variant: { changes: { 'mqtt-en': 0 } } })
    await link().hold('an operator scan')
    t.match(station.field('mqtt.state'), { link: 'disabled', error: { cause: '' } })
  })

  t.test('a network that comes up: an attempt at once, and the back-off begins anew', async (t) => {
    const { link, plugins } = radio()
    const station = await startLinkStation(t, await freeTcpPort(), {}, { plugins })
    const attempts = () => station.lines.filter(({ next }) => next === 'connecting').length
    const failed = (after: number) =>
      until(() => attempts() > after && station.field('mqtt.state.link') === 'down', 'a failed attempt')
    await failed(0)
    for (let n = 0; n < 8; n++) {
      const before = attempts()
      await station.clock.advance(60_000)
      await failed(before)
    }
    // Without that the wait is up to 60 s by now. Each round would pass by luck once in 60.
    for (let n = 0; n < 5; n++) {
      const before = attempts()
      link().networkUp()
      await until(() => attempts() === before + 1, 'an attempt, without a step of the clock')
      await failed(before)
      await station.clock.advance(1_000)
      await until(() => attempts() >= before + 2, 'the next one within 1 s')
      await failed(before + 1)
    }
  })

  t.test('a network that comes up leaves a session alone', async (t) => {
    const broker = await startBroker(t)
    const { link, plugins } = radio()
    const station = await startLinkStation(t, broker.port, {}, { plugins })
    await until(() => broker.texts('info').length === 1, 'the document')
    link().networkUp()
    await broker.observer.publishAsync(`base/${sn}/info/get`, '', { qos: 1 })
    await until(() => broker.texts('info').length === 2, 'the document over the same session')
    t.equal(broker.online(), 'y')
    t.equal(station.field('mqtt.stat.sessions'), 1)
  })

  t.test('a network that comes up ends an attempt that reached nobody yet, and no other', async (t) => {
    const { link, plugins } = radio()
    const start = async (port: number) => {
      const station = await startLinkStation(t, port, {}, { plugins })
      await until(() => station.field('mqtt.state.link') === 'connecting', 'an attempt')
      return { station, attempts: () => station.lines.filter(({ next }) => next === 'connecting').length }
    }
    const { attempts } = await start(await deafPort(t))
    link().networkUp()
    await until(() => attempts() === 2, 'another one')

    let reached = false
    const silent = createServer((socket) => {
      reached = true
      socket.on('error', () => {})
    })
    t.teardown(() => void silent.close())
    const other = await start(await listen(silent))
    await until(() => reached, 'a connection')
    await other.station.clock.advance(1)
    link().networkUp()
    t.equal(other.attempts(), 1)
  })

  t.test('TLS waits for a credible time, at most until 60 s of uptime', async (t) => {
    let hellos = 0
    const server = createServer((socket) => {
      hellos++
      socket.on('error', () => {}).destroy()
    })
    const port = await listen(server)
    t.teardown(() => void server.close())
    const never = await startLinkStation(t, port, { insecure: false }, { clock: new ManualClock(Date.UTC(1970, 0, 1)) })
    await never.clock.advance(59_000)
    t.equal(hellos, 0)
    t.match(never.station.plugins().find(({ name }) => name === 'mqtt-link')?.reason, /waiting for the time/)
    await never.clock.advance(2_000)
    await until(() => hellos > 0, 'tried all the same')
    await never.stop()
    hellos = 0
    const soon = await startLinkStation(t, port, { insecure: false }, { clock: new ManualClock(Date.UTC(1970, 0, 1)) })
    await soon.clock.advance(10_000)
    t.equal(hellos, 0)
    for (let second = 0; second <= 10; second++) {
      soon.device.setUtc(Date.UTC(2026, 10, 21, 0, 0, second))
      await soon.clock.advance(1_000)
    }
    await until(() => hellos > 0, 'at once when the receiver told it')
  })

  t.test('a session taken over by a client with the same id says so', async (t) => {
    const taken = await fakeBroker(t, (socket) => socket.write(Buffer.from([0xe0, 0x02, 0x8e, 0x00])))
    const station = await startLinkStation(t, taken.port)
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.match(station.field('mqtt.state.error'), { cause: 'closed', text: /same client id/ })
    t.same(Object.keys(station.field('mqtt.state.error') as object), ['cause', 'text'])
  })

  t.test('P13: two stations with one serial number: it is said, and the attempts are far apart', async (t) => {
    let attempts = 0
    const taken = await fakeBroker(t, (socket) => {
      attempts++
      if (attempts < 5) socket.write(Buffer.from([0xe0, 0x02, 0x8e, 0x00]))
    })
    const station = await startLinkStation(t, taken.port)
    const codes = () => station.device.errors().map(({ code }) => code)
    const isShared = () => codes().includes('mqtt-serial-shared')
    await drive(station.clock, () => attempts === 2 && station.field('mqtt.state.link') === 'down', 'taken over twice')
    t.notOk(isShared(), 'it may have been a session of its own, half open')
    await drive(station.clock, isShared, 'taken over three times')
    t.equal(attempts, 3)
    t.match(station.device.errors(), [{ text: /another client uses this serial number \(TEST0001\)/ }])
    const wait_ms = await drive(station.clock, () => attempts === 4, 'the next attempt', 5_000)
    t.ok(wait_ms >= 240_000 && wait_ms <= 370_000, `${wait_ms} ms`)
    const next_ms = await drive(station.clock, () => attempts === 5, 'the one after', 5_000)
    t.ok(next_ms >= 480_000 && next_ms <= 730_000, `${next_ms} ms`)
    await drive(station.clock, isUp(station), 'up')
    t.ok(isShared(), 'the other one comes back')
    const closed = taken.sockets.size
    t.equal(closed, 5)
  })

  t.test('P13: with MQTT 3.1.1 a take-over has no reason: three of them are told as a suspicion', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port)
    const shared = () => station.device.errors().filter(({ code }) => code === 'mqtt-serial-shared')
    for (let round = 1; round <= 3; round++) {
      await drive(station.clock, isUp(station), 'up')
      t.strictSame(shared(), [], `before take-over ${round}`)
      const other = connect({
        ...{ port: broker.port, host: '127.0.0.1', clientId: sn },
        protocolVersion: 4,
        reconnectPeriod: 0,
      })
      await connected(other)
      await until(() => !isUp(station)(), 'taken over')
      other.end(true)
    }
    t.match(shared(), [
      { text: /^perhaps another client uses this serial number \(TEST0001\): /, values: { suspected: true } },
    ])
    await drive(station.clock, isUp(station), 'up again, within a minute')
    await station.clock.advance(599_000)
    t.equal(shared().length, 1)
    await station.clock.advance(2_000)
    t.strictSame(shared(), [], 'a session of 10 min belongs to this station')
  })

  t.test('P13: ends that are far apart are no suspicion, nor is a line that is silent', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port)
    const codes = () => station.device.errors().map(({ code }) => code)
    const isDown = () => !isUp(station)()
    const sessions = () => station.field('mqtt.stat.sessions') as number
    for (let round = 1; round <= 4; round++) {
      await drive(station.clock, isUp(station), 'up')
      await station.clock.advance(90_000)
      broker.cut()
      await until(isDown, 'closed by the broker')
    }
    for (let round = 1; round <= 4; round++) {
      await drive(station.clock, isUp(station), 'up')
      const before = sessions()
      broker.silence()
      await drive(station.clock, () => sessions() > before, 'no ping is answered: another session')
    }
    t.notOk(codes().includes('mqtt-serial-shared'))
  })

  t.test('the outbox: one of any size when empty, else 64 KiB; offline while down', async (t) => {
    const stuck = await fakeBroker(t, (socket) => socket.pause())
    const results: string[] = []
    const station = await startLinkStation(t, stuck.port, {}, { plugins: { sender: sender(results) } })
    const send = async (bytes: number) => (await station.station.command(`send=${bytes}`, { source: 'plugin' })).text
    await until(isUp(station), 'up')
    // A paused socket has room for a few MB in the system's buffers.
    for (let n = 0; n < 1_000 && (await send(131_072)) === 'sent'; n++);
    t.equal(results[0], 'sent', 'larger than the outbox, admitted because it was empty')
    t.equal(results.at(-1), 'full')
    t.equal(await send(outboxLimit), 'full')
    for (const socket of stuck.sockets) socket.destroy()
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.equal(await send(1), 'offline')
    t.equal(await send(1), 'offline')
    t.equal(station.lines.filter(({ msg }) => /publications are dropped/.test(msg)).length, 1, 'told once')
  })

  t.test('what is published while the link is down is told once, until it was back', async (t) => {
    const broker = await startBroker(t)
    const station = await startLinkStation(t, broker.port, {}, { plugins: { sender: sender([]) } })
    const told = () => station.lines.filter(({ msg }) => /publications are dropped/.test(msg)).length
    for (let outage = 1; outage <= 2; outage++) {
      await until(() => broker.texts('info').length === outage, 'the document')
      broker.cut()
      await until(() => station.field('mqtt.state.link') === 'down', 'down')
      for (let n = 0; n < 3; n++)
        t.match(await station.station.command('send=1', { source: 'plugin' }), { text: 'offline' })
      t.equal(told(), outage)
      await station.clock.advance(60_000)
    }
  })

  t.test('nothing is sent over a session that the broker has ended, also before its socket is closed', async (t) => {
    // The request comes in one piece with the DISCONNECT: it is handled while the socket is on its way out.
    const ending = await fakeBroker(
      t,
      (socket) => {
        const publication = [0x30, 0x05, 0x00, 0x01, 0x78, 0x00, 0x79]
        socket.write(Buffer.from([0xe0, 0x02, 0x8b, 0x00, ...publication]))
      },
      { subscribes: false },
    )
    const results: string[] = []
    await new Promise<void>((resolve) => {
      const options = {
        host: '127.0.0.1',
        port: ending.port,
        serial: sn,
        clientId: sn,
        version: 5 as const,
        tls: false,
      }
      const session = new Session(
        { ...options, net: systemNetwork, identity: new Identity({}) },
        {
          accepted: () => {
            results.push(session.publish('x', 'y', { retain: false, qos: 0 }))
            session.subscribe(['x'], () => {})
          },
          alive() {},
          message: () => results.push(session.publish('x', 'y', { retain: false, qos: 0 })),
          ended: () => resolve(),
        },
      )
    })
    t.same(results, ['sent', 'offline'])
  })

  t.test('a broker that sends what no broker sends loses the session, before its bytes reach the parser', async (t) => {
    const publish = (topic: string, { qos = 0, bytes = 0, id = 1 } = {}) => {
      const head = Buffer.from([0, topic.length, ...Buffer.from(topic), ...(qos > 0 ? [id >> 8, id & 255] : []), 0])
      const length = head.length + bytes
      const digits = [(length & 127) | 128, ((length >> 7) & 127) | 128, length >> 14]
      return Buffer.concat([Buffer.from([0x30 | (qos << 1), ...digits]), head, Buffer.alloc(bytes, 120)])
    }
    const floods = {
      'PINGRESP that answers nothing': Buffer.alloc(4_000_000, Buffer.from([0xd0, 0])),
      'PUBACK that answers nothing': Buffer.alloc(4_000_000, Buffer.from([0x40, 2, 0, 1])),
      'PUBREC that answers nothing': Buffer.alloc(400_000, Buffer.from([0x50, 2, 0, 1])),
      'packet of type 6': Buffer.alloc(400_000, Buffer.from([0x62, 2, 0, 1])),
      'PUBLISH of QoS 2': Buffer.concat(
        Array.from({ length: 50 }, (_, id) => publish(`base/${sn}/cmd`, { qos: 2, bytes: 200_000, id: id + 1 })),
      ),
      'which the station did not subscribe to': Buffer.alloc(4_000_000, publish('other')),
      'PUBLISH of more than 262144 bytes': Buffer.concat([
        Buffer.from([0x30, 0x80, 0x80, 0x80, 0x64]),
        Buffer.alloc(400_000),
      ]),
      'packet of type 15': Buffer.alloc(400_000, Buffer.from([0xf0, 2, 0, 0])),
    }
    for (const [text, flood] of Object.entries(floods)) {
      let parsed = 0
      const { emit } = MqttClient.prototype
      MqttClient.prototype.emit = function (this: MqttClient, ...args: Parameters<typeof emit>) {
        if ((args[0] as string) === 'packetreceive') parsed++
        return emit.apply(this, args)
      } as typeof emit
      const broker = await fakeBroker(t, (socket) => void setImmediate(() => socket.write(flood)))
      const rss_bytes = process.memoryUsage().rss
      const station = await startLinkStation(t, broker.port)
      await until(() => station.field('mqtt.state.link') === 'down', text)
      MqttClient.prototype.emit = emit
      t.match(station.field('mqtt.state.error'), { cause: 'protocol', text: new RegExp(text) })
      t.ok(parsed <= (text.startsWith('which') ? 800 + mostAtOnce : 2), `${text}: ${parsed} packets reached the parser`)
      t.ok(process.memoryUsage().rss - rss_bytes < 100_000_000, `${text}: memory`)
      await station.clock.advance(600_000)
      t.equal(broker.sockets.size, 1, 'it is left alone for a quarter of an hour')
      const lines = station.lines.filter(({ msg }) => new RegExp(text).test(String(msg)))
      t.equal(lines.length, 1)
      t.match(lines[0]?.msg, /the next attempt follows in 1[0-9] min/)
      await station.clock.advance(600_000)
      await until(() => broker.sockets.size > 1, 'it is dialled again')
      await station.stop()
    }
  })

  t.test('a broker that answers no SUBSCRIBE has no link: nothing is published, and the session ends', async (t) => {
    const chunks: Buffer[] = []
    const hear = (socket: Socket) => void socket.on('data', (bytes) => void chunks.push(bytes))
    const broker = await fakeBroker(t, hear, { subscribes: false })
    const station = await startLinkStation(t, broker.port)
    await until(() => Buffer.concat(chunks).includes(`base/${sn}/cmd`), 'the SUBSCRIBE')
    t.equal(station.field('mqtt.state.link'), 'connecting')
    t.notOk(Buffer.concat(chunks).includes('"mqtt":{'), 'no document')
    await station.clock.advance(19_999)
    t.equal(station.field('mqtt.state.link'), 'connecting')
    await station.clock.advance(1)
    t.match(station.field('mqtt.state.error'), { cause: 'timeout', text: /did not answer the subscription in 20 s$/ })
  })

  t.test('a broker that rejects a subscription is told in the log, and publications go on', async (t) => {
    for (const rejects of [false, true]) {
      const broker = await startBroker(t)
      if (rejects) broker.aedes.authorizeSubscribe = (_client, _subscription, done) => done(null, null)
      const station = await startLinkStation(t, broker.port)
      await until(() => broker.texts('info').length > 0, 'the document')
      t.equal(station.lines.filter(({ msg }) => /rejected a subscription/.test(msg)).length > 0, rejects)
    }
  })

  t.test('commands faster than 100 a second wait in the broker; the parser gets the burst alone', async (t) => {
    const topic = `base/${sn}/cmd`
    const command = Buffer.from([0x30, topic.length + 4, 0, topic.length, ...Buffer.from(topic), 0, 120])
    const broker = await fakeBroker(t, (socket) => void socket.write(Buffer.alloc(command.length * 20_000, command)))
    let parsed = 0
    const { emit } = MqttClient.prototype
    MqttClient.prototype.emit = function (this: MqttClient, ...args: Parameters<typeof emit>) {
      if ((args[0] as string) === 'packetreceive') parsed++
      return emit.apply(this, args)
    } as typeof emit
    t.teardown(() => Object.assign(MqttClient.prototype, { emit }))
    // Before the connection: its budget grows from then on.
    const began_ms = performance.now()
    const station = await startLinkStation(t, broker.port)
    await until(() => parsed >= 800, 'the burst')
    for (let n = 0; n < 100; n++) await new Promise((resolve) => setImmediate(resolve))
    const more = ((performance.now() - began_ms) / 1_000) * 100
    t.ok(parsed <= 800 + 2 * mostAtOnce + more, `${parsed} packets reached the parser`)
    t.equal(station.field('mqtt.state.link'), 'up')
    t.ok(station.lines.length < 100, `${station.lines.length} lines in the log`)
  })

  t.test('the table of states: each is reached, and none is a dead end', (t) => {
    const reached = new Set(Object.values(linkStates).flatMap((events) => Object.values(events)))
    t.same(reached, new Set(Object.keys(linkStates)))
    for (const [state, events] of Object.entries(linkStates)) t.ok(Object.keys(events).length > 0, state)
    t.end()
  })

  t.test('the back-off doubles from 1 s to 60 s, with full jitter', async () => {
    fc.assert(
      fc.property(fc.nat({ max: 100 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const backoff = new Backoff({ ...waits, random: () => random })
        const wait_ms = Array.from({ length: attempt + 1 }, () => backoff.next()).at(-1) ?? -1
        return wait_ms >= 0 && wait_ms <= Math.min(60_000, 1_000 * 2 ** attempt)
      }),
    )
    const longest = new Backoff({ ...waits, random: () => 1 })
    t.same(
      Array.from({ length: 8 }, () => longest.next()),
      [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000],
    )
  })

  t.test('a session that held for 30 s starts the back-off anew, a shorter one does not', async (t) => {
    const clock = new ManualClock()
    const waits_ms: number[] = []
    const ctx = {
      clock,
      timers: { after: (ms: number, fn: () => void) => clock.timer(ms, fn) },
      status: () => {},
      log: { warn: ({ retry_ms }: { retry_ms: number }) => void waits_ms.push(retry_ms) },
    }
    const retry = new Retry(ctx as never)
    const fail = () => retry.failed({ cause: 'closed', text: 'x' }, () => {})
    const lostAfter = async (ms: number) => {
      waits_ms.length = 0
      for (let n = 0; n < 20; n++) {
        retry.succeeded()
        await clock.advance(ms)
        retry.lost()
        fail()
      }
      return Math.max(...waits_ms)
    }
    for (let n = 0; n < 8; n++) fail()
    t.equal(waits_ms.length, 1, 'the same text is told once')
    // Each of the 20 is anywhere up to 60 s, or up to 1 s.
    t.ok((await lostAfter(29_999)) > 1_000)
    t.ok((await lostAfter(30_000)) <= 1_000)
    retry.cancel()
    t.equal(clock.pending, 0)
  })

  t.test('that a broker speaks 3.1.1 only is remembered for 24 h, per host and port', (t) => {
    let now_ms = 0
    const ctx = { clock: { monotonic: () => now_ms } }
    const made = () => new SessionFactory(ctx as never, { clientId: 'x', protocol: 'auto', insecure: true })
    const sessions = made()
    const versions = (of: SessionFactory) => [
      of.version({ host: 'a', port: 1 }),
      of.version({ host: 'a', port: 2 }),
      of.version({ host: 'b', port: 1 }),
    ]
    sessions.accepted({ host: 'a', port: 1 }, 4)
    now_ms = 86_399_999
    t.same(versions(sessions), [4, 5, 5])
    const next = made()
    next.remember(sessions.oldBrokers)
    t.same(versions(next), [4, 5, 5], 'handed over')
    now_ms = 86_400_000
    t.same(versions(next), [5, 5, 5])
    t.end()
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
      [new Error('Invalid header flag bits'), 'protocol'],
      [coded('ECONNRESET'), 'closed'],
    ]
    for (const [error, cause] of table) t.equal(failureOf(error).cause, cause)
    const plain = coded('ECONNRESET', 'Client network socket disconnected before secure TLS connection was established')
    t.match(failureOf(plain), {
      cause: 'tls',
      text: /does it speak TLS at this port \(mqtt-port\)\? A plain one is 1883/,
    })
    t.end()
  })
})

t.test('a new broker is on trial', async (t) => {
  const trial = async (t: Test, options: Record<string, unknown> = {}) => {
    const broker = await startBroker(t)
    const nobody = await freeTcpPort()
    const station = await startLinkStation(t, broker.port, options)
    await until(isUp(station), 'up')
    const change = (values: Record<string, unknown>) => station.station.change(values, { source: 'http' })
    const errors = () => station.device.errors().filter(({ code }) => code === 'mqtt-broker-change')
    return { broker, nobody, station, change, errors }
  }
  const wait = (station: TestStation, seconds: number) => pass(station.clock, seconds * 1_000)

  t.test('the last one returns after 60 s without a session, with an error entry', async (t) => {
    const { broker, nobody, station, change, errors } = await trial(t)
    t.match(await change({ 'mqtt-host': 'localhost', 'mqtt-port': nobody }), { result: 'ok' })
    await until(() => broker.online() === 'yr', 'r')
    await wait(station, 59)
    t.equal(station.field('mqtt.port'), nobody)
    t.same(errors(), [])
    await wait(station, 1)
    await until(() => broker.online() === 'yry', 'back')
    t.match(station.field('mqtt'), { host: '127.0.0.1', port: broker.port })
    t.match(errors(), [{ text: new RegExp(`within 60 s: back to 127.0.0.1:${broker.port}`) }])
    t.same(await station.store.entries('plugin.mqtt-link'), {})
    await change({ 'mqtt-host': '127.0.0.1' })
    t.same(errors(), [], 'until the next change')
  })

  t.test('a restart does not forget it', async (t) => {
    const { broker, nobody, station, change } = await trial(t)
    await change({ 'mqtt-port': nobody })
    await until(() => broker.online() === 'yr', 'r')
    await station.unload('mqtt-link')
    await station.load('mqtt-link')
    await wait(station, 60)
    await until(() => broker.online().endsWith('y'), 'back')
    t.equal(station.field('mqtt.port'), broker.port)
  })

  t.test('a power cut at any moment of the change: the new one is stored with its trial, or not at all', async (t) => {
    const { broker, nobody, station, change } = await trial(t)
    const { store } = station
    const disks: MemoryStore[] = []
    const write = store.batch.bind(store)
    store.batch = async (...batch) => {
      await write(...batch)
      const disk = new MemoryStore()
      for (const namespace of await store.namespaces()) {
        const values = Object.entries(await store.entries(namespace))
        await disk.batch(values.map(([key, value]) => ({ namespace, key, value })))
      }
      disks.push(disk)
    }
    await change({ 'mqtt-port': nobody })
    await until(() => broker.online() === 'yr', 'r')
    await station.stop()
    t.ok(disks.length > 0)
    for (const [index, disk] of disks.entries()) {
      const after = await startLinkStation(t, broker.port, {}, { store: disk })
      t.equal(after.field('mqtt.port'), nobody, `after write ${index + 1}`)
      await wait(after, 61)
      t.equal(after.field('mqtt.port'), broker.port, `after write ${index + 1} the old one returns`)
      await after.stop()
    }
  })

  t.test('a change that is refused leaves the trial as it was', async (t) => {
    const picky = definePlugin({
      name: 'picky',
      version: '1.0.0',
      api: '^1.0.0',
      setup: (ctx) =>
        ctx.config.define('picky', Type.Integer(), { default: 0 }).onChange((now) => {
          if (now === 1) throw new Error('no')
        }),
    }) as never
    const broker = await startBroker(t)
    const nobody = await freeTcpPort()
    const station = await startLinkStation(t, broker.port, {}, { plugins: { picky } })
    await until(isUp(station), 'up')
    const change = (values: Record<string, unknown>) => station.station.change(values, { source: 'http' })
    await change({ 'mqtt-port': nobody })
    const kept = await station.store.entries('plugin.mqtt-link')
    t.strictSame(kept, { trial: { host: '127.0.0.1', port: broker.port } })
    t.match(await change({ 'mqtt-port': broker.port, picky: 1 }), { result: 'failed' })
    t.equal(station.field('mqtt.port'), nobody)
    t.strictSame(await station.store.entries('plugin.mqtt-link'), kept)
    await wait(station, 60)
    await until(() => station.field('mqtt.port') === broker.port, 'the old one')
  })

  t.test('a power cut while it goes back: the old one is set in one write with the end of the trial', async (t) => {
    const { broker, nobody, station, change } = await trial(t)
    await change({ 'mqtt-port': nobody })
    await until(() => broker.online() === 'yr', 'r')
    const { store } = station
    const write = store.batch.bind(store)
    const left: unknown[] = []
    store.batch = async (...batch) => {
      await write(...batch)
      const [set, kept] = [await store.get('config', 'mqtt-port'), await store.get('plugin.mqtt-link', 'trial')]
      left.push({ isBack: set === broker.port, isOnTrial: kept !== undefined })
    }
    await wait(station, 60)
    await until(() => broker.online() === 'yry', 'back')
    t.strictSame(left, [{ isBack: true, isOnTrial: false }])
  })

  t.test('one that accepts stays', async (t) => {
    const { broker, station, change, errors } = await trial(t)
    const second = await startBroker(t)
    await change({ 'mqtt-port': second.port })
    await until(() => second.online() === 'y', 'y')
    await wait(station, 70)
    t.equal(station.field('mqtt.port'), second.port)
    t.equal(broker.online(), 'yr')
    t.same(errors(), [])
  })

  t.test('option brokerTrial 0: no trial', async (t) => {
    const { nobody, station, change } = await trial(t, { brokerTrial: 0 })
    await change({ 'mqtt-port': nobody })
    await wait(station, 70)
    t.equal(station.field('mqtt.port'), nobody)
  })

  t.test('a station whose broker never worked keeps what it is given: it is set up on a bench', async (t) => {
    const [one, other] = [await freeTcpPort(), await freeTcpPort()]
    const station = await startLinkStation(t, one)
    const errors = () => station.device.errors().filter(({ code }) => code === 'mqtt-broker-change')
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    t.match(await station.station.change({ 'mqtt-port': other }, { source: 'http' }), { result: 'ok' })
    await wait(station, 130)
    t.equal(station.field('mqtt.port'), other)
    t.same(errors(), [])
    t.same(await station.store.entries('plugin.mqtt-link'), {})

    const fresh = await startLinkStation(t, one, {}, { variant: { changes: { 'mqtt-host': '' } } })
    await fresh.station.change({ 'mqtt-host': '127.0.0.1' }, { source: 'http' })
    await wait(fresh, 130)
    t.equal(fresh.field('mqtt.host'), '127.0.0.1')
  })

  t.test('a change that came over MQTT is on trial, although the link was lost before it was applied', async (t) => {
    const broker = await startBroker(t)
    const nobody = await freeTcpPort()
    const station = await startLinkStation(t, broker.port)
    await until(isUp(station), 'up')
    broker.cut()
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    await station.station.change({ 'mqtt-port': nobody }, { source: 'mqtt' })
    await wait(station, 60)
    await until(() => station.field('mqtt.port') === broker.port, 'the old one')
  })

  t.test('no broker at all is on trial too', async (t) => {
    const { station, change } = await trial(t)
    await change({ 'mqtt-host': '' })
    await wait(station, 60)
    await until(() => station.field('mqtt.host') === '127.0.0.1', 'back from none')
  })

  t.test('a second change before the first was accepted: the one before both returns', async (t) => {
    const { broker, nobody, station, change } = await trial(t)
    await change({ 'mqtt-port': nobody })
    await wait(station, 50)
    await change({ 'mqtt-port': await freeTcpPort() })
    await wait(station, 59)
    t.not(station.field('mqtt.port'), broker.port)
    await wait(station, 1)
    await until(() => station.field('mqtt.port') === broker.port, 'the first one')
  })

  t.test('the time does not run while it is switched off', async (t) => {
    const { broker, nobody, station, change } = await trial(t)
    await change({ 'mqtt-port': nobody, 'mqtt-en': 0 })
    await wait(station, 100)
    t.equal(station.field('mqtt.port'), nobody)
    await change({ 'mqtt-en': 1 })
    await wait(station, 60)
    await until(() => broker.online().endsWith('y') && station.field('mqtt.port') === broker.port, 'back')
  })

  t.test('changed back by hand: no trial, no error', async (t) => {
    const { broker, nobody, station, change, errors } = await trial(t)
    await change({ 'mqtt-port': nobody })
    await change({ 'mqtt-port': broker.port })
    await wait(station, 130)
    t.equal(station.field('mqtt.port'), broker.port)
    t.same(errors(), [])
    t.same(await station.store.entries('plugin.mqtt-link'), {})
  })
})

t.test('the embedded broker', async (t) => {
  const start = async (t: Test, changes: Record<string, unknown> = {}, options: Record<string, unknown> = {}) => {
    const station = await createTestStation({
      plugins: {
        'mqtt-link': [link as never, { insecure: true }],
        'mqtt-broker': [embedded as never, { port: 0, ...options }],
      },
      variant: { changes },
    })
    t.teardown(() => station.stop())
    const listening = () => {
      const { reason } = station.station.plugins().find(({ name }) => name === 'mqtt-broker') ?? {}
      return Number(/listening on 127\.0\.0\.1:(\d+)/.exec(reason ?? '')?.[1])
    }
    // The link started before the broker did.
    const up = () => drive(station.clock, isUp(station), 'up')
    return { station, listening, up }
  }

  t.test('is the broker while nobody has set one: document and link follow its real port', async (t) => {
    const { station, listening, up } = await start(t)
    await up()
    t.ok(listening() > 0)
    t.match(station.field('mqtt'), { host: '127.0.0.1', port: listening() })
    const first = listening()
    await station.reload('mqtt-broker')
    await up()
    t.equal(listening(), first, 'a reload keeps the port')
    t.match(station.field('mqtt'), { host: '127.0.0.1', port: listening() })
    await station.unload('mqtt-broker')
    await drive(station.clock, () => station.field('mqtt.state.error.cause') === 'config', 'no broker any more')
  })

  t.test('one that is set is used instead', async (t) => {
    const broker = await startBroker(t)
    const { station, up } = await start(t, { 'mqtt-host': 'localhost', 'mqtt-port': broker.port })
    await up()
    t.match(station.field('mqtt'), { host: 'localhost', port: broker.port })
    await until(() => broker.online() === 'y', 'y')
  })

  t.test('where only mqtt-port is set, that is another port on the same host', async (t) => {
    const broker = await startBroker(t)
    const { station, up } = await start(t, { 'mqtt-port': broker.port })
    await up()
    t.match(station.field('mqtt'), { host: '127.0.0.1', port: broker.port })
  })

  t.test('returns after another broker did not accept', async (t) => {
    const { station, listening, up } = await start(t)
    await up()
    await station.station.change({ 'mqtt-host': '127.0.0.1', 'mqtt-port': await freeTcpPort() }, { source: 'http' })
    await pass(station.clock, 60_000)
    await up()
    t.equal(station.field('mqtt.port'), listening())
    t.match(station.device.errors(), [{ code: 'mqtt-broker-change', text: /back to the embedded broker/ }])
    t.same(await station.store.entries('config'), { 'mqtt-host': '', 'mqtt-port': 8_883 })
  })
})

t.test('conformance', async (t) => {
  await t.resolves(conformance(link as never, { insecure: true }))
})

t.test('mqtt.via', async (t) => {
  const route = (name: string, fields: string) => `${name}\t${fields}\t0\t0\t0\n`
  const routes = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n',
    route('eth0', '00000000\t0101A8C0\t0003\t0\t0\t0\t00000000'),
    route('eth0', '0001A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF'),
    route('eth1', '00000000\t0100000A\t0003\t0\t0\t100\t00000000'),
    route('eth1', '00000000\t0200000A\t0003\t0\t0\t200\t00000000'),
    route('eth2', '00000000\t0101A8C0\t0002\t0\t0\t0\t00000000'),
    route('eth3', '00000000\t00000000\t0001\t0\t0\t0\t00000000'),
    'garbage\n',
  ].join('')

  t.test('the default gateways of /proc/net/route', async (t) => {
    t.same(
      [...defaultGateways(routes, true)],
      [
        ['eth0', ['192.168.1.1']],
        ['eth1', ['10.0.0.1', '10.0.0.2']],
      ],
    )
    t.same([...defaultGateways('h\neth0 00000000 C0A80101 0003 0 0 0 00000000', false)], [['eth0', ['192.168.1.1']]])
    t.same([...defaultGateways('')], [])
  })

  t.test('is cellular where the way leads through the cellular router', async (t) => {
    const own = (address: string, cidr: string, internal = false) => [{ address, cidr, internal }]
    const interfaces = {
      lo: own('127.0.0.1', '127.0.0.1/8', true),
      eth0: [...own('192.168.1.20', '192.168.1.20/24'), ...own('2001:db8::20', '2001:db8::20/64')],
      eth1: own('10.0.0.5', '10.0.0.5/8'),
      wlan0: own('192.168.7.5', '192.168.7.5/24'),
      wwan0: own('100.64.0.1', '100.64.0.1/32'),
    }
    const via = (localAddress: string | undefined, router: string | undefined, remoteAddress = '198.51.100.7') =>
      viaOf({ localAddress, remoteAddress }, { interfaces, router, gateways: () => defaultGateways(routes, true) })
    t.equal(via('192.168.1.20', '192.168.1.1'), 'cellular')
    t.equal(via('::ffff:192.168.1.20', '192.168.1.1', '::ffff:198.51.100.7'), 'cellular')
    t.equal(via('2001:db8::20', '192.168.1.1', '2001:db9::1'), 'cellular', 'the same port')
    t.equal(via('192.168.1.20', undefined), 'eth', 'its modem is not connected')
    t.equal(via('192.168.1.20', ''), 'eth', 'its address is not known')
    t.equal(via('192.168.1.20', '192.168.1.254'), 'eth', 'another gateway')
    t.equal(via('192.168.1.20', '192.168.1.1', '192.168.1.9'), 'eth', 'a broker in the local network')
    t.equal(via('2001:db8::20', '192.168.1.1', '2001:db8::9'), 'eth')
    t.equal(via('10.0.0.5', '192.168.1.1'), 'eth', 'another port')
    t.equal(via('10.0.0.5', '10.0.0.2'), 'cellular', 'one of two gateways')
    t.equal(via('192.168.7.5', '192.168.1.1'), 'sta')
    t.equal(via('100.64.0.1', undefined), 'cellular')
    t.equal(via('127.0.0.1', '192.168.1.1'), '')
    t.equal(via(undefined, '192.168.1.1'), '')
  })
})

t.test('a topic that is wanted again while the broker still removes it is heard', async (t) => {
  const broker = await startBroker(t)
  const heard: string[] = []
  const listener = definePlugin({
    ...{ name: 'listener', version: '1.0.0', api: '^1.0.0' },
    setup(ctx) {
      const topic = ctx.config.define('extra-topic', Type.String(), { default: 'extra' })
      ctx.mqtt.on(
        () => topic.get(),
        ({ payload }) => void heard.push(payload.toString()),
      )
    },
  })
  const station = await startLinkStation(t, broker.port, {}, { plugins: { listener: listener as never } })
  await until(isUp(station), 'the session')
  const { held, release } = broker.holdUnsubscribes()
  await station.station.change({ 'extra-topic': '' }, { source: 'http' })
  await until(() => held.length === 1, 'UNSUBSCRIBE')
  await station.station.change({ 'extra-topic': 'extra' }, { source: 'http' })
  await broker.observer.publishAsync(`base/${sn}/info/get`, '', { qos: 1 })
  await until(() => broker.texts('info').length > 1, 'an answer behind the SUBSCRIBE')
  release()
  await until(async () => {
    await broker.observer.publishAsync('extra', 'still there', { qos: 1 })
    return heard.length > 0
  }, 'it is heard')
})
