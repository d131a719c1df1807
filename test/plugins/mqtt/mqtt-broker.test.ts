import { once } from 'node:events'
import { connect as connectTcp, createServer } from 'node:net'
import { connect, type MqttClient } from 'mqtt'
import { conformance, createTestStation, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import { addressLimit, clientLimit } from '../../../plugins/mqtt/mqtt-broker/broker.js'
import broker from '../../../plugins/mqtt/mqtt-broker/index.js'
import { connected, listen, message } from '../../harness/peers/brokers.js'

t.test('mqtt-broker', async (t) => {
  const start = async (t: Test, port: number) => {
    const station = await createTestStation({ plugins: { 'mqtt-broker': [broker as never, { port }] } })
    t.teardown(() => station.stop())
    const reason = () => station.station.plugins().find(({ name }) => name === 'mqtt-broker')?.reason ?? ''
    const listening = async () => {
      await until(() => /listening/.test(reason()), 'listening')
      return Number(/127\.0\.0\.1:(\d+)/.exec(reason())?.[1])
    }
    return { station, listening }
  }
  const client = (t: Test, port: number): MqttClient => {
    const made = connect({ host: '127.0.0.1', port, protocolVersion: 4, reconnectPeriod: 0, connectTimeout: 2_000 })
    made.on('error', () => {})
    t.teardown(() => void made.end(true))
    return made
  }

  t.test('carries messages and keeps retained ones', async (t) => {
    const port = await (await start(t, 0)).listening()
    const a = client(t, port)
    await a.publishAsync('a/b', 'kept', { retain: true, qos: 1 })
    const b = client(t, port)
    await b.subscribeAsync('a/#')
    t.equal((await message(b)).payload, 'kept')
  })

  t.test('a reload keeps the port, connected clients or not', async (t) => {
    const server = createServer()
    const port = await listen(server)
    server.close()
    await once(server, 'close')
    const { station, listening } = await start(t, port)
    const a = client(t, port)
    await connected(a)
    for (let n = 0; n < 3; n++) await station.reload('mqtt-broker')
    t.equal(await listening(), port)
    await connected(client(t, port))
  })

  t.test('a port that is taken is a state that heals itself', async (t) => {
    const other = createServer()
    const port = await listen(other)
    const { station, listening } = await start(t, port)
    await until(() => station.device.errors().length > 0, 'the error')
    const text = /another program.*set another mqtt-broker\.port/
    t.match(station.device.errors(), [{ code: 'listen-clients', text }])
    t.equal(station.station.plugins().find(({ name }) => name === 'mqtt-broker')?.state, 'running')
    other.close()
    await once(other, 'close')
    await station.clock.advance(1_200)
    t.equal(await listening(), port)
    t.same(station.device.errors(), [])
    await connected(client(t, port))
  })

  t.test('a retained message and one right behind it arrive in order, both, also for a wildcard', async (t) => {
    // aedes stores a retained publication before it forwards it, and takes what was overtaken for a duplicate.
    const port = await (await start(t, 0)).listening()
    const [wide, exact, sender] = [client(t, port), client(t, port), client(t, port)]
    const seen = { wide: [] as string[], exact: [] as string[] }
    wide.on('message', (_topic, payload) => void seen.wide.push(payload.toString()))
    exact.on('message', (_topic, payload) => void seen.exact.push(payload.toString()))
    await wide.subscribeAsync('base/#')
    await exact.subscribeAsync(['base/A/online', 'base/A/info'])
    if (!sender.connected) await connected(sender)
    const sent: string[] = []
    for (let n = 0; n < 50; n++) {
      for (const [topic, retain] of [
        ['online', true],
        ['info', false],
        ['info', false],
      ] as const) {
        sent.push(`${topic} ${n} ${sent.length}`)
        sender.publish(`base/A/${topic}`, sent.at(-1) as string, { retain })
      }
    }
    await until(() => seen.wide.length >= sent.length && seen.exact.length >= sent.length, 'all of them')
    t.same(seen.wide, sent)
    t.same(seen.exact, sent)
  })

  t.test('a host that others can reach is refused, unless an option says so', async (t) => {
    const startAt = async (options: Record<string, unknown>) => {
      const station = await createTestStation({
        plugins: { 'mqtt-broker': [broker as never, { port: 0, ...options }] },
      })
      t.teardown(() => station.stop())
      return station.station.plugins().find(({ name }) => name === 'mqtt-broker')
    }
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'localhost.example.org', '127.example.org'])
      t.match(await startAt({ host }), { state: 'failed', reason: /exposed/ }, host)
    for (const host of ['127.0.0.1', '127.0.0.2', 'localhost'])
      t.match(await startAt({ host }), { state: 'running' }, host)
    t.match(await startAt({ host: '192.0.2.1', exposed: true }), { state: 'running' })
  })

  t.test('one address gets its share of the places, and another one still gets in', async (t) => {
    const { station, listening } = await start(t, 0)
    const port = await listening()
    const from = (localAddress: string) => {
      const socket = connectTcp({ port, host: '127.0.0.1', localAddress })
      t.teardown(() => void socket.destroy())
      return socket.on('error', () => {})
    }
    const greedy = Array.from({ length: clientLimit + 8 }, () => from('127.0.0.2'))
    await until(() => greedy.filter(({ closed }) => closed).length === greedy.length - addressLimit, 'it has its share')
    await connected(client(t, port))
    t.same(station.device.errors(), [])
  })

  t.test('limits: payload, connections, garbage', async (t) => {
    const port = await (await start(t, 0)).listening()
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
  await t.resolves(conformance(broker as never, { port: 0 }))
})
