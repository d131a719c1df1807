import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'
import type { AnyPlugin } from '../../runtime/plugin.js'
import { createTestStation, fakeReceiver, ManualClock, until } from '../harness/index.js'
import { shippedPlugin } from '../harness/shipped.js'

const tcp = createServer()
tcp.listen(0, '127.0.0.1')
await once(tcp, 'listening')
const udp = createSocket('udp4')
udp.bind(0, '127.0.0.1')
await once(udp, 'listening')
t.teardown(() => {
  tcp.close()
  udp.close()
})
const tcpPort = (tcp.address() as AddressInfo).port
const udpPort = udp.address().port
const host = '127.0.0.1'

/** Plugin, its options and settings → the parameter or option that its error names. */
const cases: readonly [plugin: string, options: object, changes: Record<string, unknown>, setting: string][] = [
  ['udp-rtcm', { host }, { 'udp-port': udpPort }, 'udp-port'],
  ['ntrip-caster', { host }, { 'ntrip-caster-port': tcpPort }, 'ntrip-caster-port'],
  ['rtcm-tcp', { host }, { 'rtcm-tcp-port': tcpPort }, 'rtcm-tcp-port'],
  ['mqtt-broker', { host, port: tcpPort }, {}, 'mqtt-broker.port'],
]

for (const [name, options, changes, setting] of cases) {
  t.test(`${name} on a port that another program has says to set another ${setting}`, async (t) => {
    const clock = new ManualClock()
    const receiver = fakeReceiver(() => clock.monotonic())
    const plugins: Record<string, AnyPlugin | [AnyPlugin, Record<string, unknown>]> = {
      'fake-receiver': receiver.definition as never,
      [name]: [await shippedPlugin(name), options as Record<string, unknown>],
    }
    for (const other of ['system', 'rtcm']) plugins[other] = await shippedPlugin(other)
    const station = await createTestStation({ clock, plugins, variant: { changes } })
    t.teardown(() => station.stop())
    const errors = () => station.field('base.state.errors') as { text: string }[]
    const said = () => errors().find(({ text }) => text.includes(setting))?.text
    await until(() => said() !== undefined, 'an error that names it')
    t.match(said(), new RegExp(`another program or plugin uses it.*; set another ${setting}; `))
  })
}
