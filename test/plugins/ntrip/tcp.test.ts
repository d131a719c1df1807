import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import rtcmTcp from '../../../plugins/rtcm-tcp/index.js'
import { Framer } from '../../../runtime/gnss/index.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { arpFrame, freeTcpPort, until } from '../../harness/index.js'
import { here, setUpStation } from './rig.js'

async function setUp(t: Test) {
  const rig = await setUpStation(t, { plugins: { 'rtcm-tcp': [rtcmTcp as AnyPlugin, { host: '127.0.0.1' }] } })
  rig.receiver.emit(arpFrame(here))
  const epoch = (time: number) => rig.epoch(time * 1_000, 1074)
  type Shown = { port: number; connected: number; push: { state: string; text: string }[] }
  return { ...rig, epoch, shown: () => rig.station.field('rtcm_tcp') as Shown }
}

const reading = (socket: Socket) => {
  const types: number[] = []
  const framer = new Framer({ onFrame: (frame) => frame.kind === 'rtcm' && types.push(frame.type) })
  socket.on('data', (bytes) => framer.push(bytes, 0))
  socket.on('error', () => {})
  return types
}

t.test('whoever connects gets the position first, and keeps its connection over a reload', async (t) => {
  const { station, change, shown, epoch } = await setUp(t)
  t.equal(shown().port, 0, 'nobody unless it is switched on')
  const port = await freeTcpPort()
  t.match(await change({ 'rtcm-tcp-port': port }), { result: 'ok' })
  await until(() => shown().port === port, 'open')
  const client = connect(port, '127.0.0.1')
  t.teardown(() => client.destroy())
  const types = reading(client)
  await until(() => types.length === 1, 'the position')
  client.write('what a client says is dropped')
  epoch(1)
  await station.reload('rtcm-tcp')
  epoch(2)
  await until(() => types.filter((type) => type === 1074).length === 2, 'both epochs')
  t.equal(types[0], 1005)
  t.equal(shown().connected, 1)
  await change({ 'rtcm-tcp-port': 0 })
  await until(() => client.destroyed, 'switched off')
})

t.test('addresses that it connects to: again and again, with longer waits; what is the same goes on', async (t) => {
  const { clock, change, shown, epoch } = await setUp(t)
  const sockets: Socket[] = []
  const types: number[][] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    types.push(reading(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number }
  const dead = await freeTcpPort()
  await change({
    'rtcm-tcp-push': [
      { host: '127.0.0.1', port },
      { host: '127.0.0.1', port: dead },
    ],
  })
  await until(() => shown().push[0]?.state === 'connected', 'connected')
  await until(() => shown().push[1]?.state === 'waiting', 'refused')
  t.match(shown().push[1]?.text, /refuses connections/)
  epoch(1)
  await until(() => types[0]?.length === 2, 'the stream')
  t.strictSame(types[0], [1005, 1074])
  await change({ 'rtcm-tcp-push': [{ host: '127.0.0.1', port }] })
  t.equal(sockets.length, 1)
  for (let round = 1; round <= 3; round++) {
    sockets.at(-1)?.destroy()
    await until(() => shown().push[0]?.state === 'waiting', 'lost')
    await until(async () => {
      await clock.advance(1_000)
      return shown().push[0]?.state === 'connected'
    }, 'connected again')
    t.equal(sockets.length, round + 1)
  }
  t.match(await change({ 'rtcm-tcp-push': [{ host: '-x', port: 1 }] }), { result: 'failed' })
  await change({ 'rtcm-tcp-push': [] })
  await until(() => sockets.at(-1)?.destroyed === true, 'ended')
})
