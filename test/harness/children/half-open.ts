/** Run in a network of its own (`unshare -rn`): a push whose line is cut without a word. Prints what the station says of it. */
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'
import ntripServer from '../../../plugins/ntrip-server/index.js'
import rtcm from '../../../plugins/rtcm/index.js'
import type { AnyPlugin } from '../../../runtime/plugin.js'
import { arpFrame, fakeReceiver, msmFrame } from '../fake-receiver.js'
import { ManualClock, until } from '../manual-clock.js'
import { createTestStation } from '../station.js'

const loopback = (state: 'up' | 'down') => execFileSync('ip', ['link', 'set', 'lo', state])

loopback('up')
const caster = createServer((socket) => {
  socket.once('data', () => socket.write('ICY 200 OK\r\n'))
  socket.on('data', () => {})
  socket.on('error', () => {})
})
await new Promise<void>((resolve) => caster.listen(0, '127.0.0.1', resolve))
const { port } = caster.address() as { port: number }

const clock = new ManualClock()
const receiver = fakeReceiver(() => clock.monotonic())
const station = await createTestStation({
  clock,
  plugins: {
    'fake-receiver': receiver.definition,
    rtcm: rtcm as AnyPlugin,
    'ntrip-server': ntripServer as AnyPlugin,
  },
})
receiver.become({ mode: 'listening' })
await station.station.change({ 'ntrip-server': [{ host: '127.0.0.1', port, mount: 'ROOF' }] }, { source: 'console' })
type Shown = { state: string; text: string; next: number }
const shown = () => (station.field('ntrip.server') as Shown[])[0] as Shown

let seconds = 0
const secondsUntil = (condition: () => boolean, what: string) =>
  until(async () => {
    if (condition()) return true
    receiver.emit(arpFrame({ x: 3_925_405, y: 274_491, z: 5_002_842 }))
    receiver.emit(msmFrame(1074, ++seconds * 1_000, false))
    await clock.advance(1_000)
    return false
  }, what)
await secondsUntil(() => shown().state === 'acknowledged', 'acknowledged')
loopback('down')
await secondsUntil(() => shown().state === 'waiting', 'noticed')
console.log(JSON.stringify(shown()))
process.exit(0)
