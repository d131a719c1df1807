/** The plugin simulated-receiver: what it offers its station and other programs, and what is said where it is missing. */
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import gnssZed from '../../../plugins/receivers/gnss-zed/index.js'
import receiverSimulator from '../../../plugins/simulated/simulated-receiver/index.js'
import { Framer } from '../../../runtime/lib/gnss/index.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { type Device, device, type Receiver, receiver } from '../../../schemas/services.js'
import {
  conformance,
  createTestStation,
  freeTcpPort,
  probe,
  type TestStationOptions,
  until,
} from '../../harness/index.js'

const driver = (options: object = {}) =>
  [gnssZed as unknown as AnyPlugin, { port: 'simulator', ...options }] as [AnyPlugin, Record<string, unknown>]
const simulator = (options: Record<string, unknown> = {}) =>
  [receiverSimulator as unknown as AnyPlugin, options] as [AnyPlugin, Record<string, unknown>]

async function start(t: Test, plugins: NonNullable<TestStationOptions['plugins']>) {
  let found: { receiver: Receiver | undefined; device: Device } | undefined
  const station = await createTestStation({
    plugins: {
      ...plugins,
      probe: probe([device], ({ services }) => {
        found = { receiver: services.find(receiver), device: services.use(device) }
      }),
    },
  })
  t.teardown(() => station.stop())
  const seconds = async (count: number) => {
    for (let i = 0; i < count; i++) await station.clock.advance(1000)
  }
  return {
    station,
    seconds,
    link: () => found?.receiver?.link,
    text: () => String(station.station.plugins().find(({ name }) => name === 'gnss-zed')?.reason),
    errors: () => found?.device.errors() ?? [],
    sim: (line: string) => station.station.command(`sim=${line}`, { source: 'console' }),
  }
}
const missing = 'port=simulator needs the plugin of a simulated receiver, which this variant does not have'

t.test('stands what every plugin must stand', async () => {
  await conformance(receiverSimulator as never, { tcp: await freeTcpPort() })
})

t.test('a station goes without it and says so, and takes it as soon as it is there', async (t) => {
  const { station, seconds, link, text, errors, sim } = await start(t, {
    'simulated-receiver': simulator(),
    'gnss-zed': driver(),
  })
  await seconds(10)
  t.equal(link(), 'up')
  t.notOk(errors().some(({ code }) => code === 'receiver-simulator'))
  await station.unload('simulated-receiver')
  await seconds(10)
  t.equal(link(), 'offline')
  t.ok(text().includes(missing), text())
  t.match(
    errors().find(({ code }) => code === 'receiver-simulator'),
    { text: new RegExp(missing) },
  )
  t.match(station.station.plugins().find(({ name }) => name === 'gnss-zed')?.state, 'running')
  t.equal((await sim('')).status, 404)
  await station.load('simulated-receiver')
  await seconds(15)
  t.equal(link(), 'up')
  t.notOk(errors().some(({ code }) => code === 'receiver-simulator'))
})

t.test(
  'a reload of the driver leaves the receiver as it is, one of the simulator closes its line for a moment',
  async (t) => {
    const { station, seconds, link, sim } = await start(t, { 'simulated-receiver': simulator(), 'gnss-zed': driver() })
    await seconds(10)
    await sim('move 1 2 3')
    await sim('set CFG-NAVSPG-INFIL_MINELEV 12')
    await station.reload('gnss-zed')
    await seconds(3)
    t.match((await sim('')).text, /moved E 1 N 2 U 3 m/)
    t.equal(link(), 'up')
    await station.reload('simulated-receiver')
    t.match((await sim('')).text, /moved E 1 N 2 U 3 m/, 'its state goes over')
    await seconds(8)
    t.equal(link(), 'up')
  },
)

t.test('any program can have its line over TCP, while the station does not', async (t) => {
  const tcp = await freeTcpPort()
  const { station, seconds } = await start(t, { 'simulated-receiver': simulator({ tcp }) })
  const client = () => {
    const socket = connect(tcp, '127.0.0.1')
    const types: string[] = []
    const framer = new Framer({
      onFrame: (frame) => types.push(frame.kind === 'ubx' ? `${frame.cls}-${frame.id}` : frame.kind),
    })
    let closed = false
    socket.on('data', (bytes) => framer.push(bytes, 0))
    socket.on('error', () => {})
    socket.on('close', () => {
      closed = true
    })
    t.teardown(() => socket.destroy())
    return { socket, types, isClosed: () => closed }
  }
  const first = client()
  await until(async () => {
    await seconds(1)
    return first.types.includes('1-7') && first.types.includes('rtcm')
  }, 'NAV-PVT and RTCM')
  // MON-VER is asked and answered.
  first.socket.write(Buffer.from('b5620a0400000e34', 'hex'))
  await until(async () => {
    await station.clock.advance(10)
    return first.types.includes('10-4')
  }, 'MON-VER')
  const second = client()
  await until(second.isClosed, 'the second is turned away')
  first.socket.destroy()
  await until(async () => {
    const third = client()
    await seconds(2)
    return until(() => third.types.length > 0, 'the line is free again', 500).then(
      () => true,
      () => false,
    )
  }, 'another one')
})
