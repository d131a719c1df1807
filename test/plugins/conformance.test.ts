import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { describeHandle, leftOpen, noteRawHandles } from '../../runtime/kernel/instance/raw-handles.js'
import type { AnyPlugin } from '../../runtime/plugin.js'
import { createTestStation, freeTcpPort, freeUdpPort, ManualClock, until } from '../harness/index.js'
import { shippedPlugin } from '../harness/shipped.js'

const root = process.cwd()
const variant = JSON.parse(readFileSync(join(root, 'runtime', 'variants', 'simulator.json'), 'utf8'))
const names = readdirSync(join(root, 'plugins'))

t.test('every shipped plugin stands start, stop, start beside all the others, and leaves nothing behind', async (t) => {
  t.teardown(noteRawHandles())
  const clock = new ManualClock()
  const mqtt = await freeTcpPort()
  const plugins: Record<string, [AnyPlugin, Record<string, unknown>]> = {}
  for (const name of names) {
    const definition = await shippedPlugin(name)
    const port = name === 'mqtt-broker' ? { port: mqtt } : {}
    plugins[name] = [definition, { ...variant.plugins[name], ...port }]
  }
  const changes = { ...variant.changes, 'mqtt-port': mqtt, 'udp-port': await freeUdpPort() }
  const station = await createTestStation({
    clock,
    plugins,
    variant: { ...variant, plugins: {}, http: { host: '127.0.0.1', port: 0 }, changes },
  })
  t.teardown(() => station.stop())
  const states = () => station.station.plugins().filter(({ state }) => state !== 'running')
  t.strictSame(states(), [], 'all run')
  const faults = () => station.lines.filter(({ level }) => level >= 50).map(({ plugin, msg }) => `${plugin}: ${msg}`)
  for (const name of names) {
    await t.test(name, async (t) => {
      await station.reload(name)
      await clock.advance(100)
      const commands = JSON.stringify(station.station.commands())
      const timers = clock.pending
      for (let i = 0; i < 8; i++) {
        await station.reload(name)
        await clock.advance(100)
      }
      t.strictSame(states(), [], 'all run')
      t.equal(JSON.stringify(station.station.commands()), commands)
      // Those of the others come and go with their connections.
      t.ok(clock.pending <= timers + 6, `${clock.pending} timers, ${timers} before`)
      t.strictSame(faults(), [])
      const open = () => leftOpen(name, 0).map(describeHandle)
      await until(() => open().length === 0, `everything that was left open: ${open()}`, 5_000).catch(() => {})
      t.strictSame(open(), [], 'nothing is left open')
    })
  }
})
