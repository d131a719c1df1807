/** Run in a network of its own (`unshare -rn`): outputs whose line is cut without a word. Prints what the station says of them. */
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'
import ntripServer from '../../../plugins/rtcm/ntrip-server/index.js'
import rtcm from '../../../plugins/rtcm/rtcm/index.js'
import rtcmSerial from '../../../plugins/rtcm/rtcm-serial/index.js'
import rtcmTcp from '../../../plugins/rtcm/rtcm-tcp/index.js'
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
    'rtcm-tcp': rtcmTcp as AnyPlugin,
    'rtcm-serial': rtcmSerial as AnyPlugin,
  },
})
receiver.become({ mode: 'listening' })
await station.station.change(
  {
    'ntrip-server': [{ host: '127.0.0.1', port, mount: 'ROOF' }],
    'rtcm-tcp-push': [{ host: '127.0.0.1', port }],
    'rtcm-serial': { port: `tcp://127.0.0.1:${port}` },
  },
  { source: 'console' },
)
type Shown = { state: string; text: string; next: number }
const shown = (): Record<string, Shown> => ({
  push: (station.field('ntrip.server') as [Shown])[0],
  tcp: (station.field('rtcm_tcp.push') as [Shown])[0],
  serial: station.field('rtcm_serial') as Shown,
})

let seconds = 0
const secondsUntil = (condition: () => boolean, what: string) =>
  until(async () => {
    if (condition()) return true
    receiver.emit(arpFrame({ x: 3_925_405, y: 274_491, z: 5_002_842 }))
    receiver.emit(msmFrame(1074, ++seconds * 1_000, false))
    await clock.advance(1_000)
    return false
  }, what)
const states = () => Object.values(shown()).map(({ state }) => state)
await secondsUntil(() => states().join() === 'acknowledged,connected,open', 'all are up')
loopback('down')
/** As each was shown when it was noticed. */
const noticed: Record<string, Shown> = {}
await secondsUntil(() => {
  for (const [name, one] of Object.entries(shown())) if (one.state === 'waiting') noticed[name] ??= one
  return Object.keys(noticed).length === 3
}, 'all are noticed')
console.log(JSON.stringify(noticed))
process.exit(0)
