import { PassThrough } from 'node:stream'
import { connect } from 'mqtt'
import { definePlugin } from 'rtk-base/plugin'
import { conformance, createTestStation, fakeReceiver, ManualClock, until } from 'rtk-base/testing'
import t, { type Test } from 'tap'
import Type from 'typebox'
import { stateOf } from '../../../plugins/mqtt/home-assistant/entities.js'
import homeAssistant from '../../../plugins/mqtt/home-assistant/index.js'
import api from '../../../plugins/mqtt/mqtt-api/index.js'
import { Publications, payloadLimit } from '../../../plugins/mqtt/mqtt-api/publications.js'
import { period_ms } from '../../../plugins/mqtt/mqtt-api/triggers.js'
import { WorkQueue } from '../../../plugins/mqtt/mqtt-api/work-queue.js'
import { Bus } from '../../../runtime/kernel/bus.js'
import { homesOf, readCatalogue } from '../../../runtime/loader/catalogue.js'
import { createLogger } from '../../../runtime/platform/log/log.js'
import type { StationSettings } from '../../../schemas/index.js'
import { type MqttBus, type MqttLink, mqttBus, mqttLink, verdict } from '../../../schemas/services.js'
import { fakeBroker, isUp, message, sn, startBroker, startLinkStation } from '../../harness/peers/brokers.js'
import { errorsOf } from '../../harness/standing-errors.js'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A plugin that makes the document as large as it is told, and counts how often it is built. */
function ballast() {
  const state = { bytes: 0, builds: 0 }
  const definition = definePlugin({
    name: 'ballast',
    version: '1.0.0',
    api: '^1.0.0',
    options: Type.Object({}),
    setup(ctx) {
      ctx.info.block('ballast', () => {
        state.builds++
        return { text: 'x'.repeat(state.bytes) }
      })
    },
  })
  return { state, definition: definition as never }
}

/** A station that is up, and has published for that. */
async function started(t: Test, more: Parameters<typeof startLinkStation>[3] = {}) {
  const broker = await startBroker(t)
  const station = await startLinkStation(t, broker.port, {}, more)
  await until(() => broker.texts('info').length === 1, 'the first document')
  const documents = () => broker.texts('info').length
  const fence = async () => {
    await turn()
    await turn()
    await broker.observer.publishAsync('base/fence', '', { qos: 1 })
    // Over the station's own connection: what it published before is there then.
    const before = station.lines.length
    await broker.observer.publishAsync(`base/${sn}/cmd`, 'no-such-command', { qos: 1 })
    await until(() => station.lines.slice(before).some(({ command }) => command === 'no-such-command'), 'a command')
  }
  return { broker, station, documents, fence }
}

t.test('trigger 2', async (t) => {
  t.test('6 h of uptime without a publication: one, on the 100 ms grid', async (t) => {
    const { broker, station, documents, fence } = await started(t)
    let pings = 0
    broker.aedes.on('ping', () => void pings++)
    // The link pings every 20 s of the test's clock, and the broker must have answered before the next one.
    let next_ms = station.clock.monotonic() + 20_000
    const quiet = async (ms: number) => {
      const end_ms = station.clock.monotonic() + ms
      while (station.clock.monotonic() < end_ms) {
        const before = pings
        await station.clock.advance(Math.min(next_ms, end_ms) - station.clock.monotonic())
        if (station.clock.monotonic() < next_ms) return
        next_ms += 20_000
        await until(() => pings > before, 'a ping')
        // The answer is in the station's socket; it is read within these turns.
        await turn()
        await turn()
      }
    }
    await quiet(period_ms)
    await fence()
    t.equal(documents(), 1, 'not more than 6 h yet')
    await quiet(200)
    await until(() => documents() === 2, 'the second document')
    await quiet(3_600_000)
    await fence()
    t.equal(documents(), 2)
  })

  t.test(
    'the scheduler: it wakes on multiples of 100 ms, and in 6 h only when there can be something to do',
    async (t) => {
      const clock = new ManualClock()
      const published: number[] = []
      let room = true
      let result = 'sent'
      let wakes = 0
      let largest = payloadLimit
      const raised: string[] = []
      const ctx = {
        services: {
          use: ({ id }: { id: string }) =>
            id === 'device' ? { uptime_ms: () => clock.monotonic() } : { documentText: () => '{}' },
          find: ({ id }: { id: string }) =>
            id === 'mqtt-link' ? { hasRoom: () => room, largestPayload: () => largest } : undefined,
        },
        timers: {
          after: (ms: number, fn: () => void) =>
            clock.timer(ms, () => {
              wakes++
              if (clock.monotonic() % 100 !== 0) t.fail(`woke at ${clock.monotonic()} ms`)
              fn()
            }),
          every: () => () => {},
        },
        mqtt: {
          publish: () => {
            published.push(clock.monotonic())
            return result
          },
        },
        errors: errorsOf('mqtt-api', (text) => text && raised.push(text)),
        log: { debug: () => {} },
        defer: () => {},
      }
      const publications = new Publications(ctx as never)
      await clock.advance(37)
      publications.start()
      await clock.advance(period_ms - 37)
      await turn()
      t.same(published, [], 'at 6 h: not more yet')
      await clock.advance(100)
      await turn()
      t.same(published, [period_ms + 100])
      t.equal(wakes, 1, '6 h of test clock are one step')

      room = false
      await clock.advance(period_ms + 5_000)
      await turn()
      t.equal(published.length, 1, 'nothing is tried without room')
      room = true
      await clock.advance(100)
      await turn()
      t.equal(published.length, 2, 'and at the next wake-up there is room')

      result = 'full'
      await clock.advance(period_ms + 1_000)
      await turn()
      t.equal(published.length, 3, 'tried, and not taken')
      result = 'sent'
      await clock.advance(100)
      await turn()
      t.equal(published.length, 4, 'only a success counts: 6 h did not begin anew')

      largest = -20
      await clock.advance(period_ms + 1_000)
      await turn()
      t.equal(published.length, 4, 'a broker whose packets have no room for the topic gets nothing')
      t.match(raised[0], /exceeds 0 bytes/)
    },
  )
})

t.test('triggers', async (t) => {
  t.test('3: once, when the receiver tells its unique id for the first time', async (t) => {
    const clock = new ManualClock()
    const receiver = fakeReceiver(() => clock.monotonic())
    const identity = { module: 'ZED-F9P', firmware: '1', hardware: '1', software: '1', serial: '' }
    receiver.become({ identity })
    const { station, documents, fence } = await started(t, { clock, plugins: { 'fake-receiver': receiver.definition } })
    await station.clock.advance(5_000)
    await fence()
    t.equal(documents(), 1)
    receiver.become({ identity: { ...identity, serial: 'A1B2C3D4E5' } })
    await station.clock.advance(1_000)
    await until(() => documents() === 2, 'the document')
    receiver.become({ identity })
    await station.clock.advance(1_000)
    receiver.become({ identity: { ...identity, serial: 'A1B2C3D4E5' } })
    await station.clock.advance(5_000)
    await fence()
    t.equal(documents(), 2, 'the first time only')
    await station.reload('mqtt-link')
    await until(() => documents() === 3, 'the document of the connect')
    await station.reload('mqtt-api')
    await station.clock.advance(5_000)
    await fence()
    t.equal(documents(), 3, 'a reload does not forget it')
  })

  t.test('3 while the link is down is lost, and nothing is built for it', async (t) => {
    const clock = new ManualClock()
    const receiver = fakeReceiver(() => clock.monotonic())
    const { state, definition } = ballast()
    const plugins = { 'fake-receiver': receiver.definition, ballast: definition }
    const station = await startLinkStation(t, 1, {}, { clock, plugins })
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    const before = state.builds
    await station.clock.advance(1_000)
    await turn()
    await turn()
    t.equal(state.builds, before)
    t.equal(station.field('mqtt.stat.missed'), 1)
  })

  t.test('1 after an outage: one document, whatever was missed', async (t) => {
    const { broker, station, documents } = await started(t)
    broker.cut()
    await until(() => station.field('mqtt.state.link') === 'down', 'down')
    await station.clock.advance(60_000)
    await until(() => documents() === 2, 'the document of the connect')
  })

  t.test('1: also when the link was up before mqtt-api started, and once for each session', async (t) => {
    const { station, documents, fence } = await started(t)
    await station.reload('mqtt-api')
    await fence()
    t.equal(documents(), 1, 'a reload of mqtt-api does not publish again')
    await station.unload('mqtt-api')
    await station.load('mqtt-api')
    await until(() => documents() === 2, 'the document')
    await station.reload('mqtt-link')
    await until(() => documents() === 3, 'the document of the next session')
    await fence()
    t.equal(documents(), 3)
  })

  t.test('without a link mqtt-api runs, and nothing is built', async (t) => {
    const { state, definition } = ballast()
    const station = await createTestStation({ plugins: { 'mqtt-api': api as never, ballast: definition } })
    t.teardown(() => station.stop())
    await station.clock.advance(period_ms + 1_000)
    await turn()
    t.equal(station.station.plugins().find(({ name }) => name === 'mqtt-api')?.state, 'running')
    t.equal(state.builds, 0)
  })

  t.test('4: every request, directly', async (t) => {
    const { broker, documents } = await started(t)
    for (let n = 0; n < 3; n++) await broker.observer.publishAsync(`base/${sn}/info/get`, '', { qos: 1 })
    await until(() => documents() === 4, 'three more')
  })
})

t.test('limits', async (t) => {
  t.test('a document of more than 131,072 bytes is not cut and not sent, with one error entry', async (t) => {
    const { state, definition } = ballast()
    const { broker, station, documents, fence } = await started(t, { plugins: { ballast: definition } })
    const ask = () => broker.observer.publishAsync(`base/${sn}/info/get`, '', { qos: 1 })
    const errors = () => station.device.errors().filter(({ code }) => code === 'mqtt-info-size')
    state.bytes = payloadLimit
    await station.clock.advance(200)
    await ask()
    await until(() => errors().length === 1, 'the error')
    await ask()
    await fence()
    t.equal(documents(), 1)
    t.equal(errors().length, 1)
    state.bytes = payloadLimit - 4_000
    await station.clock.advance(200)
    await ask()
    await until(() => documents() === 2, 'the large document')
    t.ok(Buffer.byteLength(broker.texts('info').at(-1) ?? '') > payloadLimit - 4_000)
    t.same(errors(), [])
  })

  t.test('nothing is built while the outbox has no room', async (t) => {
    const { state, definition } = ballast()
    state.bytes = 120_000
    let request = () => {}
    const stuck = await fakeBroker(t, (socket) => {
      socket.pause()
      const topic = Buffer.from(`base/${sn}/info/get`)
      const packet = [Buffer.from([0x30, topic.length + 3, 0, topic.length]), topic, Buffer.from([0])]
      request = () => void socket.write(Buffer.concat(packet))
    })
    const station = await startLinkStation(t, stuck.port, {}, { plugins: { ballast: definition } })
    await until(isUp(station), 'up')
    const told = (text: string) => station.lines.filter(({ msg }) => msg === text).length
    const published = () => told('information publication')
    const noRoom = () => told('no room for an information publication')
    const ask = async () => {
      const before = published() + noRoom()
      request()
      await until(() => published() + noRoom() > before, 'a request')
    }
    // A paused socket has room for a few MB in the system's buffers.
    for (let n = 0; n < 500 && noRoom() === 0; n++) await ask()
    const [sent, builds] = [published(), state.builds]
    await station.clock.advance(200)
    await ask()
    await ask()
    t.equal(noRoom(), 3)
    t.equal(published(), sent)
    t.equal(state.builds, builds)
    t.equal(station.field('mqtt.stat.missed'), 3)
  })

  t.test('the work queue drops what finds it full, and counts', async (t) => {
    const queue = new WorkQueue(2)
    const ran: number[] = []
    t.same(
      [1, 2, 3].map((n) => queue.offer(() => void ran.push(n))),
      [true, true, false],
    )
    t.equal(queue.dropped, 1)
    await turn()
    await turn()
    await turn()
    t.same(ran, [1, 2])
    queue.offer(() => void ran.push(4))
    queue.clear()
    await turn()
    t.same(ran, [1, 2])
  })
})

t.test('conformance', async (t) => {
  await t.resolves(conformance(api as never))
})

t.test('Home Assistant finds the station, and gets its figures', async (t) => {
  const broker = await startBroker(t)
  const configs: { topic: string; text: string; retain: boolean }[] = []
  broker.observer.on('message', (topic, payload, { retain }) => {
    if (topic.startsWith('homeassistant/')) configs.push({ topic, text: payload.toString(), retain })
  })
  const plugins = { 'home-assistant': [homeAssistant as never, { url: 'http://10.0.0.7/', interval_s: 5 }] } as const
  const station = await startLinkStation(t, broker.port, {}, { plugins: { ...plugins } as never })
  await until(() => broker.texts('home-assistant').length > 0, 'a state')
  // Whoever comes later finds it: it is retained.
  await broker.observer.subscribeAsync('homeassistant/#', { qos: 1 })
  await until(() => configs[0]?.retain === true, 'the description')
  t.equal(configs[0]?.topic, `homeassistant/device/rtk_base_${sn}/config`)
  const config = JSON.parse(configs[0]?.text ?? '')
  t.match(config, {
    device: { identifiers: [`rtk_base_${sn}`], serial_number: sn, configuration_url: 'http://10.0.0.7/' },
    origin: { name: 'rtk-base' },
    state_topic: `base/${sn}/home-assistant`,
    availability: [{ topic: `base/${sn}/online` }],
  })
  const state = JSON.parse(broker.texts('home-assistant')[0] ?? '')
  const commands = homesOf(readCatalogue(), 'commands')
  const components = Object.entries(config.components as Record<string, Record<string, string>>)
  t.ok(components.length > 8)
  t.equal(new Set(components.map(([, { unique_id }]) => unique_id)).size, components.length)
  for (const [key, { platform, value_template = '', command_topic, payload_press = '' }] of components) {
    if (platform === 'button') {
      t.equal(command_topic, `base/${sn}/cmd`)
      t.ok(payload_press in commands, `${payload_press} is a command of the specification`)
    } else {
      t.match(value_template, `value_json.${key}`)
      t.ok(key in state, `${key} has a value`)
    }
  }
  t.match(config.components.antenna, { value_template: /^\{\{ 'None' if value_json.antenna is none else 'ON' if/ })
  const gnss = { state: { status: 'stalled' }, pos: { delta: 0 }, ref: { survey: { acc: 0 } } }
  const unknown = { antenna: 'unknown', satellitesUsed: undefined } as const
  for (const reception of [undefined, unknown])
    t.match(
      stateOf({ document: { gnss }, verdict: undefined, reception }),
      { fitness: null, problem: null, status: 'stalled', antenna: null, satellites: null, delta: null, accuracy: null },
      'not known',
    )
  const known = {
    document: { gnss: { ...gnss, pos: { delta: 0.4 } } },
    verdict: { fitness: 'unfit', why: 'the antenna line is open' },
    reception: { antenna: 'open', satellitesUsed: 3 },
  } as const
  t.match(stateOf(known), { problem: 'unfit', why: /open/, antenna: 'open', satellites: 3, delta: 0.4 })
  const before = broker.texts('home-assistant').length
  await station.clock.advance(5_000)
  await until(() => broker.texts('home-assistant').length > before, 'the next state')

  let described = 0
  broker.aedes.on('publish', ({ topic }) => {
    if (topic.startsWith('homeassistant/')) described += 1
  })
  const connects = broker.connects.length
  await station.reload('home-assistant')
  await station.clock.advance(5_000)
  await until(() => described === 1, 'the description again, over the link that is up')
  t.equal(broker.connects.length, connects)
  t.ok(configs.every(({ text }) => text !== ''))
  await station.unload('home-assistant')
  await until(() => configs.at(-1)?.text === '', 'P14: a device that is gone leaves Home Assistant')
})

t.test(
  'P14: a retained message that was to be deleted while the link was down is deleted in the next session',
  async (t) => {
    const sent: string[] = []
    let result: 'sent' | 'offline' | 'full' = 'offline'
    const bus = new Bus(createLogger({ destination: new PassThrough() }), { call: async () => {} } as never)
    const publish = (topic: string, payload: string) => {
      if (result === 'sent') sent.push(`${topic}=${payload}`)
      return result
    }
    bus.attach({ publish, subscribe() {} } as never)
    const session = { clientId: '', reconnect: true }
    for (const [topic, payload, retain] of [
      ['kept', '', true],
      ['again', '', true],
      ['again', 'x', true],
      ['event', '', false],
    ] as const)
      bus.publish(topic, payload, { retain })
    for (const next of ['full', 'sent', 'sent'] as const) {
      result = next
      await bus.connected(session)
    }
    t.same(sent, ['kept='], 'once, and only what nobody published again')
  },
)

t.test('P14: without the plugin the broker keeps neither its state nor its settings', async (t) => {
  const { broker, station } = await started(t)
  const deleted = new Set<string>()
  broker.aedes.on('publish', ({ topic, payload, retain }) => {
    if (retain && payload.length === 0) deleted.add(topic)
  })
  await station.reload('mqtt-api')
  t.equal(deleted.size, 0)
  await station.unload('mqtt-api')
  await until(() => deleted.size === 2, 'both are deleted')
  t.same([...deleted].sort(), [`base/${sn}/settings`, `base/${sn}/state`])
  t.equal(await station.store.get('mqtt-api', 'settings-published'), undefined)
})

t.test('the topic state: retained, on connect and at every change, in less than 300 bytes', async (t) => {
  let fitness = 'unfit'
  const changed: { emit?: (value: undefined) => void } = {}
  const judge = definePlugin({
    name: 'judge',
    version: '1.0.0',
    api: '^1.0.0',
    provides: [verdict],
    setup(ctx) {
      const onChange = ctx.event<void>()
      changed.emit = () => onChange.emit()
      ctx.services.provide(verdict, {
        base: 'ready',
        get verdict() {
          return { fitness, code: 'c'.repeat(80), why: '', advice: '', since: 1_790_000_000, for_s: 1 }
        },
        onChange: onChange.on,
      } as never)
    },
  })
  const { broker, station } = await started(t, { plugins: { judge: judge as never } })
  const states = () => broker.texts('state').map((text) => JSON.parse(text) as { verdict: string })
  const late = connect(`mqtt://127.0.0.1:${broker.port}`)
  t.teardown(() => void late.end(true))
  const kept = message(late)
  await late.subscribeAsync(`base/${sn}/state`)
  const { payload, retain } = await kept
  t.ok(retain)
  t.match(JSON.parse(payload), { verdict: 'unfit', since: 1_790_000_000, reference: '', version: '0.0.0-test' })
  fitness = 'fit'
  for (let again = 0; again < 5; again++) changed.emit?.(undefined)
  await station.clock.advance(1_000)
  await until(() => states().at(-1)?.verdict === 'fit', 'the change')
  const count = states().length
  changed.emit?.(undefined)
  await station.clock.advance(1_000)
  t.equal(states().length, count, 'nothing new is nothing')
  t.ok(broker.texts('state').every((text) => Buffer.byteLength(text) < 300))
})

t.test('the topic settings: what can be set and done, once for each set of plugins, and on demand', async (t) => {
  const judge = definePlugin({
    name: 'judge',
    version: '1.0.0',
    api: '^1.0.0',
    setup(ctx) {
      ctx.action({ name: 'judge', summary: 'Judges', run: () => 'judged' })
    },
  })
  const { broker, fence: isSilent, station } = await started(t, { plugins: { judge: judge as never } })
  const published = () => broker.texts('settings').map((text) => JSON.parse(text) as StationSettings)
  await until(async () => {
    await station.clock.advance(1_000)
    return published().length === 1
  }, 'the settings')
  const [first] = published()
  const named = first?.parameters.find(({ name }) => name === 'mqtt-host')
  t.match(named, { plugin: 'mqtt-link', title: /MQTT/, schema: { type: 'string' } })
  t.notOk(
    first?.parameters.some((one) => 'value' in one || 'set' in one),
    'no value of this station',
  )
  t.ok(first?.actions.some(({ name }) => name === 'judge'))
  await broker.observer.publishAsync(`base/${sn}/settings/get`, '', { qos: 1 })
  await until(() => published().length === 2, 'the answer')
  t.same(published()[1], first)

  await station.reload('mqtt-api')
  await station.clock.advance(20_000)
  await isSilent()
  t.equal(published().length, 2, 'this broker has it')
  await station.unload('judge')
  await until(async () => {
    await station.clock.advance(1_000)
    return published().length === 3
  }, 'without what a plugin brought')
  t.notOk(published()[2]?.actions.some(({ name }) => name === 'judge'))
})

t.test('the topic settings over a broker that ends each session in which it gets them', async (t) => {
  const published: string[] = []
  const state = { session: undefined as string | undefined, address: '', host: 'broker.example', hasRoom: true }
  let bus: MqttBus | undefined
  const link = definePlugin({
    name: 'link',
    version: '1.0.0',
    api: '^1.0.0',
    needs: [mqttBus],
    provides: [mqttLink],
    setup(ctx) {
      ctx.services.provide(mqttLink, {
        get broker() {
          return { host: state.host, port: 8883, tls: true }
        },
        get session() {
          return state.session
        },
        get brokerAddress() {
          return state.address
        },
        hasRoom: () => state.hasRoom,
        largestPayload: () => Number.POSITIVE_INFINITY,
      } as unknown as MqttLink)
    },
    start(ctx) {
      bus = ctx.services.use(mqttBus)
      bus.attach({
        subscribe() {},
        publish(topic) {
          if (topic.endsWith('/settings')) published.push(topic)
          return 'sent'
        },
      })
    },
  })
  const station = await createTestStation({ plugins: { 'mqtt-api': api as never, link: link as never } })
  t.teardown(() => station.stop())
  let sessions = 0
  const session = async () => {
    state.session = `session ${++sessions}`
    // The name of the broker has several addresses.
    state.address = `192.0.2.${sessions}`
    await bus?.connected({ clientId: sn, reconnect: sessions > 1 })
    await station.clock.advance(6_000)
  }
  await session()
  t.equal(published.length, 1)
  for (let again = 0; again < 3; again++) await session()
  t.equal(published.length, 1, 'the session lasts from then on')
  state.host = 'other.example'
  await session()
  t.equal(published.length, 2, 'another broker does not have it')

  state.hasRoom = false
  const request = { topic: `base/${sn}/settings/get`, payload: new Uint8Array(), retain: false }
  bus?.deliver(request)
  await station.clock.advance(20_000)
  t.equal(published.length, 2)
  state.hasRoom = true
  await station.clock.advance(6_000)
  t.equal(published.length, 3, 'who asked while the queue was full gets the answer')
  await station.clock.advance(60_000)
  t.equal(published.length, 3)
  bus?.deliver({ ...request, retain: true })
  t.equal(published.length, 3, 'a retained request is none')
})
